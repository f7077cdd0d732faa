"""Tests which configuration of a tuned file answers for a problem (advise/lookup.h)."""
import functools
import math


from hypothesis import given, strategies as draw

from oracle import ask, close

ROWS, COLUMNS = [7, 64, 512, 4096, 100000], [16, 64, 777, 1000]
PARAMETERS = {"ROW_THREADS": [32, 64, 128, 256], "ROWS": [1, 2, 4, 8], "UNROLL": [1, 2, 4], "TURNS": [1, 2, 4]}
configurations = draw.fixed_dictionaries({name: draw.sampled_from(values) for name, values in PARAMETERS.items()})


def text(values):
	return ",".join(f"{name}={value}" for name, value in values.items())


@draw.composite
def entries(pick):
	found = []
	for rows, columns in pick(draw.lists(draw.tuples(draw.sampled_from(ROWS), draw.sampled_from(COLUMNS[-2:])), max_size=4, unique=True)):
		row = {"family": "row_softmax/online", "configuration": pick(configurations), "kernel_hash": "",
			"time_us": {"median": 10, "ci95_low": 9, "ci95_high": 11, "samples": 5}}
		objective = pick(draw.sampled_from([{}, {}, {"objective": "energy"}]))
		digest = pick(draw.sampled_from(["0" * 16, "0" * 16, "1" * 16, None]))
		if digest:
			row["bits"] = {"inputs": 2, "rows": 1, "digests": [digest]}
		rule = pick(draw.sampled_from([{}, {"bits": {"rule": "invariant=rows"}}, {"bits": {"rule": "same"}}]))
		dtype = pick(draw.sampled_from([{"dtype": "fp32"}, {"dtype": "fp32"}, {}]))  # files from before the key existed lack it
		found.append({"operation": "row_softmax", "problem": {"rows": rows, "cols": columns, **dtype}, "timing": "measured", "run": "r", **objective, **rule,
			"winner": row, "tied": [], "families": []})
	return found


@functools.lru_cache(maxsize=None)
def predictions(problem):
	return ask("toy_predictions", problem=problem)


def same(problem, other):
	return {"dtype": "fp32", **problem} == other


def file_of(entries):
	device = {"name": "Toy GPU", "sheet": "toy", "compute_capability": 80, "sm_count": 4}
	return {"format": "tiletune.tuned/1", "device": device, "runs": [{"id": "r", "date": "d", "tiletune": {"version": "1"}}], "entries": entries}


@given(entries(), draw.sampled_from(ROWS), draw.sampled_from(COLUMNS), draw.booleans(), draw.sampled_from([(False, False), (False, False), (True, False), (True, True)]))
def test_the_own_entry_or_the_models_choice_among_all_others(entries, rows, columns, energy, bits_and_assume):
	bits, assume = bits_and_assume
	if entries and rows != ROWS[0]:  # usually look up a problem of the file
		rows, columns = entries[-1]["problem"]["rows"], entries[-1]["problem"]["cols"]
	problem = {"rows": rows, "cols": columns, "dtype": "fp32"}
	got = ask("lookup", tuned=file_of(entries), problem=text(problem), energy=energy, bits=bits, assume=assume)
	known, us = [each for each in entries if (each.get("objective") == "energy") == energy], predictions(text(problem))
	own = next((each for each in known if same(each["problem"], problem) and text(each["winner"]["configuration"]) in us), None)
	if bits:
		known = [each for each in known if each.get("bits", {}).get("rule") == "invariant=rows" and each["problem"]["cols"] == columns]
		digests = [each["winner"].get("bits") for each in known]
		own = own if digests and None not in digests and all(each == own["winner"].get("bits") for each in digests if own) else None
	if own:
		assert got["grade"] == "exact" and got["configuration"] == text(own["winner"]["configuration"]) and got["loss"] == 0
		return
	default = us[text({"ROW_THREADS": 128 if columns >= 128 else 32, "ROWS": 2, "UNROLL": 2, "TURNS": 1})]
	# TURNS is a launch argument and is fitted to the problem, unless the bits must stay the same
	distinct = {text(each["winner"]["configuration"]) for each in known}
	fitting = {one: [name for name in us if name == one or (not bits and name.split(",TURNS")[0] == one.split(",TURNS")[0])] for one in distinct}

	def now(one):
		"""A launch argument changes only if the change gains 3% or the stored value is illegal here."""
		fitted = min(us[name] for name in fitting[one])
		return us[one] if fitted >= 0.97 * us.get(one, math.inf) else fitted
	best = min((now(one) for one, names in fitting.items() if names), default=None)
	assert got["considered"] in (-1, len(distinct))
	if best is None or (best > default and not bits) or (bits and not assume):
		assert got["grade"] == "refused"
		return
	assert got["grade"] == ("assumed" if bits else "nearest by model")
	assert best <= got["predicted"] <= 1.001001 * best and close(us[got["configuration"]], got["predicted"]) and (bits or close(got["default"], default))
	assert close(got["best"], min(us.values())) and close(got["loss"], got["predicted"] / min(us.values()) - 1)
	assert got["legal"] == sum(map(bool, fitting.values()))
	told = {"predicted_us": got["predicted"], "default_us": got["default"], "model_best_us": got["best"], "expected_loss_ratio": got["loss"]}  # --json
	assert {name: got["told"].get(name) for name in told} == told and got["told"]["grade"] == got["grade"]


def put(problem, *configuration):
	row = {"family": "row_softmax/online", "configuration": dict(zip(PARAMETERS, configuration)), "kernel_hash": "", "time_us": {"median": 10, "ci95_low": 9, "ci95_high": 11, "samples": 5}}
	return {"operation": "row_softmax", "problem": dict(zip(("rows", "cols"), problem)), "timing": "measured", "run": "r", "winner": row, "tied": [], "families": []}


def test_reasons_and_launches():
	def asked(rows, columns, *entries, **more):
		return ask("lookup", tuned=file_of(list(entries)), problem=text({"rows": rows, "cols": columns}), **more)
	us = predictions("rows=4096,cols=1000")
	slowest = (int(pair.split("=")[1]) for pair in max(us, key=us.get).split(","))
	for got, grade, why in ((asked(7, 1000), "refused", "no entry of this operation"), (asked(100000, 16, put((100000, 1000), 256, 2, 4, 1)), "refused", "half of the threads would have nothing"),
			(asked(4096, 1000, put((4000, 1000), *slowest)), "refused", "slower than the family's default"),
			(asked(7, 1000, put((100000, 1000), 128, 1, 2, 4)), "nearest by model", "the model chose its launch arguments")):
		assert got["grade"] == grade and why in got["why"], got
	assert "launch arguments" not in asked(90000, 1000, put((100000, 1000), 128, 1, 2, 4))["why"]
	assert asked(1001, 1000, put((4096, 1000), 128, 2, 2, 1))["blocks"] == 501
	two = put((4096, 1000), 128, 2, 4, 1), put((4000, 1000), 128, 4, 4, 1)
	alone, learned = asked(7, 1000, *two), asked(7, 1000, *two, learned=True)
	assert ("ROWS=2" in alone["configuration"], "ROWS=4" in learned["configuration"]) == (True, True)
	assert alone["predicted"] < learned["predicted"] <= learned["default"] and asked(7, 1000, *two) == alone


@given(entries(), draw.data(), draw.sampled_from(ROWS), draw.sampled_from(COLUMNS[-2:]), draw.booleans())
def test_the_order_of_entries_decides_nothing(entries, data, rows, columns, bits):
	"""Entries of other operations, of other objectives and, for equal bits, of other classes in between do not matter, either."""
	problem = text({"rows": rows, "cols": columns, "dtype": "fp32"})
	alone = ask("lookup", tuned=file_of(entries), problem=problem, bits=bits, assume=bits)
	others = [{**each, "objective": "warm_time"} for each in entries] + [{**each, "operation": "another"} for each in entries]
	shuffled = data.draw(draw.permutations(entries + others))
	got = ask("lookup", tuned=file_of(shuffled), problem=problem, bits=bits, assume=bits)
	for name in ("grade", "predicted", "loss", "considered", "legal"):
		assert got[name] == alone[name], name


@given(draw.lists(draw.tuples(draw.sampled_from(ROWS[:2]), draw.sampled_from(COLUMNS[:2]), draw.integers(1, 2)), min_size=2, max_size=2))
def test_a_verification_is_of_its_inputs(pair):
	"""A verification with one seed proves nothing for another seed."""
	one, two = (ask("verification_hash", problem=text({"rows": rows, "cols": columns}), seed=seed) for rows, columns, seed in pair)
	assert one and (pair[0] != pair[1] or one == two)
	assert pair[0][2] == pair[1][2] or one != two
