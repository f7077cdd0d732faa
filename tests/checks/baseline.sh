#!/bin/sh
# The committed H200 baseline: every winner still compiles, without new spills or fewer blocks per
# SM; the reports of the check are well-formed.
set -u
out=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$out/tiletune" check results/nvidia-h200/tuned.json --device model:h200-sxm --path . \
	--cache-dir "${TEST_BUILD:-build}/test-cache" --junit "$scratch/junit.xml" \
	--markdown "$scratch/summary.md" || exit 1
/usr/bin/python3 - "$scratch" <<'PYTHON'
import json
import sys
import xml.etree.ElementTree as tree

folder = sys.argv[1]
entries = len(json.load(open("results/nvidia-h200/tuned.json", encoding="utf-8"))["entries"])
suite = tree.parse(f"{folder}/junit.xml").getroot().find("testsuite")
assert int(suite.get("tests")) == len(suite.findall("testcase")) == entries, "one case per entry"
rows = [line for line in open(f"{folder}/summary.md", encoding="utf-8") if line.startswith("| ")]
assert len(rows) == entries + 1, "one row per entry, and the head"
assert len({row.count("|") - row.count("\\|") for row in rows}) == 1, "as many cells in each row"
PYTHON
