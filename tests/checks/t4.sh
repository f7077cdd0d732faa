#!/bin/sh
# What `export --format t4` writes is valid under the results schema of the T4 format, as the
# kernel_tuner package has it. The package is unpacked under the build folder, once; without a
# package index at hand, TEST_OFFLINE=1 leaves this test out.
set -u
out=$1
venv=${TEST_BUILD:-build}/kernel-tuner
schema() { find "$venv" -path '*/T4/1.0.0/results-schema.json' 2>/dev/null | head -n 1; }
if [ -z "$(schema)" ]; then
	if [ "${TEST_OFFLINE:-}" = 1 ]; then
		echo "skipped: TEST_OFFLINE=1 and $venv is not there"
		exit 0
	fi
	rm -rf "$venv"
	/usr/bin/python3 -m venv "$venv" &&
		"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps kernel_tuner==1.5.0
	if [ -z "$(schema)" ]; then
		echo "expected to install kernel_tuner 1.5.0 into $venv for its T4 schema; TEST_OFFLINE=1 leaves this test out"
		exit 1
	fi
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for source in results/nvidia-h200/tuned.json tests/data/replay/measured.jsonl.gz; do
	"$out/tiletune" export "$source" --format t4 -o "$scratch/$(basename "$source").t4" || exit 1
done
/usr/bin/python3 -W ignore - "$(schema)" "$scratch"/*.t4 <<'PYTHON'
import json
import sys

import jsonschema

validator = jsonschema.Draft202012Validator(json.load(open(sys.argv[1], encoding="utf-8")))
for path in sys.argv[2:]:
    document = json.load(open(path, encoding="utf-8"))
    errors = list(validator.iter_errors(document))
    for error in errors[:5]:
        print(f"{path}: {list(error.absolute_path)}: {error.message[:200]}")
    kinds = {result["invalidity"] for result in document["results"]}
    print(f"{path.rsplit('/', 1)[1]}: {len(document['results'])} results, {sorted(kinds)}")
    assert not errors and document["results"], path
    assert all(result["times"]["runtimes"] for result in document["results"]
        if result["invalidity"] == "correct"), "what is correct was timed"
# a file that is not one is refused, or this test could not fail
assert not validator.is_valid({"results": [{"configuration": {}, "times": {}, "invalidity": "maybe", "correctness": 1}]})
PYTHON
