#!/usr/bin/python3
"""Random sequences of `check` runs on the driver's stand-in, over {change the kernel, change the machine's speed, check, --update,
--keep-cubins}, compared with a model of the baseline. Also: each load of a short kernel is verified.

	tests/checks/check_walk.py OUT		OUT: the folder with the binary"""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

OUT = os.path.abspath(sys.argv[1])
ROOT = os.getcwd()
CACHE = os.path.abspath(os.path.join(os.environ.get("TEST_BUILD", "build"), "test-cache"))
WALKS, STEPS = 3, 8
# additional time of each version of the kernel in us: two binaries of equal speed, and a slow one
SPIN_US = {"first": 0, "second": 0, "slow": 8}
CLOCKS_PER_US = 1980
work = tempfile.mkdtemp()
environment = {**os.environ, "TILETUNE_STANDIN": f"{work}/script", "TILETUNE_LOCK_FOLDER": work, "LD_LIBRARY_PATH": f"{work}/lib"}


def script(*lines):
    with open(f"{work}/script", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def tiletune(*words, version="first"):
    return subprocess.run([f"{OUT}/tiletune", *words, "--path", f"{work}/{version}", "--device", "cuda:0", "--cache-dir", CACHE],
        capture_output=True, text=True, check=False, env=environment)


def prepare():
    os.mkdir(f"{work}/lib")
    for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
        os.symlink(f"{OUT}/faults/libcuda.so.1", f"{work}/lib/{name}")
    for version, spin_us in SPIN_US.items():
        shutil.copytree("tests/toy", f"{work}/{version}")
        with open(f"{work}/{version}/templates/row_softmax/online.cu", "a", encoding="utf-8") as file:
            # an empty kernel whose name makes the stand-in delay the other kernels of the binary
            file.write(f'\nextern "C" __global__ void spin_cycles_{spin_us * CLOCKS_PER_US}()\n{{\n}}\n')
            file.write(f'\nextern "C" __global__ void of_{version}()\n{{\n}}\n')
    script("kernel row_softmax_online us=20 noise=0.005")
    done = tiletune("tune", "row_softmax", "-p", "rows=64,cols=64", "--evaluations", "2", "--budget", "10m", "-o", f"{work}/tuned.json")
    assert done.returncode == 0, done.stderr


class Model:
    """Models the baseline: version and time of its winner, and the versions whose binaries are stored with it."""

    def __init__(self):
        self.version, self.time_us, self.kept = "first", 20, set()

    def verdict(self, version, machine_us):
        if version == self.version and version in self.kept:
            return "same"  # the binary is bytewise equal
        now = machine_us + SPIN_US[version]
        then = machine_us + SPIN_US[self.version] if self.version in self.kept else self.time_us
        return "same" if now == then else "slower" if now > then else "faster"

    def machine(self, version, machine_us):
        """Returns current over former time of the baseline's own binary, or None if the binary does not run."""
        same = self.version in self.kept or version == self.version and version in self.kept
        return (machine_us + SPIN_US[self.version]) / self.time_us if same else None

    def check(self, version, machine_us, update, keep):
        """Returns the verdict, and the reported number of stored binaries."""
        verdict = self.verdict(version, machine_us)
        if verdict != "slower" and update:
            self.version, self.time_us = version, machine_us + SPIN_US[version]
        keeps = verdict != "slower" and keep and version == self.version
        self.kept |= {version} if keeps else set()
        return verdict, int(keeps)


def walk(seed):
    draw, model, version, machine_us, told = random.Random(seed), Model(), "first", 20, []
    for name in os.listdir(work):
        if name.startswith("walk"):
            shutil.rmtree(f"{work}/{name}", ignore_errors=True)
    os.makedirs(f"{work}/walk", exist_ok=True)
    baseline = f"{work}/walk/base.json"
    shutil.copy(f"{work}/tuned.json", baseline)
    for _ in range(STEPS):
        version = draw.choice([version, *SPIN_US])
        machine_us = draw.choice([machine_us, 20, 25])
        update, keep = draw.random() < 0.4, draw.random() < 0.4
        script(f"kernel row_softmax_online us={machine_us} noise=0.005")
        machine = model.machine(version, machine_us)
        expected = model.check(version, machine_us, update, keep)
        options = ["--update"] * update + ["--keep-cubins"] * keep
        told.append((version, machine_us, options, expected[0]))
        done = tiletune("check", baseline, "--json", *options, version=version)
        answer = json.loads(done.stdout)
        verdict = answer["entries"][0]["verdict"]
        kept = re.search(r"kept the cubins of (\d+)", done.stderr)
        found = (verdict, int(kept.group(1)) if kept else 0)
        if verdict == "unclear":  # the machine is busy; nothing is written in this case
            return len(told) - 1
        assert found == expected and done.returncode == (3 if verdict == "slower" else 0), (told, found, expected, done.stderr)
        told_ratio = answer["entries"][0].get("machine_ratio")
        assert (told_ratio is None) == (machine is None) and (machine is None or abs(told_ratio / machine - 1) < 0.05), (told, told_ratio, machine)
        with open(baseline, encoding="utf-8") as file:
            winner = json.load(file)["entries"][0]["winner"]
        assert abs(winner["time_us"]["median"] / model.time_us - 1) < 0.05, (told, winner["time_us"], model.time_us)
    return STEPS


def each_load_is_verified():
    """A short kernel is loaded four times. If it is wrong in a single load, from its first launch on or later, the entry fails."""
    for load in range(1, LOADS + 1):
        for skip in (0, 4):
            script(f"kernel row_softmax_online us=20 noise=0.005 load={load} skip={skip} wrong", "kernel row_softmax_online us=20 noise=0.005")
            done = tiletune("check", f"{work}/tuned.json")
            assert done.returncode == 1 and "wrong_result" in done.stdout, (load, skip, done.stdout, done.stderr)
    script(f"kernel row_softmax_online us=20 noise=0.005 load={LOADS + 1} wrong", "kernel row_softmax_online us=20 noise=0.005")
    done = tiletune("check", f"{work}/tuned.json")
    assert done.returncode in (0, 4), (done.returncode, done.stdout)  # the kernel is loaded only four times
    return LOADS


LOADS = 4
try:
    prepare()
    print(sum(walk(seed) for seed in range(WALKS)), "steps are as the model says;", end=" ")
    print("each of", each_load_is_verified(), "loads is verified")
finally:
    shutil.rmtree(work)
