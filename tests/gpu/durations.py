#!/usr/bin/env python3
"""Our times against the hardware's: kernels from a few microseconds to twenty milliseconds, timed by
tiletune's own sampling and, in a second run, by Nsight Compute. From the folder of
`make dist TESTS=1`:

	durations.py OUTPUT.json TUNED.json...		(tiletune.durations/1)

Winners of one launch, evenly spread over the logarithm of their time. Ours follow one another without
a gap; ncu counts a launch that is alone, from its arrival at an idle GPU, at the clock of a card that
is far from its power limit. So besides the time as it is there are two that tell why they differ: ours
at ncu's clock (times the clock that NVML reads meanwhile over ncu's cycles per time), and that of
single launches with pauses between them, by events, without ncu. Under ncu and for the latter a process
of ours launches the kernels from a bundle (`durations.py launch`); before each one that counts, so many
others ran that nothing of its tensors is in the L2.

From the environment: COUNT (20), NCU (ncu), DEVICE (cuda:0), CACHE (session-cache), TEMPLATES (.: where
they lie), SECONDS (0.5 a kernel), LIBRARY (gpu/libtiletune_launch.so), TILETUNE (./tiletune).
"""
import csv
import ctypes
import json
import math
import os
import random
import statistics
import struct
import subprocess
import sys
import threading
import time

COUNT = int(os.environ.get("COUNT", "20"))
SECONDS = float(os.environ.get("SECONDS", "0.5"))
WORK = "durations-work"
LAUNCHES = 8  # that count, of each kernel
SET_BYTES, SETS_MAX = 140e6, 64  # tensors that are used in turn exceed twice the L2
BLOCK_BYTES = 1 << 20  # of random numbers, copied to all tensors
PAUSE_S, PAUSE_TIMES = 0.005, 4  # between single launches: at least, and by their time
CLOCK_READ_FROM = 0.4  # of our time on a kernel is over when its clock is read
ALLOWED_RATIO, ALLOWED_US = 0.02, 0.5
DURATION, CYCLES = "gpu__time_duration.sum", "gpc__cycles_elapsed.max"


def winners(paths):
    """(time in us, comparison) of each winner of one launch, by time."""
    found = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)["entries"]
        for entry in entries:
            winner = entry["winner"]
            if len(winner.get("launches", [])) != 1:
                continue
            row = {"name": "winner", "family": winner["family"], "configuration": winner["configuration"]}
            found.append((winner["time_us"]["median"], {"operation": entry["operation"], "problem": entry["problem"],
                "rows": [row], "tuned": path, "entry": winner["launches"][0]["entry"]}))
    return sorted(found, key=lambda item: item[0])


def chosen(found):
    """COUNT of them, nearest to evenly spaced points of log time, each once, by time."""
    low, high = math.log(found[0][0]), math.log(found[-1][0])
    rest, answer = list(found), []
    for i in range(min(COUNT, len(found))):
        point = low + (high - low) * i / max(1, COUNT - 1)
        answer.append(rest.pop(min(range(len(rest)), key=lambda k: abs(math.log(rest[k][0]) - point))))
    return [kernel for _, kernel in sorted(answer, key=lambda item: item[0])]


def problem_text(kernel):
    return ",".join(f"{key}={value}" for key, value in kernel["problem"].items())


def make_bundles(kernels):
    """One of each tuned file, with the kernels chosen of it; each kernel learns its own."""
    for number, path in enumerate(sorted({kernel["tuned"] for kernel in kernels})):
        bundle = f"{WORK}/{number}.bundle"
        of_file = [kernel for kernel in kernels if kernel["tuned"] == path]
        problems = [word for kernel in of_file for word in ("-p", problem_text(kernel))]
        done = subprocess.run([os.environ.get("TILETUNE", "./tiletune"), "export", path, of_file[0]["operation"], *problems,
            "--format", "bundle", "-o", bundle, "--path", os.environ.get("TEMPLATES", "."),
            "--cache-dir", os.environ.get("CACHE", "session-cache")], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"export {path}: {done.stderr}")
        for kernel in of_file:
            kernel["bundle"] = bundle


def run_rows(comparisons):
    path = f"{WORK}/comparisons.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"seconds": SECONDS, "loads": 1, "comparisons": comparisons}, file)
    result = subprocess.run(["./gpu/compare_rows", path, "--device", os.environ.get("DEVICE", "cuda:0"),
        "--cache-dir", os.environ.get("CACHE", "session-cache"), "--path", os.environ.get("TEMPLATES", ".")],
        capture_output=True, text=True, check=False)
    try:
        return json.loads(result.stdout)
    except ValueError:
        sys.exit(f"compare_rows ended with {result.returncode}: {result.stdout[-1000:]}{result.stderr[-2000:]}")


class Watch(threading.Thread):
    """Reads clock (MHz) and power (W) every few milliseconds until it is told to stop."""

    def __init__(self):
        super().__init__()
        self.library, self.handle, self.readings, self.is_over = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p(), [], False
        self.library.nvmlInit_v2()
        index = int(os.environ.get("DEVICE", "cuda:0").partition(":")[2] or 0)
        self.library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(self.handle))

    def run(self):
        clock, milliwatts = ctypes.c_uint(), ctypes.c_uint()
        while not self.is_over:
            self.library.nvmlDeviceGetClockInfo(self.handle, 1, ctypes.byref(clock))
            self.library.nvmlDeviceGetPowerUsage(self.handle, ctypes.byref(milliwatts))
            self.readings.append((time.time(), clock.value, milliwatts.value / 1e3))
            time.sleep(0.005)


def timed_with_clocks(comparisons):
    """Our answers, and what the card was at while each was timed."""
    watch = Watch()
    watch.start()
    answer = run_rows(comparisons)
    watch.is_over = True
    watch.join()
    for one in answer["comparisons"]:
        begin = one["from_s"] + CLOCK_READ_FROM * (one["to_s"] - one["from_s"])
        there = [(clock, power) for at, clock, power in watch.readings if begin <= at <= one["to_s"]]
        one["clock_mhz"], one["power_w"] = (statistics.fmean(values) for values in zip(*there)) if there else (0, 0)
    return answer


# ---- single launches, in a process of their own ----
class Cuda:
    """The driver, with a context; calls that fail end the process."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        context, device = ctypes.c_void_p(), ctypes.c_int()
        self("cuInit", 0)
        self("cuDeviceGet", ctypes.byref(device), int(os.environ.get("DEVICE", "cuda:0").partition(":")[2] or 0))
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def __call__(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        if result:
            sys.exit(f"{name}: error {result}")

    def allocate(self, size):
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def event(self):
        event = ctypes.c_void_p()
        self("cuEventCreate", ctypes.byref(event), 0)
        return event


def random_block(dtype):
    """BLOCK_BYTES of random elements in [-1, 1]."""
    chance = random.Random(1)
    if dtype == "fp8_e4m3":  # 0x38 is 1
        values = bytes(chance.randrange(0x39) | chance.randrange(2) << 7 for _ in range(BLOCK_BYTES))
    else:
        width = 2 if dtype in ("bf16", "fp16") else 4
        floats = [chance.uniform(-1, 1) for _ in range(BLOCK_BYTES // width)]
        values = struct.pack(f"<{len(floats)}{'e' if dtype == 'fp16' else 'f'}", *floats)
        if dtype == "bf16":  # the upper half of each
            upper = bytearray(BLOCK_BYTES)
            upper[0::2], upper[1::2] = values[2::4], values[3::4]
            values = bytes(upper)
    return values


def bind_sets(cuda, kernel, entry, block):
    """The kernel on so many sets of tensors that together they exceed the L2; and what was allocated."""
    total = sum(entry.tensors.values())
    runs, addresses, loaded = [], [], entry.load()
    for _ in range(max(1, min(SETS_MAX, math.ceil(SET_BYTES / total)))):
        tensors = {name: cuda.allocate(max(size, 256)) for name, size in entry.tensors.items()}
        for name, size in entry.tensors.items():
            for at in range(0, size, BLOCK_BYTES):
                cuda("cuMemcpyHtoD_v2", ctypes.c_uint64(tensors[name] + at), block,
                    ctypes.c_size_t(min(BLOCK_BYTES, size - at)))
        addresses += tensors.values()
        runs.append(loaded.bind(tensors))
    return runs, addresses


def launch_kernel(cuda, runs, events, pause):
    """The time in microseconds of each launch that counts, by events."""
    times_us = []
    for _ in range(2):
        for run in runs:
            run.launch()
    cuda("cuStreamSynchronize", None)
    for _ in range(LAUNCHES):
        if pause:
            time.sleep(max(PAUSE_S, PAUSE_TIMES * 1e-6 * len(runs) * statistics.median(times_us) if times_us else 0))
        for run in runs[:-1] or runs:
            run.launch()
        if not pause:
            cuda("cuStreamSynchronize", None)
            cuda("cuProfilerStart")
        cuda("cuEventRecord", events[0], None)
        runs[-1].launch()
        cuda("cuEventRecord", events[1], None)
        cuda("cuStreamSynchronize", None)
        if not pause:
            cuda("cuProfilerStop")
        elapsed_ms = ctypes.c_float()
        cuda("cuEventElapsedTime_v2", ctypes.byref(elapsed_ms), *events)
        times_us.append(elapsed_ms.value * 1e3)
    return times_us


def launch_all(path, pause):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/python"))
    import tiletune.launch  # pylint: disable=import-outside-toplevel
    with open(path, encoding="utf-8") as file:
        kernels = json.load(file)
    cuda = Cuda()
    library = tiletune.launch.Library(os.path.abspath(os.environ.get("LIBRARY", "gpu/libtiletune_launch.so")))
    bundles, blocks, answer = {}, {}, []
    events = [cuda.event(), cuda.event()]
    for kernel in kernels:
        dtype = kernel["problem"].get("dtype", "fp32")
        if dtype not in blocks:
            blocks[dtype] = random_block(dtype)
        if kernel["bundle"] not in bundles:
            bundles[kernel["bundle"]] = library.open(kernel["bundle"])
        entry = bundles[kernel["bundle"]].find(kernel["operation"], problem_text(kernel))
        runs, addresses = bind_sets(cuda, kernel, entry, blocks[dtype])
        answer.append(launch_kernel(cuda, runs, events, pause))
        del runs
        for address in addresses:
            cuda("cuMemFree_v2", ctypes.c_uint64(address))
    print(json.dumps(answer))


def launch_apart(kernels, *before):
    path = f"{WORK}/kernels.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(kernels, file)
    done = subprocess.run([*before, sys.executable, os.path.abspath(__file__), "launch", path, "" if before else "pause"],
        capture_output=True, text=True, check=False)
    if done.returncode or "[" not in done.stdout:
        sys.exit(f"launching ended with {done.returncode}: {done.stdout[-1000:]}{done.stderr[-2000:]}")
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("[[")))


def under_ncu(kernels):
    """Of each kernel [(microseconds, cycles)] of its launches."""
    log = f"{WORK}/ncu.csv"
    launch_apart(kernels, os.environ.get("NCU", "ncu"), "--clock-control", "none", "--cache-control", "none",
        "--profile-from-start", "off", "--metrics", f"{DURATION},{CYCLES}", "--page", "raw", "--print-units", "base",
        "--csv", "--log-file", log)
    with open(log, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if line.startswith('"')))[1:]  # the first one has the units
    expected = [kernel["entry"] for kernel in kernels for _ in range(LAUNCHES)]
    found = [row["Kernel Name"].split("(")[0] for row in rows]
    if found != expected:
        sys.exit(f"{log}: expected {len(expected)} launches of {expected[:1]}..., found {len(found)}: {sorted(set(found))}")
    values = [tuple(float(row[name].replace(",", "")) for name in (DURATION, CYCLES)) for row in rows]
    return [[(ns / 1e3, cycles) for ns, cycles in values[i:i + LAUNCHES]] for i in range(0, len(values), LAUNCHES)]


def compared(one, launches, apart_us):
    ours_us, clock_mhz = one["rows"][0]["time_us"], one["clock_mhz"]
    ncu_us = statistics.median(us for us, _ in launches)
    ncu_mhz = statistics.median(cycles / us for us, cycles in launches)
    times = {"": ours_us, "_at_ncu_clock": ours_us * clock_mhz / ncu_mhz, "_apart": statistics.median(apart_us)}
    row = {"operation": one["operation"], "problem": one["problem"], "family": one["rows"][0]["family"],
        "configuration": one["rows"][0]["configuration"], "time_us": ours_us, "clock_mhz": round(clock_mhz, 1),
        "power_w": round(one["power_w"], 1), "at_ncu_clock_us": round(times["_at_ncu_clock"], 3),
        "apart_us": times["_apart"], "ncu_us": ncu_us, "ncu_low_us": min(us for us, _ in launches),
        "ncu_high_us": max(us for us, _ in launches), "ncu_mhz": round(ncu_mhz, 1), "ncu_launches": len(launches)}
    for name, us in times.items():
        row["within" + name] = abs(us - ncu_us) <= max(ALLOWED_RATIO * ncu_us, ALLOWED_US)
    return row


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "launch":
        return launch_all(sys.argv[2], bool(sys.argv[3]))
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    os.makedirs(WORK, exist_ok=True)
    kernels = chosen(winners(sys.argv[2:]))
    make_bundles(kernels)
    answer = timed_with_clocks(kernels)
    apart = launch_apart(kernels)
    profiled = under_ncu(kernels)
    rows = []
    for one, launches, apart_us in zip(answer["comparisons"], profiled, apart):
        wrong = one.get("error") or one["rows"][0].get("wrong")
        if wrong:
            print(f"{one['problem']}: {wrong}")
            continue
        row = compared(one, launches, apart_us)
        rows.append(row)
        print(f"{row['time_us']:9.2f} us at {row['clock_mhz']:4.0f} MHz {row['power_w']:3.0f} W, ncu {row['ncu_us']:9.2f} "
            f"({row['ncu_low_us']:.2f} to {row['ncu_high_us']:.2f}) at {row['ncu_mhz']:4.0f} MHz; over ncu "
            f"{row['time_us'] / row['ncu_us']:.3f}{' ' if row['within'] else '!'}, at its clock "
            f"{row['at_ncu_clock_us'] / row['ncu_us']:.3f}{' ' if row['within_at_ncu_clock'] else '!'}, apart "
            f"{row['apart_us'] / row['ncu_us']:.3f}{' ' if row['within_apart'] else '!'}  "
            f"{row['family']} {row['problem'].split(',b_')[0]}", flush=True)
    print(f"{len(rows)} kernels; within {ALLOWED_RATIO:.0%} or {ALLOWED_US} us of ncu: {sum(row['within'] for row in rows)}, at "
        f"ncu's clock {sum(row['within_at_ncu_clock'] for row in rows)}, apart {sum(row['within_apart'] for row in rows)}")
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"format": "tiletune.durations/1", "device": answer["device"], "run": answer["run"],
            "allowed": {"ratio": ALLOWED_RATIO, "us": ALLOWED_US}, "kernels": rows}, file, indent="	")
        file.write("\n")
    return None


if __name__ == "__main__":
    main()
