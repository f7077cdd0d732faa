"""Results and plans survive JSON, and wrong ones are refused (format/result.h, plan/plan.h). tests/errors/journal.txt has more results."""
import json
import os
import subprocess
import tempfile

from oracle import ask


def compact(value):
	return json.dumps(value, separators=(",", ":"))


def expect_same(record, text):
	assert ask("record", record=record, text=text) == {"text": text}


def test_recorded_results_survive():
	"""All members survive except those of the journal and summaries, which are computed again from samples."""
	def own(line):
		return {key: value for key, value in line.items() if key not in ("event", "problem", "run", "checksum", "at_s", "time_us")}
	with open("tests/data/report/small.journal.jsonl", encoding="utf-8") as file:
		lines = [json.loads(text) for text in file]
	for line in lines:
		if line["event"] in ("evaluation", "final"):
			again = json.loads(ask("record", record="result", text=compact({**own(line), **({"time_us": line["time_us"]} if "time_us" in line else {})}))["text"])
			assert list(own(again).items()) == list(own(line).items())


RESULT = {"family": "gemm/mma", "configuration": "BM=128", "kernel_hash": "0123456789abcdef0123456789abcdef", "outcome": "wrong_result", "flags": ["spills", "throttled"],
	"resources": [{"regs_per_thread": 168, "smem_static_bytes": 16, "spill_store_bytes": 8, "spill_load_bytes": 12, "stack_bytes": 32, "barriers": 2, "threads_per_block": 384,
		"flags": ["spills"], "blocks_per_sm": 1, "max_clusters": -1}],
	"verification": {"points": 524288, "violations": 3, "first_bad": 17, "first_out": 0.5, "first_expected": 0.25, "max_abs_error": 0.25, "max_rel_error": 1},
	"timing": "predicted", "time_us": {"median": 12.25, "ci95_low": 9.0735, "ci95_high": 15.4265, "samples": 2}, "samples_us": [12.5, 12], "compile_seconds": 0.375, "from_cache": True}


def test_full_and_short_results_survive():
	expect_same("result", compact(RESULT))
	for outcome in ("ok", "pruned_by_model", "compile_failed", "compile_crashed", "compile_timeout", "launch_failed", "out_of_memory", "crashed", "timed_out", "wrong_result",
			"out_of_bounds", "nondeterministic", "too_noisy", "device_lost"):
		expect_same("result", compact({"family": "gemm/mma", "configuration": "", "kernel_hash": "", "outcome": outcome, "detail": "spills", "flags": [], "compile_seconds": 0, "from_cache": False}))
	# broken kernels often write NaN, which is omitted, and infinity
	verification = {name: value for name, value in RESULT["verification"].items() if name != "first_out"}
	expect_same("result", compact({**RESULT, "verification": {**verification, "max_abs_error": None}}))


def kernel():
	"""Draws the plan of a kernel with tensor maps and workspaces."""
	with tempfile.TemporaryDirectory() as folder:
		subprocess.run([os.environ["TEST_OUT"] + "/tiletune", "export", "tests/data/report/small.json", "gemm", "--format", "source", "--path", ".", "-o", folder + "/k.cu"],
			check=True, capture_output=True)
		with open(folder + "/k.cu.json", encoding="utf-8") as file:
			return compact(json.load(file)["plan"])


REFUSED = [  # old text, new text, message
	('"role":"in"', '"role":"inn"', '$.buffers[0].role: expected one of "in", "out", "inout", "workspace", found'),
	('"dtype":"bf16"', '"dtype":"fp15"', '$.buffers[0].dtype: expected one of "fp32", "tf32"'),
	('"bytes":33554432', '"bytes":-1', "$.buffers[0].bytes: expected an integer of at least 0"),
	('"init":"none"', '"init":"now"', '$.buffers[9].init: expected one of "none", "once", "each"'),
	('"tensors":9', '"tensors":30', "there are more tensors than buffers"),
	('"buffer":1', '"buffer":100', 'the "buffer" of tensor map 1 is not in the plan'),
	('"tensor_map":1', '"tensor_map":7', "of launch 0 has a buffer or tensor map that is not in the plan"),
	('"grid":[132,1,1]', '"grid":[132,1]', "$.launches[0].grid: expected 3 elements"),
	('"swizzle_bytes":128', '"swizzle_bytes":100', "swizzle: expected 0, 32, 64"),
	('"launches"', '"launch"', "$.launch: unknown member")]


def test_plans_survive_and_broken_ones_are_refused():
	plan = kernel()
	expect_same("plan", plan)
	for old, new, message in REFUSED:
		assert old in plan, old
		assert message in ask("record", record="plan", text=plan.replace(old, new, 1))["refused"], message
