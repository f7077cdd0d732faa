#!/usr/bin/env python3
"""Twenty attention problems drawn with a fixed seed, as a suite on standard output.

	python3 tests/gpu/draw_attention.py > configs/suites/attention_drawn.json

Lengths 300 to 16384, every other one as it falls and every other one in whole 64s, both masks,
equal and grouped heads. A problem has 0.01 to 1.5 TFLOP: twenty are tuned in a minute or two.
"""
import random

SEED, COUNT = 20261122, 20
LEAST_FLOP, MOST_FLOP = 1e10, 1.5e12


def draw(source, number):
    while True:
        length = round(300 * (16384 / 300) ** source.random())
        if number % 2:
            length = max(320, length // 64 * 64)
        heads = source.choice([8, 12, 16, 24, 32, 40, 64])
        kv_heads = heads // source.choice([share for share in (1, 1, 2, 4, 8) if heads % share == 0])
        batch, head_dim = source.choice([1, 1, 2, 3, 4, 8, 16]), source.choice([64, 64, 128, 128, 128, 256])
        causal, dtype = number // 2 % 2, source.choice(["bf16", "bf16", "bf16", "fp16"])
        flop = 4 * batch * heads * head_dim * length * length / (1 + causal)
        if LEAST_FLOP <= flop <= MOST_FLOP:
            return (f"batch={batch},heads={heads},seq_q={length},seq_k={length},head_dim={head_dim},"
                f"dtype={dtype},kv_heads={kv_heads},causal={causal}")


def main():
    source = random.Random(SEED)
    problems = ",\n".join(f'\t\t"{draw(source, number)}"' for number in range(COUNT))
    print('{\n\t"format": "tiletune.suite/1",\n\t"name": "attention_drawn",\n'
        '\t"summary": "Attention forward, problems drawn with a fixed seed (tests/gpu/draw_attention.py): '
        'odd lengths, grouped heads, both masks",\n'
        f'\t"operation": "attention",\n\t"problems": [\n{problems}\n\t]\n}}')


if __name__ == "__main__":
    main()
