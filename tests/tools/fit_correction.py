#!/usr/bin/env python3
"""Fits the trees of a correction (src/score/correction.h) to what correction_data printed.

    fit_correction.py CORRECTION.json DATA.csv > NEW.json      (needs numpy and lightgbm)

CORRECTION.json gives device, family and features; its trees are replaced. The trees learn
ln(measured / predicted). All problems count the same, and within one what is near its best counts
most: lookup asks which is first, not how slow the slow ones are. Nothing of a problem may tell of
the same problem, so the figures under "fitted" come from folds of whole problems: the speed of what
is predicted fastest in this family as a share of the family's best, by the model and corrected.
"""
import csv
import json
import math
import sys

import lightgbm
import numpy

FOLDS = 8
ROUNDS = 400
FEWEST = 1000
FAR = 4  # times the best: slower ones tell nothing
SETTINGS = {
    "objective": "regression",
    "learning_rate": 0.05,
    "num_leaves": 24,
    "min_data_in_leaf": 40,
    "lambda_l2": 5,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "max_bin": 127,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 1,
    "num_threads": 2,
    "verbose": -1,
}
TEXTS = ("problem", "configuration")
TIMES = ("best_us", "measured_us", "predicted_us")


class Samples:
    """Columns of the table, what was measured more than once put together."""

    def __init__(self, path):
        with open(path, encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            names = next(rows)
            first = len(TEXTS) + len(TIMES)
            self.feature_names = names[first:]
            together = {}
            best = {}
            for row in rows:
                numbers = [float(value) for value in row[len(TEXTS):]]
                best[row[0]] = min(best.get(row[0], math.inf), numbers[0])
                together.setdefault((row[0], row[1]), (numbers[2:], []))[1].append(numbers[1])
        kept = [
            (problem, numbers, math.exp(sum(map(math.log, times)) / len(times)), best[problem])
            # in this order whatever that of the journals was: the fit depends on it
            for (problem, _), (numbers, times) in sorted(together.items())
        ]
        kept = [row for row in kept if row[2] < FAR * row[3]]
        if len(kept) < FEWEST or len({row[0] for row in kept}) < FOLDS:
            sys.exit(f"{path}: expected {FEWEST} samples or more of {FOLDS} problems or more, found {len(kept)}")
        self.problem_names = sorted({row[0] for row in kept})
        number = {name: index for index, name in enumerate(self.problem_names)}
        self.problem = numpy.array([number[row[0]] for row in kept])
        self.predicted = numpy.array([row[1][0] for row in kept])
        self.features = numpy.array([row[1][1:] for row in kept])
        self.measured = numpy.array([row[2] for row in kept])
        self.over_best = self.measured / numpy.array([row[3] for row in kept])
        self.wanted = numpy.log(self.measured / self.predicted)
        weight = numpy.select([self.over_best < 1.1, self.over_best < 1.3, self.over_best < 1.6], [3, 1.5, 0.7], 0.2)
        share = numpy.bincount(self.problem, weight)
        self.weight = weight / share[self.problem] * len(kept) / len(self.problem_names)

    def fit(self, chosen):
        data = lightgbm.Dataset(self.features[chosen], self.wanted[chosen], weight=self.weight[chosen])
        return lightgbm.train(SETTINGS, data, ROUNDS)

    def out_of_fold(self):
        corrections = numpy.zeros(len(self.wanted))
        fold = numpy.random.default_rng(1).permutation(len(self.problem_names)) % FOLDS
        for number in range(FOLDS):
            held_out = fold[self.problem] == number
            corrections[held_out] = self.fit(~held_out).predict(self.features[held_out])
        return corrections

    def reached(self, predicted):
        """Of each problem with ten samples or more: the family's best over the first predicted."""
        shares = []
        for number in range(len(self.problem_names)):
            own = numpy.flatnonzero(self.problem == number)
            if len(own) >= 10:
                shares.append(self.measured[own].min() / self.measured[own[predicted[own].argmin()]])
        return numpy.array(shares)

    def spread(self, errors):
        return float(math.sqrt(numpy.average(errors**2, weights=self.weight)))


def tree_of(structure):
    """{"splits", "leaves"} in the order in which a walk from the root meets them."""
    splits, leaves = [], []

    def visit(node):
        if "split_feature" not in node:
            leaves.append(float(f"{node['leaf_value']:.5g}"))
            return ~(len(leaves) - 1)
        own = len(splits)
        # LightGBM's thresholds lie between values that it saw, so that few digits do
        splits.append([node["split_feature"], float(f"{node['threshold']:.7g}"), 0, 0])
        splits[own][2] = visit(node["left_child"])
        splits[own][3] = visit(node["right_child"])
        return own

    visit(structure)
    return {"splits": splits, "leaves": leaves}


def text_of(correction):
    """JSON, a feature and a tree a line."""
    parts = []
    for key, value in correction.items():
        if key in ("features", "trees"):
            lines = ",\n".join("\t\t" + json.dumps(item, separators=(",", ":") if key == "trees" else None) for item in value)
            parts.append(f'\t"{key}": [\n{lines}\n\t]')
        else:
            parts.append(f'\t"{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(correction_path, data_path):
    with open(correction_path, encoding="utf-8") as file:
        correction = json.load(file)
    samples = Samples(data_path)
    names = [feature["name"] for feature in correction["features"]]
    if names != samples.feature_names:
        sys.exit(f"{data_path}: expected the features of {correction_path}, found {samples.feature_names}")
    corrected = samples.out_of_fold()
    model = samples.reached(samples.predicted)
    if not len(model):
        sys.exit(f"{data_path}: expected problems with ten samples or more, found none")
    learned = samples.reached(samples.predicted * numpy.exp(corrected))
    correction["fitted"] = {
        "with": f"lightgbm {lightgbm.__version__}",
        "samples": len(samples.wanted),
        "problems": len(samples.problem_names),
        "folds": FOLDS,
        "model_reached_mean": round(float(model.mean()), 4),
        "model_reached_worst": round(float(model.min()), 4),
        "corrected_reached_mean": round(float(learned.mean()), 4),
        "corrected_reached_worst": round(float(learned.min()), 4),
        "model_error_sd": round(samples.spread(samples.wanted), 4),
        "corrected_error_sd": round(samples.spread(samples.wanted - corrected), 4),
    }
    everything = samples.fit(numpy.ones(len(samples.wanted), bool)).dump_model()["tree_info"]
    correction["trees"] = [tree_of(tree["tree_structure"]) for tree in everything]
    sys.stdout.write(text_of(correction))
    print(json.dumps(correction["fitted"]), file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
