"""Tables for builds contain the data of the tuned file. Text that a format cannot hold is refused, never altered (export/export.h)."""
import re
import sys
import tempfile

from hypothesis import given, settings, strategies as draw

from oracle import ask

sys.path.insert(0, "tests/tools")
from exported import TABLES, expected_entry, is_same  # noqa: E402  pylint: disable=wrong-import-position

words = draw.lists(draw.sampled_from("ab1_./"), min_size=1, max_size=6).map("".join)
TOKENS = ["a b", "]==]", "]===]", "]", "[", "=", ";", "\\", '"', "'", "$(x)", "${x}", "#", "%", "??/", "<", ">", "@A@", ":", ",", "\n", "\t", "{}", "*/", "\x7f", "&", "|"]
names = draw.sampled_from("ABCDEF")
values = draw.one_of(draw.integers(1, 999), draw.sampled_from(["nk", "bf16", "a.b"]))
sizes = draw.lists(draw.integers(1, 99), min_size=3, max_size=3)


launches = draw.lists(draw.fixed_dictionaries({"source": words, "entry": words, "grid": sizes, "block": sizes, "args": draw.lists(draw.one_of(
		draw.sampled_from("ABC"), draw.integers(-9, 2**40), draw.sampled_from([0.5, -1.25])), max_size=3), "smem_dynamic_bytes": draw.integers(0, 232448)},
	optional={"cluster": sizes, "repeat": draw.integers(2, 9), "cooperative": draw.just(True)}), min_size=1, max_size=3)


def entry_of(number, entry, **winner):
	return {"operation": "gemm", "problem": {"M": number, "dtype": "bf16"}, "timing": "measured", "run": "r", "tied": [], "families": [], **entry, "winner": {"family": "gemm/a",
		"configuration": {}, "time_us": {"median": 12.5, "ci95_low": 0, "ci95_high": 1e6, "samples": 9}, "workspace_bytes": 0, "kernel_hash": 32 * "0", **winner}}


def file_of(entries, name="x"):
	return {"format": "tiletune.tuned/1", "device": {"name": name, "compute_capability": 90, "sm_count": 2},
		"runs": [{"id": "r", "date": "2026-01-31T12:00:00Z", "tiletune": {"version": "1"}}], "entries": entries}


entries_drawn = draw.lists(draw.tuples(draw.fixed_dictionaries({"operation": draw.sampled_from(["gemm", "odd"]), "timing": draw.sampled_from(["measured", "predicted"])}),
	draw.fixed_dictionaries({"configuration": draw.dictionaries(names, values, max_size=3), "launches": launches, "workspace_bytes": draw.sampled_from([0, 2**33])},
		optional={"defines": draw.dictionaries(names, values, max_size=3), "options": draw.lists(words.map("-DX={}".format), max_size=2)})), min_size=1, max_size=4)


def compare(tuned, form):
	with tempfile.TemporaryDirectory() as folder:
		with open(folder + "/exported", "w", encoding="utf-8") as file:
			file.write(ask("export", tuned=tuned, format=form)["text"])
		found = list(TABLES[form](None, tuned, folder, folder + "/exported"))
	for entry, wanted in zip(found, map(expected_entry, tuned["entries"]), strict=True):
		for each in entry, wanted:  # builds cannot distinguish an option -DX from a define
			each["options"] = sorted([f"-D{name}" for name in each.pop("defines")] + each["options"])
		for member, value in entry.items():
			expected = wanted[member]
			if member == "launches":
				expected = [{name: launch[name] for name in mine} for mine, launch in zip(value, expected, strict=True)]
			assert is_same(value, expected), (member, value, expected)


@settings(max_examples=30)
@given(entries_drawn, draw.sampled_from([*TABLES]))
def test_a_table_has_what_the_file_has(drawn, form):
	compare(file_of([entry_of(number, *pair[:1], **pair[1]) for number, pair in enumerate(drawn)]), form)


def test_text_is_refused_or_unaltered():
	"""Draws text that has a meaning in C, CMake, make or a shell."""
	for refused, form in (r"$^", "c-header"), (r"[][;\\]", "cmake"), (r"[^\w ./+=:,-]", "make"):
		held = []
		for number, token in enumerate(TOKENS):
			texts = [token, f"a{token}", f"{token}1"]
			launch = {"source": texts[0], "entry": texts[1], "grid": [1, 1, 1], "block": [1, 1, 1], "args": [], "smem_dynamic_bytes": 0}
			of_launch = entry_of(number, {}, launches=[launch, {**launch, "source": texts[2]}])
			of_option = entry_of(len(TOKENS) + number, {}, launches=[{**launch, "source": "a.cu", "entry": "a"}], options=[f"-DX={text}" for text in texts])
			for entry, may_be_refused in (of_launch, form == "make"), (of_option, True):
				answer = ask("export", tuned=file_of([entry]), format=form)
				assert ("text" in answer) == ("invalid" not in answer and not (may_be_refused and re.search(refused, token))), (token, form, answer)
				if "text" in answer and not (entry is of_option and token in ("a b", "\t")):  # a line of defines is split at blanks
					held.append(entry)
		for at in range(0, len(held), 7):  # cmake() reads every entry of a file with up to seven
			compare(file_of(held[at:at + 7], name=" ".join(TOKENS)), form)
