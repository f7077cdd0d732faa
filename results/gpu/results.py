#!/usr/bin/python3
"""Makes README's tables on this machine's GPU: tunes suites with quick effort, compares them with cuBLASLt or PyTorch, and writes a
folder for this GPU model, with results.csv, which has the commit and kernels of each table.

	results.py OUT [NAME...]     NAMEs of tables; default: those of README
		--state FILE         state of an earlier part (OUT/state.tar.gz), to continue there
		--limit SECONDS      of this part (560): starts nothing that cannot finish
		--into DIR           also writes tables whose suites are complete to DIR/<card>/; never over those of another card
		--device D           cuda:0; with model:NAME only compiles kernels, into --cache
		--cache DIR          compiled kernels (session-cache)
		--suites DIR         other suites of the same names
		--tune ARGUMENTS     additional arguments of `tiletune tune`, for trying the script out
		--list               only lists the tables

OUT gets results.tar.gz (the files of <card>/), state.tar.gz, log.txt and results.csv. Programs are found in the folders of `make dist
TESTS=1` and of a checkout. A table that this machine cannot make (no spec sheet, cuBLASLt or PyTorch, no applicable family) is
omitted, or tuned without comparison, as the last lines report."""
import argparse
import csv
import gzip
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import time
from glob import glob

# name: suites; restriction of the space for quick effort on Hopper (the rest is larger, not better); library to compare with; file of the
# comparison; seconds reserved for it after the last suite, twice the time on an H200
FLASH = ["-f", "flash_wgmma", "--where", "STAGES == 2 and CLUSTER == 1 and PACK == 0 and OVERLAP in [1, 2] and BN >= 64", "--budget", "1.5s"]
DECODE = ["-f", "decode", "--budget", "4s", "--where", "ROW_TILES == 1 and ROW_WARPS == 1 and Q_REGS == (1 if head_dim <= 128 else 0) and KEY_WARPS >= 2 and BLOCKS_PER_SM == 1"
	" and KEY_WARPS*KEYS in ([64] if head_dim == 256 else ([128] if head_dim == 128 else [256])) and CLUSTER <= 8 and STAGES in [2, 3]"]
TABLES = {
	"tuned": (["bf16_aligned", "bf16_misaligned", "fp8", "fp32"], [], "cublaslt", "versus_cublaslt", 60),
	"plain_drawn": (["bf16_drawn"], [], "cublaslt", "versus_plain_drawn", 30),
	"attention": (["attention"], FLASH, "torch", "versus_attention", 60),
	"attention_drawn": (["attention_drawn"], FLASH, "torch", "versus_attention_drawn", 60),
	"decode": (["decode"], DECODE, "torch", "versus_decode", 60),
	"scoreboard": (["scoreboard"], [], "cublaslt", "versus_scoreboard", 280),
}
ONLY_BY_NAME = {"scoreboard"}
COMPARED = {"scoreboard": ["--picks", "100", "--gaps", "0.15"]}  # additional arguments of the comparison
# the most important tables first; a table is compared once all of its suites are tuned
ORDER = ["bf16_aligned", "bf16_drawn", "bf16_misaligned", "fp8", "fp32", "attention", "decode", "attention_drawn", "scoreboard"]
COLUMNS = ["file", "table", "n", "geometric_mean", "median", "lowest", "below_0.95", "beside", "entries", "commit", "date", "kernels", "uuid", "driver", "nvrtc"]
LEAST = 20  # minimum number of seconds for starting a tuning
NOT_TUNED = (5, 130, -2, -9)  # exit codes: GPU missing or busy, run interrupted
HERE = os.path.dirname(os.path.abspath(__file__))
notes = []


def find(*places):
	return next((os.path.abspath(place) for place in places if os.path.exists(place)), None)


def note(text):
	notes.append(text)
	print(text, flush=True)


def load(path):
	with open(path, encoding="utf-8") as file:
		return json.load(file)


def read_rows(path):
	if not os.path.exists(path):
		return []
	with open(path, encoding="utf-8", newline="") as file:
		return list(csv.DictReader(file))


def write_rows(path, rows):
	with open(path, "w", encoding="utf-8", newline="") as file:
		writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", restval="")
		writer.writeheader()
		writer.writerows(rows)


class Run:
	def __init__(self, options):
		self.options, self.ends = options, time.monotonic() + options.limit
		self.work = os.path.join(options.out, "state")
		os.makedirs(self.work, exist_ok=True)
		self.log = open(os.path.join(options.out, "log.txt"), "a", encoding="utf-8")
		self.tool = find("tiletune", "build/tiletune")
		self.versus = find("gpu/gemm_vs_cublaslt", "build/release/gpu/gemm_vs_cublaslt")
		self.library = find("gpu/libtiletune_launch.so", "build/release/gpu/libtiletune_launch.so")
		if not self.tool:
			sys.exit("expected tiletune or build/tiletune here: in a checkout after `make`, or in the folder of `make dist TESTS=1`")
		self.is_model = options.device.startswith("model:")
		folders = [os.path.abspath("lib"), *glob("/usr/local/cuda*/lib64"), *glob("/opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib"),
			*glob("/usr/local/lib/python3*/*-packages/nvidia/*/lib")]
		some = [f for f in folders if f.endswith("/lib") and "nvidia" not in f or glob(f + "/libcublasLt.so.1?")]
		self.environment = {**os.environ, "LD_LIBRARY_PATH": ":".join([*filter(None, [os.environ.get("LD_LIBRARY_PATH")]), *some])}

	def left(self):
		return self.ends - time.monotonic()

	def command(self, arguments, limit):
		"""Returns the exit code (124 if stopped at the limit) and the output, which is also logged."""
		self.log.write(f"$ {' '.join(arguments)}\n")
		process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment)
		try:
			output, code = process.communicate(timeout=max(1, limit))[0], process.returncode
		except subprocess.TimeoutExpired:
			process.send_signal(signal.SIGINT)  # the journal stays complete, and a later part resumes
			try:
				output = process.communicate(timeout=15)[0]
			except subprocess.TimeoutExpired:
				process.kill()
				output = process.communicate()[0]
			code = 124
		self.log.write(f"{output}[exit {code}]\n")
		self.log.flush()
		return code, output

	def where(self, name):
		return os.path.join(self.work, name)

	def tuned(self, name):
		"""Returns the suites that are completely in the table's file."""
		path = self.where(name + ".tuned")
		if not os.path.exists(path):
			return []
		with open(path, encoding="utf-8") as file:
			return file.read().split()

	def rest(self, name):
		"""Returns the other suites."""
		return [suite for suite in TABLES[name][0] if suite not in self.tuned(name)]

	def is_compared(self, name):
		"""Returns whether the comparison has every entry; its file exists after the first entry."""
		path = self.where(TABLES[name][3] + ".json")
		try:
			return os.path.exists(path) and len(load(path)["entries"]) == len(load(self.where(name + ".json"))["entries"])
		except ValueError:  # writing the file was interrupted
			return False

	def tune(self, name, suite):
		"""Returns False if the time is over."""
		if suite in self.tuned(name):
			return True
		keep = TABLES[name][4] if self.rest(name) == [suite] and not self.is_model else 0
		limit = self.left() - keep
		if limit < LEAST:
			note(f"{name}: {suite}: no time left")
			return False
		arguments = [self.tool, "tune", "--suite", f"{self.options.suites}/{suite}.json", "--effort", "quick", "--device", self.options.device, "--path", ".",
			"--cache-dir", self.options.cache, "--wait", "30s", "-o", self.where(name + ".json"), *(TABLES[name][1] if self.is_hopper else []), *shlex.split(self.options.tune)]
		if self.is_model:
			arguments += ["--compile-only", "--no-journal"]
		code, output = self.command(arguments, limit)
		if code == 124:
			note(f"{name}: {suite}: stopped with the time of this part; the next one goes on")
			return False
		if code in NOT_TUNED:
			note(f"{name}: {suite}: exit {code}; the next part goes on: {(output.strip().splitlines() or [''])[-1][:200]}")
			return False
		if code != 0:
			last = (output.strip().splitlines() or [f"exit {code}"])[-1][:200]
			note(f"{name}: {suite}: exit {code}: {last}")
		# without scores and samples of the search, which are most of the file
		journal = self.where(name + ".journal.jsonl")
		if os.path.exists(journal):
			self.command([sys.executable, os.path.join(HERE, "../../tests/tools/journal_expand.py"), journal, "--thin", "-o", journal], 60)
		said = [*self.tuned(name), suite]
		with open(self.where(name + ".tuned"), "w", encoding="utf-8") as file:
			file.write("\n".join(said) + "\n")
		return True

	def compare(self, name):
		_, _, beside, output, keep = TABLES[name]
		path = self.where(output + ".json")
		if self.is_compared(name) or not os.path.exists(self.where(name + ".json")):
			return
		if self.left() < keep / 2:
			note(f"{name}: not compared: no time left")
			return
		if beside == "cublaslt":
			if not self.versus:
				return note(f"{name}: not compared: gemm_vs_cublaslt is not built")
			arguments = [self.versus, "--path", ".", "--cache-dir", self.options.cache, "--seconds", "0.3", *COMPARED.get(name, []), "-o", path, self.where(name + ".json")]
		else:
			if not self.library or subprocess.run(["python3", "-c", "import torch"], capture_output=True, check=False).returncode:
				return note(f"{name}: not compared: no PyTorch here")
			arguments = ["python3", os.path.join(HERE, "../bench/attention_vs_torch.py"), "--tiletune", self.tool, "--library", self.library,
				"--cache-dir", self.options.cache, "--work", self.where("torch"), "-o", path, self.where(name + ".json")]
		code, output = self.command(arguments, self.left())
		if os.path.exists(path) and not self.is_compared(name):
			note(f"{name}: not compared to the end: exit {code}; the next part compares again")
		elif not os.path.exists(path):
			note(f"{name}: not compared: {output.strip().splitlines()[-1][:160] if output.strip() else code}")
		elif code not in (0, 1):
			note(f"{name}: compared, exit {code}")
		elif "DIFFERS" in output:
			note(f"{name}: a result DIFFERS: see log.txt")

	def device(self):
		"""Returns (name, folder, whether the compute capability is 9.0); reports missing parts."""
		code, output = self.command([self.tool, "devices", "--path", "."], 60)
		line = re.search(rf"^ *{re.escape(self.options.device)} +(.*)", output, re.MULTILINE)
		if code or not line:
			sys.exit(f"expected {self.options.device}; `tiletune devices` says:\n{output[:1500]}")
		name, rest = line.group(1).split(",", 1)
		if not self.is_model and "no sheet" in output[line.end() :].split("\n  cuda:")[0]:
			note(f"{name}: no spec sheet: the model has the default rates of its architecture")
		self.is_hopper = "compute capability 9.0" in rest or "sm_90" in rest
		return name, re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")

	# ---- rows and pages of the results ----
	def row(self, name):
		"""Returns rows of results.csv: one for each group of the comparison, or one for a tuned file by itself."""
		tuned, path = load(self.where(name + ".json")), self.where(TABLES[name][3] + ".json")
		run = tuned["runs"][-1]
		hashes = sorted(entry["winner"].get("kernel_hash", "") for entry in tuned["entries"])
		common = {"file": name, "entries": len(tuned["entries"]), "commit": run["tiletune"]["commit"], "date": run["date"], "uuid": run.get("uuid", ""), "driver": run.get("driver", ""),
			"nvrtc": run.get("nvrtc", ""), "kernels": hashlib.sha256(" ".join(hashes).encode()).hexdigest()[:16]}
		if not self.is_compared(name):
			return [{**common, "table": name}]
		versus = load(path)
		library = f"cuBLASLt {versus['cublaslt']}" if "cublaslt" in versus else f"PyTorch {versus.get('torch')}, cuDNN {versus.get('cudnn')}"
		ratios = [e["ratio"]["median"] for e in versus["entries"] if e.get("ratio")] if "cublaslt" in versus else []
		return [{**common, "table": group["group"], "n": group["entries"], "geometric_mean": round(group["geometric_mean"], 4), "median": round(group["median"], 4),
			"lowest": round(group["lowest"], 4), "below_0.95": sum(r < 0.95 for r in ratios) if group["group"] == "all" and ratios else "", "beside": library} for group in versus["groups"]]

	def files(self, folder):
		"""Writes the files of results/<card>/ to folder; returns the rows of its table."""
		shutil.rmtree(folder, ignore_errors=True)
		os.makedirs(folder)
		rows = []
		for name, (_, _, _, versus, _) in TABLES.items():
			if self.rest(name) or not os.path.exists(self.where(name + ".json")):
				continue
			rows += self.row(name)
			shutil.copy(self.where(name + ".json"), folder)
			if self.is_compared(name):
				shutil.copy(self.where(versus + ".json"), folder)
			journal = self.where(name + ".journal.jsonl")
			if os.path.exists(journal):
				with open(journal, "rb") as source, gzip.open(f"{folder}/{name}.journal.jsonl.gz", "wb") as target:
					shutil.copyfileobj(source, target)
		write_rows(f"{folder}/results.csv", rows)
		return rows

	def pack(self, name, source, place):
		"""Packs OUT/NAME.tar.gz."""
		path = os.path.join(self.options.out, name + ".tar.gz")
		with tarfile.open(path + ".new", "w:gz", compresslevel=6) as tar:
			tar.add(source, place, filter=lambda entry: None if "/torch" in entry.name else entry)
		os.replace(path + ".new", path)


def install(source, into, card, name):
	"""Copies to results/<card>/, unless that folder holds another card's files."""
	target = os.path.join(into, card)
	for path in glob(f"{target}/*.json"):
		device = load(path).get("device")
		found = device.get("name") if isinstance(device, dict) else None
		if found and found != name:
			return note(f"{target}: not written: {path} is of {found}, this is {name}")
	os.makedirs(target, exist_ok=True)
	rows = read_rows(f"{source}/results.csv")
	kept = [row for row in read_rows(f"{target}/results.csv") if row["file"] not in {new["file"] for new in rows}]
	for path in glob(f"{source}/*"):
		shutil.copy(path, target)
		earlier = os.path.join(target, os.path.basename(path) + ".gz")
		if os.path.exists(earlier):  # an earlier copy that was compressed manually
			os.remove(earlier)
	write_rows(f"{target}/results.csv", kept + rows)
	return note(f"wrote {target}")


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("out", nargs="?", default="build/results")
	parser.add_argument("names", nargs="*", metavar="NAME")
	parser.add_argument("--state")
	parser.add_argument("--limit", type=float, default=560)
	parser.add_argument("--into")
	parser.add_argument("--device", default="cuda:0")
	parser.add_argument("--cache", default="session-cache")
	parser.add_argument("--suites", default="configs/suites")
	parser.add_argument("--tune", default="")
	parser.add_argument("--list", action="store_true")
	options = parser.parse_intermixed_args()
	if options.list:
		for name, (suites, _, beside, output, _) in TABLES.items():
			print(f"{name:16} {' '.join(suites)}: beside {beside} in {output}.json")
		return 0
	unknown = set(options.names) - set(TABLES)
	if unknown:
		parser.error(f"expected names of tables ({', '.join(TABLES)}), found {', '.join(sorted(unknown))}")
	os.makedirs(options.out, exist_ok=True)
	if options.state:
		with tarfile.open(options.state) as tar:
			tar.extractall(options.out, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
	run = Run(options)
	name, card = run.device()
	wanted = options.names or [name for name in TABLES if name not in ONLY_BY_NAME]
	for suite in ORDER:
		table = next(table for table in TABLES if suite in TABLES[table][0])
		if table not in wanted:
			continue
		if not run.tune(table, suite):
			break
		if not run.is_model:
			if not run.rest(table):
				run.compare(table)
			run.pack("state", run.work, "state")
	if run.is_model:
		print(f"{sum(len(files) for _, _, files in os.walk(options.cache))} files in {options.cache}")
		return 0
	folder = os.path.join(options.out, "results", card)
	rows = run.files(folder)
	shutil.copy(f"{folder}/results.csv", options.out)
	run.pack("state", run.work, "state")
	run.pack("results", folder, f"results/{card}")
	print(f"\n{'file':16} {'table':32} {'n':>4}  mean    median  lowest")
	for row in rows:
		print(f"{row['file']:16} {row['table']:32} {row.get('n', row['entries']):>4}  " + "  ".join(f"{row[k]:6.3f}" for k in ("geometric_mean", "median", "lowest") if k in row))
	if options.into and rows:
		install(folder, options.into, card, name)
	missing = [table for table in wanted if not run.is_compared(table)]
	print("\n".join([f"left out: {text}" for text in notes if "wrote" not in text] + ([f"not complete: {', '.join(missing)}"] if missing else [])))
	return 0 if not missing else 4


if __name__ == "__main__":
	sys.exit(main())
