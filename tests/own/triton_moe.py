# SPDX-License-Identifier: MIT
"""A fused mixture of experts in Triton, as a program that tiletune tunes (templates/programs.md).

Each token goes to top_k experts: Y[t] = sum over its experts e of weight * W2[e] (silu(W1[e][:N] x[t]) * W1[e][N:] x[t]). Tokens are
sorted by expert, and the rows of each expert are padded to whole blocks. One kernel computes both products."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/python"))

import torch  # noqa: E402  pylint: disable=wrong-import-position
import triton  # noqa: E402  pylint: disable=wrong-import-position
import triton.language as tl  # noqa: E402  pylint: disable=wrong-import-position

from tiletune.program import serve  # noqa: E402  pylint: disable=wrong-import-position

DTYPE = torch.bfloat16


@triton.jit(do_not_specialize=["slots", "GROUP_SIZE_M"])
def experts(x, w, y, weights, places, expert_of, used, N, K, slots, GROUP_SIZE_M, SHARED_BY: tl.constexpr, WEIGHTED: tl.constexpr,
		BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr):
	"""y[p] = x[p // SHARED_BY] w[expert]^T for the places p of a block, of which those from `slots` on are padding. One kernel
	serves all numbers of slots and all GROUP_SIZE_M."""
	all_used = tl.load(used)
	rows, columns = tl.cdiv(all_used, BLOCK_SIZE_M), tl.cdiv(N, BLOCK_SIZE_N)
	block = tl.program_id(0)
	if block >= rows * columns:
		return
	first = block // (GROUP_SIZE_M * columns) * GROUP_SIZE_M
	height = tl.minimum(rows - first, GROUP_SIZE_M)
	inside = block % (GROUP_SIZE_M * columns)
	row = first + inside % height
	place = tl.load(places + row * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M))
	is_there = place < slots
	expert = tl.load(expert_of + row).to(tl.int64)
	n = inside // height * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
	k = tl.arange(0, BLOCK_SIZE_K)
	x_at = x + (place // SHARED_BY)[:, None].to(tl.int64) * K + k[None, :]
	w_at = w + expert * N * K + n[None, :].to(tl.int64) * K + k[:, None]
	sums = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
	for begin in range(0, K, BLOCK_SIZE_K):
		left = tl.load(x_at, mask=is_there[:, None] & (k[None, :] < K - begin), other=0.0)
		right = tl.load(w_at, mask=(n[None, :] < N) & (k[:, None] < K - begin), other=0.0)
		sums = tl.dot(left, right, sums)
		x_at += BLOCK_SIZE_K
		w_at += BLOCK_SIZE_K
	if WEIGHTED:
		sums *= tl.load(weights + place, mask=is_there, other=0.0)[:, None]
	tl.store(y + place[:, None].to(tl.int64) * N + n[None, :], sums.to(y.dtype.element_ty), mask=is_there[:, None] & (n[None, :] < N))


@triton.jit
def silu_and_multiply(x, y, N, BLOCK: tl.constexpr):
	row = tl.program_id(0).to(tl.int64)
	n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
	gate = tl.load(x + row * 2 * N + n, mask=n < N, other=0.0).to(tl.float32)
	up = tl.load(x + row * 2 * N + N + n, mask=n < N, other=0.0).to(tl.float32)
	tl.store(y + row * N + n, (gate * tl.sigmoid(gate) * up).to(y.dtype.element_ty), mask=n < N)


def ordered(ids, count, block):
	"""Returns the places sorted by expert and padded to whole blocks with the number of slots, the expert of each block, and the
	number of used places. The host never waits for the GPU, so that a graph can contain the calls."""
	ids = ids.flatten()
	slots = ids.numel()
	room = -(-(slots + count * (block - 1)) // block) * block
	every = torch.arange(count, device=ids.device)
	sizes = (ids[None, :] == every[:, None]).sum(1)
	ends = torch.cumsum(-(-sizes // block) * block, 0)
	order = torch.argsort(ids, stable=True)
	sorted_ids = ids[order].long()
	begins = ends - -(-sizes // block) * block
	before = torch.cumsum(sizes, 0) - sizes
	at = begins[sorted_ids] + torch.arange(slots, device=ids.device) - before[sorted_ids]
	places = torch.full((room,), slots, dtype=torch.int32, device=ids.device)
	places[at] = order.to(torch.int32)
	blocks = torch.arange(0, room, block, device=ids.device)
	expert_of = torch.clamp(torch.searchsorted(ends, blocks, right=True), max=count - 1).to(torch.int32)
	return places, expert_of, ends[-1:].to(torch.int32)


def inputs(problem):
	tokens, count, top_k, n, k = (problem[name] for name in ("tokens", "experts", "top_k", "N", "K"))

	def routes(generator):
		drawn = generator.random((tokens, count)).argsort(axis=1)[:, :top_k]
		return torch.from_numpy(drawn.astype("int32")).cuda()

	def shares(generator):
		drawn = generator.random((tokens, top_k)).astype("float32")
		return torch.from_numpy(drawn / drawn.sum(axis=1, keepdims=True)).cuda()

	return [((tokens, k), DTYPE), ((count, 2 * n, k), DTYPE), ((count, k, n), DTYPE), routes, shares]


def make(problem, configuration):
	tokens, count, top_k, n, k = (problem[name] for name in ("tokens", "experts", "top_k", "N", "K"))
	slots, block = tokens * top_k, configuration["BLOCK_SIZE_M"]
	blocks = -(-(slots + count * (block - 1)) // block)
	first = torch.empty((slots, 2 * n), dtype=DTYPE, device="cuda")
	second = torch.empty((slots, n), dtype=DTYPE, device="cuda")
	third = torch.empty((slots, k), dtype=DTYPE, device="cuda")

	def grid(columns):
		return lambda meta: (blocks * triton.cdiv(columns, meta["BLOCK_SIZE_N"]),)

	def run(x, w1, w2, ids, weights, y):
		places, expert_of, used = ordered(ids, count, block)
		experts[grid(2 * n)](x, w1, first, weights, places, expert_of, used, 2 * n, k, slots, SHARED_BY=top_k, WEIGHTED=False, **configuration)
		silu_and_multiply[(slots, triton.cdiv(n, 1024))](first, second, n, BLOCK=1024)
		experts[grid(k)](second, w2, third, weights, places, expert_of, used, k, n, slots, SHARED_BY=1, WEIGHTED=True, **configuration)
		torch.sum(third.view(tokens, top_k, k), dim=1, out=y)

	return run, [((tokens, k), DTYPE)]


def reference(problem, x, w1, w2, ids, weights):
	n = problem["N"]
	y = torch.zeros(x.shape, dtype=torch.float32, device=x.device)
	for expert in range(problem["experts"]):
		rows, slot = torch.where(ids == expert)
		if not rows.numel():
			continue
		hidden = (x[rows].float() @ w1[expert].float().T).to(DTYPE).float()
		hidden = (torch.nn.functional.silu(hidden[:, :n]) * hidden[:, n:]).to(DTYPE).float()
		y.index_add_(0, rows, weights[rows, slot, None] * (hidden @ w2[expert].float().T))
	return y


def prepare(problem, configuration):
	n, k, top_k = problem["N"], problem["K"], problem["top_k"]
	slots = problem["tokens"] * top_k
	for columns, depth, shared_by, weighted in ((2 * n, k, top_k, False), (k, n, 1, True)):
		experts.warmup(DTYPE, DTYPE, DTYPE, torch.float32, torch.int32, torch.int32, torch.int32, columns, depth, slots, SHARED_BY=shared_by,
			WEIGHTED=weighted, grid=(1,), **configuration)


if __name__ == "__main__":
	serve(make, reference, inputs, prepare)
