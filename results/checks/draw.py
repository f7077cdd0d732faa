"""The pictures of results/ (results/tools/draw.py) show the data of their tables and journals; tested on small data."""
import importlib.util
import json
import os
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, "results/tools")
sys.dont_write_bytecode = True
import draw  # noqa: E402  pylint: disable=wrong-import-position

JOURNAL = "tests/data/report/small.journal.jsonl"
TABLE = """M,family,configuration,tiles,waves,waves_exact,predicted_us,predicted_tflops,measured_us,ci95_low_us,ci95_high_us,measured_tflops,outcome
1100,gemm/mma,"BM=64,BN=64,BK=32,STAGES=2",300,3,2.3,9,310,,,,,ok
1000,gemm/mma,"BM=64,BN=64,BK=32,STAGES=2",250,2,1.9,7,290,8,7,9,250,ok
1000,gemm/wgmma,"BM=128,BN=64,BK=64",125,1,0.9,6,330,5,4,6,400,ok
"""
failures = []


def expect(what, found, wanted):
	if found != wanted:
		failures.append(f"{what}: expected {wanted!r}, found {found!r}")


def texts(path):
	return [element.text.strip() for element in xml.etree.ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]


with open(JOURNAL, encoding="utf-8") as file:
	lines = [json.loads(line) for line in file]
winner = next(line for line in lines if line["event"] == "entry")["entry"]["winner"]
wanted = {}
for each in lines:
	if each["event"] == "evaluation" and each["family"] == "gemm/wgmma":
		values = dict(pair.split("=") for pair in each["configuration"].split(","))
		tile = int(values["BM"]), int(values["BN"])
		speed = winner["tflops"] * winner["time_us"]["median"] / each["time_us"]["median"] if each["outcome"] == "ok" else 0
		wanted[tile] = max(wanted.get(tile, 0), speed)
title, tiles = draw.best_tiles(JOURNAL, "gemm M=4096,dtype=bf16", "gemm/wgmma")
expect("title", title, "gemm/wgmma, M=4096,N=4096,K=4096, bf16")
expect("tiles", {tile: round(speed or 0, 6) for tile, speed in tiles.items()}, {tile: round(speed, 6) for tile, speed in wanted.items()})
expect("a tile that failed, and one that did not", [None in tiles.values(), any(tiles.values())], [True, True])
with tempfile.TemporaryDirectory() as folder:
	table = os.path.join(folder, "sizes.csv")
	with open(table, "w", encoding="utf-8") as file:
		file.write(TABLE)
	expect("sizes", draw.size_lines(table), ("M", {("gemm/mma", "BM=64,BN=64,BK=32,STAGES=2"): [[1000, 250.0, 290.0, 2.0], [1100, None, 310.0, 3.0]],
		("gemm/wgmma", "BM=128,BN=64,BK=64"): [[1000, 400.0, 330.0, 1.0]]}))
	expect("tables and journals of results/", [path for picture in draw.PICTURES for path in picture[1:2] if not os.path.exists(path)], [])
	if importlib.util.find_spec("matplotlib") and not failures:
		path = os.path.join(folder, "tiles.svg")
		draw.draw_tiles(JOURNAL, "gemm M=4096,dtype=bf16", "gemm/wgmma", path)
		shown = texts(path)
		expect("labels of tiles", [label for speed in wanted.values() for label in [f"{speed:.0f}" if speed else "x"] if label not in shown], [])
		with open(path, encoding="utf-8") as file:
			first = file.read()
		draw.draw_tiles(JOURNAL, "gemm M=4096,dtype=bf16", "gemm/wgmma", path)
		with open(path, encoding="utf-8") as file:
			expect("drawn twice it is the same file", file.read() == first, True)
		draw.draw_sizes(table, path)
		expect("labels of sizes", [label for label in ("M", "gemm/mma BM=64,BN=64,BK=32", "gemm/wgmma BM=128,BN=64,BK=64") if label not in texts(path)], [])
print("\n".join(failures))
if not failures and not importlib.util.find_spec("matplotlib"):
	print("skipped: no matplotlib, so nothing is drawn; what would be drawn was compared")
	sys.exit(77)
sys.exit(bool(failures))
