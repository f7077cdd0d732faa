"""Tests which members change the key of a compiled kernel, when digests of outputs are equal, and limits of compared and timed data."""
from hypothesis import given, settings, strategies as draw

from oracle import ask

words = draw.sampled_from(["", "k", "kl", "l", "-DA=1", "-DA=12", "2"])
units = draw.fixed_dictionaries({"source": words, "arch": draw.sampled_from(["sm_90", "sm_90a"]), "compiler": words, "toolkit": draw.sampled_from(["", "t", "k"]),
	"options": draw.lists(words, max_size=3), "entries": draw.lists(words, max_size=3)})


@settings(max_examples=400)
@given(units, units, draw.sets(draw.sampled_from(["source", "arch", "compiler", "toolkit", "options", "entries"]), max_size=2))
def test_kernels_share_a_key_only_if_nothing_differs(one, other, changed):
	"""Most pairs differ in one or two members. A value may also have moved from one member to another."""
	two = {**one, **{name: other[name] for name in changed}}
	assert (ask("cache_key", **one) == ask("cache_key", **two)) == (one == two)
	if one["options"]:
		moved = {**one, "options": one["options"][:-1], "entries": [one["options"][-1], *one["entries"]]}
		assert ask("cache_key", **one) != ask("cache_key", **moved)


def test_compiler_controls_count_by_content(tmp_path):
	"""A kernel that was compiled with other controls is not reused, wherever their file is."""
	def key(name, content):
		(tmp_path / name).write_text(content)
		return ask("cache_key", source="k", arch="sm_90a", compiler="c", toolkit="", options=[f"--ptxas-options=--apply-controls={tmp_path / name}"], entries=["k"])

	assert key("a.acf", "one") == key("b.acf", "one") != key("a.acf", "two")


@draw.composite
def digests(pick, rows, inputs):
	"""Draws the digests of an output whose first rows equal the other output's up to some row."""
	counts = sorted({*(1 << i for i in range(40) if 1 << i < rows), rows})
	same_until = pick(draw.sampled_from([0, *counts, 1 << 40]))
	return {"rows": rows, "inputs": inputs, "digests": [f"{count if count <= same_until else 1000 + count + 7919 * pick(draw.integers(1, 2)):016x}" for count in counts]}


@given(draw.data())
def test_bits_are_compared_over_the_most_rows_in_common(data):
	sizes = draw.sampled_from([1, 2, 3, 4, 5, 7, 8, 9, 16, 100, 128, 129])
	a, b = (data.draw(digests(data.draw(sizes), data.draw(draw.sampled_from([2, 2, 2, 3, 0])))) for _ in range(2))
	got = ask("bits", a=a, b=b)

	def covered(bits):
		return dict(zip(sorted({*(1 << i for i in range(40) if 1 << i < bits["rows"]), bits["rows"]}), bits["digests"]))
	assert got["count"] == len(a["digests"])
	common = covered(a).keys() & covered(b).keys() if a["inputs"] == b["inputs"] and a["inputs"] else set()
	# the last digest of a shorter output has no counterpart, unless its number of rows is a power of two
	common = {rows for rows in common if all(each in covered(a) and each in covered(b) for each in covered(a).keys() | covered(b).keys() if each < rows)}
	rows = max(common, default=0)
	assert got["rows"] == rows
	assert got["verdict"] == ("unknown" if not rows else "same" if covered(a)[rows] == covered(b)[rows] else "other")


POINTS = 1 << 22


@settings(max_examples=60)
@given(draw.sampled_from([(1, POINTS - 1), (1, POINTS), (1, POINTS + 1), (2048, 2048), (2048, 2049), (POINTS, 1), (POINTS, 2), (7, 9), (1 << 40, 3)]),
	draw.sampled_from([1, 1000, 1 << 20, 1 << 24]), draw.sampled_from([0, 1000, 1 << 20, 50 << 20]), draw.sampled_from([1000, 1 << 24, 1 << 37]),
	draw.lists(draw.sampled_from([1.0, 1.05, 1.1, 1.2, 1.25, 1.5]), min_size=1, max_size=7), draw.floats(0.1, 1e5), draw.integers(1, 4))
def test_limits(shape, set_bytes, l2_bytes, memory_bytes, times, us, operations):
	got = ask("limits", rows=shape[0], columns=shape[1], set_bytes=set_bytes, l2_bytes=l2_bytes, memory_bytes=memory_bytes, times=times, us=us, operations=operations)
	elements = shape[0] * shape[1]
	assert got["points"] == elements if elements <= POINTS else got["points"] <= 2 * POINTS

	def quantile(fraction):
		at = fraction * (len(times) - 1)
		low = sorted(times)[int(at)]
		return low + (at - int(at)) * (sorted([*times, 9e9])[int(at) + 1] - low if at != int(at) else 0)
	spread = (quantile(0.75) - quantile(0.25)) / 2
	if abs(spread - 0.1 * quantile(0.5)) > 1e-9:
		assert got["noisy"] == (len(times) >= 3 and spread > 0.1 * quantile(0.5))
	sets = got["sets"]
	assert sets in [1 << i for i in range(9)]
	wanted = next((2 << i for i in range(8) if (2 << i) * set_bytes >= 2 * l2_bytes), 256)
	assert sets == wanted or (sets < wanted and 2 * sets * set_bytes > memory_bytes / 4)
	assert got["runs"] in [1 << i for i in range(20)]
	assert ask("limits", rows=1, columns=1, times=[1], us=2 * us, operations=operations)["runs"] <= got["runs"]
