#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares tiletune.autotune with triton.autotune on five public kernels, in which only the import changes. Needs a GPU, torch and
triton.

	results/gpu/triton_autotune.py SOURCES OUT [--minutes 8] [--only NAME]

SOURCES: a folder with unpacked packages that have the kernels (they are not part of this repository):

	pip download --no-deps liger-kernel sglang && for w in *.whl; do unzip -q -o $w '*layer_norm.py' '*softmax.py' '*prefill_attention.py' \\
		'*fused_moe_triton_kernels.py' '*batch_invariant_ops.py' -d SOURCES; done

Each run is its own process. The first run of each tuner begins without compiled kernels; later ones, as many as time allows, show
whether the result is always the same. The winners of both are timed in turn in one process, with cold L2. OUT gets
triton_autotune.json; the last lines are the table. TILETUNE names the program if it is not on the path."""
import argparse
import ast
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHONPATH = os.pathsep.join(filter(None, [str(ROOT / "src/python"), os.environ.get("PYTHONPATH")]))

HEAD = """
import os
import torch
import triton
import triton.language as tl
if os.environ["TUNER"] == "tiletune":
    from tiletune import autotune
else:
    from triton import autotune
def configs(warps, stages, **lists):
    import itertools
    return [triton.Config(dict(zip(lists, values)), num_warps=w, num_stages=s)
        for values in itertools.product(*lists.values()) for w in warps for s in stages]
def rand(*shape, dtype=torch.bfloat16):
    return torch.randn(shape, device="cuda", dtype=torch.float32).to(dtype)
"""

# name: file, kernel, the decorator's arguments, and a function that launches the kernel once
KERNELS = {
	"matmul": ("batch_invariant_ops.py", "matmul_kernel_persistent",
		'configs=configs([4, 8], [3, 4], BLOCK_SIZE_M=[64, 128], BLOCK_SIZE_N=[64, 128, 256], BLOCK_SIZE_K=[32, 64], GROUP_SIZE_M=[8]), key=["M", "N", "K"]', """
def launcher(M=4096, N=4096, K=4096):
    a, b, c = rand(M, K), rand(K, N), torch.empty(M, N, device="cuda", dtype=torch.bfloat16)
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    grid = lambda meta: (min(sms, triton.cdiv(M, meta["BLOCK_SIZE_M"]) * triton.cdiv(N, meta["BLOCK_SIZE_N"])),)
    def launch(kernel, **more):
        kernel[grid](a, b, c, None, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1), NUM_SMS=sms,
            A_LARGE=False, B_LARGE=False, C_LARGE=False, HAS_BIAS=False, **more)
    return launch
"""),
	"fused MoE": ("fused_moe_triton_kernels.py", "fused_moe_kernel",
		'configs=configs([4, 8], [3, 4], BLOCK_SIZE_M=[64], BLOCK_SIZE_N=[64, 128, 256], BLOCK_SIZE_K=[64, 128], GROUP_SIZE_M=[1, 16]), key=["N", "K", "EM"]', """
def launcher(tokens=1024, experts=64, top_k=8, N=1536, K=2048, block=64):
    import inspect
    x, w = rand(tokens, K), rand(experts, N, K)
    ids = torch.rand(tokens, experts, device="cuda").argsort(1)[:, :top_k].flatten()
    order = torch.argsort(ids, stable=True).to(torch.int32)
    rows, owners = [], []
    for expert in range(experts):
        mine = order[ids[order.long()] == expert]
        full = torch.full((-(-mine.numel() // block) * block,), tokens * top_k, device="cuda", dtype=torch.int32)
        full[:mine.numel()] = mine
        rows.append(full)
        owners += [expert] * (full.numel() // block)
    places, owner = torch.cat(rows), torch.tensor(owners, device="cuda", dtype=torch.int32)
    y = torch.empty(tokens, top_k, N, device="cuda", dtype=torch.bfloat16)
    known = {"a_ptr": x, "b_ptr": w, "c_ptr": y, "topk_weights_ptr": torch.rand(tokens, top_k, device="cuda"), "sorted_token_ids_ptr": places,
        "expert_ids_ptr": owner, "num_tokens_post_padded_ptr": torch.tensor([places.numel()], device="cuda", dtype=torch.int32), "N": N, "K": K,
        "EM": places.numel(), "num_valid_tokens": tokens * top_k, "stride_am": K, "stride_ak": 1, "stride_be": N * K, "stride_bk": 1, "stride_bn": K,
        "stride_cm": N, "stride_cn": 1, "top_k": top_k, "compute_type": tl.bfloat16, "even_Ks": True, "ROUTER_TOPK": top_k, "use_fp8_w8a8": False}
    def launch(kernel, **more):
        names = inspect.signature(kernel.base_fn if hasattr(kernel, "base_fn") else kernel.fn).parameters
        tuned = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M")
        arguments = {}
        for name, parameter in names.items():
            if name in known:
                arguments[name] = known[name]
            elif name not in tuned and parameter.default is inspect.Parameter.empty:
                arguments[name] = None if name.endswith(("_ptr", "_desc")) else 0 if name.startswith("stride") or name.startswith("group_") else False
        kernel[lambda meta: (triton.cdiv(places.numel(), meta["BLOCK_SIZE_M"]) * triton.cdiv(N, meta["BLOCK_SIZE_N"]),)](**arguments, **more)
    return launch
"""),
	"attention": ("prefill_attention.py", "_fwd_kernel",
		'configs=configs([4, 8], [1, 2, 3], BLOCK_M=[64, 128], BLOCK_N=[32, 64, 128]), key=["Lk"]', """
def launcher(batch=2, length=4096, heads=16, dim=128):
    q, k, v = (rand(batch * length, heads, dim) for _ in range(3))
    o = torch.empty_like(q)
    begins = torch.arange(batch, device="cuda", dtype=torch.int32) * length
    lengths = torch.full((batch,), length, device="cuda", dtype=torch.int32)
    def launch(kernel, **more):
        kernel[lambda meta: (batch, heads, triton.cdiv(length, meta["BLOCK_M"]))](q, k, v, dim ** -0.5, begins, lengths, o, q.stride(0), q.stride(1),
            k.stride(0), k.stride(1), v.stride(0), v.stride(1), o.stride(0), o.stride(1), kv_group_num=1, BLOCK_DMODEL=dim, IS_CAUSAL=True, Lk=dim, **more)
    return launch
"""),
	"layer norm": ("layer_norm.py", "_layer_norm_forward_kernel",
		'configs=configs([1, 2, 4, 8, 16, 32], [1, 2], BLOCK_SIZE=[4096, 8192]), key=["n_cols"]', """
def launcher(rows=8192, columns=4096):
    x, w, b = rand(rows, columns), rand(columns), rand(columns)
    y, mean, rstd = torch.empty_like(x), *(torch.empty(rows, device="cuda", dtype=torch.float32) for _ in range(2))
    def launch(kernel, **more):
        kernel[(rows,)](y, y.stride(0), x, x.stride(0), w, 1, b, 1, mean, 1, rstd, 1, columns, 1e-5, **more)
    return launch
"""),
	"softmax": ("softmax.py", "_softmax_single_block_forward_kernel",
		'configs=configs([1, 2, 4, 8, 16, 32], [1, 2], BLOCK_SIZE=[8192, 16384]), key=["n_cols"]', """
def launcher(rows=4096, columns=8192):
    x = rand(rows, columns, dtype=torch.float32)  # tl.exp takes no bf16
    y = torch.empty_like(x)
    def launch(kernel, **more):
        kernel[(rows,)](y, y.stride(0), x, x.stride(0), columns, **more)
    return launch
"""),
}


def names_in(node):
	return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def taken(path, kernel):
	"""Returns the text of the kernel, of the functions and constants of its file that it uses, and the imports of triton."""
	tree = ast.parse(path.read_text(encoding="utf-8"))
	kept, wanted = {}, [kernel]
	defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
	defined.update({target.id: node for node in tree.body if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Name)})
	if kernel not in defined:
		raise ValueError(f"{path}: no function {kernel}")
	while wanted:
		name = wanted.pop()
		node = defined[name]
		if isinstance(node, ast.FunctionDef):
			node.decorator_list = [ast.parse("triton.jit", mode="eval").body] if node.decorator_list else []
		kept[name] = node
		wanted += [other for other in names_in(node) if other in defined and other not in kept and other not in wanted]

	used = set().union(*map(names_in, kept.values()))
	imports = []
	for node in (one for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)):
		names = [alias.asname or alias.name for alias in node.names]
		if (node.module or "").split(".")[0] in ("triton", "math") and used & set(names):
			imports.append(f"try:\n    {ast.unparse(node)}\nexcept ImportError:\n    pass")
	others = [ast.unparse(node) for node in tree.body if node in kept.values() and node is not defined[kernel]]
	return "\n\n".join(["import math", *reversed(imports), *others]), ast.unparse(defined[kernel])


def write_module(name, sources, folder):
	file, kernel, decorator, launcher = KERNELS[name]
	# a package may have several variants of a file; the one for Triton defines the kernel and has the shortest path
	found = sorted((path for path in pathlib.Path(sources).rglob(file) if f"def {kernel}(" in path.read_text(encoding="utf-8")
		and not {"cutile", "_cutile", "_cutedsl", "_ascend"} & set(path.parts)), key=lambda path: (len(path.parts), path))
	if not found:
		raise ValueError(f"{sources}: no file {file} with {kernel}")
	helpers, text = taken(found[0], kernel)
	path = folder / f"{name.replace(' ', '_')}.py"
	path.write_text(f"{HEAD}\n{helpers}\n\n\n@autotune({decorator})\n{text}\n\nKERNEL = {kernel}\n{launcher}", encoding="utf-8")
	return path


# ---- in a separate process ----
def load(path):
	spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
	module = importlib.util.module_from_spec(spec)
	sys.modules[spec.name] = module
	sys.path.insert(0, os.path.dirname(path))
	spec.loader.exec_module(module)
	return module


def options_of(config):
	return {name: value for name, value in config.all_kwargs().items() if name != "num_ctas"}


def tune(path):
	import torch  # pylint: disable=import-outside-toplevel,import-error
	import triton  # pylint: disable=import-outside-toplevel,import-error
	module = load(path)
	launch = module.launcher()
	torch.cuda.synchronize()
	started = time.perf_counter()
	launch(module.KERNEL)
	torch.cuda.synchronize()
	return {"seconds": time.perf_counter() - started, "configuration": options_of(module.KERNEL.best_config), "triton": triton.__version__,
		"torch": torch.__version__, "device": torch.cuda.get_device_name(), "configurations": len(module.KERNEL.configs)}


def compare(path, configurations):
	"""Returns the medians in us of the configurations, timed in turn."""
	import triton  # pylint: disable=import-outside-toplevel,import-error
	module = load(path)
	launch = module.launcher()
	times = [[] for _ in configurations]
	for _ in range(7):
		for index, configuration in enumerate(configurations):
			times[index].append(1e3 * triton.testing.do_bench(lambda configuration=configuration: launch(module.KERNEL.fn, **configuration), warmup=10, rep=40,
				return_mode="median"))
	return [statistics.median(found) for found in times]


def child(words, cache, tuner, folder, seconds):
	beside = {"TILETUNE": str(ROOT / "tiletune")} if (ROOT / "tiletune").is_file() else {}  # the program is in a folder of `make dist`
	environment = {**beside, **os.environ, "TUNER": tuner, "TRITON_CACHE_DIR": str(cache), "PYTHONPATH": PYTHONPATH, "TILETUNE_FILE": str(folder / "tuned.json"),
		"XDG_CACHE_HOME": str(folder), "TILETUNE_PROGRAM_LOG": str(folder / "program.log")}
	done = subprocess.run([sys.executable, __file__, *words], env=environment, capture_output=True, text=True, timeout=max(seconds, 1), check=False)
	if done.returncode:
		raise RuntimeError((done.stderr or done.stdout).strip()[-1500:])
	return json.loads(done.stdout.splitlines()[-1])


# ---- the table ----
class Session:
	def __init__(self, out, minutes):
		self.out, self.deadline = out, time.monotonic() + 60 * minutes
		self.rows, self.problems = {}, {}

	def left(self):
		return self.deadline - time.monotonic()

	def run(self, name, path, tuner, number):
		folder = self.out / f"{path.stem}.{tuner}.{number}"
		folder.mkdir(parents=True, exist_ok=True)
		cache = self.out / "compiled" / f"{path.stem}.{tuner}"
		started = time.monotonic()
		found = child(["tune", str(path)], cache, tuner, folder, self.left())
		self.rows[name].setdefault(tuner, []).append({**found, "process_seconds": time.monotonic() - started})
		print(f"{name}: {tuner} run {number}: {found['seconds']:.1f} s, {found['configuration']}", flush=True)

	def first(self, name, path):
		self.rows[name] = {}
		for tuner in ("triton", "tiletune"):
			self.run(name, path, tuner, 1)
		winners = [self.rows[name][tuner][0]["configuration"] for tuner in ("triton", "tiletune")]
		folder = self.out / f"{path.stem}.compare"
		folder.mkdir(exist_ok=True)
		self.rows[name]["us"] = child(["compare", str(path), json.dumps(winners)], self.out / "compiled" / f"{path.stem}.triton", "triton", folder, self.left())

	def tried(self, name, what):
		try:
			what()
			return True
		except (RuntimeError, ValueError, subprocess.TimeoutExpired) as error:
			self.problems[name] = str(error)
			print(f"{name}: {error}", file=sys.stderr, flush=True)
			return False

	def table(self):
		lines = ["| kernel | configurations | triton.autotune s | tiletune s | triton us | tiletune us | answers of triton | of tiletune |", "|---|---|---|---|---|---|---|---|"]
		for name, row in self.rows.items():
			if "us" not in row:
				continue
			answers = [f"{len({json.dumps(run['configuration'], sort_keys=True) for run in row[tuner]})} in {len(row[tuner])}" for tuner in ("triton", "tiletune")]
			lines.append(f"| {name} | {row['triton'][0]['configurations']} | {row['triton'][0]['seconds']:.1f} | {row['tiletune'][0]['seconds']:.1f} | {row['us'][0]:.1f} | "
				f"{row['us'][1]:.1f} | {answers[0]} | {answers[1]} |")
		return lines


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("sources")
	parser.add_argument("out", type=pathlib.Path)
	parser.add_argument("--minutes", type=float, default=8)
	parser.add_argument("--runs", type=int, default=5)
	parser.add_argument("--only", choices=list(KERNELS))
	options = parser.parse_args()
	options.out = options.out.resolve()  # workers run in other folders
	options.out.mkdir(parents=True, exist_ok=True)
	session, paths = Session(options.out, options.minutes), {}
	for name in [options.only] if options.only else KERNELS:
		session.tried(name, lambda name=name: paths.update({name: write_module(name, options.sources, options.out)}))
	for name in list(paths):
		if not session.tried(name, lambda name=name: session.first(name, paths[name])):
			del paths[name]
	for number in range(2, options.runs + 1):
		for name, path in paths.items():
			spent = sum(session.rows[name][tuner][-1]["process_seconds"] for tuner in ("triton", "tiletune"))
			if session.left() > spent + 10:
				for tuner in ("triton", "tiletune"):
					session.tried(name, lambda name=name, path=path, tuner=tuner: session.run(name, path, tuner, number))
	versions = next(({key: row["triton"][0][key] for key in ("device", "torch", "triton")} for row in session.rows.values() if row.get("triton")), {})
	with open(options.out / "triton_autotune.json", "w", encoding="utf-8") as file:
		json.dump({"format": "tiletune.triton_autotune/1", "date": time.strftime("%Y-%m-%d", time.gmtime()), "command": " ".join(["results/gpu/triton_autotune.py", *sys.argv[1:]]), "versions": versions, "rows": session.rows, "problems": session.problems}, file, indent=1)
	print(f"\n{versions.get('device')}, torch {versions.get('torch')}, triton {versions.get('triton')}\n")
	print("\n".join(session.table()))
	for name, problem in session.problems.items():
		print(f"not run: {name}: {problem.splitlines()[-1] if problem else '?'}")
	return 1 if session.problems else 0


if __name__ == "__main__":
	sys.stdout.reconfigure(line_buffering=True)
	if len(sys.argv) > 2 and sys.argv[1] in ("tune", "compare"):
		answer = tune(sys.argv[2]) if sys.argv[1] == "tune" else compare(sys.argv[2], json.loads(sys.argv[3]))
		sys.stdout.write("\n" + json.dumps(answer) + "\n")
		sys.exit(0)
	sys.exit(main())
