"""Other tools' files, as they occur and damaged: allowed values and names are read, anything else gives one line that names the file."""
import contextlib
import gzip
import importlib
import io
import json
import os
import subprocess

import pytest

import tiletune

from tiletune.operation import Operation

MODULES = {"recorded": ("-o", "out"), "t1": (), "t4": (), "suites": ("-o", "out.json"), "learn": ("-o", "out.json")}


def module(name, *words, code=None):
	"""Runs the command of a module in this process and returns its standard error."""
	said = io.StringIO()
	with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
		try:
			found = importlib.import_module(f"tiletune.{name}").main(list(words)) or 0
		except SystemExit as error:
			found = error.code if isinstance(error.code, int) else 1
			said.write("" if isinstance(error.code, int) else str(error.code))
	assert code is None or found == code, (found, said.getvalue())
	return found, said.getvalue()


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
	monkeypatch.chdir(tmp_path)


def write(name, content):
	with open(name, "wb") as file:
		file.write(content if isinstance(content, bytes) else (content if isinstance(content, str) else json.dumps(content)).encode())


def cache(parameters, rows):
	return {"device_name": "X", "tune_params_keys": list(parameters), "tune_params": parameters, "objective": "time",
		"cache": {",".join(map(str, row)): {**dict(zip(parameters, row)), "time": time} for row, time in rows}}


def t4(unit=None, general=None, measured="time", **more):
	rows = [{"configuration": {"B": b}, "objectives": [measured], "invalidity": "correct", "measurements": [{"name": measured, "value": value,
		**({} if unit is None else {"unit": unit})}], **more} for b, value in ((1, 31.0), (2, 62.0))]
	return {"metadata": {"timeunit": general} if general else {}, "results": rows}


# content; outcomes of all configurations, or the expected message; the winner's time in us
RECORDED = {
	"floats": (cache({"alpha": [0.5, 1.0, 1e-05]}, [((0.5,), 1.0), ((1.0,), 0.7), ((1e-05,), 0.5)]), "3 ok", 500),
	"empty": (cache({"t": ["", "x"]}, [(("",), 1.0), (("x",), 0.5)]), "2 ok", 500),
	"comma": (cache({"t": ["a,b", "c=d"]}, [(("a,b",), 1.0), (("c=d",), 0.5)]), "2 ok", 500),
	"alike": (cache({"t": ["a,b", "a_b", "a b"]}, [(("a,b",), 1.0), (("a_b",), 0.5), (("a b",), 2.0)]), "3 ok", 500),
	"mixed": (cache({"t": [1, "2", 2.0]}, [((1,), 1.0), (("2",), 0.5), ((2.0,), 0.25)]), "3 ok", 250),
	"null": (cache({"t": [None, True]}, [((None,), 1.0), ((True,), 0.5)]), "2 ok", 500),
	"keys": (cache({"n": [1, 2], "out": [1, 2]}, [((1, 1), 1.0), ((2, 2), 0.5)]), "2 ok", 500),
	"words": (cache({"if": [1, 2], "block-size": [1, 2], "2d": [1, 2], "min": [1, 2]}, [((1, 1, 1, 1), 1.0), ((2, 2, 2, 2), 0.5)]), "2 ok", 500),
	"RTX-3090": (cache({"t": [1, 2]}, [((1,), 1.0), ((2,), 0.5)]), "2 ok", 500),
	"failed": (cache({"t": [1, 2, 3, 4]}, [((1,), None), ((2,), 0.5), ((3,), 1e20), ((4,), float("nan"))]), "1 ok, 3 launch_failed", 500),
	"errors": ({**cache({"t": [1, 2, 3, 4]}, [((1,), 0.5), ((2,), 1.0)]), "cache": {"1": {"t": 1, "time": 0.5}, "2": {"t": 2, "time": 1.0, "times": [1.0]},
		"3": {"t": 3, "__error__": "CompilationFailedConfig"}, "4": {"t": 4, "__error__": "RuntimeFailedConfig", "time": "RuntimeFailedConfig"}}},
		"2 ok, 1 compile_failed, 1 launch_failed", 500),
	"zero": (cache({"t": [1, 2]}, [((1,), 0.0), ((2,), 0.5)]), '$.cache["1"].time: expected a time above 0, found 0.0', None),
	"list": (cache({"t": [1, 2]}, [((1,), [1.0]), ((2,), 0.5)]), '$.cache["1"].time: expected a time above 0, found [1.0]', None),
	"no_keys": ({"cache": {"a": {"t": 1, "time": 1.0}}}, "$.tune_params_keys: expected an array", None),
	"no_value": ({"tune_params_keys": ["t"], "cache": {"a": {"time": 1.0}}}, '$.cache["a"]: no member "t"', None),
	"is_list": ({"tune_params_keys": ["t"], "cache": [1]}, "$.cache: expected an object", None),
	"bom": (b"\xef\xbb\xbf" + json.dumps(cache({"t": [1]}, [((1,), 0.5)])).encode(), "1 ok", 500),
	"zipped": (gzip.compress(json.dumps(cache({"t": [1]}, [((1,), 0.5)])).encode()), "1 ok", 500),
	"torn": (gzip.compress(json.dumps(cache({"t": [1]}, [((1,), 0.5)])).encode())[:60], "torn.json: not a text file", None),
	"latin": (b'{"cache":{"a":{"t":"\xe9"}}}', "latin.json: not a text file", None),
	**{f"unit_{unit}": (t4(unit), "2 ok", 31 * factor) for unit, factor in (("s", 1e6), ("seconds", 1e6), ("ms", 1e3), ("MS", 1e3), ("miliseconds", 1e3),
		("Microseconds", 1), ("us", 1), ("nanoseconds", 1e-3))},
	"general_unit": (t4("", "microseconds"), "2 ok", 31),
	"absent_unit": (t4(None, "seconds"), "2 ok", 31e6),
	"objective": (t4("Microseconds", measured="TotalDuration"), "2 ok", 31),
	"power": (t4("W"), 'expected a unit of time (s, ms, us or ns), found "W"', None),
	"no_objective": (t4(objectives=["x"]), '$.results[0].measurements: none is called "x"', None),
	"null_invalidity": (t4("us", invalidity=None), "2 ok", 31),
	"no_configuration": ({"results": [{}]}, "$.results[0].configuration: expected an object", None),
	"no_array": ({"results": {}}, "$.results: expected an array", None),
}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded(name):
	content, expected, winner_us = RECORDED[name]
	write(f"{name}.json", content)
	_, said = module("recorded", f"{name}.json", "-o", f"{name}-replay", code=1 if winner_us is None else 0)
	if winner_us is None:
		assert f"{name}.json: " in said and expected in said
		return
	subprocess.run([os.environ["TILETUNE"], "tune", f"{name}-replay.json", "--device", f"replay:{name}-replay.jsonl.gz", "--effort", "exhaustive", "-o", "t.json"],
		check=True, capture_output=True)
	entry = json.load(open("t.json", encoding="utf-8"))["entries"][0]  # pylint: disable=consider-using-with
	assert ", ".join(f"{count} {outcome}" for outcome, count in entry["space"]["outcomes"].items()) == expected
	assert entry["winner"]["time_us"]["median"] == pytest.approx(winner_us)


DAMAGED = [b"", b"{", b"[]", b"{}", b"null", b"\xff\xfe", b'{"results": [{"configuration": 1}]}', b'{"cache": {"a": 1}, "tune_params_keys": 3}', b"M,N,K\n1,2\n", b"\x1f\x8b\x08\x00",
	b'{"format": "tiletune.tuned/1", "device": {}, "entries": [{}]}', b'{"format": "tiletune.tuned/1", "device": {}, "entries": [{"operation": 1, "problem": [], "timing": 2, "winner": 3}]}',
	b'{"event": "evaluation"}\n', b'{"event": "run", "id": 1}\n{"event": "evaluation", "problem": 0, "run": 1}\n', b'{"KernelSpecification": 3}', b'\xef\xbb\xbf{"a": [']


@pytest.mark.parametrize("name", MODULES)
def test_damaged_files_are_one_line_that_names_the_file(name):
	if name == "learn":
		pytest.importorskip("numpy")
	for content in DAMAGED:
		for ending in ("jsonl.gz",) if name == "learn" else ("json", "jsonl", "csv") if name in ("t4", "suites") else ("json",):
			write(f"damaged.{ending}", content)
			code, said = module(name, f"damaged.{ending}", *MODULES[name])
			assert code == 0 or f"damaged.{ending}" in said, (content, said)


@pytest.mark.parametrize("content", [content for content in DAMAGED if content.startswith(b"{")] + [b'{"keys": 1, "tensors": {}}', b'{"keys": {"M": 1}, "tensors": {}}'])
def test_damaged_operations_and_tuned_files(content):
	for read, file in ((tiletune.load, "tuned.json"), (lambda path: Operation(path).complete({"M": 1}), "operation.json")):
		write(file, content)
		with pytest.raises(tiletune.Error) as error:
			read(file)
		assert error.value.message.startswith(file) and "\n" not in error.value.message


def test_damaged_entries(tuned):
	document = json.load(open(tuned, encoding="utf-8"))  # pylint: disable=consider-using-with
	for damage in ({"winner": {}}, {"winner": {"family": "x", "configuration": {}, "time_us": 3}}, {"winner": {"family": "x", "configuration": {}, "time_us": {}}}):
		entry = {**document["entries"][0], **damage}
		write("tuned.json", {**document, "entries": [entry]})
		with pytest.raises(tiletune.Error, match=r"^tuned\.json: not a tuned file, or damaged"):
			tiletune.load("tuned.json").lookup(entry["operation"], **entry["problem"])


def test_learn_tries_its_output_first():
	pytest.importorskip("numpy")
	os.mkdir("folder")
	for output, said in (("folder", "folder: a folder, not a file to write"), ("none/out.json", "none/out.json: there is no folder")):
		assert said in module("learn", "no_journal.jsonl", "-o", output, code=1)[1]


def test_a_t1_file_with_a_byte_order_mark(tmp_path):
	root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "own")
	source = next(name for name in sorted(os.listdir(root)) if name.endswith(".t1.json"))
	with open(os.path.join(root, source), "rb") as file:
		text = file.read()
	specification = json.loads(text)["KernelSpecification"]
	write(specification["KernelFile"], "")
	write("marked.t1.json", b"\xef\xbb\xbf" + text)
	module("t1", "marked.t1.json", "-o", str(tmp_path / "out.json"), code=0)
