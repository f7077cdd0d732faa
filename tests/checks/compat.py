#!/usr/bin/python3
"""Files that an earlier program wrote (tests/data/compat) serve today's commands and consumers.

	tests/checks/compat.py OUT		OUT: the folder with the binary

A journal in a form that is no longer read names the command that converts it, and what that writes is read.
"""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

OUT = os.path.abspath(sys.argv[1])
ROOT = os.getcwd()
DATA = os.path.join(ROOT, "tests/data/compat")
CACHE = os.path.abspath(os.path.join(os.environ.get("TEST_BUILD", "build"), "test-cache"))
MODEL = ("--device", "model:h200-sxm", "--cache-dir", CACHE)
ENVIRONMENT = dict(os.environ, TILETUNE_PATH=f"{ROOT}:{ROOT}/tests/data/replay")


def run(*arguments: str, codes: tuple[int, ...] = (0,), **options: object) -> subprocess.CompletedProcess[str]:
	done = subprocess.run([f"{OUT}/tiletune", *arguments], capture_output=True, text=True, check=False, env=ENVIRONMENT, **options)
	assert done.returncode in codes, (done.returncode, arguments, done.stdout, done.stderr)
	return done


def load(name: str) -> dict:
	with open(os.path.join(DATA, name), encoding="utf-8") as file:
		return json.load(file)


def problem_text(entry: dict) -> str:
	return ",".join(f"{key}={value}" for key, value in entry["problem"].items())


def events(path: str) -> list[dict]:
	with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
		return [json.loads(line) for line in file]


scratch = tempfile.TemporaryDirectory()
os.chdir(scratch.name)
tuned, attention = load("tuned.json"), load("attention.json")

# ---- tuned files: what they hold is what today's commands answer ----
for name, document in ("tuned.json", tuned), ("attention.json", attention):
	assert "ok" in run("validate", f"{DATA}/{name}").stdout
	for entry in document["entries"]:
		answer = run("lookup", f"{DATA}/{name}", entry["operation"], "-p", problem_text(entry), *MODEL[:2], "--json").stdout
		for key, value in entry["winner"]["configuration"].items():
			assert re.search(rf'"{key}":\s*"?{re.escape(str(value))}\b', answer), (name, key, value, answer)
	# compared with today's kernels: a verdict for each, whatever it is
	run("check", f"{DATA}/{name}", *MODEL, "--junit", "junit.xml", codes=(0, 3, 4))
	with open("junit.xml", encoding="utf-8") as file:
		assert file.read().count("<testcase") == len(document["entries"])
run("merge", f"{DATA}/tuned.json", f"{DATA}/attention.json", "-o", "both.json")
with open("both.json", encoding="utf-8") as file:
	both = json.load(file)
found = {(entry["operation"], problem_text(entry)): entry["winner"] for entry in both["entries"]}
for entry in tuned["entries"] + attention["entries"]:
	winner = found.pop((entry["operation"], problem_text(entry)))
	for member in ("family", "configuration", "defines", "time_us", "kernel_hash"):
		assert winner[member] == entry["winner"][member], (member, winner, entry["winner"])
assert not found
run("report", f"{DATA}/tuned.json", f"{DATA}/attention.json", "-o", "both.html")

# ---- journals: replayed to the winner that they name ----
journals = [f"{DATA}/journal.jsonl", f"{DATA}/packed.jsonl.gz"]
done = run("report", f"{DATA}/compact.jsonl", "-o", "compact.html", codes=(0, 1, 2))
if done.returncode == 0:
	journals.append(f"{DATA}/compact.jsonl")
else:  # converted by the command that the message names
	command = re.search(r"`(python3 [^`]*)`", done.stderr)
	assert command, done.stderr
	words = command.group(1).replace("python3", sys.executable, 1).split()
	words = [f"{ROOT}/{word}" if os.path.exists(f"{ROOT}/{word}") else word for word in words]
	subprocess.run(words, check=True, env=dict(ENVIRONMENT, PYTHONPATH=f"{ROOT}/src/python"))
	written = words[words.index("-o") + 1]
	assert [line for line in events(written) if line["event"] == "evaluation"], written
	journals.append(os.path.abspath(written))
entry_line, = (line for line in events(journals[0]) if line["event"] == "entry")
entry = entry_line["entry"]
for number, journal in enumerate(journals):
	run("report", journal, "-o", f"journal{number}.html")
	run("tune", "tile", "-p", "M=1000,N=1000,K=512", "-f", "split", "-d", f"replay:{journal}", "-e", "quick", "-o", f"{number}.json")
	with open(f"{number}.json", encoding="utf-8") as file:
		again, = json.load(file)["entries"]
	assert again["winner"]["configuration"] == entry["winner"]["configuration"], (journal, again["winner"], entry["winner"])

# ---- what other builds hold: a header, a CMake file, a bundle ----
with open("main.c", "w", encoding="utf-8") as file:
	file.write('#include <stdio.h>\n#include "tuned.h"\n'
		"int main(int argc, char **argv)\n{\n\tconst struct tiletune_entry *e = tiletune_find(argv[1], argv[argc - 1]);\n"
		'\treturn e ? printf("%s %u %u", e->family, e->launches[0].grid[0], e->launches[0].block[0]) < 0 : 1;\n}\n')
subprocess.run([os.environ.get("CC", "gcc"), "-Wall", "-Werror", "-I", DATA, "-o", "main", "main.c"], check=True)
with open("find.cmake", "w", encoding="utf-8") as file:
	file.write(f"include({DATA}/tuned.cmake)\n")
	for entry in tuned["entries"]:
		keys = problem_text(entry).replace(",", " ")
		file.write(f'tiletune_find(T {entry["operation"]} {keys})\nlist(GET T_GRID 0 grid)\nlist(GET T_BLOCK 0 block)\n'
			'message(NOTICE "${T_FAMILY} ${grid} ${block}")\n')
cmake = subprocess.run(["cmake", "-P", "find.cmake"], capture_output=True, text=True, check=True).stderr.splitlines()
for entry, said in zip(tuned["entries"], cmake, strict=True):
	launch = entry["winner"]["launches"][0]
	expected = f'{entry["winner"]["family"]} {launch["grid"][0]} {launch["block"][0]}'
	header = subprocess.run(["./main", entry["operation"], problem_text(entry)], capture_output=True, text=True, check=True).stdout
	assert said == header == expected, (said, header, expected)

if "san-" not in os.path.basename(OUT):  # a program that opens the bundle, over the driver's stand-in
	subprocess.run([os.environ.get("CC", "gcc"), "-I", f"{OUT}/include", "-isystem", os.environ.get("CUDA_INCLUDE", "/usr/local/cuda/include"),
		f"{ROOT}/tests/consumers/launch/main.c", f"{OUT}/faults/libcuda.so.1", "-o", "launch"], check=True)
	entry, = (entry for entry in tuned["entries"] if entry["problem"]["M"] == 1792)
	size = 2 * 1792 * 1792  # bytes of a bf16 matrix
	os.mkdir("tensors")
	for name in ("A", "B", "C"):
		with open(f"tensors/{name}", "wb") as file:
			file.write(b"\1" * size)
	with open("script", "w", encoding="utf-8") as file:
		print("log", os.path.abspath("log"), file=file)
	subprocess.run(["./launch", f"{DATA}/tuned.bundle", "gemm", problem_text(entry), "tensors"], check=True,
		env=dict(ENVIRONMENT, LD_LIBRARY_PATH=f"{OUT}/faults", TILETUNE_STANDIN=os.path.abspath("script")))
	launches = [line for line in events("log") if "grid" in line]
	assert [(line["entry"], line["grid"], line["block"]) for line in launches] == \
		[(launch["entry"], launch["grid"], launch["block"]) for launch in entry["winner"]["launches"]], launches

# ---- a learned file ----
assert "ok" in run("validate", f"{DATA}/learned.json").stdout
