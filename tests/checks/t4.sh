#!/bin/sh
# What `export --format t4` writes is valid under the results schema of the T4 format, as the
# kernel_tuner package has it: pinned, from PyPI, in a virtual environment under the build folder,
# made once. Exit code 77: PyPI does not answer, and the package is not there from before.
set -u
out=$1
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
		cat "$scratch/talk"
		# another file under that name is no reason to look away
		grep -qi 'hashes' "$scratch/talk" && exit 1
		echo "skipped: PyPI did not give kernel_tuner $version, which has the T4 schema"
		exit 77
	fi
	[ -n "$(schema)" ] || { echo "kernel_tuner $version has no T4 schema"; exit 1; }
fi
for source in results/nvidia-h200/tuned.json tests/data/replay/measured.jsonl.gz; do
	"$out/tiletune" export "$source" --format t4 -o - >"$scratch/$(basename "$source").t4" || exit 1
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
