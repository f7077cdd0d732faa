"""Tests how readers treat journals that several processes wrote, that were cut off or damaged, or that a newer version wrote
(format/journal.h), and how reports and replays use them."""
import collections
import json
import zlib

from hypothesis import given, strategies as draw

from oracle import ask

TIME = {"median": 2.0, "ci95_low": 2.0, "ci95_high": 2.0, "samples": 1}
OUTCOMES = ["ok", "ok", "ok", "wrong_result", "device_lost", "too_noisy", "timed_out"]
DEVICE = {"name": "x", "compute_capability": 90, "sm_count": 100}
ENTRY = {"operation": "gemm", "timing": "measured", "tied": [], "families": []}


def line(event, **members):
	text = json.dumps({"event": event, **members}, separators=(",", ":"))[:-1]
	return f'{text},"checksum":"{zlib.crc32(text.encode()):08x}"}}\n'


@draw.composite
def journals(pick, interleaved=True):
	"""Draws the lines of one to four runs, some concurrent, and the contents of each run: {id: {signature, resumes, finished, problems:
	{number: ...}}}."""
	runs, lines, alive = {}, [], []
	for _ in range(pick(draw.integers(3, 40))):
		begins = not runs or (len(runs) < 4 and pick(draw.integers(0, 7)) == 0)
		if begins:
			name = f"r{len(runs)}"
			signature = pick(draw.sampled_from(["s", "s", "t"]))
			resumes = pick(draw.sampled_from([None, *runs, "gone"]))
			runs[name] = {"signature": signature, "resumes": resumes, "finished": False, "problems": {}}
			alive = [*alive, name] if interleaved else [name]
			lines.append(line("run", format="tiletune.journal/1", id=name, date="2026-01-01", tiletune={"version": "0"}, device_kind="cuda", device=DEVICE,
				signature=signature, **({"resumes": resumes} if resumes else {})))
			continue
		name = pick(draw.sampled_from(alive))
		run = runs[name]
		problems, of = run["problems"], {"run": name} if name != [*runs][-1] or pick(draw.booleans()) else {}
		what = pick(draw.sampled_from(["problem", "evaluation", "evaluation", "evaluation", "final", "entry", "finish", "newer", "empty", "damaged"]))
		if what == "problem" or (what in ("evaluation", "final", "entry") and not problems):
			number, size = len(problems), pick(draw.integers(1, 2))
			problems[number] = {"problem": f"M={size}", "evaluations": [], "finals": [], "concluded": False}
			lines.append(line("problem", number=number, operation="gemm", text=f"M={size}", problem={"M": size}, families=[], **of))
		elif what in ("evaluation", "final"):
			number = pick(draw.sampled_from([*problems]))
			found = [f"BM={pick(draw.integers(1, 4))}", pick(draw.sampled_from(OUTCOMES))]
			problems[number]["evaluations" if what == "evaluation" else "finals"].append(found)
			lines.append(line(what, problem=number, family="gemm/mma", configuration=found[0], kernel_hash="", outcome=found[1], flags=[], compile_seconds=0, from_cache=False,
				**({"timing": "measured", "time_us": TIME, "samples_us": [2.0]} if found[1] == "ok" else {}), **of))
		elif what == "entry":
			number = pick(draw.sampled_from([*problems]))
			problems[number]["concluded"] = True
			winner = {"family": "gemm/mma", "configuration": {"BM": 9}, "time_us": TIME, "kernel_hash": ""}
			lines.append(line("entry", problem=number, entry={**ENTRY, "problem": {"M": int(problems[number]["problem"][2:])}, "run": name, "winner": winner}, **of))
		elif what == "finish":
			run["finished"] = True
			lines.append(line("finish", run=name, status=0))
		elif what == "newer":
			lines.append(line("measured_again", problem=7, **of))
		elif what == "empty":
			lines.append("\n")
		else:
			lines.append(line("evaluation", problem=0, **of).replace("evaluation", "evalvation"))
	return runs, lines


def shape(problems):
	return [problems[number] for number in sorted(problems)]


@given(journals(), draw.integers(0, 60))
def test_each_line_belongs_to_the_run_that_it_names(drawn, cut):
	runs, lines = drawn
	text = "".join(lines)
	tail = "" if cut > 30 else line("finish", run="r0", status=0)[:cut + 1]  # a kill
	got = ask("journal", text=text + tail)
	# a damaged line before a "run" line may be the incomplete last line of a killed run
	damaged = [after.startswith('{"event":"run"') for each, after in zip(lines, [*lines[1:], tail]) if "evalvation" in each]
	assert (got["bad"], got["ignored"]) == (damaged.count(False), damaged.count(True) + bool(tail))
	assert [each["id"] for each in got["runs"]] == [*runs]
	for each in got["runs"]:
		run = runs[each["id"]]
		assert (each["finished"], each["problems"]) == (run["finished"], shape(run["problems"]))
		alike = [name for name, other in runs.items() if other["signature"] == run["signature"]]
		assert each["resumable"] == (None if runs[alike[-1]]["finished"] else alike[-1])
		assert each["previous"] == (run["resumes"] if run["resumes"] in runs else None)


def chain(runs, name):
	"""Yields a run and the runs that it resumed, newest first."""
	while name in runs:
		yield name, runs[name]
		name = runs[name]["resumes"]


def same(run, text):
	"""Returns the first problem of a run with this text."""
	return next((each for each in shape(run["problems"]) if each["problem"] == text), None)


def evaluations(got):
	return collections.Counter((run["id"], problem["problem"], *each) for run in got["runs"] for problem in run["problems"] for each in problem["evaluations"])


@given(journals(interleaved=False), draw.floats(0, 1), draw.sampled_from(["5", "6", "}", "\n", ""]))
def test_a_changed_or_missing_byte_costs_no_other_line(drawn, place, byte):
	"""No line is misread."""
	text = "".join(drawn[1])
	at = int(place * (len(text) - 1))
	whole, got = ask("journal", text=text), ask("journal", text=text[:at] + byte + text[at + 1:])
	changed = text[text.rfind("\n", 0, at) + 1:text.find("\n", at) + 1]
	if '"event":"run"' in changed:  # later lines that name no run then count for the run before
		return
	assert not evaluations(got) - evaluations(whole)
	if "evaluation" in changed and text[at] not in ("\n", byte):  # a line that lost its newline also damages the next one
		assert sum((evaluations(whole) - evaluations(got)).values()) <= 1 and got["bad"] + got["ignored"] > 0


@given(journals())
def test_a_report_counts_each_candidate_of_a_chain_once(drawn):
	runs, lines = drawn
	if not any(run["problems"] for run in runs.values()):
		return
	got = ask("report", text="".join(lines))
	expected = []
	for name, run in runs.items():
		for problem in shape(run["problems"]):
			later = [other for other in runs.values() if other["resumes"] == name and same(other, problem["problem"])]
			if later:
				continue
			searches = [found for _, each in chain(runs, name) for found in [same(each, problem["problem"])] if found]
			outcomes = {}
			for search in searches:
				for configuration, outcome in search["evaluations"]:
					outcomes.setdefault(configuration, outcome)
			expected.append((name, problem["problem"], len(searches), dict(collections.Counter(outcomes.values()))))
	assert [(each["run"], each["problem"], each["searches"], each["outcomes"]) for each in got] == expected
	assert all(("us" in each) == bool(each["winner"]) and each.get("us", 2.0) == 2.0 for each in got)


@given(journals(), draw.sampled_from(["M=1", "M=2"]))
def test_a_replay_answers_with_the_last_result(drawn, problem):
	"""A lost device is no result of the candidate."""
	runs, lines = drawn
	if not any(run["problems"] for run in runs.values()):
		return
	asked = [f"BM={each}" for each in range(1, 6)]
	got = ask("replay", text="".join(lines), problem=problem, configurations=asked)
	last = {"evaluations": {}, "finals": {}}
	for run in runs.values():
		for found in shape(run["problems"]):
			for kind, known in last.items():
				for configuration, outcome in found[kind]:
					if found["problem"] == problem and (configuration not in known or outcome != "device_lost"):
						known[configuration] = outcome
	expected = [last["evaluations"].get(one, last["finals"].get(one, "launch_failed")) for one in asked]
	assert got == expected
