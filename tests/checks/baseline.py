"""README's command for CI exits with 0 on the committed H200 baseline: winners still compile, without new spills or fewer blocks per SM,
and the check's reports are well-formed. Tests two winners of each family for each dtype, or all winners with TEST_SIZE=full.

	baseline.py OUT"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

BASELINE = "results/nvidia-h200/tuned.json"
with open(BASELINE, encoding="utf-8") as file:
	tuned = json.load(file)
if os.environ.get("TEST_SIZE") != "full":
	of_kind = collections.defaultdict(list)
	for entry in tuned["entries"]:
		of_kind[entry["winner"]["family"], entry["problem"]["dtype"]].append(entry)
	tuned["entries"] = [entry for kind in of_kind.values() for entry in (kind[0], kind[-1])]
with tempfile.TemporaryDirectory() as folder:
	with open(f"{folder}/tuned.json", "w", encoding="utf-8") as file:
		json.dump(tuned, file)
	subprocess.run([f"{sys.argv[1]}/tiletune", "check", f"{folder}/tuned.json", "--device", "model:h200-sxm", "--path", ".",
		"--cache-dir", os.environ.get("TEST_BUILD", "build") + "/test-cache", "--junit", f"{folder}/junit.xml",
		"--markdown", f"{folder}/summary.md"], check=True)
	suite = tree.parse(f"{folder}/junit.xml").getroot().find("testsuite")
	with open(f"{folder}/summary.md", encoding="utf-8") as file:
		rows = [line for line in file if line.startswith("| ")]
entries = len(tuned["entries"])
assert entries > 10, "the baseline has many entries"
assert int(suite.get("tests")) == len(suite.findall("testcase")) == entries, "one case per entry"
assert len(rows) == entries + 1, "one row per entry, and the head"
assert len({row.count("|") - row.count("\\|") for row in rows}) == 1, "as many cells in each row"
