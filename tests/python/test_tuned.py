"""Tuned files: their data are read without the program, other problems are answered by it."""
import json
import os
import shutil

import pytest

import tiletune
from conftest import ROOT, program
from tiletune.operation import Operation, evaluate

H200 = os.path.join(ROOT, "results/nvidia-h200/tuned.json")


@pytest.fixture
def no_program(monkeypatch):
	monkeypatch.setenv("TILETUNE", "/nonexistent/tiletune")


def test_exact(no_program):
	tuned = tiletune.load(H200)
	assert "entries of NVIDIA H200" in repr(tuned)
	for entry in tuned.entries:
		operation = Operation.find(entry["operation"])
		named = {key: value for key, value in entry["problem"].items() if operation.default(key, entry["problem"]) != value}
		answer = tuned.lookup(entry["operation"], **named)
		assert answer.problem == entry["problem"] and answer.grade == "exact" and answer.expected_loss == 0, named
		assert answer.configuration == entry["winner"]["configuration"] and answer.family == entry["winner"]["family"]
		assert answer.launches == entry["winner"]["launches"] and answer.time_us == entry["winner"]["time_us"]["median"]
		assert answer.is_predicted == (entry["timing"] == "predicted")
	with pytest.raises(tiletune.Error) as error:  # only the program could answer this request
		tuned.lookup("gemm", M=1, N=2, K=3, dtype="bf16")
	assert error.value.message == "TILETUNE: /nonexistent/tiletune is not the tiletune program" and error.value.hint


def test_defaults_count(no_program, tmp_path):
	"""An entry with an activation does not answer a request for the product without one."""
	document = json.load(open(H200, encoding="utf-8"))
	entry = next(entry for entry in document["entries"] if entry["operation"] == "gemm")
	entry["problem"]["act"] = "relu"
	document["entries"] = [entry]
	path = tmp_path / "one.json"
	path.write_text(json.dumps(document))
	sizes = {key: entry["problem"][key] for key in ("M", "N", "K", "dtype", "b_layout")}
	assert tiletune.load(str(path)).lookup("gemm", act="relu", **sizes).grade == "exact"
	with pytest.raises(tiletune.Error, match="TILETUNE"):
		tiletune.load(str(path)).lookup("gemm", **sizes)


def test_the_objective_and_the_device_count(monkeypatch, tmp_path):
	"""One file holds entries of one problem for several objectives, in any order. An entry does not answer for another device."""
	document = json.load(open(H200, encoding="utf-8"))
	time = next(entry for entry in document["entries"] if entry["operation"] == "gemm")
	energy = {**time, "objective": "energy", "winner": {**time["winner"], "family": "gemm/other"}}
	path = tmp_path / "two.json"
	for entries in ([time, energy], [energy, time]):
		path.write_text(json.dumps({**document, "entries": entries}))
		tuned = tiletune.load(str(path))
		assert tuned.lookup("gemm", **time["problem"]).family == time["winner"]["family"]
		assert tuned.lookup("gemm", objective="energy", **time["problem"]).family == "gemm/other"
	asked = []

	def answer(*words, **options):
		asked.append((words, options))
		return 0, json.dumps({"entries": [{**time, "winner": {**time["winner"], "why": {"grade": "nearest by model"}}}]})
	monkeypatch.setattr("tiletune.command.run", answer)
	assert tuned.lookup("gemm", device="model:h100-sxm", **time["problem"]).grade == "nearest by model"
	(words, options), = asked
	assert words == ("lookup", str(path), "gemm") and options["device"] == "model:h100-sxm"


def test_unknown_operation_needs_all_keys(no_program, tmp_path):
	document = json.load(open(H200, encoding="utf-8"))
	entry = document["entries"][0]
	entry.update(operation="mine", problem={"n": 5, "kind": "a"})
	path = tmp_path / "own.json"
	path.write_text(json.dumps({**document, "entries": [entry]}))
	assert tiletune.load(str(path)).lookup("mine", n=5, kind="a").grade == "exact"
	with pytest.raises(tiletune.Error, match="TILETUNE"):
		tiletune.load(str(path)).lookup("mine", n=5)


def test_lookup_by_the_program(tuned):
	answer = tiletune.load(tuned).lookup("gemm", M=250, N=64, K=64, dtype="fp16")
	said = json.loads(program("lookup", tuned, "gemm", "-p", "M=250,N=64,K=64,dtype=fp16", "--json"))["entries"][0]["winner"]
	assert answer.grade == said["why"]["grade"] != "exact" and answer.is_predicted
	assert answer.configuration == said["configuration"] and answer.launches == said["launches"]
	assert answer.expected_loss == said["why"]["expected_loss_ratio"]
	exact = tiletune.load(tuned).lookup("gemm", M=256, N=64, K=64, dtype="fp16")
	said = json.loads(program("lookup", tuned, "gemm", "-p", "M=256,N=64,K=64,dtype=fp16", "--json"))["entries"][0]["winner"]
	assert said["why"]["grade"] == exact.grade and exact.configuration == said["configuration"]
	with pytest.raises(tiletune.Error) as error:
		tiletune.load(tuned).lookup("gemm", M=250, N=64, K=64, dtype="fp17")
	assert error.value.code == 2 and "fp17" in error.value.message
	for several in ([250, 300], range(250, 350, 50)):
		with pytest.raises(tiletune.Error, match="M: an answer is for one problem, but .* gives 2"):
			tiletune.load(tuned).lookup("gemm", M=several, N=64, K=64, dtype="fp16")


def test_broken(tmp_path):
	path = str(tmp_path / "broken.json")
	for text, said in (("", ": the file is empty"), ('{"a', ":1: not JSON: unterminated string starting at column 2"), ("[]", ": expected the format tiletune.tuned/1, found list"),
			('{"format": "tiletune.suite/1"}', ": expected the format tiletune.tuned/1, found tiletune.suite/1"),
			('{"format": "tiletune.tuned/1", "device": {}}', ": $.entries: expected an array, found NoneType"),
			('{"format": "tiletune.tuned/1", "device": {}, "entries": [{"operation": "gemm"}]}', ': $.entries[0]: no member "problem", or one of the wrong type')):
		with open(path, "w", encoding="utf-8") as file:
			file.write(text)
		with pytest.raises(tiletune.Error) as error:
			tiletune.load(path)
		assert error.value.message.startswith(path + said) and "\n" not in error.value.message, error.value
	for name, hint in (("none.json", 'none.json", KEY=VALUE, ...) writes it'), ("kernel.json", 'kernel.json", KEY=VALUE, ...) tunes it')):
		(tmp_path / "kernel.json").write_text('{"format": "tiletune.own_kernel/1"}')
		with pytest.raises(tiletune.Error, match=name) as error:
			tiletune.load(str(tmp_path / name))
		assert error.value.hint.endswith(hint), error.value


def test_expressions():
	values = {"M": 10, "dtype": "bf16", "list": [1, 2]}
	for text, expected in (("ceil_div(M, 4)", 3), ("round_up(M, 8)", 16), ("dtype_bytes(dtype)", 2), ("M if dtype == 'bf16' else 0", 10),
			("dtype in ['fp16', 'bf16'] and not M < 3", True), ("M // 3 * 2 ** 2 % 5", 2), ("is_pow2(M)", False), (7, 7), ("fp32", "fp32"),
			("[x for x in list if x < M]", [1, 2]), ("M in (5, 10)", True), ("all(M % x == 0 for x in list)", True), ("int(M / 4)", 2)):
		assert evaluate(text, values) == expected, text
	for text in ("__import__('os')", "M.__class__", "(lambda: 1)()", "[x.y for x in list]", "f'{M}'"):
		with pytest.raises((tiletune.Error, KeyError)):
			evaluate(text, values)
	with pytest.raises(tiletune.Error, match="expected keys of M, N, K"):
		Operation.find("gemm").complete({"X": 1})
	with pytest.raises(tiletune.Error, match="no value of N, K, dtype; given: M=1"):
		Operation.find("gemm").complete({"M": 1})


def test_shapes_say_the_problem():
	"""For every entry of the committed results, the shapes, pitches and types of the inputs determine the problem."""
	count = 0
	for name in ("tuned", "attention"):
		for entry in tiletune.load(os.path.join(ROOT, f"results/nvidia-h200/{name}.json")).entries:
			operation, problem = Operation.find(entry["operation"]), entry["problem"]
			inputs = {tensor.name: tensor for tensor in operation.tensors(problem) if tensor.role == "in"}
			# tensors do not determine these keys; tf32 is stored as fp32
			named = {key: problem[key] for key in ("causal", "act", "accum", "b_layout", "out_dtype", "scale", "bias") if key in problem}
			if problem["dtype"] == "tf32":
				named["dtype"] = "tf32"
				inputs = {key: tensor._replace(dtype="fp32") for key, tensor in inputs.items()}
			assert operation.solve(inputs, named) == problem
			count += 1
	assert count > 100


def test_other_folders(tmp_path, monkeypatch):
	shutil.copytree(os.path.join(ROOT, "tests/toy/templates"), tmp_path / "templates")
	assert Operation.find("row_softmax") is None
	monkeypatch.setenv("TILETUNE_PATH", str(tmp_path))
	assert Operation.find("row_softmax").complete({"rows": 1, "cols": 2}) == {"rows": 1, "cols": 2, "dtype": "fp32"}
