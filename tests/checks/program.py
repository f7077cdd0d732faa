#!/usr/bin/python3
"""A program in place of a kernel's source: tune, resume, check, lookup, report; an invalid answer costs one configuration.

	tests/checks/program.py OUT		OUT: the folder with the binary"""
import ast
import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.getcwd()
TILETUNE = os.path.abspath(os.path.join(sys.argv[1], "tiletune"))
ANSWERING = f"{ROOT}/tests/tools/answering_program.py"
ENVIRONMENT = {**os.environ, "TILETUNE_PATH": ROOT, "PYTHONDONTWRITEBYTECODE": "1"}
BMS, BNS = (16, 32, 48, 64), (16, 32, 80, 128)
LEGAL = {(bm, bn) for bm in BMS for bn in BNS if bm <= bn or bm == 48}


def run(*arguments, codes=(0,), **options):
	done = subprocess.run([TILETUNE, *arguments], capture_output=True, text=True, check=False, env=ENVIRONMENT, **options)
	assert done.returncode in codes, (done.returncode, arguments, done.stdout, done.stderr)
	return done


def expect(what, found, expected):
	if found != expected:
		raise AssertionError(f"{what}: expected {expected!r}, found {found!r}")


def kernel(*words, folder=".", **members):
	"""Writes program.json, whose program is started with these arguments."""
	os.makedirs(folder, exist_ok=True)
	with open(f"{folder}/program.json", "w", encoding="ascii") as file:
		json.dump({"format": "tiletune.own_kernel/1", "program": ["/usr/bin/python3", ANSWERING, *words], "keys": {"M": {}, "layout": {"enum": ["nk", "kn"],
			"default": "'nk'"}}, "parameters": {"BM": list(BMS), "BN": list(BNS)}, "constraints": [{"expr": "BM <= BN or BM == 48", "why": "a test"}],
			**members}, file)
	for name in ("asked", "tuned.json", "tuned.journal.jsonl"):
		if os.path.exists(name):
			os.remove(name)


def tune(*arguments, **options):
	return run("tune", "program.json", "-p", "M=64", *arguments, **options)


def asked():
	with open("asked", encoding="ascii") as file:
		return [json.loads(line) if line.startswith("{") else line.strip() for line in file]


def journal(event, name="tuned.journal.jsonl"):
	with open(name, encoding="utf-8") as file:
		return [line for line in map(json.loads, file) if line["event"] == event]


def outcomes():
	return {line["configuration"]: line for line in journal("evaluation")}


def test_whole():
	"""Tests which requests the program receives, and that all outputs contain the results."""
	kernel(folder="sub")
	done = run("tune", "sub/program.json", "-p", "M=64")
	first = done.stderr.splitlines()[0]
	expect("the first line", first, f"starts /usr/bin/python3 {ANSWERING} (in sub)")
	lines = asked()
	expect("its folder", lines[0], f"started {os.path.abspath('sub')}")
	hello = lines[1]
	expect("hello", hello, {"protocol": "tiletune.program/1", "seed": 1, "role": "measure", "id": 1, "request": "hello"})
	measured = [line for line in lines if isinstance(line, dict) and line["request"] == "measure"]
	expect("a problem", measured[0]["jobs"][0]["problem"], {"M": 64, "layout": "nk"})
	expect("the first of each is verified", {(c["BM"], c["BN"]) for line in measured if line["verify"] for c in [line["jobs"][0]["configuration"]]} >= LEGAL, True)
	expect("in turn at the end", max(len(line["jobs"]) for line in measured) > 1, True)
	expect("ids", [line["id"] for line in lines[1:]], list(range(1, len(lines))))
	found = outcomes()
	expect("all are tried", {tuple(int(part.split("=")[1]) for part in name.split(",")) for name in found}, LEGAL)
	with open("tuned.json", encoding="utf-8") as file:
		tuned = json.load(file)
	entry = tuned["entries"][0]
	expect("the winner", (entry["winner"]["configuration"], entry["winner"]["verified_by"], entry["winner"]["time_us"]["median"]),
		({"BM": 48, "BN": 80}, "program", 10))
	expect("the device", (tuned["device"]["name"], tuned["runs"][0]["device"], tuned["runs"][0]["driver"]), ("a processor", "program", "python=3"))
	run("validate", "tuned.json", "tuned.journal.jsonl")
	check = run("check", "tuned.json", "--path", "sub/program.json")
	expect("check says who compared", "verified_by: program" in check.stdout and check.stderr.startswith("starts "), True)
	row = json.loads(run("check", "tuned.json", "--path", "sub/program.json", "--json").stdout)["entries"][0]
	expect("and in JSON", (row["verdict"], row["verified_by"], row["kernel_changed"]), ("same", "program", False))
	run("merge", "tuned.json", "-o", "merged.json")
	run("check", "tuned.json", "--path", "sub/program.json", "--keep-cubins")
	unknown = run("check", "tuned.json", codes=(2,))
	expect("a program that is not found", ('unknown operation "program"' in unknown.stderr, "an own kernel's file" in unknown.stderr), (True, True))


def test_never_started():
	"""Only tune and check start the program."""
	kernel()
	tune()
	os.remove("asked")
	for words in (("validate", "program.json"), ("lookup", "tuned.json", "program", "-p", "M=64"), ("lookup", "tuned.json", "program", "-p", "M=65"),
			("report", "tuned.json", "tuned.journal.jsonl", "-o", "page.html"), ("merge", "tuned.json", "-o", "merged.json"), ("families", "program"),
			("tune", "program.json", "-p", "M=64", "--dry-run"), *(("export", "tuned.json", "--format", name) for name in ("c-header", "make", "cmake"))):
		run(*words, *(() if words[0] in ("validate", "merge", "report") else ("--path", "program.json")))
	for words in (("explain", "program.json", "-p", "M=64"), ("advise", "program.json", "-p", "M=64"), ("tune", "program.json", "-p", "M=64", "--device", "model:h200-sxm"),
			("export", "tuned.json", "--format", "cubin", "-o", "x", "--path", "program.json"), ("export", "tuned.json", "--format", "bundle", "-o", "x", "--path", "program.json")):
		said = run(*words, codes=(1, 2)).stderr
		expect(f"a program is named by {words[0]}", "is a program" in said or "runs a program" in said, True)
	expect("nothing was started", os.path.exists("asked"), False)
	with open("page.html", encoding="utf-8") as file:
		expect("the page says who compared", "verified_by" in file.read(), True)


NONSENSE = {"exit": ("crashed", "the program ended with exit code 3; its last message: a last word"), "hang": ("timed_out", "there was no answer within 0.2 s"),
	"long": ("crashed", "the program sent a line of more than 16777216 bytes"), "no_json": ("crashed", "the program sent an invalid answer"),
	"another_id": ("crashed", "the program answered id"), "another_job": ("crashed", "the program answered job 5 of 1"),
	"no_points": ("crashed", "the program verified 0 points"),
	"unverified": ("crashed", "answered without \"verification\""), "nan": ("crashed", "the program sent an invalid answer"),
	"negative": ("crashed", "$.samples_us[1]: expected a time in microseconds, above 0"), "zero": ("crashed", "$.samples_us[0]: expected a time in microseconds, above 0"),
	"none": ("crashed", "the program measured without \"samples_us\""), "infinite": ("crashed", "the program sent an invalid answer"),
	"unknown": ("crashed", "$.outcome: expected one of"), "extra": ("crashed", "$.time"), "wrong": ("wrong_result", "elements differ, the worst by"), "refused": ("compile_failed", "no such tile"),
	"twice": ("ok", None)}


def test_nonsense():
	"""Each error costs its configuration and gives a message; all others are measured normally."""
	for what, (outcome, words) in NONSENSE.items():
		kernel(f"32/80={what}")
		tune()
		found = outcomes()
		expect(f"{what}: all are tried", len(found), len(LEGAL))
		wrong = found.pop("BM=32,BN=80")
		expect(f"{what}: its outcome", (wrong["outcome"], not words or words in wrong.get("detail", "")), (outcome, True))
		expect(f"{what}: the others", {line["outcome"] for line in found.values()}, {"ok"})
		expect(f"{what}: the winner", journal("entry")[0]["entry"]["winner"]["configuration"], {"BM": 48, "BN": 80})
	# the same failures occur if the final measurement times this candidate together with others
	kernel("48/80=twice")
	tune()
	expect("twice in turn", journal("entry")[0]["entry"]["winner"]["configuration"], {"BM": 48, "BN": 80})
	for pid in [int(line.split()[1]) for line in asked() if isinstance(line, str) and line.startswith("child")]:
		raise AssertionError(f"a child {pid} of a program that does not hang")


def alive(pid):
	try:
		with open(f"/proc/{pid}/stat", encoding="ascii") as file:
			return file.read().rsplit(")", 1)[1].split()[0] != "Z"
	except FileNotFoundError:
		return False


def test_group_ends():
	"""Child processes of a program end with it."""
	kernel("48/80=hang")
	tune()
	expect("the outcome", outcomes()["BM=48,BN=80"]["outcome"], "timed_out")
	children = [int(line.split()[1]) for line in asked() if isinstance(line, str) and line.startswith("child")]
	expect("it had a child", len(children), 1)
	while alive(children[0]):
		time.sleep(0.01)


def test_no_orphans():
	"""A program and its children end when tiletune is killed, even before the program has answered hello."""
	with open("mute.sh", "w", encoding="ascii") as file:
		file.write('sleep 1000 &\necho "child $!" >>"$ASKED"\nsleep 1000\n')
	for program in (None, ["sh", "mute.sh"]):
		kernel("48/80=forever", **({"program": program} if program else {}))
		with subprocess.Popen([TILETUNE, "tune", "program.json", "-p", "M=64"], env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tuning:
			while not os.path.exists("asked") or not any(line.startswith("child") for line in asked_whole()):
				time.sleep(0.01)
			tuning.kill()
		for line in asked_whole():
			while line.startswith("child") and alive(int(line.split()[1])):
				time.sleep(0.01)


def test_a_child_keeps_the_output():
	"""The end of a program is noticed at once, even if its child holds standard output open."""
	kernel("48/80=leaves")
	started = time.monotonic()
	tune()
	expect("the outcome", outcomes()["BM=48,BN=80"]["outcome"], "crashed")
	expect("the detail", "ended with exit code 3" in outcomes()["BM=48,BN=80"]["detail"], True)
	expect("in time", time.monotonic() - started < 30, True)


def test_budget():
	"""A program that keeps sending progress does not exceed the budget."""
	for words, tried in ((["48/80=repeats"], len(LEGAL)), ([f"{bm}/{bn}=repeats" for bm, bn in LEGAL], 1)):
		kernel(*words)
		started = time.monotonic()
		done = tune("--budget", "4s", codes=(0, 1))
		expect("in time", time.monotonic() - started < 30, True)
		found = outcomes()
		late = [line["detail"] for line in found.values() if line["outcome"] == "timed_out"]
		expect("how many gave no answer", late[:1], ["no answer before the budget was spent"])
		expect("the message", tried > 1 or "; the message of the first: no answer before the budget was spent" in done.stderr, True)


def test_killed_again_after_an_answer():
	"""Two configurations of one request, each killed once from outside, are both measured, because an answer came between the kills."""
	kernel("48/80=killed", "48/81=killed", parameters={"BM": [48, 49], "BN": [80, 81]}, constraints=[])
	tune()
	for mark in ("killed.48-80", "killed.48-81"):
		os.remove(mark)
	expect("outcomes", {line["outcome"] for line in (*journal("evaluation"), *journal("final"))}, {"ok"})
	expect("processes", sum(isinstance(line, str) and line.startswith("started") for line in asked()), 3)


def test_prepare():
	"""If one of several processes ends, only its configuration fails. Every measured configuration was prepared first."""
	kernel("prepare", "32/80=prepare_exit")
	tune("--evaluations", "13")
	found = outcomes()
	expect("the outcome", found["BM=32,BN=80"]["outcome"], "compile_crashed")
	expect("the others", {line["outcome"] for name, line in found.items() if name != "BM=32,BN=80"}, {"ok"})
	lines = asked()
	roles = [line["role"] for line in lines if isinstance(line, dict) and line["request"] == "hello"]
	expect("processes", (roles.count("measure"), roles.count("prepare") >= 1), (1, True))
	prepared = [json.dumps(line["jobs"]) for line in lines if isinstance(line, dict) and line["request"] == "prepare"]
	expect("each is prepared once", len(prepared), len(set(prepared)))


def test_hello():
	"""Tests programs that cannot be started, and programs that send an invalid reply to "hello"."""
	kernel()
	for program, words in ((["./no_such_program"], "cannot start ./no_such_program: No such file or directory"), (["true"], "the program ended with exit code 0"),
			(["echo", "hello"], "the program sent an invalid answer"), (["cat"], "$.seed: unknown member")):
		kernel(program=program)
		done = tune(codes=(1, 2, 5))
		expect(f"{program}", words in done.stderr, True)


def test_its_log():
	"""The last message keeps its line breaks, both for a failed start and for a failed configuration."""
	with open("raising.py", "w", encoding="utf-8") as file:
		file.write("""
import json, sys
for line in sys.stdin:
	asked = json.loads(line)
	if asked["request"] != "hello" or len(sys.argv) == 1:
		raise ValueError("no such thing")
	print(json.dumps({"id": asked["id"], "protocol": "tiletune.program/1", "versions": {}, "device": {"name": "x"}, "abilities": []}), flush=True)
""")
	for words in ([], ["later"]):
		kernel(program=["/usr/bin/python3", "raising.py", *words])
		said = tune(codes=(1, 5)).stderr
		expect(f"{words}: lines", ("\nTraceback (most recent call last):\n" in said, "\nValueError: no such thing\n" in said, "\\x0a" in said), (True, True, False))


def test_bits():
	"""Digests exist only for kernels."""
	kernel()
	for rule in ("same", "invariant=M"):
		expect(rule, "runs a program" in run("tune", "program.json", "-p", "M=64,128", "--bits", rule, codes=(2,)).stderr, True)
	expect("nothing was measured", any(isinstance(line, dict) and line["request"] != "hello" for line in asked()), False)
	tune()
	expect("check", "a program has no digests" in run("check", "tuned.json", "program.json", "--bits", codes=(4,)).stdout, True)


def test_resume():
	"""A killed run resumes where it was, and measures nothing twice."""
	kernel("48/16=hang")
	with open("program.json", encoding="ascii") as file:
		text = file.read()
	done = tune()
	whole = len(outcomes())
	with open("tuned.journal.jsonl", encoding="utf-8") as file:
		lines = file.readlines()
	keep = [i for i, line in enumerate(lines) if json.loads(line)["event"] == "evaluation"][5]
	with open("tuned.journal.jsonl", "w", encoding="utf-8") as file:
		file.writelines(lines[:keep])
	os.remove("tuned.json")
	os.remove("asked")
	done = tune()
	expect("it resumes", "5" in done.stdout, True)
	configurations = [line["configuration"] for line in journal("evaluation")]
	expect("each once", (len(configurations), len(set(configurations))), (whole, whole))
	expect("the file", open("program.json", encoding="ascii").read(), text)  # pylint: disable=consider-using-with


def test_near():
	"""The best configuration of one problem is tried early on the next. By chance it would be among 12 of 24 x 24 only once in 48 times."""
	kernel(parameters={"BM": [48 + 200 * i for i in range(24)], "BN": [80 + 200 * i for i in range(24)]}, constraints=[])
	tune("--config", "BM=48,BN=80")
	run("tune", "program.json", "-p", "M=128", "--evaluations", "12")
	with open("tuned.json", encoding="utf-8") as file:
		winners = [entry["winner"]["configuration"] for entry in json.load(file)["entries"]]
	expect("the winners", winners, 2 * [{"BM": 48, "BN": 80}])


def test_recorded():
	"""The search on the recorded blocked matrix product (tests/own/matmul.c, `make bench`) gets within 5% of the best after 20 of 60."""
	recorded = f"{ROOT}/tests/data/program/matmul.jsonl.gz"
	with gzip.open(recorded, "rt", encoding="utf-8") as file:
		times = {line["configuration"]: line["time_us"]["median"] for line in map(json.loads, file) if line["event"] == "evaluation"}
	expect("how many", len(times), 60)
	for seed in ("1", "2", "3"):
		run("tune", f"{ROOT}/tests/own/matmul.json", "--device", f"replay:{recorded}", "--strategy", "guided", "--evaluations", "20", "--seed", seed, "-o", f"{seed}.json")
		tried = [times[line["configuration"]] for line in journal("evaluation", f"{seed}.journal.jsonl")]
		expect(f"seed {seed}", (len(tried), min(tried) <= 1.05 * min(times.values())), (20, True))


def test_triton():
	"""Triton programs cannot run here, but their files are valid and their spaces have the right size."""
	for name, problem, legal in (("triton_gemm", "M=64,N=2048,K=2048", 816), ("triton_moe", "tokens=64", 1920)):
		run("validate", f"{ROOT}/tests/own/{name}.json")
		done = run("tune", f"{ROOT}/tests/own/{name}.json", "-p", problem, "--dry-run")
		expect(f"{name}: its space", [line.split() for line in done.stdout.splitlines() if "legal" in line], [["legal", str(legal)]])
		with open(f"{ROOT}/tests/own/{name}.py", encoding="utf-8") as file:
			tree = ast.parse(file.read())
		made = {node.name: [argument.arg for argument in node.args.args] for node in tree.body if isinstance(node, ast.FunctionDef)}
		expect(f"{name}: what the helper calls", [made[function][:2] for function in ("inputs", "make", "prepare")],
			[["problem"], ["problem", "configuration"], ["problem", "configuration"]])
		with open(f"{ROOT}/tests/own/{name}.json", encoding="utf-8") as file:
			parameters = set(json.load(file)["parameters"])
		taken = {argument for arguments in made.values() for argument in arguments} | {"num_warps", "num_stages"}
		expect(f"{name}: parameters that no kernel takes", parameters - taken, set())


def test_helper():
	"""Tests tiletune.program: inputs, verification, outcomes of exceptions, and times. Printed text does not disturb the messages."""
	with open("doubling.py", "w", encoding="utf-8") as file:
		file.write(f"""
import sys
sys.path.insert(0, {ROOT + "/src/python"!r})
import numpy
from tiletune.program import serve

def inputs(problem):
	return [((problem["n"],), numpy.float32), lambda generator: numpy.full(problem["n"], 2.0, dtype=numpy.float32)]

def make(problem, configuration):
	print("not an answer")
	kind = configuration["KIND"]
	if kind == "refused":
		raise AssertionError("no such tile")
	def run(x, two, out):
		numpy.multiply(x, two, out=out)
		if kind == "wrong":
			out[7] += 1
		if kind == "part":
			out[-1] = numpy.nan
	return run, [((problem["n"],), numpy.float32)]

serve(make, lambda problem, x, two: x * two, inputs)
""")
	kernel(program=["/usr/bin/python3", "doubling.py"], keys={"n": {}}, parameters={"KIND": ["good", "wrong", "part", "refused"]}, constraints=[])
	run("tune", "program.json", "-p", "n=4096")
	found = {name.removeprefix("KIND="): line for name, line in outcomes().items()}
	expect("outcomes", {name: line["outcome"] for name, line in found.items()},
		{"good": "ok", "wrong": "wrong_result", "part": "wrong_result", "refused": "compile_failed"})
	expect("detail", found["refused"]["detail"], "AssertionError: no such tile")
	expect("verification", {key: found["wrong"]["verification"][key] for key in ("points", "violations")}, {"points": 4096, "violations": 1})
	expect("the difference", abs(found["wrong"]["verification"]["max_abs_error"] - 1) < 1e-3, True)
	expect("times", found["good"]["time_us"]["median"] > 0, True)


def test_dead_context():
	"""After one configuration, every call in its process fails with a message that names no known library."""
	with open("sticky.py", "w", encoding="utf-8") as file:
		file.write(f"""
import sys
sys.path.insert(0, {ROOT + "/src/python"!r})
import numpy
from tiletune.program import serve

dead = False

def make(problem, configuration):
	def run(x, out):
		global dead
		dead |= configuration["B"] == 2
		if dead:
			raise RuntimeError("an illegal memory access was encountered")
		out[:] = x
	return run, [((problem["n"],), numpy.float32)]

serve(make, lambda problem, x: x, lambda problem: [((problem["n"],), numpy.float32)])
""")
	kernel(program=["/usr/bin/python3", "sticky.py"], keys={"n": {}}, parameters={"B": [1, 2, 3, 4, 5, 6]}, constraints=[])
	run("tune", "program.json", "-p", "n=1000")
	expect("outcomes", {name: line["outcome"] for name, line in outcomes().items()}, {f"B={b}": "crashed" if b == 2 else "ok" for b in range(1, 7)})


def test_names_of_gpus():
	"""A GPU name sent by a program cannot lead out of the folder of locks."""
	with open("named.py", "w", encoding="utf-8") as file:
		file.write("""
import json, sys
for line in sys.stdin:
	asked = json.loads(line)
	say = lambda **members: print(json.dumps({"id": asked["id"], **members}), flush=True)
	if asked["request"] == "hello":
		say(protocol="tiletune.program/1", versions={}, device={"name": "a GPU", "uuid": "../outside"}, abilities=[])
	else:
		for number in range(len(asked["jobs"])):
			say(job=number, outcome="ok", samples_us=[5] * asked["rounds"], verification={"points": 4, "violations": 0, "max_abs_error": 0, "max_rel_error": 0})
""")
	kernel(program=["/usr/bin/python3", "named.py"])
	os.makedirs("locks", exist_ok=True)
	ENVIRONMENT["TILETUNE_LOCK_FOLDER"] = "locks"
	tune()
	del ENVIRONMENT["TILETUNE_LOCK_FOLDER"]
	expect("locks", (os.path.exists("outside.lock"), os.listdir("locks")), (False, [".._outside.lock"]))


def test_neighbours():
	"""Part of the evaluations is reserved for neighbours of the best configuration."""
	with open(f"{ROOT}/tests/own/triton_moe.json", encoding="utf-8") as file:
		described = json.load(file)
	with open("moe.py", "w", encoding="utf-8") as file:
		file.write("""
import json, sys
for line in sys.stdin:
	asked = json.loads(line)
	say = lambda **members: print(json.dumps({"id": asked["id"], **members}), flush=True)
	if asked["request"] == "hello":
		say(protocol="tiletune.program/1", versions={}, device={"name": "a GPU"}, abilities=[])
		continue
	for number, job in enumerate(asked["jobs"]):
		c = job["configuration"]
		us = job["problem"]["tokens"] + abs(c["BLOCK_SIZE_M"] - 64) + abs(c["BLOCK_SIZE_N"] - 128) + c["num_warps"] + c["num_stages"] + c["BLOCK_SIZE_K"] / 8 + c["GROUP_SIZE_M"]
		say(job=number, outcome="ok", samples_us=[us] * asked["rounds"], verification={"points": 4, "violations": 0, "max_abs_error": 0, "max_rel_error": 0})
""")
	with open("moe.json", "w", encoding="utf-8") as file:
		json.dump({**described, "program": ["/usr/bin/python3", os.path.abspath("moe.py")]}, file)
	run("tune", "moe.json", "-p", "tokens=64", "--evaluations", "100", "--budget", "10m", "-o", "near.json")
	with open("near.json", encoding="utf-8") as file:
		best = json.load(file)["entries"][0]["winner"]["configuration"]
	tried = {line["configuration"] for line in journal("evaluation", "near.journal.jsonl")}
	other = ",".join(f"{name}={12 - value if name == 'num_warps' else value}" for name, value in best.items())
	expect("how many", len(tried) <= 100, True)
	expect("the other number of warps was tried", other in tried, True)


def test_interrupt():
	"""An interrupt also ends the program, whether it is silent or sends progress all the time."""
	for what in ("forever", "floods"):
		kernel(f"48/80={what}")
		with subprocess.Popen([TILETUNE, "tune", "program.json", "-p", "M=64"], env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tuning:
			while not os.path.exists("asked") or not any(line.startswith("child") for line in asked_whole()):
				time.sleep(0.01)
			time.sleep(0.5)  # wait until the message has arrived
			tuning.send_signal(signal.SIGINT)
			sent = time.monotonic()
			try:
				expect(f"{what}: the exit code", tuning.wait(20), 130)
			except subprocess.TimeoutExpired:
				tuning.kill()
				raise
			print(f"{what}: ended {time.monotonic() - sent:.2f} s after the signal")
		for line in asked_whole():
			while line.startswith("child") and alive(int(line.split()[1])):
				time.sleep(0.01)


def asked_whole():
	with open("asked", encoding="ascii") as file:
		return [line.strip() for line in file if line.endswith("\n")]


with tempfile.TemporaryDirectory() as scratch:
	os.chdir(scratch)
	ENVIRONMENT["ASKED"] = os.path.abspath("asked")
	for name, test in list(globals().items()):
		if name.startswith("test_") and (len(sys.argv) < 3 or name in sys.argv[2:]):
			started = time.perf_counter()
			test()
			print(f"{name}: {time.perf_counter() - started:.1f} s")
	os.chdir(ROOT)
