"""The committed H200 baseline: winners still compile, without new spills or fewer blocks per SM; the
reports of the check are well-formed. Every third of them, with TEST_SIZE=full all.

	baseline.py OUT"""
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

with open("results/nvidia-h200/tuned.json", encoding="utf-8") as file:
	tuned = json.load(file)
if os.environ.get("TEST_SIZE") != "full":
	tuned["entries"] = tuned["entries"][::3]
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
