"""Every command on the pages below works literally, and the CI files are valid YAML.

Commands that need no GPU run in a scratch folder where tuned.json is a small tuned file. Searches use the device model, the smallest
effort and one or two families; sweeps use 32 times the step. For commands with placeholders (OPERATION, FILE, ...) only the options
must exist. README's own kernel is tuned as by a reader, and its files, answers and programs must be those of README.

	readme.py OUT    OUT/tiletune is the binary"""
import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import yaml

RELEASE = "configs/ci/github-release.yml"
CI = ("configs/ci/github-actions.yml", "configs/ci/gitlab-ci.yml")
PAGES = ("README.md", "results/README.md", "results/nvidia-h200/README.md", *CI)
SMALL = "results/nvidia-h200/exhaustive.json"
ROOT = os.getcwd()
BINARY = os.path.abspath(sys.argv[1] + "/tiletune")
CACHE = os.path.abspath(os.environ.get("TEST_BUILD", "build") + "/test-cache")
COMMAND = re.compile(r"(?:`|^ {4}.*?)(?<!-C )(?:env/bin/|build/)?tiletune ([a-z]+(?: [^`\n]*)?)`?", re.M)
TABLE = re.compile(r"^\| `([a-z]+ [^`]*)`", re.M)  # a row of the list of commands
MODEL = ["--device", "model:h200-sxm"]
with open("README.md", encoding="utf-8") as home:
	README = home.read()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.M | re.S)
failures = []


def check_sentences():
	"""README's sentences have at most 30 words."""
	prose = re.sub(r"^```\w.*?^```$", "", README, flags=re.M | re.S)
	prose = re.sub(r"^( {4}|[|!#]).*$", "", prose, flags=re.M)
	for sentence in re.split(r"(?<=[.:!?])\s+|\n\s*\n|^- ", prose, flags=re.M):
		if len(sentence.split()) > 30:
			failures.append(f"README.md: expected at most 30 words, found {len(sentence.split())}: {sentence}")


def commands():
	for page in PAGES:
		with open(page, encoding="utf-8") as file:
			text = file.read()
		for match in [*COMMAND.finditer(text), *TABLE.finditer(text)]:
			words = shlex.split(match.group(1), comments=True)
			yield page, [word for word in words if word != "|"]


def tiletune(*arguments, folder=ROOT):
	environment = dict(os.environ, TILETUNE_PATH=ROOT, XDG_CACHE_HOME=CACHE,
		GITHUB_STEP_SUMMARY="summary.md")
	arguments = [os.path.expandvars(word.replace("$GITHUB_STEP_SUMMARY", "summary.md")) for word in arguments]
	return subprocess.run([BINARY, *arguments], cwd=folder, env=environment, capture_output=True, text=True)


def without_gpu(words):
	"""Returns the command in a form that runs without a GPU."""
	if words[0] in ("tune", "explain", "advise", "check") and "--device" not in words:
		words = words + MODEL
	if words[0] in ("tune", "advise") and "--family" not in words and not words[1].endswith(".json"):
		words = words + ["--family", "wgmma", *([] if "--suite" in words else ["--family", "wgmma_repack"])]
	words = [re.sub(r"^(M=N=K=\d+:\d+:)(\d+)", lambda found: f"{found.group(1)}{32 * int(found.group(2))}", word) for word in words]
	if words[0] == "tune" and "-o" not in words:  # tuned.json must be a measured file
		words = words + ["-o", "predicted.json"]
	if words[0] == "tune" and "--suite" in words:
		words = words + ["--dry-run"]
	elif words[0] == "tune" and "replay:" not in " ".join(words):
		words = words + ["--effort", "estimate"]
	elif words[0] == "report":  # replaced, so that the command reads only the small file
		words = [word.replace("results/nvidia-h200/tuned.json", "tuned.json") for word in words]
	return words


def check_options(page, words):
	known = tiletune("help", words[0])
	if known.returncode:
		failures.append(f"{page}: tiletune {words[0]}: there is no such command")
	for option in (word for word in words if word.startswith("--")):
		if option not in known.stdout:
			failures.append(f"{page}: tiletune {' '.join(words)}: {words[0]} has no option {option}")


def block(language):
	return next(text for name, text in BLOCKS if name == language)


def write(folder, name, text):
	with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
		file.write(text)


def expect_lines(what, shown, found):
	"""All lines that README shows occur literally in the output."""
	for line in filter(None, map(str.strip, shown)):
		if line not in found:
			failures.append(f"README.md: {what}: expected {line}, found {found}")


def expect_output(what, words, folder, expected):
	environment = dict(os.environ, TILETUNE=BINARY, TILETUNE_PATH=ROOT, PYTHONPATH=os.path.join(ROOT, "src/python"), PYTHONDONTWRITEBYTECODE="1")
	result = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
	if result.returncode or expected not in result.stdout + result.stderr:
		failures.append(f"README.md: {what}: expected {expected}, found {result.stdout}{result.stderr}")


def tune_own_kernel(folder):
	"""Follows the first steps of a reader: tune README's kernel, use the result in C, Python and CMake, find a regression."""
	kernel = block("cuda")
	write(folder, "vector_add.cu", kernel)
	write(folder, "vector_add.json", block("json"))
	command, shown = re.search(r"^    \$ tiletune (tune vector_add.json .*)\n((?: {4}.*\n)+)", README, re.M).groups()
	expect_lines(command, shown.splitlines(), tiletune(*command.split(), folder=folder).stdout)
	for name in ("c-header -o tuned.h", "cmake -o tuned.cmake"):
		tiletune("export", "tuned.json", "--format", *name.split(), folder=folder)
	include, use = block("c").split("\n", 1)
	write(folder, "main.c", f"#include <stdio.h>\n{include}\nint main(void)\n{{\n{use}return !launch;\n}}\n")
	expect_output("C", ["sh", "-c", "cc -Wall -Werror -o main main.c && ./main"], folder, "-Dblock_size_x=64")
	triton, use = (text for name, text in BLOCKS if name == "python")
	compile(triton, "README.md", "exec")
	write(folder, "use.py", use)
	expect_output("Python", ["/usr/bin/python3", "use.py"], folder, "{'block_size_x': 64} exact [15625, 1, 1]")
	write(folder, "CMakeLists.txt", f"cmake_minimum_required(VERSION 3.19)\nproject(reader C)\nset_source_files_properties(vector_add.cu PROPERTIES LANGUAGE C)\n{block('cmake')}"
		"message(\"found ${TUNED_DEFINES}\")\n")
	expect_output("CMake", ["cmake", "-S", ".", "-B", "cmake"], folder, "found block_size_x=64")
	write(folder, "vector_add.cu", kernel.replace("{\n", "{\n    __shared__ volatile float waste[8192]; waste[threadIdx.x] = n;\n", 1))
	checked = tiletune("check", "tuned.json", "vector_add.json", *MODEL, folder=folder)
	expect_lines("check", re.search(r"^(    slower .*\n.*\n)", README, re.M).group(1).splitlines(), checked.stdout)
	if checked.returncode != 3:
		failures.append(f"README.md: check: expected exit code 3, found {checked.returncode}")
	write(folder, "vector_add.cu", kernel)
	return os.path.join(folder, "tuned.json")


def run(page, words, folder):
	result = tiletune(*without_gpu(words), folder=folder)
	if result.returncode:
		failures.append(f"{page}: tiletune {' '.join(words)}: exit {result.returncode}: {result.stderr[-400:]}")


for name in CI:
	with open(name, encoding="utf-8") as file:
		jobs = yaml.safe_load(file)
	if not isinstance(jobs, dict):
		failures.append(f"{name}: expected a mapping of jobs")
# the release workflow: its steps are valid shell, its make targets exist, and it rejects a tag of another version
with open(RELEASE, encoding="utf-8") as file:
	steps = [step["run"] for job in yaml.safe_load(file)["jobs"].values() for step in job["steps"] if "run" in step]
version = re.search(r"^VERSION *:= *(\S+)", open("Makefile", encoding="utf-8").read(), re.M).group(1)
for step in steps:
	if subprocess.run(["bash", "-n", "-c", step], check=False).returncode:
		failures.append(f"{RELEASE}: expected a step in bash, found {step}")
	if step.startswith("make ") and subprocess.run(["make", "-n", "-o", "packages", "-o", "packages-test", *step.split()[1:2]], capture_output=True,
			check=False, env={**os.environ, "MAKEFLAGS": ""}).returncode:
		failures.append(f"{RELEASE}: expected a target of the Makefile, found {step}")
	for tag in (version, version + "1") if "GITHUB_REF_NAME" in step else ():
		code = subprocess.run(["bash", "-c", step], check=False, env={**os.environ, "GITHUB_REF_NAME": "v" + tag}).returncode
		if (code == 0) != (tag == version):
			failures.append(f"{RELEASE}: {step}: expected {'success' if tag == version else 'failure'} for v{tag}, found exit code {code}")
check_sentences()
seen = 0
ran = set()
with tempfile.TemporaryDirectory() as folder:
	os.symlink(os.path.join(ROOT, "results"), os.path.join(folder, "results"))
	own = shutil.copy(tune_own_kernel(folder), os.path.join(folder, "own.json"))
	for page, words in commands():
		seen += 1
		check_options(page, words)
		shutil.copy(own if page == "README.md" else SMALL, os.path.join(folder, "tuned.json"))
		if words[0] == "new":  # `new` does not replace a file
			os.remove(os.path.join(folder, words[words.index("-o") + 1]))
		else:
			write(folder, "vector_add.json", block("json"))
		placeholder = any(re.search(r"\b[A-Z]{4,}\b|\.\.\.", word.replace("CLUSTER", "")) for word in words)
		if len(words) > 1 and not placeholder and words[0] != "validate" and tuple(words) not in ran:
			run(page, words, folder)
			ran.add(tuple(words))
	# the table of a tuned file, with a line for each entry
	shutil.copy(SMALL, os.path.join(folder, "tuned.json"))
	line = re.search(r"^    \$ (jq .* tuned.json)$", README, re.M)
	table = subprocess.run(["sh", "-c", line.group(1)], cwd=folder, capture_output=True, text=True, check=True).stdout
	with open(SMALL, encoding="utf-8") as file:
		entries = json.load(file)["entries"]
	rows = list(csv.reader(table.splitlines()))
	expected = [[entry["operation"], entry["problem"], entry["winner"]["family"], entry["winner"]["configuration"],
		entry["winner"]["time_us"]["median"]] for entry in entries]
	if [[row[0], json.loads(row[1]), row[2], json.loads(row[3]), float(row[4])] for row in rows] != expected:
		failures.append(f"README.md: {line.group(1)}: expected a row for each entry, found {rows}")
if seen < 10:
	failures.append(f"expected many commands in {PAGES}, found {seen}")
print(f"{seen} commands")
print("\n".join(failures))
sys.exit(1 if failures else 0)
