#!/usr/bin/env python3
"""The problems of configs/suites/chain_map.json, on stdout.

	chain_points.py [--seed 1] [--count 168] [--drawn] > configs/suites/chain_map.json

Random ones: m is log-uniform over 1024..131072, k, n and p over 16..8192; m a multiple of 8, the
others of 16 three times out of four, else of 8. Drawn again: a problem of more than 1e12 FLOP, of
more than 4e12 FLOP where the intermediate is computed once per 512 columns of Y, or of tensors and
intermediate beyond 1.5 GB. Then named ones: those that were timed before the rule was made, and
those of "When to tile two matrix multiplies".
"""
import argparse
import json
import math
import random

named = [
	("eight anchors", [(32768, 64, 4096, 64), (16384, 64, 1024, 64), (65536, 64, 256, 64),
	                   (65536, 64, 64, 64), (65536, 128, 512, 128), (131072, 256, 64, 64),
	                   (81920, 576, 64, 128), (81920, 576, 64, 256)]),
	("best case", [(131072, 16, 512, 16)]),
	# Q K^T V of one head: as many rows as columns of the intermediate
	("attention, 16 samples of 64 tokens", [(1024, 64, 1024, 64), (1024, 128, 1024, 128)]),
	("attention, longer", [(4096, 64, 4096, 64), (4096, 128, 4096, 128), (16384, 64, 16384, 64),
	                       (16384, 128, 16384, 128)]),
	# n = 4 d; 16 samples of 768 tokens are the document's "3d/64"; then fewer tokens
	("transformer MLP, 16 samples of 768 tokens", [(12288, 4096, 16384, 4096)]),
	("transformer MLP", [(2048, 4096, 16384, 4096), (2048, 6144, 24576, 6144),
	                     (2048, 8192, 32768, 8192)]),
]


def log_uniform(generator, low, high):
	return math.exp(generator.uniform(math.log(low), math.log(high)))


def draw(generator):
	while True:
		unit = 16 if generator.random() < 0.75 else 8
		m = 8 * round(log_uniform(generator, 1024, 131072) / 8)
		k, n, p = (max(16, unit * round(log_uniform(generator, 16, 8192) / unit)) for _ in range(3))
		flop = 2 * m * n * (k + p)
		fused_flop = 2 * m * n * (k * math.ceil(p / 512) + p)
		size = 2 * (m * k + k * n + n * p + m * p + m * n)
		if flop <= 1e12 and fused_flop <= 4e12 and size <= 1.5e9:
			return m, k, n, p


def main():
	arguments = argparse.ArgumentParser()
	arguments.add_argument("--seed", type=int, default=1)
	arguments.add_argument("--count", type=int, default=168)
	arguments.add_argument("--drawn", action="store_true")
	options = arguments.parse_args()
	groups = [] if options.drawn else named
	generator = random.Random(options.seed)
	points = [("", draw(generator)) for _ in range(options.count)]
	points += [(name, point) for name, group in groups for point in group]
	suite = {
		"format": "tiletune.suite/1",
		"name": "chain_map",
		"summary": "%d problems drawn with seed %d (tests/gpu/chain_points.py)%s" % (
			options.count, options.seed,
			"".join(("; " if i else ", then ") + name for i, (name, _) in enumerate(groups))),
		"operation": "gemm_chain",
		"effort": "quick",
		"problems": ["m=%d,k=%d,n=%d,p=%d,dtype=bf16" % point for _, point in points],
	}
	print(json.dumps(suite, indent="\t"))


if __name__ == "__main__":
	main()
