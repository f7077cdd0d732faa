#!/bin/sh
# python3 -m tiletune.t4: its output for tuned files and journals contains the same data, and is valid under
# the results schema of T4 in the kernel_tuner package, which is pinned and installed once from PyPI into a
# virtual environment under the build folder. Without PyPI and an earlier installation the schema is skipped,
# with a message, and only the values are compared.
set -u
version=1.5.0
wheel=sha256:c3aa31663f1166e4817ae17260e5c3b05d33f0de384c2c7cc615fb7c5b9d1bd4
venv=${TEST_BUILD:-build}/kernel-tuner
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
schema() { find "$venv" -path '*/T4/1.0.0/results-schema.json' 2>/dev/null | head -n 1; }
if [ -z "$(schema)" ]; then
	rm -rf "$venv"
	/usr/bin/python3 -m venv "$venv" || exit 1
	echo "kernel_tuner==$version --hash=$wheel" >"$scratch/wanted"
	if ! timeout 120 "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps \
		--only-binary :all: --require-hashes --retries 2 -r "$scratch/wanted" >"$scratch/talk" 2>&1; then
		# another file under that name must not disable the check
		if grep -qi 'hashes' "$scratch/talk"; then cat "$scratch/talk"; exit 1; fi
		echo "skipped: T4's schema: PyPI did not give kernel_tuner $version"
	fi
fi
PYTHONPATH=src/python PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -W ignore - "$(schema)" "$scratch" <<'PYTHON'
import collections
import gzip
import json
import statistics
import subprocess
import sys

import jsonschema

schema, scratch = sys.argv[1:]
TUNED = ("results/nvidia-h200/tuned.json",)
RECORDED = "tests/data/replay/measured.jsonl.gz"


def convert(*words):
    return subprocess.run([sys.executable, "-m", "tiletune.t4", *words], capture_output=True, text=True, check=False)


def converted(*words):
    done = convert(*words, "-o", f"{scratch}/out")
    assert done.returncode == 0, (words, done.stderr)
    with open(f"{scratch}/out", encoding="utf-8") as file:
        return json.load(file)


def close(a, b):
    return abs(a - b) <= 1e-9 * abs(b)


documents = []
for path in TUNED:
    document = converted(path)
    documents.append(document)
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)["entries"]
    rows = [(entry, row) for entry in entries for row in (entry["winner"], *entry["families"])]
    for result, (entry, row) in zip(document["results"], rows, strict=True):
        configuration = dict(result["configuration"])
        problem = dict(item.split("=") for item in configuration.pop("problem").split(","))
        assert problem == {key: str(value) for key, value in entry["problem"].items()}, problem
        assert configuration == {"operation": entry["operation"], "family": row["family"], **row["configuration"]}, configuration
        measured = {item["name"]: item["value"] for item in result["measurements"]}
        name = "predicted_time" if entry["timing"] == "predicted" else "time"
        assert close(measured[name], row["time_us"]["median"] / 1000) and (name == "time") == bool(result["times"]["runtimes"]), result
        assert result["correctness"] == row.get("errors", {"verified": entry["timing"] == "measured"}).get("verified", False), result  # shortened rows have no errors


def evaluations(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.endswith("}\n")]  # one may be torn
    return [line for line in lines if line["event"] == "evaluation"]


WORDS = {"correct": "ok too_noisy", "constraints": "pruned_by_model", "compile": "compile_failed compile_crashed compile_timeout",
    "timeout": "timed_out", "correctness": "wrong_result out_of_bounds nondeterministic too_fast",
    "runtime": "crashed launch_failed out_of_memory device_lost"}
FAILURES = {"correct": None, "constraints": "InvalidConfig", "compile": "CompilationFailedConfig"}
INVALIDITY = {outcome: word for word, outcomes in WORDS.items() for outcome in outcomes.split()}
for path in (RECORDED,):
    document = converted(path)
    documents.append(document)
    for result, line in zip(document["results"], evaluations(path), strict=True):
        assert result["invalidity"] == INVALIDITY[line["outcome"]], (result, line)
        assert all(close(a, b / 1000) for a, b in zip(result["times"]["runtimes"], line.get("samples_us", ()), strict=True))
        assert [close(item["value"], statistics.median(line["samples_us"]) / 1000) for item in result["measurements"]
            if item["name"] == "time"] == [True] * (line["outcome"] in ("ok", "too_noisy") and bool(line.get("samples_us"))), (result, line)
if schema:
    with open(schema, encoding="utf-8") as file:
        validator = jsonschema.Draft202012Validator(json.load(file))
    for document in documents:
        errors = list(validator.iter_errors(document))
        assert not errors and document["results"], [(list(error.absolute_path), error.message[:200]) for error in errors[:5]]
    # an invalid file is refused, otherwise this test could not fail
    assert not validator.is_valid({"results": [{"configuration": {}, "times": {}, "invalidity": "maybe", "correctness": 1}]})

# in a cache file of Kernel Tuner, a configuration's key lists its values in the order of the parameters
cache = converted(RECORDED, "--cache", "--problem", "M=1000,K=512", "--family", "tile/split")
lines = [line for line in evaluations(RECORDED) if line["family"] == "tile/split"]
kinds = collections.Counter()
assert cache["tune_params_keys"] == list(cache["tune_params"]) and cache["kernel_name"] == "tile/split"
for key, item in cache["cache"].items():
    values = key.split(",")
    assert all(str(item[name]) == value and item[name] in cache["tune_params"][name]
        for name, value in zip(cache["tune_params_keys"], values, strict=True)), (key, item)
    configuration = ",".join(f"{name}={item[name]}" for name in cache["tune_params_keys"])
    line = next(line for line in lines if line["configuration"] == configuration)
    kinds[item["time"] if isinstance(item["time"], str) else "time"] += 1
    failure = FAILURES.get(INVALIDITY[line["outcome"]], "RuntimeFailedConfig")
    assert item["time"] == failure if failure else close(item["time"], statistics.median(line["samples_us"]) / 1000), (item, line)
assert kinds["time"] > 10 and len(kinds) > 1, kinds

# inputs that cannot be converted give messages
for words, said in (((RECORDED, "--cache"), "found 4"), (("README.md",), "tiletune.t4: "),
        (("configs/suites/llm.json",), "neither a tuned file nor a journal"), ((RECORDED, "--cache", "--problem", "M=7"), "found 0")):
    done = convert(*words)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, (words, done)
print(f"{sum(len(document['results']) for document in documents)} results, {len(cache['cache'])} of a cache: {dict(kinds)}")
PYTHON
