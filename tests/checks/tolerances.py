#!/usr/bin/python3
"""Tests the tolerances of templates/ from both sides: rounding errors of a correct kernel, computed here from formats and accumulators,
stay within them and use a fair part of them; small mistakes exceed them.

	tests/checks/tolerances.py OUT [WORD...]		OUT: the folder with the binary; WORDs select cases that contain all of them"""
import json
import math
import random
import subprocess
import sys

OUT, WORDS = sys.argv[1], sys.argv[2:]
# a correct kernel must use these shares of the absolute and of the relative tolerance; a tenfold tolerance would be too wide
ABS_USED, REL_USED = (0.05, 0.95), (0.1, 1.0)
ROWS, COLUMNS = 16, 12
BITS = {"fp32": (24, -149), "tf32": (11, -136), "fp16": (11, -24), "bf16": (8, -133), "fp8_e4m3": (4, -9)}  # bits of the mantissa, and the exponent n of the smallest number 2^n
PRODUCTS = """
gemm simt M=16,N=12,K={k},dtype=fp32 -
gemm mma M=16,N=12,K={k},dtype=tf32 -
gemm mma M=16,N=12,K={k},dtype=fp16 -
gemm mma M=16,N=12,K={k},dtype=bf16 -
gemm mma M=16,N=12,K={k},dtype=bf16,out_dtype=fp32 -
gemm wgmma M=16,N=16,K={k},dtype=fp8_e4m3 -
gemm wgmma M=16,N=16,K={k},dtype=fp8_e4m3,accum=promoted -
gemm_grouped mma groups=1,tokens=16,N=12,K={k},dtype=fp16 -
gemm_grouped mma groups=1,tokens=16,N=12,K={k},dtype=bf16 -
gemm_grouped mma groups=1,tokens=16,N=16,K={k},dtype=fp8_e4m3 -
gemm_grouped wgmma groups=1,tokens=16,N=16,K={k},dtype=fp8_e4m3,accum=promoted -
"""
CASES = [line.format(k=k) for line in PRODUCTS.strip().splitlines() for k in (128, 1024)] + """
gemm_chain fused m=16,n=256,k=64,p=12,dtype=bf16 -
gemm_chain fused m=16,n=256,k=64,p=12,dtype=fp16 -
attention flash_mma batch=1,heads=1,seq_q=16,seq_k=48,head_dim=16,dtype=bf16 -
attention flash_mma batch=1,heads=1,seq_q=16,seq_k=48,head_dim=16,dtype=fp16 -
attention flash_mma batch=1,heads=1,seq_q=16,seq_k=512,head_dim=16,dtype=bf16 -
attention flash_mma batch=1,heads=1,seq_q=16,seq_k=512,head_dim=16,dtype=fp16 -
attention flash_wgmma batch=1,heads=1,seq_q=16,seq_k=48,head_dim=64,dtype=fp8_e4m3 -
attention flash_wgmma batch=1,heads=1,seq_q=16,seq_k=512,head_dim=64,dtype=fp8_e4m3 -
""".strip().splitlines()


# ---- formats and accumulators ----
def rounded(x, dtype):
	"""Rounds to the nearest number of the type."""
	bits, lowest = BITS[dtype]
	step = max(math.frexp(x)[1] - bits, lowest)
	return math.ldexp(round(math.ldexp(x, -step)), step)


def truncated(x, step):
	return math.ldexp(math.trunc(math.ldexp(x, -step)), step)


def on_cuda_cores(products):
	"""Accumulates with fused multiply-adds in sequence, each rounded to fp32."""
	total = 0.0
	for x in products:
		total = rounded(total + x, "fp32")
	return total


def on_tensor_cores(products, k):
	"""Each instruction adds the exact sum of k products to an fp32 accumulator, rounding towards zero."""
	total = 0.0
	for at in range(0, len(products), k):
		total += math.fsum(products[at : at + k])
		total = truncated(total, math.frexp(total)[1] - 24)
	return total


def on_fp8_cores(products):
	"""Each instruction adds 32 products: they and the accumulator are aligned to the largest exponent and keep 13 bits."""
	total = 0.0
	for at in range(0, len(products), 32):
		addends = [total, *products[at : at + 32]]
		step = max(math.frexp(x)[1] for x in addends) - 1 - 13
		total = math.fsum(truncated(x, step) for x in addends)
	return total


def accumulated(products, dtype, accum="fast"):
	if dtype == "fp32":
		return on_cuda_cores(products)
	if dtype != "fp8_e4m3":
		return on_tensor_cores(products, 8 if dtype == "tf32" else 16)
	if accum == "fast":
		return on_fp8_cores(products)
	return on_cuda_cores([on_fp8_cores(products[at : at + 128]) for at in range(0, len(products), 128)])


# ---- comparison of results ----
class Comparison:
	"""Compares the results of a case, with its tolerances."""

	def __init__(self, case):
		output = case["reference"]["outputs"][0]
		self.abs, self.rel = output["tolerance_abs"], output["tolerance_rel"]
		problem = case["problem"]
		self.name = case["family"] + " " + ",".join(f"{k}={problem[k]}" for k in ("K", "n", "seq_k", "dtype", "accum", "out_dtype") if k in problem)
		self.wrong = []

	def expect(self, holds, text):
		if not holds:
			self.wrong.append(f"{self.name}: {text} (abs {self.abs:.3g}, rel {self.rel:.3g})")

	def right(self, wanted, found, out_dtype, of_one_sign=None):
		"""found is not yet rounded to the output's type; of_one_sign holds wanted and found sums without cancellation."""
		largest = max(abs(f - w) for w, f in zip(wanted, found))
		self.expect(ABS_USED[0] <= largest / self.abs <= ABS_USED[1], f"a right kernel is off by {largest:.3g}, {largest / self.abs:.3f} of the absolute tolerance: expected {ABS_USED[0]} to {ABS_USED[1]}")
		largest = max(abs(rounded(f, out_dtype) / w - 1) for w, f in of_one_sign or ((w, w) for w in wanted if abs(w) > 0.01))
		self.expect(REL_USED[0] <= largest / self.rel <= REL_USED[1], f"a right kernel uses {largest / self.rel:.3f} of the relative tolerance: expected {REL_USED[0]} to {REL_USED[1]}")
		outside = self.outside(wanted, [rounded(f, out_dtype) for f in found])
		self.expect(not outside, f"{outside} elements of a right kernel are outside")

	def outside(self, wanted, found):
		return sum(abs(f - w) > self.abs + self.rel * abs(w) for w, f in zip(wanted, found))

	def mistake(self, what, wanted, found):
		self.expect(self.outside(wanted, found), f"{what} is not seen in {len(wanted)} elements")


def matrix(rows, columns, dtype):
	return [[rounded(random.uniform(-1, 1), dtype) for _ in range(columns)] for _ in range(rows)]


def products(case, comparison):
	"""Tests gemm and gemm_grouped."""
	problem = case["problem"]
	k, dtype, accum = problem["K"], problem["dtype"], problem["accum"]
	out_dtype = problem.get("out_dtype") or ("bf16" if dtype == "fp8_e4m3" else dtype)
	a, b = matrix(ROWS, k, dtype), matrix(COLUMNS, k, dtype)
	all_products = [[x * y for x, y in zip(row, column)] for row in a for column in b]
	wanted = [math.fsum(p) for p in all_products]
	found = [accumulated(p, dtype, accum) for p in all_products]
	positive = [[abs(x) for x in p] for p in all_products] if dtype in ("tf32", "fp16", "bf16") else []  # the other types have only absolute errors
	comparison.right(wanted, found, out_dtype, [(math.fsum(p), accumulated(p, dtype)) for p in positive])
	step = {"fp32": 1, "tf32": 8, "fp8_e4m3": 32}.get(dtype, 16)
	comparison.mistake("a k step left out", wanted, [f - math.fsum(p[-step:]) for p, f in zip(all_products, found)])
	comparison.mistake("a row in the place of the next", wanted[COLUMNS:], found[:-COLUMNS])
	comparison.mistake("a column in the place of the next", wanted[1:], found[:-1])
	if dtype != "fp8_e4m3" or k <= 128 or accum == "promoted":
		comparison.mistake("a product left out", wanted, [f - p[-1] for p, f in zip(all_products, found)])
		comparison.mistake("an element of A in the place of the next", wanted, [f + (row[0] - row[1]) * column[1] for f, (row, column) in zip(found, ((r, c) for r in a for c in b))])
	if dtype == "fp32":
		short = [accumulated([rounded(x, "tf32") * rounded(y, "tf32") for x, y in zip(row, column)], "tf32") for row in a for column in b]
		comparison.mistake("TF32 in the place of fp32", wanted, short)


def chain(case, comparison):
	"""The intermediate is rounded: a sum near a rounding boundary may differ by one unit in the last place."""
	problem = case["problem"]
	k, n, dtype = problem["k"], problem["n"], problem["dtype"]
	a, b, c = matrix(ROWS, k, dtype), matrix(n, k, dtype), matrix(COLUMNS, n, dtype)
	middle = [[rounded(math.fsum(x * y for x, y in zip(row, column)), dtype) for column in b] for row in a]
	all_products = [[x * y for x, y in zip(row, column)] for row in middle for column in c]
	wanted = [math.fsum(p) for p in all_products]
	found = []
	for row in middle:
		flipped = max((i for i in range(n) if abs(row[i]) < k**0.5), key=lambda i: abs(row[i]))  # the limit is three standard deviations
		flip = math.ldexp(1, math.frexp(row[flipped])[1] - BITS[dtype][0])
		found += [accumulated([x * y for x, y in zip(row, column)], dtype) + flip * column[flipped] for column in c]
	comparison.right(wanted, found, dtype)
	comparison.mistake("a product left out", wanted, [f - p[-1] for p, f in zip(all_products, found)])
	comparison.mistake("an intermediate row in the place of the next", wanted[COLUMNS:], found[:-COLUMNS])


def attention(case, comparison):
	"""Weights are rounded for the product with V, but their sum uses unrounded weights."""
	problem = case["problem"]
	keys, dim, dtype = problem["seq_k"], problem["head_dim"], problem["dtype"]
	q, k, v = matrix(ROWS, dim, dtype), matrix(keys, dim, dtype), matrix(COLUMNS, keys, dtype)
	wanted, found, without_last, shifted = [], [], [], []
	for row in q:
		scores = [math.fsum(x * y for x, y in zip(row, key)) / math.sqrt(dim) for key in k]
		weights = [math.exp(s - max(scores)) for s in scores]
		short, total = [rounded(w, dtype) for w in weights], math.fsum(weights)
		for column in v:
			wanted.append(math.fsum(w * x for w, x in zip(weights, column)) / total)
			found.append(accumulated([w * x for w, x in zip(short, column)], dtype) / total)
			without_last.append(math.fsum(w * x for w, x in zip(short[:-1], column)) / (total - weights[-1]))
			shifted.append(math.fsum(w * x for w, x in zip(short, column[1:])) / total)
	comparison.right(wanted, found, "fp16" if dtype == "fp16" else "bf16")
	if dtype != "fp8_e4m3" or keys <= 48:  # this mistake "changes an average by 1/n"
		comparison.mistake("a key left out", wanted, without_last)
	comparison.mistake("values of the next key", wanted, shifted)
	comparison.mistake("a row in the place of the next", wanted[COLUMNS:], found[:-COLUMNS])


if __name__ == "__main__":
	chosen = [line for line in CASES if all(word in line for word in WORDS)]
	said = subprocess.run([OUT + "/tests/kernel_text", ".", "model:h200-sxm"], input="\n".join(chosen) + "\n", capture_output=True, text=True, check=False)
	cases = [json.loads(line) for line in said.stdout.splitlines()]
	if said.returncode or len(cases) != len(chosen):
		sys.exit(f"expected {len(chosen)} candidates, found {len(cases)}: {said.stderr}")
	failed = 0
	for each in cases:
		random.seed(1)
		comparison = Comparison(each)
		{"attention": attention, "gemm_chain": chain}.get(each["family"].split("/")[0], products)(each, comparison)
		failed += len(comparison.wrong)
		print("".join(line + "\n" for line in comparison.wrong), end="")
	print(f"tolerances of {len(cases)} problems, {failed} expectations not met")
	sys.exit(failed > 0 or not cases)
