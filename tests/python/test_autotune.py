"""@tiletune.autotune with a stand-in for triton, whose kernels are functions of numpy arrays. `make test-full` also runs it with
triton's interpreter."""
import collections
import inspect
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
import types
import warnings

import pytest

import tiletune as tiletune_module
from tiletune import decorator_server, formats

pytest.importorskip("numpy")
STANDIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "standin")
HEAD = """
import os, sys, time
import numpy, triton, tiletune
N = 4096
def configs(*blocks, **options):
	return [triton.Config({"BLOCK": block}, **options) for block in blocks]
def pause(block):  # the larger the block, the slower
	end = time.perf_counter() + 20e-6 * block
	while time.perf_counter() < end:
		pass
x, y = numpy.random.default_rng(1).random(N).astype("float32"), numpy.zeros(N, "float32")
"""
DOUBLE = HEAD + """
class OutOfResources(Exception):
	pass
@tiletune.autotune(configs=configs(*map(int, sys.argv[2].split(","))) if len(sys.argv) > 2 else configs(1, 20), key=["n"], file="tuned.json", budget=20, **globals().get("MORE", {}))
@triton.jit
def double(x, y, n, BLOCK):
	pause(BLOCK)
	if BLOCK == 7:
		os._exit(3)
	if BLOCK == 8:
		raise OutOfResources("shared memory")
	y[:n] = x[:n] * (3 if BLOCK == 6 else 2)
double[lambda meta: (N // meta["BLOCK"],)](x, y, int(sys.argv[1]) if len(sys.argv) > 1 else N)
assert (y[:16] == 2 * x[:16]).all()
print(double.best_config.kwargs["BLOCK"])
"""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
	monkeypatch.chdir(tmp_path)
	monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
	monkeypatch.setenv("TILETUNE_LOCK_FOLDER", str(tmp_path))
	monkeypatch.delenv("TILETUNE_FILE", raising=False)
	monkeypatch.setenv("PYTHONPATH", os.pathsep.join([STANDIN, os.environ["PYTHONPATH"]]))


def start(script, *words, name="user.py"):
	"""Replaces the script in one step, because a process that was started before may not have read it yet."""
	with open(f"{name}.new", "w", encoding="utf-8") as file:
		file.write(script)
	os.replace(f"{name}.new", name)
	return subprocess.Popen([sys.executable, name, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(script, *words, code=0):
	process = start(script, *words)
	output, errors = process.communicate(timeout=600)
	assert process.returncode == code, (output, errors)
	return output.strip() or errors


def journal(event, path="tuned.journal.jsonl"):
	with open(path, encoding="utf-8") as file:
		return [line for line in map(json.loads, file) if line["event"] == event]


def outcomes():
	return {line["configuration"].split(",")[0]: line["outcome"] for line in journal("evaluation")}


def tiletune(*words, codes=(0,)):
	done = subprocess.run([os.environ["TILETUNE"], *words], capture_output=True, text=True, check=False,
		env={**os.environ, "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]})
	assert done.returncode in codes, (done.stdout, done.stderr)
	return done.stdout


def test_wrong_and_crashing_configurations_cost_one_evaluation():
	"""The first configuration, which is the reference, crashes: the next one replaces it."""
	assert run(DOUBLE, "4096", "7,40,5,6,8,60") == "5"
	found = outcomes()
	assert {found["BLOCK=6"], found["BLOCK=7"], found["BLOCK=8"]} == {"wrong_result", "crashed", "launch_failed"}
	assert found["BLOCK=5"] == "ok"


def test_results_are_a_tuned_file_that_check_repeats():
	assert run(DOUBLE, "4096", "40,5") == run(DOUBLE, "4096", "40,5") == "5"
	assert len(journal("run")) == 1, "the second process tuned again"
	assert "BLOCK=5" in tiletune("lookup", "tuned.json", "double", "-p", "n=4096,tensors=float32x2")
	assert "double n=4096,tensors=float32x2" in tiletune("check", "tuned.json", codes=(0, 3, 4))
	with open("user.py", "w", encoding="utf-8") as file:
		file.write(DOUBLE.replace("BLOCK == 6", "BLOCK == 5"))
	assert "wrong_result" in tiletune("check", "tuned.json", codes=(1,)), "check has to run the present source"


def test_a_script_and_its_import_share_a_record():
	"""Results of an imported file are added to those of the file run as a script. `check` repeats both."""
	run(DOUBLE, "4096")
	importer = start("import user", "2048", name="importer.py")
	assert importer.communicate(timeout=600)[0].strip() and importer.returncode == 0
	rows = json.loads(tiletune("check", "tuned.json", "--json", codes=(0, 3, 4)))["entries"]
	assert sorted(row["problem"]["n"] for row in rows) == [2048, 4096]
	with open("tuned.kernels/double.calls.jsonl", encoding="utf-8") as file:
		head, *calls = file.readlines()
	with open("tuned.kernels/double.calls.jsonl", "w", encoding="utf-8") as file:
		file.writelines([head, calls[1]])
	assert "has no call of" in tiletune("check", "tuned.json", codes=(1,))


TYPES = DOUBLE + """
x, y = x.astype("float64"), y.astype("float64")
double[(1,)](x, y, N)
"""


def test_other_types_of_tensors_are_tuned_again():
	run(TYPES)
	with open("tuned.json", encoding="utf-8") as file:
		assert sorted(entry["problem"]["tensors"] for entry in json.load(file)["entries"]) == ["float32x2", "float64x2"]


TWO = DOUBLE + """
@tiletune.autotune(configs=configs(20, 1), key=["n"], file="tuned.json", budget=20)
@triton.jit
def triple(x, y, n, BLOCK):
	pause(BLOCK)
	y[:n] = x[:n] * 3
triple[(1,)](x, y, N)
double[(1,)](x, y, 2048)
"""


def test_a_file_with_several_kernels(tmp_path):
	"""Several programs share one file and one command: each program checks its own entries. The other commands read the file like any tuned
	file."""
	run(TWO)
	told = tiletune("check", "tuned.json", "--junit", "junit.xml", "--json", codes=(0, 3, 4))
	assert sorted((row["operation"], row["problem"]["n"]) for row in json.loads(told)["entries"] if row["verdict"] != "not comparable") == [
		("double", 2048), ("double", 4096), ("triple", 4096)], told
	with open("junit.xml", encoding="utf-8") as file:
		assert file.read().count("<testcase") == 3
	with open("user.py", "w", encoding="utf-8") as file:
		file.write(TWO.replace("x[:n] * 3", "x[:n] * (3 + (BLOCK == 1))"))
	assert "wrong_result" in tiletune("check", "tuned.json", codes=(1,))
	assert "wrong_result" not in tiletune("check", "tuned.json", "--only", "double", codes=(0, 3, 4))

	assert "BLOCK=1" in tiletune("lookup", "tuned.json", "triple", "-p", "n=4096,tensors=float32x2")
	tiletune("report", "tuned.json", "-o", "page.html")
	assert "triple" in (tmp_path / "page.html").read_text(encoding="utf-8")
	assert "BLOCK" in tiletune("export", "tuned.json", "triple", "--format", "c-header")
	assert "triple" in tiletune("export", "tuned.json", "--format", "cmake")
	tuned = tiletune_module.load("tuned.json")
	for number, operation in enumerate(("double", "triple")):
		part = {**tuned.document, "entries": [entry for entry in tuned.entries if entry["operation"] == operation]}
		(tmp_path / f"{number}.json").write_text(json.dumps(part), encoding="utf-8")
	tiletune("merge", "0.json", "1.json", "-o", "merged.json")
	assert len(tiletune_module.load("merged.json").entries) == 3
	assert tuned.lookup("triple", n=4096, tensors="float32x2").configuration["BLOCK"] == 1


MOE = HEAD + """
@tiletune.autotune(space={"BLOCK_SIZE_M": [16], "BLOCK_SIZE_N": [32, 64], "BLOCK_SIZE_K": [64], "GROUP_SIZE_M": [1], "num_warps": [4], "num_stages": [3]},
	key=["M"], file="tuned.json", budget=20)
@triton.jit
def fused_moe_kernel(x, y, M, BLOCK_SIZE_M, BLOCK_SIZE_N, BLOCK_SIZE_K, GROUP_SIZE_M):
	pause(2 if (BLOCK_SIZE_N == 32) == (M < 100) else 40)
	y[:] = x
for M in (256, 1):
	fused_moe_kernel[(1,)](x, y, M)
"""


def vllm_choice(folder, name, rows):
	"""Returns the configuration that vLLM's fused_moe.py chooses: get_moe_configs() reads the file in VLLM_TUNED_CONFIG_FOLDER and removes
	triton_version; try_get_optimal_moe_config() takes the nearest number of rows."""
	with open(os.path.join(folder, name), encoding="utf-8") as file:
		tuned = json.load(file)
	tuned.pop("triton_version", None)
	found = {int(key): value for key, value in tuned.items()}
	return found[min(found, key=lambda known: abs(known - rows))]


def sglang_choice(folder, name, rows, triton_version):
	"""Like vllm_choice() for SGLang, which reads all keys as numbers of rows, in a folder named after the Triton version."""
	with open(os.path.join(folder, "configs", "triton_" + triton_version.replace(".", "_"), name), encoding="utf-8") as file:
		found = {int(key): value for key, value in json.load(file).items()}
	return found[min(found, key=lambda known: abs(known - rows))]


def test_servers_load_tables_of_a_decorated_kernel():
	"""The loaders' own rules find and read the tables that come from the decorator's file."""
	run(MOE)
	tuned, gpu = tiletune_module.load("tuned.json"), "NVIDIA H200"
	fixed = {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 1, "num_warps": 4, "num_stages": 3}
	best = {rows: {**fixed, "BLOCK_SIZE_N": tuned.lookup("fused_moe_kernel", M=rows, tensors="float32x2").configuration["BLOCK_SIZE_N"]} for rows in (1, 256)}
	name = formats.table_name({"E": 8, "N": 14336}, gpu, style="vllm")
	formats.write_table("vllm", name, formats.moe_table(tuned, "fused_moe_kernel", triton_version="3.9.0"))
	assert name == "E=8,N=14336,device_name=NVIDIA_H200.json"
	name = formats.table_name({"E": 8, "N": 14336}, gpu, style="sglang")
	formats.write_table(os.path.join("sglang", "configs", formats.sglang_folder("3.9.0")), name, formats.moe_table(tuned, "fused_moe_kernel"))
	for rows, nearest in ((1, 1), (100, 1), (129, 256), (4096, 256)):
		assert vllm_choice("vllm", "E=8,N=14336,device_name=NVIDIA_H200.json", rows) == best[nearest]
		assert sglang_choice("sglang", "E=8,N=14336,device_name=NVIDIA_H200.json", rows, "3.9.0") == best[nearest]


def test_where_results_are(monkeypatch, tmp_path):
	"""TILETUNE_FILE contains the name of the device; the default is the user's cache folder. A file of another GPU stays unchanged."""
	script, device = DOUBLE.replace('file="tuned.json", ', ""), os.uname().machine
	assert run(script) == "1" and (tmp_path / "cache" / "tiletune" / "autotune" / device / "double.json").exists()
	monkeypatch.setenv("TILETUNE_FILE", "of-{device}.json")
	assert run(script) == "1" and os.path.exists(f"of-{device}.json")
	with open("other.json", "w", encoding="utf-8") as file:
		json.dump({"format": "tiletune.tuned/1", "device": {"name": "another"}, "entries": []}, file)
	monkeypatch.setenv("TILETUNE_FILE", "other.json")
	process = start(script)
	assert "other.json is of another GPU" in process.communicate(timeout=600)[1] and process.returncode == 0


def test_the_users_own_benchmark():
	"""do_bench has the same meaning as in triton.autotune: its result is the time. Here the slowest is the best."""
	bench = "def bench(call, quantiles):\n\tbegin = time.perf_counter()\n\tcall()\n\treturn [1e-3 / (time.perf_counter() - begin)] * 3\nMORE = {'do_bench': bench}\n"
	assert run(HEAD + bench + DOUBLE.removeprefix(HEAD)) == "20"


def test_only_what_is_new_is_tuned():
	assert run(DOUBLE, "4096", "20,80") == "20"
	assert run(DOUBLE, "4096", "20,80,2") == "2"
	assert sorted(line["configuration"].split(",")[0] for line in journal("evaluation")[2:]) == ["BLOCK=2", "BLOCK=20"], "the incumbent and the new one"
	assert run(DOUBLE, "2048", "20,80,2") == "2"
	assert len(journal("run")) == 3
	run(DOUBLE.replace("* 2", "* 2.0").replace("else 2)", "else 2.0)"), "4096", "20,80,2")
	assert len(journal("run")) == 4, "another source is tuned again"


def test_an_interrupted_run_is_resumed():
	process = start(DOUBLE.replace("20e-6", "1e-3"), "4096", "10,40,50,60")
	deadline = time.time() + 60
	while time.time() < deadline and not (os.path.exists("tuned.journal.jsonl") and journal("evaluation")):
		time.sleep(0.02)
	process.send_signal(signal.SIGINT)
	process.communicate(timeout=600)
	done = [line["configuration"] for line in journal("evaluation")]
	assert done
	assert run(DOUBLE.replace("20e-6", "1e-3"), "4096", "10,40,50,60") == "10"
	assert len([line for line in journal("evaluation") if line["configuration"] == done[0]]) == 1


def test_processes_of_one_host_tune_once():
	"""On a busy machine either configuration may be the faster one, but all processes have the same."""
	processes = [start(DOUBLE, name="user.py") for _ in range(3)]
	said = [process.communicate(timeout=600) for process in processes]
	assert {process.returncode for process in processes} == {0}, said
	assert len({output.strip() for output, _ in said}) == 1 and len(journal("run")) == 1, said


def hold_lock(path):
	"""Starts a process that takes the lock and reports it."""
	process = subprocess.Popen([sys.executable, "-c", f"import sys, time\nfrom tiletune.decorator import file_lock\nwith file_lock({path!r}, 60) as taken:\n"
		"\tprint(taken, flush=True)\n\ttime.sleep(600)"], stdout=subprocess.PIPE, text=True)
	assert process.stdout.readline() == "True\n"
	return process


def test_the_lock_of_a_host_has_a_time_limit():
	"""A process that waits in vain uses the first configuration. The lock of a process that has died is free."""
	decorator = pytest.importorskip("tiletune.decorator")
	with hold_lock(os.path.abspath("lock")) as holder:
		tunes, kernel = [], tuned_kernel()
		kernel.tune = lambda *_: tunes.append(1) or {"BLOCK": 1}
		results = types.SimpleNamespace(lock=os.path.abspath("lock"), entry=lambda _: None)
		started = time.monotonic()
		with pytest.warns(UserWarning, match="another process has been tuning kernel for 0 s; the first configuration is used"):
			assert kernel.tuned(results, {}, (), {}, None) == {"BLOCK": 2} and not tunes
		assert time.monotonic() - started < 30
		holder.kill()
		holder.wait()
		with decorator.file_lock(os.path.abspath("lock"), 60) as taken:
			assert taken
	assert kernel.tuned(results, {}, (), {}, None) == {"BLOCK": 1} and tunes == [1]


@pytest.mark.parametrize("server, imports", [("", 2), ("none", 3)])
def test_processes_share_one_import(server, imports, monkeypatch, tmp_path):
	"""The user's process and the server import triton. Without the server each process imports it, also one that replaces a crashed
	process."""
	path = tmp_path / "imports"
	monkeypatch.setenv("STANDIN_IMPORTS", str(path))
	monkeypatch.setenv("TILETUNE_AUTOTUNE_SERVER", server)
	assert run(DOUBLE, "4096", "20,7,1") == "1" and outcomes()["BLOCK=7"] == "crashed"
	pids = path.read_text().split()
	assert len(pids) >= imports if server else len(set(pids)) == imports, pids
	deadline = time.time() + 30
	while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.time() < deadline:
		time.sleep(0.05)
	assert not any(os.path.exists(f"/proc/{pid}") for pid in pids), "the server outlives the process that started it"


def test_a_killed_process_ends_the_one_that_was_forked_for_it():
	environment = dict(os.environ)
	environment[decorator_server.SERVER] = decorator_server.start(environment)
	with subprocess.Popen([sys.executable, "-m", "tiletune.decorator_program", "kernel", "hash"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as client:
		children = f"/proc/{decorator_server.Started.process.pid}/task/{decorator_server.Started.process.pid}/children"
		deadline = time.time() + 60
		while time.time() < deadline:
			with open(children, encoding="utf-8") as file:
				if file.read():
					break
			time.sleep(0.02)
		client.kill()
		assert select.select([client.stdout], [], [], 60)[0] and client.stdout.read() == b"", "a process still has the output"
	decorator_server.Started.process.stdin.close()
	assert decorator_server.Started.process.wait(60) == 0


HOOKS = HEAD + """
CALLS = {"before": 0, "after": 0, "config": 0}
def before(names, reset_only=False):
	CALLS["before"] += 1
	names["y"][:] = 0
def after(names, exception):
	CALLS["after"] += 1
	assert exception is None and CALLS["after"] == CALLS["before"]
	names["y"][:] = 9
def of_config(names):
	CALLS["config"] = names["BLOCK"]
@tiletune.autotune(configs=configs(5, 20, 160, pre_hook=of_config), key=["n"], file="tuned.json", pre_hook=before, post_hook=after,
	prune_configs_by={"early_config_prune": lambda configs, named, **kwargs: [one for one in configs if one.kwargs["BLOCK"] < named["n"]],
		"perf_model": lambda BLOCK, **rest: -BLOCK, "top_k": 2})
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def hooked(x, y, n, BLOCK, EVEN):
	assert EVEN == (n % BLOCK == 0) and CALLS["config"] == BLOCK and CALLS["before"] >= CALLS["after"]
	pause(BLOCK)
	y += x * 2
hooked[lambda meta: (N // meta["BLOCK"] + (not meta["EVEN"]),)](x, y, N)
print(hooked.best_config.kwargs["BLOCK"], *CALLS.values(), GRID)
"""


def test_hooks_heuristics_and_pruning():
	"""Hooks run in the workers. In the user's process only the winner's own pre-hook runs, once, as in triton.autotune."""
	assert run(HOOKS) == "20 0 0 20 (205,)"
	assert outcomes() == {"BLOCK=20": "ok", "BLOCK=160": "ok"}


ACCUMULATING = HEAD + """
@tiletune.autotune(configs=configs(20, 2, 3), key=["n"], file="tuned.json", {option}=["y"])
@triton.jit
def accumulate(x, y, n, BLOCK):
	pause(BLOCK)
	y += x if BLOCK != 3 else 2 * x
y[:] = 5
accumulate[(1,)](x, y, N)
assert (y == 5 + x).all()
print(accumulate.best_config.kwargs["BLOCK"])
"""


@pytest.mark.parametrize("option", ["reset_to_zero", "restore_value"])
def test_accumulation_is_verified_from_the_same_start(option):
	assert run(ACCUMULATING.replace("{option}", option)) == "2"
	assert outcomes()["BLOCK=3"] == "wrong_result"


SPACE = HEAD + """
def reference(x, y, n, **rest):
	return {"y": 2 * x}
@tiletune.autotune(space={"BLOCK": [1, 4, 16, 64], "WIDE": [False, True], "KIND": ["a.b", "c"], "num_warps": [4, 8]}, constraints=["BLOCK * num_warps >= 32", "BLOCK < 64"],
	key=["n", "flag"], reference=reference, file="tuned.json", effort="exhaustive", budget=20)
@triton.jit
def spaced(x, y, n, flag, BLOCK, WIDE, KIND):
	assert WIDE in (False, True) and isinstance(WIDE, bool) and KIND in ("a.b", "c") and flag == 0.5
	pause(BLOCK)
	y[:] = x * (2 if WIDE else 3)
spaced[(1,)](x, y, N, 0.5)
print(spaced.best_config.kwargs["BLOCK"], spaced.best_config.num_warps, spaced.best_config.kwargs["WIDE"])
"""


def test_a_space_with_constraints_and_a_reference():
	assert run(SPACE) == "4 8 True"
	ok = [line["configuration"] for line in journal("evaluation") if line["outcome"] == "ok"]
	assert len(journal("evaluation")) == 12 and len(ok) == 6 and all("WIDE=1" in text for text in ok)
	assert run(SPACE.replace("[4, 8]}", "[4, 8, 32]}")) == "1 32 True"
	assert all("num_warps=32" in line["configuration"] or "BLOCK=4,WIDE=1" in line["configuration"] for line in journal("evaluation")[12:])


REAL = """
import torch, triton, triton.language as tl, tiletune
@tiletune.autotune(space={"BM": [16, 32], "BN": [16, 32], "num_warps": [4, 8]}, constraints=["BM * BN <= 512"], key=["M", "N", "K"], budget=60,
	effort="exhaustive", file="tuned.json", reset_to_zero=["c"])
@triton.heuristics({"EVEN_M": lambda args: args["M"] % args["BM"] == 0})
@triton.jit
def matmul(a, b, c, M, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, EVEN_M: tl.constexpr):
	m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, K)
	x = tl.load(a + m[:, None] * K + k[None, :], mask=m[:, None] < M, other=0.0)
	y = tl.load(b + k[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)
	sums = tl.dot(x, y)
	if BM == 32:
		sums += 1.0
	tl.atomic_add(c + m[:, None] * N + n[None, :], sums, mask=(m[:, None] < M) & (n[None, :] < N))
a, b, c = torch.randn(48, 32, dtype=torch.float16), torch.randn(32, 40, dtype=torch.float16), torch.zeros(48, 40)
matmul[lambda meta: (triton.cdiv(48, meta["BM"]), triton.cdiv(40, meta["BN"]))](a, b, c, 48, 40, 32)
torch.testing.assert_close(c, a.float() @ b.float(), atol=1e-2, rtol=1e-2)
print(matmul.best_config.kwargs["BM"])
"""


def test_with_triton(monkeypatch):
	"""Triton's interpreter on the CPU tunes a sum by atomics with heuristics. Parts of the space are wrong. The check repeats the run."""
	pytest.importorskip("torch", reason="torch is not installed")
	pytest.importorskip("triton", reason="triton is not installed")
	monkeypatch.setenv("PYTHONPATH", os.environ["PYTHONPATH"].replace(STANDIN + os.pathsep, ""))
	monkeypatch.setenv("TRITON_INTERPRET", "1")
	monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
	assert run(REAL) == "16"
	assert collections.Counter(line["outcome"] for line in journal("evaluation")) == {"ok": 4, "wrong_result": 2}
	assert "matmul M=48,N=40,K=32" in tiletune("check", "tuned.json", codes=(0, 3, 4))


class Store:
	"""Acts like the store of torch.distributed."""

	def __init__(self):
		self.values, self.lock = {}, threading.Lock()

	def add(self, name, count):
		with self.lock:
			self.values[name] = self.values.get(name, 0) + count
			return self.values[name]

	def check(self, names):
		return all(name in self.values for name in names)

	def get(self, name):
		return self.values[name]

	def compare_set(self, name, _expected, value):
		with self.lock:
			return self.values.setdefault(name, value)


def tuned_kernel(seconds=0.1, results=None):
	"""Makes a kernel of the decorator without a function, whose first configuration is BLOCK=2."""
	from tiletune import decorator  # pylint: disable=import-outside-toplevel
	sys.path.insert(0, STANDIN)
	try:
		base = decorator.tuned_kernel_class()
	finally:
		sys.path.remove(STANDIN)

	class Kernel(base):
		wait_s = seconds

		def __init__(self):  # pylint: disable=super-init-not-called
			self.operation = "kernel"
			self.space = type("Space", (), {"legal": lambda *_: iter([{"BLOCK": 2}])})()

		def results(self, _):
			return results

		def problem(self, _):
			return {"n": 1}

	return Kernel()


def fails():
	raise tiletune_module.Error("no GPU")


@pytest.mark.parametrize("seconds, tune, expected", [
	(0.1, lambda: {"BLOCK": 1}, {"BLOCK": 2}),  # the answer comes too late and counts for no rank
	(60, lambda: {"BLOCK": 1}, {"BLOCK": 1}),
	(60, fails, {"BLOCK": 2}),  # the others do not wait for the rank that fails
])
def test_ranks_agree(monkeypatch, seconds, tune, expected):
	"""One rank tunes. A rank that waits too long chooses the first configuration, also for the tuning rank, so that no rank waits
	forever."""
	from tiletune import decorator  # pylint: disable=import-outside-toplevel
	store, answers, tunes, errors = Store(), [], [], []
	monkeypatch.setattr(decorator, "default_store", lambda: store)

	def rank():
		kernel = tuned_kernel(seconds)

		def tuned(*_):
			tunes.append(1)
			time.sleep(0.5)
			return tune()
		kernel.tuned = tuned
		try:
			answers.append(kernel.agreed((), {}, {}, None))
		except tiletune_module.Error as error:
			errors.append(error)

	with warnings.catch_warnings():
		warnings.simplefilter("ignore")
		threads = [threading.Thread(target=rank) for _ in range(4)]
		started = time.monotonic()
		for thread in threads:
			thread.start()
		for thread in threads:
			thread.join(50)
	assert time.monotonic() - started < 50 and len(tunes) == 1
	assert answers == [expected] * (3 if tune is fails else 4) and len(errors) == (tune is fails)


@pytest.mark.parametrize("available, initialized, ranks, expected", [(False, True, 2, None), (True, False, 2, None), (True, True, 1, None), (True, True, 2, "store")])
def test_the_store_of_torch_distributed(monkeypatch, available, initialized, ranks, expected):
	"""Only a job of several ranks shares a store."""
	from tiletune import decorator  # pylint: disable=import-outside-toplevel
	distributed = types.SimpleNamespace(is_available=lambda: available, is_initialized=lambda: initialized, get_world_size=lambda: ranks,
		distributed_c10d=types.SimpleNamespace(_get_default_store=lambda: "store"))
	monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(distributed=distributed))
	assert decorator.default_store() == expected


RANKS = HEAD + """
import torch
rank = int(sys.argv[1])
torch.distributed.init_process_group("gloo", init_method="file://" + os.path.abspath("store"), rank=rank, world_size=2)
@tiletune.autotune(configs=configs(20, 1), key=["n"], file=f"of_rank{rank}.json", budget=20)
@triton.jit
def double(x, y, n, BLOCK):
	pause(BLOCK)
	y[:n] = x[:n] * 2
double[(1,)](x, y, N)
print(double.best_config.kwargs["BLOCK"])
torch.distributed.barrier()
"""


def test_ranks_of_torch_with_triton():
	"""Two processes of gloo have their own files: one of them tunes, and both get its answer."""
	pytest.importorskip("torch", reason="torch is not installed")
	processes = [start(RANKS, str(rank), name=f"rank{rank}.py") for rank in range(2)]
	said = [process.communicate(timeout=600) for process in processes]
	assert {process.returncode for process in processes} == {0} and len({output for output, _ in said}) == 1, said
	assert sum(os.path.exists(f"of_rank{rank}.json") for rank in range(2)) == 1


LOCAL = HEAD + """
def make():
	@tiletune.autotune(configs=configs(1, 2), key=["n"], file="tuned.json")
	@triton.jit
	def inner(x, y, n, BLOCK):
		y[:] = x * 2
	return inner
make()[(1,)](x, y, N)
assert (y == 2 * x).all() and not os.path.exists("tuned.json")
"""


def test_kernels_that_workers_cannot_import():
	process = start(LOCAL)
	assert "is tuned by triton.autotune in this process: the kernel is not defined at the top of a module's file" in process.communicate(timeout=600)[1]
	assert process.returncode == 0


@pytest.mark.parametrize("script, message", [
	(HEAD + "tiletune.autotune(key=['n'])(triton.jit(configs))", "give either configs or space"),
	(HEAD + "tiletune.autotune(config=configs(1), key=['n'])", "autotune has no argument config\nhint: did you mean configs?"),
	(HEAD + "tiletune.autotune(tuning=1)", "autotune has no argument tuning\nhint: help(tiletune.autotune) lists the arguments"),
	(HEAD + "tiletune.autotune(space={'blocks': [1]}, constraints=['blocks > 1'])(triton.jit(configs))", "the constraints remove every configuration"),
	(DOUBLE.replace("BLOCK == 8", "True"), "no configuration ran"),
	(HEAD + "assert 'TILETUNE_AUTOTUNE_WORKER' not in os.environ, 'the import fails'\n" + DOUBLE.removeprefix(HEAD), "the import fails"),
])
def test_errors(script, message):
	assert message in run(script, code=1)


def test_a_damaged_record_names_the_file():
	run(DOUBLE)
	with open("tuned.kernels/double.calls.jsonl", "w", encoding="utf-8") as file:
		file.write("{")
	assert "double.calls.jsonl: not a record of calls" in run(DOUBLE, code=1)


def test_overridden_methods_take_what_their_base_takes():
	kernel_program = pytest.importorskip("tiletune.decorator_kernel", reason="numpy is not installed").KernelProgram
	for base in kernel_program.__mro__[1:-1]:
		for name, method in vars(base).items():
			own = vars(kernel_program).get(name)
			if name != "__init__" and callable(method) and own:
				assert list(inspect.signature(own).parameters) == list(inspect.signature(method).parameters), name
