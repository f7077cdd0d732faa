#!/usr/bin/python3
"""The report's pages and figures, parsed: what stands where is as in tests/data/report/pages.txt (places within
0.15, a long path by its shape), the page's data is what the journal says, points and ticks lie where the axes
put their values.

	tests/checks/pages.py OUT		OUT: the folder with the binary; ACCEPT=1 writes pages.txt, for a reviewed diff
"""
import copy
import html.parser
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

TILETUNE = os.path.abspath(os.path.join(sys.argv[1], "tiletune"))
DATA = "tests/data/report"
GOLDEN = DATA + "/pages.txt"
ALPHABET = "#$%()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
LONG_PATH = 30  # of more subpaths the shape is kept, how many, and where they begin on average
failures = 0


def expect(where, what, found, wanted, slack=0.0):
	global failures
	numbers = isinstance(found, float) and isinstance(wanted, (int, float))
	if (abs(found - wanted) > slack) if numbers else found != wanted:
		failures += 1
		if failures < 40:
			print(f"{where}: {what}: expected {wanted}, found {found}")


# ---- inputs: recorded ones, and what is made of them ----
def read_lines(name):
	with open(f"{DATA}/{name}", encoding="utf-8") as file:
		return [json.loads(line) for line in file]


def load(name):
	with open(f"{DATA}/{name}", encoding="utf-8") as file:
		return json.load(file)


def long_sweep():
	"""Fourteen sizes over a factor of 32, with up to 500 waves: logarithmic axes; every other winner is another one."""
	tuned = load("sizes.json")
	entry, entries = tuned["entries"][0], []
	for i in range(14):
		size, each = 256 + 32 * 2**i if i < 9 else 8448 - 100 * (14 - i), copy.deepcopy(entry)
		each["problem"].update(M=size, N=size, K=size, lda=size, ldb=size, ldc=size)
		each["winner"]["time_us"].update(median=2 + size**3 / 4e8, ci95_low=1.9 + size**3 / 4e8, ci95_high=2.2 + size**3 / 4e8)
		each["winner"]["tflops"] = 2 * size**3 / each["winner"]["time_us"]["median"] * 1e-6
		each["winner"]["configuration"]["BAND"] = 8 if i % 2 else 4
		tiles = math.ceil(size / 64) ** 2
		each["winner"]["score"].update(tiles=tiles, waves_exact=tiles / 132, waves=math.ceil(tiles / 132), wave_efficiency_ratio=tiles / 132 / math.ceil(tiles / 132))
		entries.append(each)
	entries[1]["timing"] = "predicted"
	return {**tuned, "entries": entries}


def many_candidates():
	"""A journal of a search that did not end: seven families, 2300 candidates, another device, all kinds of outcomes."""
	lines = read_lines("small.journal.jsonl")
	run, problem = copy.deepcopy(lines[0]), copy.deepcopy(lines[1])
	run["device"].update(name="Unknown <GPU> & co", sheet="", compute_capability=75, arch="sm_75")
	problem["families"] = []
	good = [line for line in lines if line["event"] == "evaluation" and line["outcome"] == "ok"]
	result = [run, problem]
	for i in range(2300):
		each = copy.deepcopy(good[i % len(good)])
		each["family"] = f"gemm/f{i * i % 7}"
		each["configuration"] = f"BM={16 * (1 + i % 29)},BN={8 * (1 + i % 17)},I={i}"
		del each["at_s"]
		scale = 0.5 + ((i * 7919) % 1000) / 300
		each["time_us"] = {k: v if k == "samples" else v * scale for k, v in each["time_us"].items()}
		each["samples_us"] = [v * scale for v in each["samples_us"]]
		each["score"].update(arithmetic_intensity=20 + i % 700, predicted_time_us=each["score"]["predicted_time_us"] * (0.6 + (i % 50) / 20),
			waves=30, waves_exact=29.4, bank_conflict_ratio=1.25, lines_per_row_ratio=1.5, tile_efficiency_ratio=0.875)
		each["resources"][0].update(spill_store_bytes=i % 3 * 4, spill_load_bytes=i % 5 * 8)
		kind = i % 9 % 6 if i % 11 == 5 else 0
		if kind:
			each["outcome"] = [None, "compile_failed", "wrong_result", "timed_out", "out_of_bounds", "launch_failed"][kind]
			each["detail"] = f"reason {i % 20}: <b>\"not this\"</b> é" + (" and so on" * 40 if kind == 2 else "")
			for key in ("time_us", "samples_us", "timing", "verification"):
				each.pop(key, None)
		result.append(each)
	return result


def ties_and_rules():
	"""The recorded entry with what it does not have: ties, rules, spills, conflicts; the second file is faster."""
	tuned = load("small.json")
	entry = tuned["entries"][0]
	entry["tied"] = [copy.deepcopy(entry["winner"]) for _ in range(2)]
	for i, row in enumerate(entry["tied"]):
		row["configuration"]["BAND"] = 16 + i
	entry["winner"].update(spill_bytes=48)
	entry["winner"]["score"].update(bank_conflict_ratio=1.25, lines_per_row_ratio=1.5, tile_efficiency_ratio=0.875, blocks_per_sm=2, waves=1, waves_exact=0.5)
	entry["winner"]["time_us"].update(median=120.5, ci95_low=118.0, ci95_high=121.0)
	configuration = entry["winner"]["configuration"]
	entry["rules"] = [{"name": "largest", "family": "gemm/wgmma", "configuration": configuration, "timing": "measured", "time_us": 150.25, "regret_ratio": 0.247},
		{"name": "<smallest>", "family": "gemm/mma", "configuration": {"BM": 16}, "timing": "predicted", "time_us": None, "regret_ratio": None, "outcome": "compile_failed"}]
	return tuned


# ---- what stands on a page ----
class Page(html.parser.HTMLParser):
	def __init__(self, text):
		super().__init__(convert_charrefs=True)
		self.lines, self.open, self.data, self.inside = [], [], {}, None
		self.feed(text)

	def handle_starttag(self, tag, attrs):
		attributes = dict(attrs)
		if tag not in ("meta", "link", "wbr", "br"):
			self.open.append(tag)
		self.inside = tag if tag in ("style", "script") else None
		if tag == "script" and attributes.get("type") == "application/json":
			self.inside = attributes.get("data-entry", attributes.get("id"))
			return
		self.lines.append([tag, " ".join(f"{k}={shape(v) if k == 'd' else v}" for k, v in attrs if k not in ("xmlns", "width", "height") or tag == "rect"), ""])

	def handle_startendtag(self, tag, attrs):
		self.handle_starttag(tag, attrs)
		self.handle_endtag(tag)

	def handle_endtag(self, tag):
		if self.open and self.open[-1] == tag:
			self.open.pop()
		elif tag not in ("meta", "link", "wbr", "br"):
			expect("page", "tags are closed", tag, self.open[-1] if self.open else None)
		self.inside = None

	def handle_data(self, data):
		if self.inside in ("style", "script"):
			return
		if self.inside is not None:
			self.data[self.inside] = self.data.get(self.inside, "") + data
		elif data.strip():
			self.lines.append(["", "", " ".join(data.split())])


def starts(path):
	"""Where subpaths begin."""
	return [(float(x), float(y)) for x, y in re.findall(r"M(-?[\d.]+) (-?[\d.]+)", path)]


def shape(path):
	places = starts(path)
	if len(places) <= LONG_PATH:
		return path
	mean = [sum(p[i] for p in places) / len(places) for i in (0, 1)]
	rests = sorted(set(re.sub(r"M-?[\d.]+ -?[\d.]+", "", part) for part in re.split("(?=M)", path) if part))
	ends = [f(p[i] for p in places) for i in (0, 1) for f in (min, max)]
	return f"{len(places)} times {' '.join(rests[:3])} around {mean[0]:.2f} {mean[1]:.2f} within {ends}"


INLINE = ("td", "th", "span", "b", "a", "strong", "title", "wbr", "g")


def as_text(page):
	"""A line a block or a mark of a figure: its attributes, what stands in it. Of figures that are alike the first two."""
	result, figures, left_out = [], {}, False
	for tag, attributes, text in page.lines:
		if tag == "svg":
			figure = re.search(r"data-figure=(\S*)", attributes)
			figures[figure and figure[1]] = figures.get(figure and figure[1], 0) + 1
			left_out = figures[figure and figure[1]] > 2
		elif tag in ("figcaption", "details"):
			left_out, figures = False, {} if tag == "details" else figures
		if left_out:
			continue
		if tag and (tag not in INLINE or (tag == "g" and "cell" in attributes)) and not (tag in ("rect", "text", "circle") and result and result[-1].startswith("g ") and result[-1].count("=") < 9):
			result.append(f"{tag} {attributes}".strip())
		elif result:
			attributes = re.sub(r"(class|scope|data-label)=\S*( |$)", "", attributes) if tag not in ("td", "a", "rect", "text") else attributes
			result[-1] += " | " + text if text else f" {attributes}" if attributes else ""
	return [line.replace("\n", " ") for line in result]


def without_middle(lines):
	"""Of many entries that are alike: the first and the last."""
	first = [i for i, line in enumerate(lines) if line.startswith("details ")]
	return lines[: first[1]] + lines[first[-1] :] if len(first) > 2 else lines


# ---- what the data must be ----
def column(values, count):
	if isinstance(values, list):
		return values
	if values["w"] == 0:
		return [values["d"][0]] * count
	codes = [ALPHABET.index(c) for c in values["s"]]
	if values["w"] == 2:
		codes = [codes[i] * len(ALPHABET) + codes[i + 1] for i in range(0, len(codes), 2)]
	return [values["d"][code] for code in codes]


def check_data(where, data, evaluations):
	"""The candidates' columns against the journal."""
	columns = {name: column(values, data["n"]) for name, values in data["columns"].items() if name != "end"}
	expect(where, "candidates", data["n"], len(evaluations))
	times = sorted(statistics.median(e["samples_us"]) for e in evaluations if "time_us" in e)
	predictions = [e["score"]["predicted_time_us"] for e in evaluations]
	for i, each in enumerate(evaluations):
		samples = each.get("samples_us", [])
		median = statistics.median(samples) if samples else None
		wanted = {"time": median, "samples": len(samples), "predicted": predictions[i], "at_s": each.get("at_s"), "outcome": each["outcome"], "detail": each.get("detail"),
			"spill_bytes": sum(r["spill_store_bytes"] + r["spill_load_bytes"] for r in each["resources"]),
			**{k: v for k, v in each["score"].items() if k in columns and k != "predicted_time_us"}}
		if samples:
			rank, low, high = (columns[name][i] for name in ("measured_rank", "low", "high"))
			expect(where, f"time of rank {rank}", times[rank - 1], median, 1e-9)
			expect(where, f"bounds of {i}: {low} {high}", all(any(abs(bound - s) < 6e-5 * s for s in samples) for bound in (low, high)) and low <= median * 1.0001 and high >= median * 0.9999, True)
		expect(where, f"family of {i}", data["families"][columns["family"][i]], each["family"])
		for pair in each["configuration"].split(","):
			name, value = pair.split("=")
			expect(where, f"{name} of {i}", columns[f"{columns['family'][i]} {name}"][i], value)
		for name, value in wanted.items():
			found = columns[name][i] if name in columns else None
			if isinstance(value, str) and name == "detail":
				value = value.encode()[:160].decode(errors="ignore")
			if isinstance(value, (int, float)) and isinstance(found, (int, float)):
				expect(where, f"{name} of {i}", float(found), float(value), 6e-5 * abs(value))
			else:
				expect(where, f"{name} of {i}", found, value)
	return columns


# ---- points and ticks ----
def axis(text):
	name, log, low, high, start, end = text.split()
	log, low, high, start, end = log == "1", float(low), float(high), float(start), float(end)

	def place(value):
		if value is None or (log and value <= 0):
			return None
		share = math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)
		return start + share * (end - start)

	return name, place, (start, end)


def middle(series, x, y, size):
	"""The point whose marker begins at x, y."""
	offsets = [(size / 2, 0), (size / 2, size / 2), (0, 0.6 * size), (0, 0.65 * size), (0, -0.6 * size), (size / 6, size / 2)]
	return x + offsets[series % 6][0], y + offsets[series % 6][1]


def check_figure(where, svg, columns, data):
	"""Every candidate that has both values has a marker (or one on its place), and no marker is without one."""
	(x_name, x_of, x_span), (y_name, y_of, y_span) = (axis(svg.get("data-" + n)) for n in "xy")
	values = dict(columns, order=[i + 1 for i in range(data["n"])], tflops=[data["flop"] / t * 1e-6 if t else None for t in columns["time"]])
	many = data["n"] > 2000
	near = 1.5 / (0.4 if many else 0.8) + 0.2
	points = [(f, x_of(x), y_of(y)) for f, x, y in zip(columns["family"], values[x_name], values[y_name])]
	markers = []
	for path in svg.iter():
		classes = path.get("class", "").split()
		if path.tag.endswith("path") and "dots" in classes:
			series = int(classes[0][1:])
			for x, y in starts(path.get("d")):
				markers.append((series, *middle(series, x, y, 4 if many else 6)))
	for marker in markers:
		hit = any(f % 6 == marker[0] and x is not None and y is not None and abs(x - marker[1]) < 0.2 and abs(y - marker[2]) < 0.2 for f, x, y in points)
		expect(where, f"a candidate at the marker {marker}", hit, True)
	for f, x, y in points[:: 17 if many else 1]:
		if x is not None and y is not None:
			hit = any(f % 6 == s and abs(x - a) < near and abs(y - b) < near for s, a, b in markers)
			expect(where, f"a marker at {x:.1f} {y:.1f}", hit, True)
	seen = 0
	for text in svg.iter("{http://www.w3.org/2000/svg}text"):
		label, kind = text.text, text.get("class")
		if kind not in ("t m c", "t m e") or not re.fullmatch(r"[\d.]+k?", label or ""):
			continue
		value = float(label[:-1]) * 1000 if label.endswith("k") else float(label)
		place, found = (x_of, float(text.get("x"))) if kind == "t m c" else (y_of, float(text.get("y")) - 4)
		expect(where, f"place of the tick {label}", found, place(value), 0.2)
		expect(where, f"tick {label} is in the plot", min(x_span if kind == "t m c" else y_span) - 0.2 <= found <= max(x_span if kind == "t m c" else y_span) + 0.2, True)
		seen += 1
	expect(where, "ticks of both axes", seen >= 4, True)


def report(folder, name, *files, evaluations=None):
	"""Lines of a page and of its figures as files."""
	out = os.path.join(folder, name)
	done = subprocess.run([TILETUNE, "report", *files, "--path", os.getcwd(), "-o", out + ".html", "--svg", out], capture_output=True, text=True, check=False)
	if done.returncode != 0:
		sys.exit(f"{name}: {done.stderr}")
	with open(out + ".html", encoding="utf-8") as file:
		page = Page(file.read())
	lines, columns, data = as_text(page), None, None
	expect(name, "tags that stay open", page.open, [])
	for key, text in page.data.items():
		parsed = json.loads(text)
		if key == "0" and evaluations:
			data, columns = parsed, check_data(name, parsed, evaluations)
	lines = without_middle([line.replace(folder, "") for line in lines])
	for file in sorted(os.listdir(out)):
		svg = xml.etree.ElementTree.parse(os.path.join(out, file)).getroot()
		lines.append(f"file {file}: {svg.get('viewBox')} {svg.get('aria-label')}, titles: " + "; ".join(t.text for t in svg.iter("{http://www.w3.org/2000/svg}title"))[:300])
		if columns and svg.get("data-x"):
			check_figure(f"{name}: {file}", svg, columns, data)
	return [f"# {name}", *lines]


def same(found, wanted):
	"""The same words, and numbers that are as good as the same."""
	a, b = NUMBER.findall(found), NUMBER.findall(wanted)
	return NUMBER.sub("0", found) == NUMBER.sub("0", wanted) and all(x == y or ("." in x + y and abs(float(x) - float(y)) <= 0.15) for x, y in zip(a, b))


def main():
	os.environ["TILETUNE_NVRTC"] = "/nonexistent"
	lines = []
	with tempfile.TemporaryDirectory() as folder:
		def written(name, what):
			path = os.path.join(folder, name)
			with open(path, "w", encoding="utf-8") as file:
				file.write("\n".join(map(json.dumps, what)) + "\n" if isinstance(what, list) else json.dumps(what))
			return path
		recorded = [line for line in read_lines("small.journal.jsonl") if line["event"] == "evaluation"]
		many = many_candidates()
		lines += report(folder, "one", DATA + "/small.json", evaluations=recorded)
		lines += report(folder, "two", written("first.json", load("slower.json")), written("tied.json", ties_and_rules()))
		lines += report(folder, "sizes", DATA + "/sizes.json")
		lines += report(folder, "long", written("sweep.json", long_sweep()))
		lines += report(folder, "many", written("unfinished.journal.jsonl", many), evaluations=many[2:])
	if os.environ.get("ACCEPT"):
		with open(GOLDEN, "w", encoding="utf-8") as file:
			file.write("\n".join(lines) + "\n")
	with open(GOLDEN, encoding="utf-8") as file:
		golden = file.read().splitlines()
	expect(GOLDEN, "lines", len(lines), len(golden))
	for number, (found, wanted) in enumerate(zip(lines, golden), 1):
		if not same(found, wanted):
			expect(f"{GOLDEN}:{number}", "what stands there", found[:600], wanted[:600])
			break
	print(f"{len(lines)} lines of five pages, {failures} failures")
	sys.exit(failures > 0)


main()
