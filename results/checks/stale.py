#!/usr/bin/python3
"""README's tables name the commit of their kernels: a row has a star if today's sources make other kernels, and
results/nvidia-h200/README.md lists the commits of every tuned file behind a row.

	results/checks/stale.py OUT [--write]	OUT: the folder with the binary; --write updates the list and the stars"""
import gzip
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

OUT, FOLDER = sys.argv[1], "results/nvidia-h200"
PAGE = f"{FOLDER}/README.md"
FILES = {  # a row in README's table begins with its tuned file
	"bf16, aligned": "tuned.json", "bf16, drawn": "plain_drawn.json.gz", "fp8 (e4m3), fast": "tuned.json", "fp16, [CUDA-L2's": "thousand.json.gz",
	"attention, forward": "attention.json", "decoding": "decode.json",
}
LINKED = ["../nvidia-h100/scoreboard.json.gz", "attention_drawn.json"]  # files behind rows of the pages that README links


def load(name: str) -> dict:
	with (gzip.open if name.endswith(".gz") else open)(f"{FOLDER}/{name}", "rt", encoding="utf-8") as file:
		return json.load(file)


def is_stale(name: str, entry: dict) -> bool:
	problem = ",".join(f"{key}={value}" for key, value in entry["problem"].items())
	done = subprocess.run([f"{OUT}/tiletune", "lookup", f"{FOLDER}/{name}", entry["operation"], "-p", problem, "--device", "model:h100-sxm" if "h100" in name else "model:h200-sxm", "--quick"],
		capture_output=True, text=True, check=False, env=dict(os.environ, TILETUNE_PATH="."))
	assert done.returncode == 0 and "exact" in done.stdout, (problem, done)
	return "other sources" in done.stdout


def judge(name: str) -> tuple[list[str], int, int]:
	"""Returns the commits of the winners' runs, the number of sampled entries whose kernels changed, and the size of the sample."""
	tuned = load(name)
	commits = {run["id"]: run["tiletune"]["commit"][:7] for run in tuned["runs"]}
	used = sorted({commits[entry["winner"].get("run", entry["run"])] for entry in tuned["entries"]})
	sample = tuned["entries"][:: 1 + len(tuned["entries"]) // 12]
	with ThreadPoolExecutor(2) as pool:
		return used, sum(pool.map(lambda entry: is_stale(name, entry), sample)), len(sample)


with open("README.md", encoding="utf-8") as file:
	home = file.read()
with open(PAGE, encoding="utf-8") as file:
	page = file.read()
verdicts = {name: judge(name) for name in dict.fromkeys([*FILES.values(), *LINKED])}
bad = []
for start, name in FILES.items():
	label = next(line.split("|")[1] for line in home.splitlines() if line.startswith(f"| {start}"))
	is_starred, stale = " * " in label, verdicts[name][1] > 0
	if is_starred != stale and "--write" in sys.argv:
		home = home.replace(f"|{label}|", f"|{label.rstrip()} * |" if stale else f"|{label.replace(' * ', ' ')}|")
	elif is_starred != stale:
		bad.append(f"README.md: {label.strip()}: expected {'a' if verdicts[name][1] else 'no'} star: {verdicts[name][1]} of {verdicts[name][2]} winners of {name} that were looked at have other kernels than today's")
lines = ["| tuned file | commits of its runs | its kernels are those that ship |", "|---|---|---|"]
lines += [f"| [{name}]({name}) | {', '.join(commits)} | {'no' if stale else 'yes'} |" for name, (commits, stale, _) in verdicts.items()]
table = "\n".join(lines)
if "--write" in sys.argv:
	page = re.sub(r"\| tuned file \|[^\n]*\n(?:\|[^\n]*\n)+", table + "\n", page)
	for path, text in ((PAGE, page), ("README.md", home)):
		with open(path, "w", encoding="utf-8") as file:
			file.write(text)
if table not in page:
	bad.append(f"{PAGE}: expected this table (results/checks/stale.py {OUT} --write):\n{table}")
print("\n".join(bad) or table)
sys.exit(bool(bad))
