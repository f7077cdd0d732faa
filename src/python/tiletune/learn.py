# SPDX-License-Identifier: MIT
"""Trees that correct predictions, fitted to the timings of journals.

	python3 -m tiletune.learn JOURNAL... -o FILE	(needs numpy; the journals must be of one GPU model)

`tiletune tune --learned FILE` uses FILE (tiletune.learned/1) for predictions. The program exports features of each candidate
(`tiletune export JOURNAL --format features`), and for each family trees learn ln(measured / predicted by physics). All problems have
the same weight. Within a problem the candidates near its best count most, because a search needs the order of the fast ones. The
figures of `left_out` come from whole problems that were excluded from the fit.

Trees are gradient-boosted (J. Friedman, "Greedy Function Approximation", 2001; "Stochastic Gradient Boosting", 2002) over binned
features (as in LightGBM, 2017), and oblivious (as in CatBoost, 2018): all nodes of a level have the same condition, so that a tree is
six conditions and a table of 64 leaves, which the program sums for hundreds of thousands of candidates. The same journals give
bitwise the same file.

The program is `tiletune` on PATH, or $TILETUNE."""
import argparse
import collections
import json
import math
import subprocess
import sys

from .command import find_program
from .errors import Error, reading
from .files import expect_output, write_file

DEPTH = 6
BINS = 32  # number of bins per feature
THRESHOLDS_MAX = 4096  # thresholds of a model, which two digits encode
ROUNDS, ROUNDS_MIN, SAMPLES_PER_ROUND = 800, 60, 25
RATE = 0.1  # learning rate
SHRINKAGE = 5.0  # weight of a zero correction in every leaf
FEATURE_SHARE, SAMPLE_SHARE, SAMPLES_MAX = 0.5, 0.7, 32768  # random shares of features and samples per tree
FOLDS = 5
FEWEST = 64  # minimum number of timings of a family
FEWEST_OF_PROBLEM = 10  # minimum number of timings of a problem, for left_out
FAR = 4.0  # candidates slower than this multiple of the best are ignored
LEAF_ZERO = 2048
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
MASK = (1 << 64) - 1


class Random:
	"""Generates the random numbers of xoshiro256**, seeded by splitmix64."""

	def __init__(self, seed):
		self.words = []
		for _ in range(4):
			seed = (seed + 0x9E3779B97F4A7C15) & MASK
			z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
			z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
			self.words.append(z ^ (z >> 31))

	def numbers(self, count):
		"""Returns the next `count` numbers of 64 bits."""
		a, b, c, d = self.words
		numbers = []
		for _ in range(count):
			product = b * 5 & MASK
			numbers.append((product << 7 | product >> 57) * 9 & MASK)
			shifted = b << 17 & MASK
			c ^= a
			d ^= b
			b ^= c
			a ^= d
			c ^= shifted
			d = (d << 45 | d >> 19) & MASK
		self.words = [a, b, c, d]
		return numbers

	def units(self, count):
		"""Returns numbers in [0, 1)."""
		return (np.array(self.numbers(count), dtype=np.uint64) >> np.uint64(11)).astype(np.float64) * 2.0**-53

	def shuffle(self, items):
		for i in range(len(items), 1, -1):
			k = self.numbers(1)[0] * i >> 64
			items[i - 1], items[k] = items[k], items[i - 1]


# ---- timings ----
class Sample:
	def __init__(self, problem, row):
		self.problem = problem
		self.configuration, self.measured_us, self.predicted_us, *features = row
		self.features = np.array(features, dtype=np.float32)


def read_features(journals):
	"""Returns the device, and for each family the names of its features and its samples."""
	program = find_program()
	devices, names, samples = set(), {}, collections.defaultdict(list)
	for journal in journals:
		done = subprocess.run([program, "export", journal, "--format", "features"], stdout=subprocess.PIPE, text=True, check=False)
		if done.returncode != 0:
			raise Error(f"{journal}: `tiletune export --format features` ended with exit code {done.returncode}")
		with reading(journal, "a journal"):
			for text in json_lines(done.stdout):
				devices.add(text["device"])
				names[text["family"]] = text["features"]
				samples[text["family"]] += [Sample(text["problem"], row) for row in text["rows"]]
		if len(devices) > 1:
			raise Error(f"{journal}: expected runs on one GPU model, found {' and '.join(sorted(devices))}")
	if not samples:
		raise Error(f"{', '.join(journals)}: no timings of families that the program has")
	return devices.pop(), names, samples


def json_lines(text):
	"""Parses JSON values from text; a value may extend over several lines."""
	decoder, at = json.JSONDecoder(), 0
	while at < len(text):
		value, at = decoder.raw_decode(text, at)
		yield value
		at += 1


def put_together(samples):
	"""Returns candidates in a fixed order. Repeated measurements count once (mean of the logarithms), and candidates far from the best of
	their problem, over all families, are dropped."""
	best_us = {}
	for family in samples.values():
		for sample in family:
			best_us[sample.problem] = min(sample.measured_us, best_us.get(sample.problem, math.inf))
	kept = {}
	for name, family in sorted(samples.items()):
		same = collections.defaultdict(list)
		for sample in family:
			same[sample.problem.encode(), sample.configuration.encode()].append(sample)
		kept[name] = []
		for _, several in sorted(same.items()):
			sample, logs = several[0], 0.0
			for one in several:
				logs += math.log(one.measured_us)
			sample.measured_us = math.exp(logs / len(several))
			sample.best_us = best_us[sample.problem]
			if sample.measured_us < FAR * sample.best_us:
				kept[name].append(sample)
	return kept


# ---- trees ----
def edge_between(low, high):
	"""Returns a threshold between two values, with as few digits as possible."""
	middle = low + (high - low) / 2
	for precision in range(2, 9):
		edge = float(f"{middle:.{precision}g}")
		if low <= np.float32(edge) < high:
			return edge
	return low


def edges_of(values, most):
	"""Returns thresholds between occurring values, with about the same number of samples in each bin."""
	ordered = np.sort(values)
	jumps = np.nonzero(ordered[1:] > ordered[:-1])[0] + 1
	edges = []
	for s in jumps:
		if len(edges) >= min(BINS - 1, most):
			break
		if len(jumps) + 1 <= BINS or s * BINS // len(ordered) > len(edges):
			edges.append(edge_between(float(ordered[s - 1]), float(ordered[s])))
	return edges


def bins_of(values, edges):
	return np.searchsorted(np.array(edges, dtype=np.float32), values, side="left").astype(np.int64)


def in_order(values):
	"""Sums from first to last, bitwise the same on every machine."""
	return float(np.add.accumulate(values)[-1]) if len(values) else 0.0


class Boosting:
	"""Fits trees to samples: features of shape [samples, features], wanted outputs, weights, and a mask of the samples to
		learn from."""

	def __init__(self, features, wanted, weight, used):
		self.count, self.feature_count = features.shape
		self.weight, self.used = weight, used
		most = THRESHOLDS_MAX // self.feature_count
		self.edges = [edges_of(features[:, f], most) for f in range(self.feature_count)]
		self.bins = [bins_of(features[:, f], edges) for f, edges in enumerate(self.edges)]  # index of each sample's bin
		self.offset = in_order((weight * wanted)[used]) / (in_order(weight[used]) + SHRINKAGE)
		self.rest = wanted - self.offset
		self.random = Random(1)
		self.trees = []  # ([(feature, edge)], leaves)
		for _ in range(min(ROUNDS, ROUNDS_MIN + self.count // SAMPLES_PER_ROUND)):
			self.grow()

	def draw(self):
		share = min(SAMPLE_SHARE, SAMPLES_MAX / (self.count + 1))
		chances = self.random.units(self.feature_count)
		features = [f for f in range(self.feature_count) if chances[f] < FEATURE_SHARE and self.edges[f]]
		chances = np.ones(self.count)
		chances[self.used] = self.random.units(int(self.used.sum()))
		return features, np.nonzero(chances < share)[0]

	def best_edge(self, feature, leaf, leaves, sums, weights, drawn):
		"""Returns (gain, edge) of the split that explains most if every leaf is split by it."""
		place = leaf * BINS + self.bins[feature][drawn]
		sum_of = np.bincount(place, sums, leaves * BINS).reshape(leaves, BINS)
		weight_of = np.bincount(place, weights, leaves * BINS).reshape(leaves, BINS)
		low_sum, low_weight = np.add.accumulate(sum_of, axis=1), np.add.accumulate(weight_of, axis=1)
		all_sum, all_weight = low_sum[:, -1:], low_weight[:, -1:]
		gains = (worth(low_sum, low_weight) + worth(all_sum - low_sum, all_weight - low_weight)) - worth(all_sum, all_weight)
		gains = np.add.accumulate(gains, axis=0)[-1][:len(self.edges[feature])]
		edge = int(np.argmax(gains))
		return float(gains[edge]), edge

	def grow(self):
		features, drawn = self.draw()
		sums, weights = self.weight[drawn] * self.rest[drawn], self.weight[drawn]
		leaf, questions = np.zeros(self.count, dtype=np.int64), []
		for level in range(DEPTH):
			best, question = 0.0, questions[-1] if questions else None
			for feature in features:
				gain, edge = self.best_edge(feature, leaf[drawn], 1 << level, sums, weights, drawn)
				if gain > best:
					best, question = gain, (feature, edge)
			if question is None:
				return
			questions.append(question)
			leaf |= (self.bins[question[0]] > question[1]).astype(np.int64) << level
		leaves = RATE * np.bincount(leaf[drawn], sums, 1 << DEPTH) / (np.bincount(leaf[drawn], weights, 1 << DEPTH) + SHRINKAGE)
		self.rest = self.rest - leaves[leaf]
		self.trees.append((questions, leaves))

	def model(self, names):
		"""Returns the form of the file: all thresholds used, in the order of the features, and trees as digits."""
		asked = {question for questions, _ in self.trees for question in questions}
		numbers = {question: number for number, question in enumerate(sorted(asked))}
		step = max((float(np.abs(leaves).max()) for _, leaves in self.trees), default=0.0) / (LEAF_ZERO - 1)
		return {
			"features": [{"name": names[f], "thresholds": [self.edges[f][e] for g, e in sorted(asked) if g == f]}
				for f in sorted({f for f, _ in asked})],
			"offset": self.offset,
			"leaf_step": step,
			"trees": ["".join(map(digits, [numbers[q] for q in questions] + [LEAF_ZERO + round(leaf / step) for leaf in leaves.tolist()]))
				for questions, leaves in self.trees]}

	def sums(self, model):
		"""Returns the model's output for every sample."""
		total = np.zeros(self.count, dtype=np.int64)
		for (questions, leaves) in self.trees:
			leaf = np.zeros(self.count, dtype=np.int64)
			for level, (feature, edge) in enumerate(questions):
				leaf |= (self.bins[feature] > edge).astype(np.int64) << level
			total += np.array([round(value / model["leaf_step"]) for value in leaves.tolist()], dtype=np.int64)[leaf]
		return model["offset"] + model["leaf_step"] * total


def worth(sums, weights):
	return sums * sums / (weights + SHRINKAGE)


def digits(number):
	return DIGITS[number // 64] + DIGITS[number % 64]


# ---- learning ----
def spans_of(samples):
	"""Returns (begin, end) of each problem's samples."""
	begins = [i for i, sample in enumerate(samples) if not i or sample.problem != samples[i - 1].problem]
	return list(zip(begins, begins[1:] + [len(samples)]))


def training_rows(samples, spans):
	"""Returns each sample's fold, target and weight. All problems have the same weight, and each fold gets one of FOLDS consecutive
	problems."""
	folds, order, chance = np.zeros(len(samples), dtype=np.int64), list(range(FOLDS)), Random(1)
	wanted, weight = np.zeros(len(samples)), np.zeros(len(samples))
	for number, (begin, end) in enumerate(spans):
		if number % FOLDS == 0:
			chance.shuffle(order)
		for i in range(begin, end):
			speed = samples[i].best_us / samples[i].measured_us
			folds[i] = order[number % FOLDS]
			wanted[i] = math.log(samples[i].measured_us / samples[i].predicted_us)
			weight[i] = speed * speed
		weight[begin:end] /= in_order(weight[begin:end])
	return folds, wanted, weight * (len(samples) / len(spans))


def judge(samples, spans, corrections):
	"""Returns best measured over measured time of the candidate predicted first, for problems with enough timings."""
	count, mean, lowest = 0, 0.0, 1.0
	for begin, end in spans:
		if end - begin < FEWEST_OF_PROBLEM:
			continue
		predicted = [math.log(samples[i].predicted_us) + corrections[i] for i in range(begin, end)]
		first = begin + predicted.index(min(predicted))
		share = min(samples[i].measured_us for i in range(begin, end)) / samples[first].measured_us
		count += 1
		mean += (share - mean) / count
		lowest = min(lowest, share)
	return count, mean, lowest


def learn_family(name, names, samples, judged=True):
	spans = spans_of(samples)
	folds, wanted, weight = training_rows(samples, spans)
	features = np.array([sample.features for sample in samples])
	left_out = {"problems": 0, "physics_mean": 0, "physics_lowest": 0, "learned_mean": 0, "learned_lowest": 0}
	if judged and len(spans) > 1:
		learned = np.zeros(len(samples))
		for fold in range(FOLDS):
			boosting = Boosting(features, wanted, weight, folds != fold)
			if (folds == fold).any():
				learned[folds == fold] = boosting.sums(boosting.model(names))[folds == fold]
		for key, corrections in ("physics", np.zeros(len(samples))), ("learned", learned):
			left_out["problems"], left_out[f"{key}_mean"], left_out[f"{key}_lowest"] = judge(samples, spans, corrections)
	model = Boosting(features, wanted, weight, np.ones(len(samples), dtype=bool)).model(names)
	return {"family": name, "timings": len(samples), "problems": len(spans), "left_out": left_out, "model": model}


def learn(journals, judged=True):
	"""Returns the document (tiletune.learned/1). judged: with the figures of `left_out`, which take most of the time."""
	device, names, samples = read_features(journals)
	families = []
	for name, family in put_together(samples).items():
		if len(family) < FEWEST:
			continue
		families.append(learn_family(name, names[name], family, judged))
		left = families[-1]["left_out"]
		if judged:
			print(f"{name:28} {len(family):8} timings of {families[-1]['problems']:4} problems; first predicted / best of {left['problems']} left out: "
				f"physics {left['physics_mean']:.4f} (lowest {left['physics_lowest']:.4f}), learned {left['learned_mean']:.4f} "
				f"(lowest {left['learned_lowest']:.4f})", flush=True)
	return {"format": "tiletune.learned/1", "device": device, "families": families}


def main(arguments=None):
	parser = argparse.ArgumentParser(prog="python3 -m tiletune.learn", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("journals", nargs="+", metavar="JOURNAL")
	parser.add_argument("-o", dest="output", required=True, metavar="FILE")
	options = parser.parse_args(arguments)
	try:
		expect_output(options.output)
		write_file(options.output, json.dumps(learn(options.journals), indent="\t", ensure_ascii=False) + "\n")
	except (Error, OSError) as error:
		sys.exit(f"tiletune.learn: {error}")


try:
	import numpy as np
except ImportError:
	sys.exit("tiletune.learn: expected the Python package numpy, found none: `python3 -m pip install numpy`")
if __name__ == "__main__":
	main()
