#!/usr/bin/python3
"""Launches of every family, over configurations drawn for its examples and for odd problems. The program's evaluation of the family's
JSON agrees with Python's; the blocks cover the problem (by formulas in this file); a launch fits the device; the number of legal
configurations, the defines and the amounts of work agree with tests/data/family/amounts.txt.

	tests/checks/grids.py OUT [FAMILY]		OUT: the folder with the binary; ACCEPT=1 writes amounts.txt, for a reviewed diff"""
import glob
import hashlib
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, "tests/tools")
import family_file

OUT, ONLY = sys.argv[1], " ".join(sys.argv[2:]).replace(" ", "/")
DEVICE, DRAWN = "h200-sxm", 6
ODD = {
	"gemm": ["M=257,N=131,K=77,dtype={}", "M=1,N=1,K=1,dtype={}", "M=100,N=4100,K=520,dtype={}", "M=513,N=264,K=2056,dtype={}", "M=512,N=384,K=256,dtype={}"],
	"gemm_chain": ["m=257,n=77,k=40,p=72,dtype={}", "m=1,n=33,k=16,p=24,dtype={}", "m=100,n=56,k=64,p=76,dtype={}", "m=300,n=224,k=256,p=208,dtype={}"],
	"gemm_grouped": ["groups=5,tokens=257,N=131,K=77,dtype={}", "groups=300,tokens=7,N=33,K=16,dtype={},spread=zipf", "groups=5,tokens=645,N=136,K=144,dtype={},spread=steep", "groups=7,tokens=129,N=72,K=272,dtype={},scale=row,layout=masked"],
	"attention": ["batch=2,heads=6,seq_q=77,seq_k=131,head_dim=64,dtype={},kv_heads=3", "batch=1,heads=4,seq_q=1,seq_k=1000,head_dim=128,dtype={},kv_heads=2",
		"batch=3,heads=2,seq_q=193,seq_k=65,head_dim=40,dtype={},causal=1", "batch=1,heads=2,seq_q=33,seq_k=40,head_dim=8,dtype={}",
		"batch=1,heads=2,seq_q=33,seq_k=40,head_dim=16,dtype={},causal=1"],
}
DTYPES = {"gemm": ["fp32", "tf32", "bf16", "fp8_e4m3"], "gemm_chain": ["bf16"], "gemm_grouped": ["bf16", "fp8_e4m3"], "attention": ["fp16"]}
BYTES = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8_e4m3": 1, "i32": 4}
AMOUNTS, PROBLEMS_KEPT = "tests/data/family/amounts.txt", 1
failures, seen = 0, {}


def cdiv(a, b):
	return -(-a // b)


def up(a, b):
	return cdiv(a, b) * b


def persistent(p, c):
	size = c.CLUSTER_M * c.CLUSTER_N
	units = getattr(p, 'batch', 1) * cdiv(p.M, c.BM * c.CLUSTER_M) * cdiv(p.N, c.BN * c.CLUSTER_N) * (cdiv(p.K, c.BK) if c.STREAM_K else 1)
	return [size * min(c.SMS * c.BLOCKS_PER_SM // size, units), 1, 1]


def tile_shares(p, c):
	"""Counts whole tiles, and the split tiles that remain after whole waves of 132."""
	tiles = cdiv(p.M, c.BM) * cdiv(p.N, c.BN)
	whole = tiles if c.SPLIT_K == 1 else tiles // 132 * 132
	return whole, (tiles - whole) * c.SPLIT_K


def decode(p, c):
	keys = c.KEY_WARPS * c.KEYS
	units = p.batch * p.kv_heads * cdiv(p.heads // p.kv_heads * p.seq_q, 16 * c.ROW_TILES * c.ROW_WARPS)
	if c.CLUSTER > 1:
		return [units * c.SPLIT, 1, 1]
	steps = cdiv(p.seq_k, keys)
	share = cdiv(units * steps, 132 * c.BLOCKS_PER_SM) if c.SPLIT == 0 else cdiv(steps, c.SPLIT)
	return [cdiv(units * steps, share), 1, 1]


def flash_wgmma(p, c):
	packed = p.heads // p.kv_heads if c.PACK else 1
	units = p.batch * p.heads // packed * cdiv(p.seq_q * packed, c.BM * c.CLUSTER)
	return [c.CLUSTER * (min(132 * c.MIN_BLOCKS // c.CLUSTER, units) if c.PERSISTENT else units), 1, 1]


def repack(p, c):
	size, warp_bytes = BYTES[p.dtype], 1024
	b_rows, b_columns = (p.N, p.K) if p.b_layout == "nk" else (p.K, p.N)
	pieces = c.REPACK_A * ((p.batch - 1) * p.rows_a + p.M) * cdiv(p.K * size, warp_bytes)
	pieces += c.REPACK_B * ((p.batch - 1) * p.rows_b + b_rows) * cdiv(b_columns * size, warp_bytes)
	return [cdiv(pieces, 8), 1, 1]


def fused_wgmma(p, c):
	tiles = cdiv(p.m, 64 * c.GROUPS) * cdiv(p.p, c.BP)
	return [tiles * c.SPLIT_N if c.SPLIT_N > 1 else min(tiles, 132 * c.BLOCKS_PER_SM), 1, 1]


def separate(p, c, columns, width):
	if "GROUPS" not in c:
		return [cdiv(p.m, c.BM) * cdiv(columns, width), 1, 1]
	clusters = min(132 * c.BLOCKS_PER_SM // c.CLUSTER_M, cdiv(p.m, c.BM * c.CLUSTER_M) * cdiv(columns, width))
	return [clusters * c.CLUSTER_M, 1, 1]


# the grid that the problem needs, by entry
NEEDED = {
	"gemm_simt": lambda p, c: [cdiv(p.M, c.BM) * cdiv(p.N, c.BN), c.SPLIT_K, getattr(p, 'batch', 1)],
	"gemm_mma": lambda p, c: [cdiv(p.M, c.BM) * cdiv(p.N, c.BN), c.SPLIT_K, getattr(p, 'batch', 1)],
	"gemm_split_k_reduce": lambda p, c: [cdiv(p.M * up(p.N, 4) // 4, 256), 1, 1],
	"gemm_wgmma": persistent,
	"gemm_repack": repack,
	"gemm_wgmma_skinny": lambda p, c: [cdiv(p.M, c.BM) * up(cdiv(p.N, c.BN), c.CLUSTER_N) * c.CLUSTER_K, p.batch, 1],
	"gemm_wgmma_splitk": lambda p, c: [up(cdiv(p.M, c.BM), c.CLUSTER_M) * up(cdiv(p.N, c.BN), c.CLUSTER_N) * c.SPLIT_K, 1, 1],
	"gemm_grouped_mma": lambda p, c: [(p.tokens // c.BM + min(p.groups, p.tokens)) * cdiv(p.N, c.BN), 1, 1],
	"gemm_grouped_wgmma": lambda p, c: [min(132 * c.BLOCKS_PER_SM // c.CLUSTER_M, (p.tokens // (c.BM * c.CLUSTER_M) + min(p.groups, p.tokens)) * cdiv(p.N, c.BN)) * c.CLUSTER_M, 1, 1],
	"gemm_chain_first": lambda p, c: separate(p, c, p.n, c.FIRST_BN),
	"gemm_chain_second": lambda p, c: separate(p, c, p.p, c.SECOND_BN),
	"gemm_chain_fused": lambda p, c: [cdiv(p.m, c.BM) * cdiv(p.p, c.BP), c.SPLIT_N, 1],
	"fused_reduce": lambda p, c: [cdiv(p.m * cdiv(p.p, 2), 256), 1, 1],
	"gemm_chain_resident": lambda p, c: [min(cdiv(p.m, c.WARP_ROWS * c.WARPS), 132 * c.BLOCKS_PER_SM), 1, 1],
	"gemm_chain_wgmma": fused_wgmma,
	"attention_decode": decode,
	"gemm_tile": lambda p, c: [min(sum(tile_shares(p, c)), 132 if c.PERSISTENT else 2**31), 1, 1],
	"gemm_tile_sum": lambda p, c: [tile_shares(p, c)[1] // c.SPLIT_K * c.BM * c.BN // 2048, 1, 1],
	"attention_tile": lambda p, c: [cdiv(p.seq_q, c.BM), p.batch * p.heads, 1],
	"gemm_chain_tile": lambda p, c: [cdiv(p.m, c.BM), 1, 1],
	"flash_mma": lambda p, c: [p.batch * p.heads * cdiv(p.seq_q, c.BM), 1, 1],
	"flash_wgmma": flash_wgmma,
	"tiled_simt": lambda p, c: [p.batch * p.heads * cdiv(p.seq_q, c.BM), 1, 1],
	"tiled_wmma": lambda p, c: [p.batch * p.heads * cdiv(p.seq_q, c.BM), 1, 1],
	"unfused_scores": lambda p, c: [p.batch * p.heads * cdiv(p.seq_q, c.QM) * cdiv(p.seq_k, c.QN), 1, 1],
	"unfused_softmax": lambda p, c: [cdiv(p.batch * p.heads * p.seq_q, 128 // c.ROW_THREADS), 1, 1],
	"unfused_values": lambda p, c: [p.batch * p.heads * cdiv(p.seq_q, c.VM) * cdiv(p.get("head_dim_v", p.head_dim), c.DN), 1, 1],
}


class Names(dict):
	def __getattr__(self, name):
		return self[name]


FUNCTIONS = {"ceil_div": cdiv, "round_up": up, "dtype_bytes": BYTES.get, "is_pow2": lambda n: n > 0 and n & (n - 1) == 0,
	"min": min, "max": max, "abs": abs, "len": len, "range": range, "__builtins__": {}}


def value(expression, names):
	return eval(expression, {**FUNCTIONS, **names}) if isinstance(expression, str) else expression  # the expression language has Python's semantics


def constant(text):
	return {"true": True, "false": False}[text] if text in ("true", "false") else int(text) if re.fullmatch(r"-?\d+", text) else text


def expect(case, what, found, wanted):
	global failures
	if found != wanted:
		failures += 1
		print(f"{case['family']} {{{case['label']}}} {case['problem']}: {what}: expected {wanted}, found {found}")


def device_names():
	with open(f"configs/devices/{DEVICE}.json", encoding="utf-8") as file:
		sheet = json.load(file)
	return {"compute_capability": sheet["compute_capability"], **{name: figure["value"] for name, figure in sheet["figures"].items()}}


def check_arguments(case, family, launch, plan, names):
	buffers = [b["name"] for b in case["plan"]["buffers"]]
	maps = [m["name"] for m in case["plan"]["tensor_maps"]]
	found = []
	for argument in plan["args"]:
		kind, number = next(iter(argument.items()))
		found.append(buffers[number] if kind == "buffer" else maps[number] if kind == "tensor_map" else number)
	wanted = [a if a in buffers + maps else value(a if isinstance(a, str) else a.get("value"), names) for a in launch["args"]]
	expect(case, "arguments of " + launch["entry"], found, wanted)


def check(case, family, device):
	problem = Names(case["problem"])
	names = Names({**device, **problem})
	configuration = Names({k: constant(v) for k, v in (pair.split("=", 1) for pair in case["label"].split(",") if pair)})
	names.update(configuration)
	for name, what in family.get("constants", {}).items():
		names[name] = value(what["value"] if isinstance(what, dict) else what, names)
	for constraint in family["constraints"]:
		expect(case, f"constraint {constraint['expr']}", bool(value(constraint["expr"], names)), True)
	active = [launch for launch in family["launches"] if value(launch.get("when", "True"), names)]
	expect(case, "launches", [p["entry"] for p in case["plan"]["launches"]], [launch["entry"] for launch in active])
	for launch, plan in zip(active, case["plan"]["launches"]):
		entry = launch["entry"]
		seen[family["operation"], entry] = True
		is_tile = family.get("language") == "tile"  # the compiler selects the number of threads
		for part in ("grid", "block", "cluster"):
			wanted = [value(v, names) for v in launch.get(part, [])] if not (is_tile and part == "block") else []
			expect(case, f"{part} of {entry}", plan[part], wanted + [1] * (3 - len(wanted)))
		expect(case, f"shared memory of {entry}", plan["smem_dynamic_bytes"], value(launch.get("smem_bytes", 0), names))
		expect(case, f"grid that covers the problem: {entry}", plan["grid"], NEEDED[entry](problem, configuration))
		threads = plan["block"][0] * plan["block"][1] * plan["block"][2]
		expect(case, f"threads of {entry}", is_tile or 32 <= threads <= device["max_threads_per_block"] and threads % 32 == 0, True)
		expect(case, f"shared memory that fits: {entry}", plan["smem_dynamic_bytes"] <= device["smem_per_block_bytes"], True)
		expect(case, f"grid in clusters: {entry}", [g % c for g, c in zip(plan["grid"], plan["cluster"])], [0, 0, 0])
		check_arguments(case, family, launch, plan, names)
		model = launch.get("model")
		if model:
			units, useful = value(model["units"], names), value(model.get("useful_fraction", 1), names)
			expect(case, f"useful share of {entry} in (0, 1]: {useful}", 0 < useful <= 1, True)
			if model.get("schedule", "grid").strip("'") == "grid":
				expect(case, f"units of {entry}", units, plan["grid"][0] * plan["grid"][1] * plan["grid"][2])
	counted = sum(w["units"] * w["steps"] * sum(v for pipe, v in w["per_step"].items() if pipe.endswith("_flop")) for w in case["work"])
	expect(case, f"work that is at least the problem's: {counted / case['flop']:.3f} of it", not case["work"] or counted > 0.99 * case["flop"], True)
	by_name = {b["name"]: b for b in case["plan"]["buffers"]}
	for workspace in family.get("workspaces", []):
		expect(case, f"bytes of {workspace['name']}", by_name[workspace["name"]]["bytes"], value(workspace["bytes"], names))


def words(value):
	"""Formats JSON as a short text, with numbers of six digits."""
	if isinstance(value, dict):
		return " ".join(f"{k}={words(v)}" for k, v in value.items())
	if isinstance(value, list):
		return "[" + ",".join(map(words, value)) + "]"
	return f"{value:.6g}" if isinstance(value, (int, float)) else str(value)


def amounts_of(case):
	"""Formats a configuration as evaluated from the family's JSON, with a line per launch."""
	defines = " ".join(sorted(o[2:] for o in case["units"][0]["options"] if o.startswith("-D"))) if case["units"] else ""
	problem = ",".join(f"{k}={v}" for k, v in case["problem"].items())
	lines = [f"{case['family']} {problem}: {case['legal']:.0f} legal, {words(case['flop'])} FLOP", f"  {case['label']}", f"  {defines}"]
	lines += [f"  {b['name']}: {b['bytes']} bytes" for b in case["plan"]["buffers"][case["plan"]["tensors"] :]]
	lines += [f"  {words(m)}" for m in case["plan"]["tensor_maps"]]
	lines += [f"  {words({k: v for k, v in launch.items() if k != 'unit'})}" for launch in case["plan"]["launches"]]
	return lines + [f"  {words(work)}" for work in case["work"]]


def check_amounts(cases):
	"""Compares the first drawn configuration for the first problems of each family, and a digest of all configurations for all problems."""
	chosen, groups, families = [], {}, {}
	for case in cases:
		groups.setdefault((case["family"], words(case["problem"])), []).append(case)
	for (family, _), group in groups.items():
		lines = amounts_of(group[0])
		families[family] = families.get(family, 0) + 1
		digest = hashlib.sha256("\n".join("\n".join(amounts_of(case)) for case in group).encode()).hexdigest()[:8]
		chosen += [f"{lines[0]}, {len(group)} drawn: {digest}"] + (lines[1:] if families[family] <= PROBLEMS_KEPT else [])
	if os.environ.get("ACCEPT") and not ONLY:
		with open(AMOUNTS, "w", encoding="utf-8") as file:
			file.write("\n".join(chosen) + "\n")
	with open(AMOUNTS, encoding="utf-8") as file:
		kept, own = [], False
		for line in file.read().splitlines():
			own = ONLY in line.split(" ")[0] if not line.startswith(" ") else own
			kept += [line] if own else []
	for number, (found, wanted) in enumerate(zip(chosen + [""] * len(kept), kept)):
		if found != wanted:
			where = next((line for line in reversed(kept[: number + 1]) if not line.startswith(" ")), "")
			expect({"family": AMOUNTS, "label": "ACCEPT=1 writes it again", "problem": where}, "line", found, wanted)
			break


def main():
	families, asked = {}, []
	for path in sorted(glob.glob("templates/*/*.json")):
		family = family_file.load(path)
		if family["format"] != "tiletune.family/1" or "launches" not in family:
			continue
		operation, name = path.split("/")[1], path.split("/")[2][: -len(".json")]
		families[operation + "/" + name] = family
		problems = {example["problem"] for example in family["examples"]["legal"]}
		problems |= {p.format(dtype) for p in ODD[operation] for dtype in DTYPES[operation]}
		asked += [f"{operation} {name} {problem} @{DRAWN}\n" for problem in sorted(problems) if ONLY in f"{operation}/{name}"]
	result = subprocess.run([OUT + "/tests/kernel_text", ".", "model:" + DEVICE], input="".join(asked), capture_output=True, text=True, check=False)
	if result.returncode != 0:
		sys.exit("kernel_text: " + result.stderr)
	cases = [json.loads(line) for line in result.stdout.splitlines()]
	for case in cases:
		check(case, families[case["family"]], device_names())
	check_amounts(cases)
	for name, family in families.items():
		for launch in family["launches"]:
			if ONLY in name and (family["operation"], launch["entry"]) not in seen:
				print(f"{name}: no launch of {launch['entry']} was seen")
				sys.exit(1)
	print(f"{len(cases)} candidates of {len({c['family'] for c in cases})} families, {failures} failures")
	sys.exit(failures > 0 or not cases)


main()
