"""CUDA Tile C++ without a GPU: kernels compile, figures come from the cubin, and failures have messages.

	tile.py OUT    OUT/tiletune is the binary; the compilers are fetched into build/cuda-tile"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

BINARY = os.path.abspath(sys.argv[1] + "/tiletune")
BUILD = os.path.abspath(os.environ.get("TEST_BUILD", "build"))
TOOLKIT = os.environ.get("TILETUNE_TILE") or BUILD + "/cuda-tile"
failures = []


def tiletune(*arguments, toolkit=TOOLKIT, **environment):
	names = dict(os.environ, TILETUNE_PATH=os.getcwd(), TILETUNE_TILE=toolkit, XDG_CACHE_HOME=BUILD + "/test-cache", **environment)
	return subprocess.run([BINARY, *arguments], env=names, capture_output=True, text=True, timeout=300)


def expect(what, ran, *texts, code=None):
	missing = [text for text in texts if text not in ran.stdout + ran.stderr]
	if missing or (code is not None and ran.returncode != code):
		failures.append(f"{what}: exit {ran.returncode}, without {missing}:\n{ran.stdout}{ran.stderr}")


def own_kernel(folder, source, **members):
	"""Writes a kernel that writes one tile, and its JSON."""
	with open(folder + "/kernel.cu", "w", encoding="utf-8") as file:
		file.write("#include <cuda_tile.h>\nnamespace ct = cuda::tiles;\n" + source)
	tree = {"format": "tiletune.own_kernel/1", "source": "kernel.cu", "language": "tile", "keys": {"n": {"default": 4096}},
		"tensors": {"y": {"shape": ["n"], "dtype": "fp32", "role": "out"}}, "parameters": {"SIZE": [64, 128]},
		"launches": [{"entry": "fill", "grid": ["ceil_div(n, SIZE)"], "block": [128], "args": ["y", "n"]}], **members}
	with open(folder + "/kernel.json", "w", encoding="utf-8") as file:
		json.dump(tree, file)
	return folder + "/kernel.json"


FILL = """__tile_global__ void fill(float *y, int n)
{
	ct::partition_view(ct::tensor_span(y, ct::extents(n)), ct::shape<SIZE>()).store_masked(ct::full<ct::tile<float, ct::shape<SIZE>>>(1.0f), ct::bid().x);
}
"""


def check_extra():
	"""The wheel's extra `tile` has the packages that tests/cuda.sh fetches."""
	sys.path.insert(0, "src/python/wheel")
	import pack  # pylint: disable=import-outside-toplevel,import-error
	with open("tests/cuda.sh", encoding="utf-8") as file:
		pinned = re.findall(r"^(nvidia-\S+==\S+)", file.read().split("tile_requirements()")[1].split("LIST\n}")[0], re.M)
	extra = re.findall(r'^Requires-Dist: (\S+); extra == "tile"$', pack.metadata([]).decode(), re.M)
	if sorted(pinned) != sorted(extra) or not pinned:
		failures.append(f"extra tile: expected {pinned}, found {extra}")


def check_draft(folder):
	"""The draft of a kernel compiles as it is, with the launches of the file that was written by hand."""
	shutil.copy("tests/own/softmax_tile.cu", folder)
	predicted = ("-p", "rows=100,columns=1000", "--device", "model:h200-sxm", "--config", "ROWS=2", "--cache-dir", folder + "/cache", "--json")
	expect("draft", tiletune("new", folder + "/softmax_tile.cu", "-o", folder + "/draft.json"), code=0)
	launches = []
	for file in (folder + "/draft.json", "tests/own/softmax_tile.json"):
		explained = tiletune("explain", file, *predicted)
		expect("draft: " + file, explained, code=0)
		launches.append(explained.returncode == 0 and json.loads(explained.stdout)["entries"][0]["winner"]["launches"])
	if launches[0] != launches[1]:
		failures.append(f"draft: expected {launches[1]}, found {launches[0]}")
	# a run of more than a second saves its best so far, but not a winner that is excluded later
	expect("no winner", tiletune("tune", folder + "/draft.json", *predicted[:4], "--where", "ROWS <= 2", *predicted[6:8], "-o", folder + "/none.json"), "no entry is written", code=4)
	if os.path.exists(folder + "/none.json"):
		failures.append("no winner: found an entry")


def check_gate(folder):
	"""A baseline of a tile kernel for a B200 can be checked on a machine without one."""
	b200 = ("--device", "model:b200", "--cache-dir", folder + "/cache")
	kernel = own_kernel(folder, FILL, parameters={"SIZE": [64]})
	baseline = folder + "/b200.json"
	tuned = tiletune("tune", kernel, *b200, "--fresh", "-o", baseline)
	expect("baseline", tuned, code=0)
	if tuned.returncode:
		return
	gate = ("check", baseline, kernel, "-p", "n=4096", *b200)
	expect("gate", tiletune(*gate), "resources only, nothing is timed", "1 same", code=0)
	with open(baseline, encoding="utf-8") as file:
		tree = json.load(file)
	launch = tree["entries"][0]["winner"]["score"]
	for figures in launch.get("launches", [launch]):
		figures["blocks_per_sm"] += 1
	with open(baseline, "w", encoding="utf-8") as file:
		json.dump(tree, file)
	expect("gate, fewer blocks", tiletune(*gate), "occupancy", "blocks per SM", code=3)


# Returns a kernel with more elements than a block has registers for (128 threads with 255 each).
LARGE = """__tile_global__ void fill(float *y, int n)
{
	const auto view = ct::partition_view(ct::tensor_span(y, ct::extents(n)), ct::shape<SIZE>());
	const auto tile = view.load_masked(ct::bid().x);
	view.store_masked(tile - ct::reshape(ct::sum<0>(tile), ct::shape<1>()), ct::bid().x);
}
"""


def check_stack(folder, predicted):
	"""A tile that does not fit in registers is on the stack, which a rule in the JSON prunes."""
	tensors = {"y": {"shape": ["n"], "dtype": "fp32", "role": "inout"}}
	rule = [{"expr": "stack_bytes > 0", "why": "the tile is on the stack"}]
	for size, prune, texts, code in ((32768, rule, ("1 pruned_by_model", "the tile is on the stack"), 1), (32768, [], ("bytes of local memory per thread",), 0), (128, rule, ("winner",), 0)):
		kernel = own_kernel(folder, LARGE, tensors=tensors, parameters={"SIZE": [size]}, prune=prune)
		expect(f"stack of {size} elements", tiletune("tune", kernel, *predicted, "--cache-dir", folder + "/cache"), *texts, code=code)


# An assembler that never ends. It shortens its own time limit to a second.
LATE = f"#!{sys.executable}\nimport signal\nassert 90 < signal.alarm(1) <= 100\nsignal.pause()\n"


def stub_toolkit(folder, build):
	"""Writes files that the search accepts as a toolkit of that build."""
	for name in ("bin/tileiras", "bin/ptxas", "lib/libnvrtc.so.13", "lib/libnvvm.so.4", "include/cuda_tile.h", "include/crt/cuda_tile.h"):
		os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
		with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
			file.write(f"Cuda compilation tools, release {build[1:5]}, {build}\n")


# Architectures without their own sheet use another one's.
ARCHITECTURES = {80: "a100-sxm4", 86: "a10", 89: "l4", 90: "h200-sxm", 100: "b200", 103: "b200", 107: "b200", 110: "b200", 120: "rtx-5090", 121: "rtx-5090"}
SMALL = (90, 100)  # architectures of the short run
SAMPLES = (("gemm", "M=304,N=528,K=1040,dtype={}", "BM=128,BN=128,BK=64,WARPS=8,SPLIT_K=2"), ("gemm", "M=4096,N=4096,K=512,dtype={}", "BM=128,BN=128,BK=64,WARPS=8,PERSISTENT=1"),
	("attention", "batch=1,heads=2,seq_q=300,seq_k=500,head_dim=64,dtype={},causal=1", "BM=128,BN=64,WARPS=8"), ("gemm_chain", "m=300,k=64,n=256,p=64,dtype={}", "BM=128,BN=64,BK=64,WARPS=8"))


def instructions(architecture, dtype):
	"""Returns the instructions that the code must contain: tensor core instructions, and copies into shared memory."""
	if architecture >= 120 or architecture < 90:
		return "HMMA" if dtype == "bf16" else "MMA", "UTMALDG" if architecture >= 120 else "LDGSTS"
	return ("HGMMA" if dtype == "bf16" else "QGMMA") if architecture == 90 else ("UTCHMMA" if dtype == "bf16" else "UTCQMMA"), "UTMALDG"


def check_architectures(folder):
	"""The three families compile for every architecture, and `explain` shows the instructions in the cubin."""
	os.makedirs(folder + "/configs/devices")
	full = os.environ.get("TEST_SIZE") == "full"
	for architecture, sheet in ARCHITECTURES.items():
		if not full and architecture not in SMALL:
			continue
		with open(f"configs/devices/{sheet}.json", encoding="utf-8") as file:
			tree = json.load(file)
		tree.update(name=f"sm{architecture}", compute_capability=architecture)
		tree["arch"] = f"sm_{architecture}" + ("a" if architecture >= 90 else "")
		with open(f"{folder}/configs/devices/sm{architecture}.json", "w", encoding="utf-8") as file:
			json.dump(tree, file)
		for operation, problem, configuration in SAMPLES if full else SAMPLES[:3:2]:
			for dtype in ("bf16", "fp8_e4m3") if full and operation == "gemm" and architecture >= 89 else ("bf16",):
				explained = tiletune("explain", operation, "-p", problem.format(dtype), "-f", "tile", "--config", configuration, "--path", folder, "--device", f"model:sm{architecture}")
				expect(f"{operation}/tile {dtype} on sm_{architecture}", explained, f"instructions of {operation}_tile: ", *instructions(architecture, dtype),
					"registers", "shared memory", code=0)
				if "not compile" in explained.stdout or "estimated" in explained.stdout:
					failures.append(f"{operation}/tile {dtype} on sm_{architecture}: {explained.stdout}")


def main():
	if not os.path.exists(TOOLKIT + "/bin/tileiras"):
		fetched = subprocess.run(["sh", "tests/cuda.sh", "tile", TOOLKIT], capture_output=True, text=True)
		if fetched.returncode:
			print("skipped: the compiler of CUDA Tile C++ could not be fetched: " + fetched.stderr.strip()[-200:])
			sys.exit(77)
	with tempfile.TemporaryDirectory(dir=BUILD) as folder:
		predicted = ("--device", "model:h200-sxm", "--evaluations", "1", "--fresh", "-o", folder + "/tuned.json")
		kernel = own_kernel(folder, FILL)

		# the whole pipeline; threads, registers and shared memory come from the cubin
		explained = tiletune("explain", "gemm", "-p", "M=512,N=512,K=512,dtype=bf16", "-f", "tile", "--config",
			"BM=128,BN=128,BK=64,WARPS=8,CLUSTER=0,OCCUPANCY=0,PERSISTENT=0,SPLIT_K=1,BAND=1", "--device", "model:h200-sxm", "--json")
		expect("gemm/tile", explained, code=0)
		if explained.returncode == 0:
			winner = json.loads(explained.stdout)["entries"][0]["winner"]
			if not (0 < winner["regs_per_thread"] <= 255 and winner["smem_bytes"] > 100_000 and winner["launches"][0]["block"] == [1, 1, 1]
					and winner["score"]["occupancy_ratio"] >= 8 / 64):
				failures.append(f"gemm/tile: expected the cubin's figures, found {winner}")
		check_architectures(folder)
		expect("own kernel", tiletune("explain", kernel, "-p", "n=4096", "--device", "model:h200-sxm"), "registers", code=0)
		expect("devices", tiletune("devices"), "tile kernels: NVRTC V13.5", "tileiras V13.5", code=0)
		# a dry run and `explain` have the families that `tune` tries: tile kernels only if their compiler is installed
		of_b200 = ("gemm", "-p", "M=512,N=512,K=512,dtype=bf16", "--device", "model:b200")
		for name, arguments in (("dry run", ("tune", *of_b200, "--dry-run")), ("explain", ("explain", *of_b200))):
			expect(name, tiletune(*arguments), "gemm/tile", code=0)
			without = tiletune(*arguments, toolkit=folder)
			expect(name + " without a toolkit", without, code=0)
			if "gemm/tile" in without.stdout.replace("gemm/tile is left out", ""):
				failures.append(f"{name}: expected no tile kernels without their compiler, found {without.stdout}")
		tuned = tiletune("tune", kernel, *predicted)
		expect("tune", tuned, code=0)
		expect("PTX", tiletune("export", folder + "/tuned.json", "--format", "ptx", "--path", kernel, "-o", folder + "/kernel.ptx"), "cannot be compiled to PTX", code=1)
		notice = tiletune("tune", *of_b200, "--where", "BM == 64 and BN == 64", "--evaluations", "1", "-o", folder + "/notice.json", "--verbose", toolkit=folder)
		expect("notice", notice, "gemm/tile is left out: no toolkit for CUDA Tile C++: tileiras was not found", code=0)
		check_stack(folder, predicted)
		check_extra()
		check_draft(folder)
		check_gate(folder)
		kernel = own_kernel(folder, FILL)
		# special characters in the toolkit's path have no effect
		os.symlink(TOOLKIT, folder + "/a{b,c}[d]")
		expect("odd folder", tiletune("devices", toolkit=folder + "/a{b,c}[d]"), "tile kernels: NVRTC", code=0)
		# an older toolkit in CUDA_HOME has no effect: tileiras gets another CUDA_HOME, and the search continues
		old = ("explain", kernel, "-p", "n=128", "--device", "model:h200-sxm", "--cache-dir", folder + "/cache")
		stub_toolkit(folder + "/old", "V13.1.80")
		expect("old CUDA_HOME", tiletune(*old, CUDA_HOME=folder + "/old"), "registers", code=0)
		expect("old CUDA_HOME, searched", tiletune(*old, toolkit="", CUDA_HOME=folder + "/old", CUDA_PATH=TOOLKIT), "registers", code=0)
		expect("old toolkit alone", tiletune(*old, toolkit=folder + "/old"), "older than CUDA 13.3: NVRTC V13.1.80", 'pip install "tiletune[tile]"', code=5)

		# without the compilers
		lost = tiletune("tune", kernel, *predicted, toolkit=folder)
		expect("no toolkit", lost, "tileiras was not found", 'pip install "tiletune[tile]"', code=5)
		os.makedirs(folder + "/part/bin")
		shutil.copy(TOOLKIT + "/bin/tileiras", folder + "/part/bin/")
		expect("half a toolkit", tiletune("devices", toolkit=folder + "/part"), "every toolkit found lacks files",
			"\n  " + folder + "/part has no libnvrtc.so (package nvidia-cuda-nvrtc)\n  hint: pip install", code=0)

		# bad sources
		for what, source, members, *texts in (
				("no power of two", FILL, {"parameters": {"SIZE": [48]}}, "power of two"),
				("inline PTX", FILL.replace("{\n", '{\n\tasm volatile("nop;");\n', 1), {}, "asm statement is unsupported in tile code"),
				("no tile kernel", FILL.replace("__tile_global__", "__global__"), {}, "hint: declare the kernel as __tile_global__"),
				("no language", FILL, {"language": "cuda"}, 'hint: write "language": "tile" in the JSON'),
				("no such kernel", FILL.replace("fill(", "other("), {}, 'there is no kernel named "fill"')):
			expect(what, tiletune("tune", own_kernel(folder, source, **members), *predicted), "compile_failed", *texts, code=1)

		# an assembler that crashes or hangs costs only its configurations
		kernel = own_kernel(folder, FILL)
		for name in ("include", "lib", "nvvm"):
			os.symlink(f"{TOOLKIT}/{name}", f"{folder}/part/{name}")
		os.symlink(TOOLKIT + "/bin/ptxas", folder + "/part/bin/ptxas")
		os.remove(folder + "/part/bin/tileiras")
		for script, outcome, message in (("#!/bin/sh\nkill -SEGV $$\n", "compile_crashed", "killed by signal 11"), (LATE, "compile_timeout", "tileiras took longer than 100 s")):
			with open(folder + "/part/bin/tileiras", "w", encoding="utf-8") as file:
				file.write(script)
			os.chmod(folder + "/part/bin/tileiras", 0o755)
			expect(outcome, tiletune("tune", kernel, *predicted, "--cache-dir", folder + "/cache", toolkit=folder + "/part"), outcome, message, code=1)
	print("\n".join(failures) or "tile kernels compile")
	sys.exit(1 if failures else 0)


main()
