#!/usr/bin/python3
"""Applies each mutant of mutate.py, and runs the fast tests that may detect it until one fails.

	tests/mutants/run.py [--jobs N] [--only GROUP] [--match TEXT] [--fresh]

Works in build/mutants: results.json has a line per mutant, which is not run again (unless the mutant changed, or with --fresh);
report.md lists survivors. Needs the programs of `make test`."""
import argparse
import functools
import glob
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import coverage  # noqa: E402
import mutate  # noqa: E402

ROOT = os.getcwd()
WORK = os.path.join(ROOT, "build/mutants")
RELEASE = "build/release"
SECONDS_PER_MUTANT = 40  # processor time, so that a busy machine does not end a test
SLOW = ("interrupt",)  # tests that wait
# killed processes write no coverage data
WORKERS = {"measure": ("unit test_device_", "cli check_gpu", "cli objective", "cli own_data"), "driver": ("unit test_device_",), "compile": ("unit test_compiler",), "process": ("unit test_device_", "unit test_compiler")}
LAUNCHER = ["unit test_launch", "fuzz fuzz_bundle", "check launch.py"]
PYTHON = {"learn.py": ["check learn.py"]}  # only modules of src/python; the other folders have tests/python


def shell(command, **options):
	return subprocess.run(command, shell=True, check=True, capture_output=True, text=True, **options).stdout


# ---- tests ----
@functools.cache
def tests():
	"""Returns the command of each test, for a folder with the checkout's layout."""
	found = {}
	for path in sorted(glob.glob("tests/unit/test_*.c")):
		name = os.path.basename(path)[:-2]
		found["unit " + name] = [f"{RELEASE}/tests/unit", name[len("test_") :]]
	for path in sorted(glob.glob("tests/fuzz/fuzz_*.c")):
		name = os.path.basename(path)[:-2]
		found["fuzz " + name] = [f"{RELEASE}/tests/{name}", "tests/fuzz/corpus/" + name[len("fuzz_") :]]
	for path in sorted(glob.glob("tests/rules/test_*.py")):
		found["rules " + os.path.basename(path)[len("test_") : -len(".py")]] = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", "tests/rules", path]
	for path in sorted(glob.glob("tests/cli/*.session")):
		found["cli " + os.path.basename(path).removesuffix(".session")] = [sys.executable, "tests/cli/session.py", path]
	for name in ("recomputed.py", "kernels.py", "tolerances.py", "grids.py", "scores.py", "launch.py", "export.py", "errors.py", "check_walk.py", "learn.py", "python.py"):
		found["check " + name] = [sys.executable, "tests/checks/" + name, RELEASE]
	return {name: call for name, call in found.items() if not any(word in name for word in SLOW)}


def test_objects(kind, test):
	"""Returns the objects linked into a test program. All unit tests are one program, and so are all rules."""
	if kind == "fuzz":
		return [f"{RELEASE}/tests/{test}.o", f"{RELEASE}/tests/fuzz_replay.o"]
	sources = [os.path.basename(path) for path in sorted(glob.glob(f"tests/{kind}/*.c"))]
	return [f"{RELEASE}/tests/{name[:-2]}.o" for name in sources]


def environment(build, more):
	names = {"TEST_OUT": build, "TEST_BUILD": os.path.dirname(build), "TEST_SIZE": "quick", "JOBS": "1", "LC_ALL": "C", "TILETUNE_LEARNED": "none", "PYTHONDONTWRITEBYTECODE": "1"}
	return {**os.environ, **names, **more}


spent = threading.local()  # processor seconds of a lane's tests


def execute(call, folder, seconds, more=None):
	"""Returns whether the command succeeds."""
	process = subprocess.Popen(call, cwd=folder, env=environment(RELEASE, {"XDG_CACHE_HOME": folder + "/build/test-cache", **(more or {})}), stdin=subprocess.DEVNULL,
		stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
	until, usage = time.time() + seconds, None
	while usage is None:
		time.sleep(0.01)
		done, status, used = os.wait4(process.pid, os.WNOHANG)
		if done:
			usage = used
		elif time.time() > until:
			os.killpg(process.pid, signal.SIGKILL)
			_, status, usage = os.wait4(process.pid, 0)
	try:  # kill the processes that it left running
		os.killpg(process.pid, signal.SIGKILL)
	except ProcessLookupError:
		pass
	process.returncode = status
	spent.seconds = getattr(spent, "seconds", 0) + usage.ru_utime + usage.ru_stime
	return status == 0


# ---- a folder with the layout of the checkout ----
COPIED = ("src/launch", "src/python")  # tests read these files in place, so that mutants overwrite the copies


def lane_make(name, build):
	"""Copies the files that tests read, links to the build, and puts the mutants' binary and programs next to them."""
	lane = os.path.join(WORK, name)
	shutil.rmtree(lane, ignore_errors=True)
	os.makedirs(lane + "/" + RELEASE + "/tests")
	for part in ("templates", "configs", "tests"):
		shutil.copytree(part, os.path.join(lane, part), symlinks=True)
	os.mkdir(lane + "/src")
	for part in ("results", "Makefile", "README.md", *glob.glob("src/*")):
		if part not in COPIED:
			os.symlink(os.path.join(ROOT, part), os.path.join(lane, part))
	for part in COPIED:
		shutil.copytree(part, os.path.join(lane, part))
	for path in glob.glob(build + "/*"):
		if os.path.basename(path) == "tiletune":
			os.link(path, os.path.join(lane, RELEASE, "tiletune"))  # the program searches templates next to itself
		elif os.path.basename(path) in ("include", "gpu"):
			shutil.copytree(path, os.path.join(lane, RELEASE, os.path.basename(path)), symlinks=True, ignore=shutil.ignore_patterns("obj", "versus*", "gpu_*"), copy_function=os.link)
		elif os.path.basename(path) != "tests":
			os.symlink(os.path.join(ROOT, path), os.path.join(lane, RELEASE, os.path.basename(path)))
	for path in glob.glob(build + "/tests/*"):
		if os.access(path, os.X_OK) and not os.path.isdir(path):
			os.symlink(os.path.join(ROOT, path), os.path.join(lane, RELEASE, "tests", os.path.basename(path)))
	os.symlink("release/tiletune", lane + "/build/tiletune")
	if build != RELEASE:  # programs know their build folder
		os.makedirs(os.path.dirname(os.path.join(lane, build)), exist_ok=True)
		os.symlink(os.path.join(ROOT, build), os.path.join(lane, build))
		for part in ("templates", "configs"):  # programs there search for them two folders up
			beside = os.path.join(ROOT, os.path.dirname(os.path.dirname(build)), part)
			if not os.path.lexists(beside):
				os.symlink(os.path.join(ROOT, part), beside)
	if os.path.exists("build/test-cache"):
		shutil.copytree("build/test-cache", lane + "/build/test-cache", copy_function=os.link)
	return lane


# ---- functions that each test runs ----
def measure_coverage(fresh):
	"""Returns {test: {"seconds": s, "functions": [...]}}, stored in coverage.json until tests or sources change."""
	path, kept = WORK + "/coverage.json", {}
	if os.path.exists(path) and not fresh:
		with open(path, encoding="utf-8") as file:
			kept = {name: test for name, test in json.load(file).items() if name in tests()}

	def state(name):
		place = [f for f in tests()[name] if f.startswith("tests/") and os.path.isfile(f)] or [f"tests/{name.replace(' ', '/')}.c"]
		return hashlib.sha256((sources + "".join(mutate.read(f) for f in place)).encode()).hexdigest()[:12]
	sources = "".join(mutate.read(f) for f in sorted(glob.glob("src/*/*.[ch]")))  # all functions, and their callers
	missing = [name for name in tests() if kept.get(name, {}).get("state") != state(name)]
	if not missing:
		return kept
	print(f"which of {len(missing)} tests runs which function: building and running with --coverage", flush=True)
	build = "build/mutants/coverage"
	programs = " ".join(f"{build}/release/{p}" for p in
		["tiletune", "tests/kernel_text", *(call[0][len(RELEASE) + 1 :] for name, call in tests().items() if name.split()[0] in ("unit", "fuzz")), "tests/rules",
			*(os.path.relpath(p, RELEASE) for p in glob.glob(RELEASE + "/faults/*")), "include/tiletune_launch.h", "gpu/libtiletune_launch.so"])
	shell(f"make -j2 BUILD={build} CFLAGS='-O0 --coverage' WARNINGS= LDFLAGS=--coverage {programs}")
	lane = lane_make("coverage-lane", build + "/release")
	known = {}

	def one(item):
		name, call = item
		prefix = os.path.join(WORK, "data", name.replace(" ", "-"))
		shutil.rmtree(prefix, ignore_errors=True)
		os.makedirs(prefix)
		start = time.time()
		# compiler processes write their counters, too
		passed = execute(call, lane, 300, {"GCOV_PREFIX": prefix})
		seconds = time.time() - start
		functions = coverage.collect(prefix, os.path.join(ROOT, build, "release"), known)
		shutil.rmtree(prefix, ignore_errors=True)
		kept[name] = {"seconds": round(seconds, 2), "functions": sorted(functions), "passed": passed, "state": state(name)}
		if not passed:
			print(f"{name} fails without any mutant", flush=True)

	with ThreadPoolExecutor(2) as pool:
		list(pool.map(one, [(name, tests()[name]) for name in missing]))
	with open(path, "w", encoding="utf-8") as file:
		json.dump({name: kept[name] for name in tests()}, file)
	return kept


def order(mutant, covered):
	"""Returns the tests that may detect the mutant, ordered by their benefit per second."""
	if mutant.file.startswith("src/launch/"):
		return LAUNCHER
	if mutant.file.startswith("src/python/"):
		return PYTHON.get(os.path.basename(mutant.file), ["check python.py"])
	if mutant.file.startswith("src/"):
		of_file = {t: [f for f in covered[t]["functions"] if f.startswith(mutant.file + ":")] for t in covered}
		names = [t for t in covered if f"{mutant.file}:{mutant.function()}" in of_file[t] and covered[t]["passed"]]
		if not names:  # a constant outside functions
			names = [t for t in covered if of_file[t] and covered[t]["passed"]]
		near, folder = os.path.basename(mutant.file)[:-2], mutant.file.split("/")[1]
		names += [t for t in covered if t not in names and any(word in t for word in WORKERS.get(folder, ()))]
		return sorted(names, key=lambda t: (near not in t, covered[t]["seconds"]))
	first = ["check tolerances.py", "check grids.py", "check kernels.py", "check scores.py", "unit test_catalogue", "unit test_candidate", "unit test_plan", "unit test_scoring", "unit test_score"]
	cli = sorted((t for t in covered if t.startswith("cli ") and any(w in t for w in ("explain", "dry", "tune", "advise", "help"))), key=lambda t: covered[t]["seconds"])
	return [t for t in first + cli if t in covered and covered[t]["passed"]]


# ---- one mutant ----
class Lane:
	def __init__(self, name):
		self.folder = lane_make(name, RELEASE)
		shell(f"gcc {FLAGS} -c -o {self.folder}/kernel_text.o tests/tools/kernel_text.c")

	def compile(self, mutant, text):
		"""Returns the object with the mistake, or None if it does not compile."""
		path = os.path.join(self.folder, "mutant.c")
		with open(path, "w", encoding="utf-8") as file:
			file.write(text)
		folder = os.path.dirname(mutant.file)
		done = subprocess.run(f"gcc {FLAGS} -Wall -Wextra -Werror -Wconversion -Wno-unused -Wno-format-truncation -Wno-maybe-uninitialized -iquote {folder} -c -o {self.folder}/mutant.o {path}", shell=True, capture_output=True, text=True, check=False)
		return os.path.join(self.folder, "mutant.o") if done.returncode == 0 else None

	def link(self, target, first, libraries):
		path = os.path.join(self.folder, RELEASE, target)
		if os.path.lexists(path):
			os.unlink(path)
		subprocess.run(["gcc", "-o", path, *first, os.path.join(self.folder, "mutant.o"), f"{RELEASE}/gen/version.o", f"{RELEASE}/libtiletune.a", *libraries,
			*LIBS, "-Wl,-rpath,$ORIGIN/lib"], check=True, capture_output=True)

	def restore(self, target):
		path = os.path.join(self.folder, RELEASE, target)
		if os.path.lexists(path):
			os.unlink(path)
		(os.link if target == "tiletune" else os.symlink)(os.path.join(ROOT, RELEASE, target), path)

	def try_source(self, mutant, names, covered):
		text = mutant.apply(mutate.read(mutant.file))
		if self.compile(mutant, text) is None:
			return "no program", None
		changed = []
		try:
			is_main = mutant.file == "src/cli/main.c"
			self.link("tiletune", [] if is_main else [f"{RELEASE}/obj/cli/main.o"], [])
			changed.append("tiletune")
			if any(n.startswith("check") for n in names) and not is_main:
				self.link("tests/kernel_text", [self.folder + "/kernel_text.o"], [])
				changed.append("tests/kernel_text")
			for name in names:
				kind, test = name.split(" ", 1)
				target = "tests/" + (test if kind == "fuzz" else kind)
				if kind in ("unit", "rules", "fuzz") and target not in changed:
					self.link(target, test_objects(kind, test), ["-lcmocka"] if kind == "unit" else [])
					changed.append(target)
				if not execute(tests()[name], self.folder, limit(name, covered)):
					return "caught", name
				yield_time()
			return "survived", None
		except subprocess.CalledProcessError:
			return "no program", None
		except TooLong:
			return "survived", f"after {SECONDS_PER_MUTANT} s"
		finally:
			for target in changed:
				self.restore(target)

	def try_header(self, mutant, names, covered):
		"""Tests a mutant of a header of src/launch: everything that includes the header is rebuilt."""
		path = os.path.join(self.folder, mutant.file)
		made = [f"{RELEASE}/include/tiletune_launch.h", f"{RELEASE}/gpu/libtiletune_launch.so"]
		with open(path, "w", encoding="utf-8") as file:
			file.write(mutant.apply(mutate.read(mutant.file)))
		changed = []
		try:
			for target in made:
				os.unlink(os.path.join(self.folder, target))
			subprocess.run(["make", "-s", "-o", "packages", *made], cwd=self.folder, check=True, capture_output=True)
			for name in names:
				kind, test = name.split(" ", 1)
				if kind in ("unit", "fuzz"):
					flags = FLAGS.replace("-Isrc", f"-I{self.folder}/src -I{ROOT}/src -Itests") + " -Wall -Wextra -Werror -Wconversion"
					shell(f"gcc {flags} {TEST_FLAGS} -c -o {self.folder}/mutant.o tests/{kind}/{test}.c")
					target = "tests/" + (test if kind == "fuzz" else kind)
					others = [path for path in test_objects(kind, test) if not path.endswith(f"/{test}.o")]
					self.link(target, others, ["-lcmocka"] if kind == "unit" else [])
					changed.append(target)
				if not execute(tests()[name], self.folder, limit(name, covered)):
					return "caught", name
			return "survived", None
		except subprocess.CalledProcessError:
			return "no program", None
		finally:
			for target in changed:
				self.restore(target)
			shutil.copy(mutant.file, path)
			for target in made:
				if os.path.exists(os.path.join(self.folder, target)):
					os.unlink(os.path.join(self.folder, target))
				os.link(os.path.join(ROOT, target), os.path.join(self.folder, target))

	def try_text(self, mutant, names, covered):
		"""Tests a mutant of a file that programs read when they run: templates, Python."""
		path = os.path.join(self.folder, mutant.file)
		text = mutate.read(path)
		with open(path, "w", encoding="utf-8") as file:
			file.write(mutant.apply(text))
		try:
			for name in names:
				words = (mutant.family or (mutant.file.split("/")[1] if mutant.file.startswith("templates/") else "")).replace("/", " ").replace("common", "")
				if name in ("check kernels.py", "check tolerances.py") and not has_cases(name, words):
					continue
				call = tests()[name] + ([words] if name in ("check kernels.py", "check grids.py", "check tolerances.py") and words else [])
				if not execute(call, self.folder, limit(name, covered)):
					return "caught", name
				yield_time()
			return "survived", None
		except TooLong:
			return "survived", f"after {SECONDS_PER_MUTANT} s"
		finally:
			with open(path, "w", encoding="utf-8") as file:
				file.write(text)


def limit(name, covered):
	return 30 + 6 * covered[name]["seconds"]


class TooLong(Exception):
	pass


def yield_time():
	if spent.seconds > SECONDS_PER_MUTANT:
		raise TooLong


def has_cases(name, words):
	return "\n" + words in mutate.read("tests/checks/" + name.split()[1])


# ---- all of them ----
def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("--jobs", type=int, default=2)
	parser.add_argument("--only", default="", help="groups whose name holds this: src/base, templates/gemm/mma")
	parser.add_argument("--match", default="", help="mutants whose file and name hold this: src/tune/merge")
	parser.add_argument("--fresh", action="store_true")
	options = parser.parse_args()
	os.makedirs(WORK, exist_ok=True)
	results_path = WORK + "/results.json"
	kept = {}
	if os.path.exists(results_path) and not options.fresh:
		with open(results_path, encoding="utf-8") as file:
			kept = {r["key"]: r for r in map(json.loads, file)}
	state = shell("git rev-parse HEAD:tests && git diff HEAD -- tests | sha256sum")
	# survivors are tried again when the tests have changed
	kept = {key: r for key, r in kept.items() if r["verdict"] != "survived" or r["state"] == state}
	began, why = time.time(), reasons()
	covered = measure_coverage(options.fresh)
	lanes, lock = [Lane(f"lane{i}") for i in range(options.jobs)], threading.Lock()
	queue = [g for g in mutate.drawn(ROOT) if options.only in g[0] and g[1]]
	results, equivalent = [], []

	proven = set()

	def passes(lane, name):
		"""Returns whether the test passes without a mutant. A test that fails cannot detect a mutant."""
		if name not in proven and not execute(tests()[name], lane.folder, limit(name, covered)):
			print(f"{name} fails without any mutant: it is left out", flush=True)
			covered[name]["passed"] = False
		proven.add(name)
		return covered[name]["passed"]

	def judge(lane, group, mutant):
		started, spent.seconds = time.time(), 0
		names = [name for name in order(mutant, covered) if covered[name]["passed"]]
		attempt = lane.try_header if mutant.file.startswith("src/launch/") else lane.try_source if mutant.file.endswith(".c") else lane.try_text
		verdict, by = attempt(mutant, names, covered) if names else ("survived", "no test runs it")
		if verdict == "caught" and not passes(lane, by):
			return judge(lane, group, mutant)
		result = {"key": mutant.key, "mutant": str(mutant), "group": group, "verdict": verdict, "by": by, "state": state, "seconds": round(time.time() - started, 1)}
		with lock:
			print(f"{verdict:10} {mutant}  [{by}] {result['seconds']} s", flush=True)
			kept[mutant.key] = result
			with open(results_path, "w", encoding="utf-8") as file:
				file.write("".join(json.dumps(r) + "\n" for r in kept.values()))
		return result

	def work(lane):
		while True:
			with lock:
				if not queue:
					return
				group, count, mutants = queue.pop(0)
			for mutant in mutants:
				if count == 0:
					break
				if options.match not in str(mutant):
					continue
				if why.get(mutant.key, "").startswith("equivalent:"):
					equivalent.append(mutant)
					continue
				result = kept.get(mutant.key)
				if not result or (result["verdict"] == "caught" and (result["by"] not in tests() or not passes(lane, result["by"]))):
					result = judge(lane, group, mutant)
				if result["verdict"] != "no program":
					count -= 1
					results.append(result)

	threads = [threading.Thread(target=work, args=(lane,)) for lane in lanes]
	for thread in threads:
		thread.start()
	for thread in threads:
		thread.join()
	used = resource.getrusage(resource.RUSAGE_CHILDREN)
	return report(results, len(equivalent), why, f"{time.time() - began:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of CPU")


def reasons():
	"""Reads survivors.txt: each line "KEY why" is a mutant that no test can or should detect."""
	path = os.path.join(mutate.HERE, "survivors.txt")
	lines = mutate.read(path).splitlines() if os.path.exists(path) else []
	return dict(line.split(" ", 1) for line in lines if " " in line and not line.startswith("#"))


def report(results, equivalent, why, took):
	lines = ["| where | mutants | caught |", "|---|---|---|"]
	for group in sorted({r["group"] for r in results}):
		own = [r for r in results if r["group"] == group]
		lines.append(f"| {group} | {len(own)} | {sum(r['verdict'] == 'caught' for r in own)} |")
	unexplained = 0
	for r in results:
		if r["verdict"] == "survived":
			lines.append(f"- {r['mutant']}: {why.get(r['key'], 'NOT IN survivors.txt')}")
			unexplained += r["key"] not in why
	caught = sum(r["verdict"] == "caught" for r in results)
	lines.append(f"{caught} of {len(results)} caught ({100 * caught / max(1, len(results)):.1f}%)")
	lines.append(f"{unexplained} survivors without a reason; {equivalent} equivalent ones were drawn again; {took}")
	text = "\n".join(lines) + "\n"
	with open(WORK + "/report.md", "w", encoding="utf-8") as file:
		file.write(text)
	print("\n" + text, end="")
	return len(results) < 120 or caught < 0.95 * len(results) or unexplained > 0


if __name__ == "__main__":
	made = shell("make -pn 2>/dev/null | grep -E '^(LIBS|CUDA_INCLUDE) := '")
	VALUES = dict(line.split(" := ", 1) for line in made.splitlines())
	LIBS = VALUES["LIBS"].split()
	FLAGS = f"-std=gnu11 -O1 -D_GNU_SOURCE -Isrc -isystem {VALUES['CUDA_INCLUDE']}"
	TEST_FLAGS = f"""-DTEST_DATA='"tests/data"' -DTEST_BUILD='"{RELEASE}"' -DTEST_BINARY='"{RELEASE}/tiletune"'"""
	sys.exit(main())
