# SPDX-License-Identifier: MIT
"""C[M, N] = A[M, K] B[N, K]^T in Triton, as a program that tiletune tunes (templates/programs.md)."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/python"))

import torch  # noqa: E402  pylint: disable=wrong-import-position
import triton  # noqa: E402  pylint: disable=wrong-import-position
import triton.language as tl  # noqa: E402  pylint: disable=wrong-import-position

from tiletune.program import serve  # noqa: E402  pylint: disable=wrong-import-position


@triton.jit
def gemm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP_M: tl.constexpr):
	rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
	block = tl.program_id(0)
	# GROUP_M rows of blocks before the next column, so that neighbours share operands in L2
	first = block // (GROUP_M * columns) * GROUP_M
	height = tl.minimum(rows - first, GROUP_M)
	inside = block % (GROUP_M * columns)
	m = (first + inside % height) * BM + tl.arange(0, BM)
	n = inside // height * BN + tl.arange(0, BN)
	k = tl.arange(0, BK)
	a_at = a + m[:, None].to(tl.int64) * K + k[None, :]
	b_at = b + n[None, :].to(tl.int64) * K + k[:, None]
	sums = tl.zeros((BM, BN), dtype=tl.float32)
	for begin in range(0, K, BK):
		left = tl.load(a_at, mask=(m[:, None] < M) & (k[None, :] < K - begin), other=0.0)
		right = tl.load(b_at, mask=(n[None, :] < N) & (k[:, None] < K - begin), other=0.0)
		sums = tl.dot(left, right, sums)
		a_at += BK
		b_at += BK
	c_at = c + m[:, None].to(tl.int64) * N + n[None, :]
	tl.store(c_at, sums.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def dtype_of(problem):
	return {"fp16": torch.float16, "bf16": torch.bfloat16}[problem["dtype"]]


def inputs(problem):
	return [((problem["M"], problem["K"]), dtype_of(problem)), ((problem["N"], problem["K"]), dtype_of(problem))]


def grid(problem, configuration):
	return (triton.cdiv(problem["M"], configuration["BM"]) * triton.cdiv(problem["N"], configuration["BN"]),)


def make(problem, configuration):
	def run(a, b, c):
		gemm[grid(problem, configuration)](a, b, c, problem["M"], problem["N"], problem["K"], **configuration)

	return run, [((problem["M"], problem["N"]), dtype_of(problem))]


def reference(problem, a, b):
	del problem
	return a.float() @ b.float().T


def prepare(problem, configuration):
	dtype = dtype_of(problem)
	gemm.warmup(dtype, dtype, dtype, problem["M"], problem["N"], problem["K"], grid=(1,), **configuration)


if __name__ == "__main__":
	serve(make, reference, inputs, prepare)
