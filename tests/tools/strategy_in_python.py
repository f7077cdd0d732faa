#!/usr/bin/python3
"""Implements a strategy for `tune --strategy program:CMD`: `random` as in src/search, with the same random numbers.

	strategy_in_python.py [WHAT]	WHAT: outside, repeated, nonsense, another_id, late, silent_end: its error from the fourth request on;
				sometimes: every second answer is outside"""
import json
import sys

MASK = (1 << 64) - 1


def rotated(x, bits):
	return (x << bits | x >> (64 - bits)) & MASK


class Random:
	"""Implements xoshiro256** seeded by splitmix64 (src/base/random.c)."""

	def __init__(self, seed):
		self.words = []
		for _ in range(4):
			seed = (seed + 0x9E3779B97F4A7C15) & MASK
			z = seed
			z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
			z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
			self.words.append(z ^ (z >> 31))

	def below(self, bound):
		s = self.words
		result = (rotated((s[1] * 5) & MASK, 7) * 9) & MASK
		t = (s[1] << 17) & MASK
		s[2] ^= s[0]
		s[3] ^= s[1]
		s[1] ^= s[2]
		s[0] ^= s[3]
		s[2] ^= t
		s[3] = rotated(s[3], 45)
		return (result * bound) >> 64

	def shuffle(self, items):
		for i in range(len(items), 1, -1):
			j = self.below(i)
			items[i - 1], items[j] = items[j], items[i - 1]


def say(**members):
	print(json.dumps(members), flush=True)


def main():
	what = sys.argv[1] if len(sys.argv) > 1 else ""
	order, known, asked, budget, first = [], set(), 0, None, {}
	for line in sys.stdin:
		told = json.loads(line)
		if told["request"] == "space":
			draw = Random(told["seed"])
			budget = told.get("budget")
			for family in told["families"]:
				names = list(family["parameters"])
				order += [(predicted, len(order) + i, family["name"], dict(zip(names, values)))
					for i, (predicted, values) in enumerate(zip(family["predicted_us"], family["configurations"])) if predicted is not None]
			order.sort(key=lambda one: one[:2])
			draw.shuffle(order)
		elif told["request"] == "result":
			known.add(json.dumps([told["family"], told["configuration"]]))
		elif told["request"] == "error":
			print(told["error"], file=sys.stderr, flush=True)
		elif what == "sometimes" and told["id"] % 2 == 0:
			wrong("outside", told["id"], order, first)
		elif what not in ("", "sometimes") and told["id"] > 3:
			wrong(what, told["id"], order, first)
		else:
			while order and json.dumps(list(order[0][2:])) in known:
				order.pop(0)
			if not order or (budget and asked >= budget):
				say(id=told["id"], done=True)
				continue
			_, _, family, configuration = order.pop(0)
			asked += 1
			known.add(json.dumps([family, configuration]))
			first = {"id": told["id"], "family": family, "configuration": configuration}
			say(**first)


def wrong(what, number, order, first):
	_, _, family, configuration = order[0]
	if what == "outside":
		say(id=number, family=family, configuration={**configuration, next(iter(configuration)): 3})
	elif what == "repeated":
		say(**{**first, "id": number})
	elif what == "nonsense":
		print("try 3", flush=True)
	elif what == "another_id":
		say(id=number + 5, family=family, configuration=configuration)
	elif what == "late":
		say(id=number - 1, family=family, configuration=configuration)
		say(id=number, configuration={})
	elif what == "silent_end":
		sys.exit(5)


main()
