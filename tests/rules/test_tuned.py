"""Tests which entries and rows of tuned files remain (format/merge.h, format/tuned.h)."""
import json

from hypothesis import given, settings, strategies as draw

from oracle import ask

DEVICE = {"name": "NVIDIA H200", "sheet": "h200-sxm", "compute_capability": 90, "sm_count": 132}
with open("tests/data/report/small.json", encoding="utf-8") as file:
	SCORE = json.load(file)["entries"][0]["winner"]["score"]
TIE = 0.01
FAMILIES = ["gemm/a", "gemm/b", "gemm/c", "gemm/d"]


@draw.composite
def runs(pick):
	"""Draws runs of different days; the order of their names is not the order of their dates."""
	days = pick(draw.permutations([1, 2, 3]))
	return {f"r{i}": {"id": f"r{i}", "date": f"2026-01-0{day}T00:00:00Z", "tiletune": {"version": "1"}, "mig": "disabled",
		"uuid": pick(draw.sampled_from(["GPU-1", "GPU-1", "GPU-2"])), "power_limit_w": pick(draw.sampled_from([700, 700, 700, 500])),
		"driver": pick(draw.sampled_from(["580", "580", "580", "590"])), "nvrtc": pick(draw.sampled_from(["13.0", "13.0", "13.0", None])),
		"anchor_us": pick(draw.sampled_from([1000, 1000, 1120, 0]))} for i, day in enumerate(days)}


@draw.composite
def row(pick, family):
	us, width = pick(draw.sampled_from([5.0, 5.03, 5.2, 5.7, 6.0, 7.0])), pick(draw.sampled_from([0, 0, 0.02]))
	digests = pick(draw.sampled_from([None, "0" * 16, "1" * 16]))
	bits = {"bits": {"inputs": 2, "rows": 1, "digests": [digests]}} if digests else {}
	return {"family": family, **bits, "configuration": {"BM": pick(draw.integers(1, 9))}, "kernel_hash": "", "newer": pick(draw.integers(0, 99)),
		"time_us": {"median": us, "ci95_low": us * (1 - width), "ci95_high": us * (1 + width), "samples": 3}}


@draw.composite
def entry(pick, problem, run, others, older_winner):
	families = pick(draw.lists(draw.sampled_from(FAMILIES), min_size=4 if older_winner else 1, max_size=4, unique=True))
	rows = sorted((pick(row(family)) for family in families), key=lambda each: each["time_us"]["median"])
	rows = [rows[0], *pick(draw.permutations(rows[1:]))]
	rows[0]["score"] = {**SCORE, "bound": pick(draw.sampled_from(["smem"] if older_winner else ["smem", "dram"]))}
	for number, each in enumerate(rows):
		if number:
			each["lost"] = {"by": "slower", "ratio": 2}
			if not older_winner and pick(draw.booleans()):
				each["bound"] = "dram"
		other = pick(draw.sampled_from([each for each in others if each != run] if older_winner and not number else [run, run, *others]))
		if other != run and (number or older_winner):
			each["run"] = other
	found = {"operation": "gemm", "problem": {"M": problem, "dtype": "bf16"}, "timing": pick(draw.sampled_from(["measured", "measured", "predicted"])), "run": run,
		"winner": rows[0], "tied": [pick(row(rows[0]["family"]))], "families": rows[1:], "newer": {"x": [problem]}}
	if pick(draw.integers(0, 3)) == 0:
		found["unfinished"] = True
	if not older_winner and pick(draw.integers(0, 3)) == 0:
		found["bits"] = {"rule": "same"}
	verification = pick(draw.sampled_from([None, None, None, 32 * "0", 32 * "1"]))
	if verification:
		found["verification_hash"] = verification
	return found


@draw.composite
def files(pick, most=3, older_winner=False):
	"""Draws two files whose entries belong to the same runs."""
	known, found = pick(runs()), []
	for _ in range(2):
		problems = [1] if older_winner else pick(draw.lists(draw.sampled_from([1, 2, 3]), max_size=most, unique=True))
		entries = [pick(entry(problem, pick(draw.sampled_from([*known])), [*known], older_winner)) for problem in problems]
		listed = sorted({each["run"] for e in entries for each in rows_of(e)})
		found.append({"format": "tiletune.tuned/1", "device": DEVICE, "runs": [known[each] for each in listed], "entries": entries, "newer": [1, {}]})
	return known, found[0], found[1]


def shape(found):
	"""Returns the compared parts of an entry: the run, the winner, and the rows of families in any order, with the runs that measured them
	and members of newer versions."""
	rows = [(each["family"], each["time_us"]["median"], each.get("run", found["run"]), "lost" in each, each["newer"]) for each in [found["winner"], *found["families"]]]
	return found["timing"], found["run"], bool(found.get("unfinished")), "bits" in found, rows[0], sorted(rows[1:]), [each["newer"] for each in found["tied"]], found["newer"]


def rows_of(found):
	return [{**each, "run": each.get("run", found["run"])} for each in [found["winner"], *found["families"]]]


def scale(known, old, new):
	"""Returns the factor that converts times of one run to another by their clocks, or None if the runs are not comparable."""
	before, now = known[old["run"]], known[new["run"]]
	if any(before[name] != now[name] or before[name] is None for name in ("driver", "nvrtc", "mig", "power_limit_w")):
		return None
	if before["anchor_us"] and now["anchor_us"]:
		return 1 if "dram" in (old.get("bound"), old.get("score", {}).get("bound")) else now["anchor_us"] / before["anchor_us"]
	return 1 if before["uuid"] == now["uuid"] else None


def stays(known, old, new):
	"""Returns whether the new row of a family is faster by more than the noise."""
	factor = scale(known, old, new)
	if not factor or old["configuration"] == new["configuration"]:
		return False
	high = factor * (old["time_us"]["ci95_high"] + TIE / 2 * old["time_us"]["median"])
	return high < new["time_us"]["ci95_low"] - TIE / 2 * new["time_us"]["median"]


def join(known, new, old, valid):
	"""Returns the entry `new` with the rows of `old`."""
	rows = {each["family"]: each for each in rows_of(new)}
	verified_alike = new.get("verification_hash") == old.get("verification_hash")
	for each in rows_of(old):
		again = rows.get(each["family"])
		fits = "bits" not in new or (each.get("bits") and each["bits"] == new["winner"].get("bits"))
		if each["run"] != new["run"] and fits and (not again or (verified_alike and valid and stays(known, each, again))):
			rows[each["family"]] = plain(each)

	def now(each):
		return each["time_us"]["median"] * (scale(known, each, winner) or 1)
	winner = rows[new["winner"]["family"]]
	best = min((each for each in rows.values() if each["run"] != new["run"] and each is not winner), key=now, default=winner)
	if now(best) < (1 - TIE if winner == rows_of(new)[0] else 1) * now(winner):
		winner = best
	others = [each for each in rows.values() if each is not winner]
	if rows_of(new)[0] == winner:
		return {**new, "families": others}
	return promoted({**new, "unfinished": old.get("unfinished", False)}, winner, others)


def promoted(found, winner, others):
	"""Returns the entry without comparisons with the new winner."""
	return {**found, "winner": plain(winner), "tied": [], "families": [plain(each) for each in others]}


def plain(row):
	return {name: value for name, value in row.items() if name != "lost"}


def only_of(found, run):
	"""Returns the entry without rows of other runs, or None if no row is left."""
	rows = [each for each in rows_of(found) if each["run"] == run]
	best = min(rows, key=lambda each: each["time_us"]["median"], default=None)
	others = [each for each in rows if each is not best]
	if best == rows_of(found)[0]:
		return {**found, "families": others}
	return best and promoted(found, best, others)


def key(found):
	return found["problem"]["M"]


def compare(got, expected):
	found = {key(each): each for each in got["tuned"]["entries"]}
	assert set(found) == set(expected)
	for problem, each in expected.items():
		assert shape(found[problem]) == shape(each)


@given(files(), draw.sampled_from([None, "r0", "r1"]))
def test_merging_keeps_the_better_entry_and_adds_families(drawn, run):
	merge(drawn, run)


@given(files(older_winner=True), draw.sampled_from(["r0", "r1"]))
def test_a_run_that_writes_keeps_its_own_rows(drawn, run):
	"""The rows stay even if an earlier run found the winner of the entry."""
	merge(drawn, run)


def merge(drawn, run):
	known, into, other = drawn
	got = ask("merge", into=into, **{"from": other}, run=run)
	ours, theirs = ({key(each): each for each in file["entries"]} for file in (into, other))
	expected, counts = {}, dict.fromkeys(["added", "equal", "outranked", "conflicts"], 0)
	for problem in {**ours, **theirs}:
		a, b = ours.get(problem), theirs.get(problem)
		if not a or not b:
			expected[problem] = a or b
			counts["added"] += not a
		elif a == b:
			expected[problem] = a
			counts["equal"] += 1
		elif a["timing"] != b["timing"]:
			expected[problem] = a if a["timing"] == "measured" else b
			counts["outranked"] += 1
		else:
			def rank(each):
				return "bits" in each, not each.get("unfinished"), known[each["run"]]["date"]
			ours_first = a["run"] == run if run else rank(a) >= rank(b)
			mine = only_of(a, run) if run else a
			theirs_now = join(known, b, a, False)
			expected[problem] = join(known, mine, theirs_now, False) if ours_first and mine else theirs_now
			counts["conflicts"] += 1
	compare(got, expected)
	assert {name: got[name] for name in counts} == counts
	listed = [each["id"] for each in got["tuned"]["runs"]]
	used = {each["run"] for found in got["tuned"]["entries"] for each in rows_of(found)}
	assert len(set(listed)) == len(listed) and used <= set(listed)


@given(files(), draw.booleans(), draw.booleans())
def test_tuning_again_replaces_rows_that_are_not_better(drawn, has_judge, is_valid):
	known, into, other = drawn
	into["runs"] = [*known.values()]
	got = ask("put_entries", into=into, **{"from": other}, has_judge=has_judge, is_valid=is_valid)
	expected = {key(each): each for each in into["entries"]}
	for each in other["entries"]:
		old = expected.get(key(each))
		if old and old["timing"] == each["timing"]:
			expected[key(each)] = join(known, each, old, has_judge and is_valid and each["timing"] == "measured")
		elif not old or each["timing"] == "measured":
			expected[key(each)] = each
	compare(got, expected)


@given(files(), draw.sampled_from([("sm_count", 114), ("compute_capability", 100)]))
def test_files_of_other_gpus_are_refused(drawn, change):
	_, into, other = drawn
	got = ask("merge", into=into, **{"from": {**other, "device": {**DEVICE, change[0]: change[1]}}})
	assert "only files of one GPU model can be merged" in got["refused"]
	assert [shape(each) for each in got["tuned"]["entries"]] == [shape(each) for each in into["entries"]]


@settings(max_examples=80)
@given(files(), draw.sampled_from(["r0", "r1"]))
def test_a_saved_file_has_what_another_writer_saved(drawn, run):
	_, into, other = drawn
	text = ask("save", into=into, **{"from": other}, run=run)["text"]
	merged = ask("merge", into=other, **{"from": into}, run=run)["tuned"]
	saved = json.loads(text)
	assert saved == merged and saved["newer"] == [1, {}]
	lines = text.splitlines()  # runs and entries take one line each
	assert [json.loads(line.rstrip(",")) for line in lines if line.startswith('{"')] == saved["runs"] + saved["entries"]


def test_files_are_of_one_model():
	"""Names that match the same sheet are the same model. A part of a GPU (MIG) is another model."""
	def file_of(name, sheet, capability, sms):
		return {"format": "tiletune.tuned/1", "device": {"name": name, **({"sheet": sheet} if sheet else {}), "compute_capability": capability, "sm_count": sms}, "runs": [], "entries": []}
	own = "NVIDIA H200", "h200-sxm", 90, 132
	for other, is_same in ((own, True), (("NVIDIA H200 SXM5 141 GB", *own[1:]), True), (("NVIDIA H200", None, 90, 132), True), (("NVIDIA H200", "h200-sxm", 90, 66), False),
			(("NVIDIA H100", "h100-sxm", 90, 132), False), (("NVIDIA H200", "h200-sxm", 100, 132), False), (("NVIDIA X", None, 90, 132), False)):
		got = ask("save", into=file_of(*own), **{"from": file_of(*other)})
		assert ("refused" not in got) == is_same, (other, got)
		assert is_same or json.loads(got["text"])["device"]["sm_count"] == 132
	got = ask("save", into=file_of("NVIDIA A", None, 86, 84), **{"from": file_of("NVIDIA B", None, 86, 84)})
	assert "the file is for NVIDIA A with 84 SMs, but from is for NVIDIA B with 84 SMs" in got["refused"]
