"""The report's page in a real browser (Debian's chromium, headless): no console errors, the numbers
of the JSON, hover, keyboard, sorting, filtering, themes, a phone's width, and 50,000 evaluations.

	report_browser.py OUT    OUT/tiletune is what makes the page"""
import html
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

DATA = "tests/data/report/"
OPENS_WITHIN_MS = 2000
BYTES_MAX = 10_000_000
EVALUATIONS = 50_000

binary = sys.argv[1] + "/tiletune"
failures = []


def expect(condition, what):
	if not condition:
		failures.append(what)


def find_chromium():
	names = ("chromium", "chromium-browser", "google-chrome")
	return next((path for path in map(shutil.which, names) if path), None)


def report(folder, name, *files, svg=None):
	page = os.path.join(folder, name)
	subprocess.run([binary, "report", *files, "-o", page, *(["--svg", svg] if svg else [])], check=True)
	with open(page, encoding="utf-8") as file:
		return file.read()


HEAD = """<head><script>window.problems=[];
addEventListener("error",e=>problems.push(e.message));
for(const k of["error","warn","log"])console[k]=(...a)=>problems.push(a.join(" "));</script>"""
READY = "<script>document.body.offsetHeight;window.ready_ms=performance.now();</script>"


def drive(chromium, folder, page, width=1280):
	"""Opens the page with tests/data/report/drive.js at its end; what that found."""
	with open(DATA + "drive.js", encoding="utf-8") as file:
		script = file.read()
	path = os.path.join(folder, "driven.html")
	with open(path, "w", encoding="utf-8") as file:
		file.write(page.replace("<head>", HEAD, 1).replace("</body>", f"{READY}<script>{script}</script></body>"))
	result = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-extensions", f"--user-data-dir={folder}/profile",
		f"--window-size={width},900", "--dump-dom", "file://" + path], capture_output=True, text=True, timeout=600)
	match = re.search(r'<pre id="found">(.*?)</pre>', result.stdout, re.S)
	if not match:
		sys.exit(f"the page did not get to its end: {result.stdout[-500:]} {result.stderr[-1500:]}")
	found = json.loads(html.unescape(match.group(1)))
	expect(not found["problems"], f"errors on the console: {found['problems']}")
	return found


def microseconds(cell):
	number, unit = cell.split()
	return float(number) * {"µs": 1, "ms": 1e3, "s": 1e6}[unit]


def check_small(chromium, folder):
	page = report(folder, "small.html", DATA + "small.json", DATA + "slower.json", svg=folder + "/svg")
	with open(DATA + "small.json", encoding="utf-8") as file:
		winner = json.load(file)["entries"][0]["winner"]
	for text in (f"{winner['time_us']['median']:.1f} µs", f"{winner['tflops']:.1f} TFLOP/s", f"<b>{winner['configuration']['STAGES']}</b>"):
		expect(text in page, f"the page lacks {text}")
	found = drive(chromium, folder, page)
	expect("gemm/wgmma" in found["hover"] and "Registers per thread" in found["hover"], f"hover shows {found['hover']!r}")
	expect("Wave efficiency" in found["hover"] and "Bound by" in found["hover"], f"hover shows {found['hover']!r}")
	expect(found["hover_ends"], "the box stays when the pointer has left")
	for name in ("heatmap", "roofline"):
		keys = found[name]
		expect(keys["focused"], f"{name} cannot have the focus")
		expect(keys["closed"], f"{name}: Escape does not close the box")
		expect(len(set(keys["said"])) >= 3 and all(keys["said"]), f"{name}: arrow keys say {keys['said']}")
	expect(found["rows"] == 15, f"{found['rows']} rows of candidates, expected 15")
	up, down = ([microseconds(c) for c in found[way]] for way in ("up", "down"))
	expect(up == sorted(up) and found["sorted_up"] == "ascending", f"sorted upwards: {found['up']}")
	expect(down == sorted(down, reverse=True), f"sorted downwards: {found['down']}")
	times = [microseconds(c) for c in found["first_times"]]
	expect(times == sorted(times), f"the fastest are not first: {found['first_times']}")
	expect(found["filtered"] and all("BM=128 " in c and "BN=256 " in c for c in found["filtered"]), f"filtered: {found['filtered']}")
	expect(found["slowest_first"] == ["215 µs", "193.7 µs"], f"answers sorted: {found['slowest_first']}")
	expect(len(set(found["themes"])) == 2, f"themes: {found['themes']}")
	expect(not found["wider_than_page"], "the page is wider than a laptop")
	expect(not found["answers_cut"], f"cut off the table of answers on a laptop: {found['answers_cut']}")
	expect(not found["answers_stacked"], "the table of answers is no table on a laptop")
	phone = drive(chromium, folder, page, width=390)
	expect(not phone["wider_than_page"], "the page is wider than a phone")
	expect(not phone["answers_cut"], f"cut off the table of answers on a phone: {phone['answers_cut']}")
	expect(phone["answers_stacked"], "the cells of an answer are not below each other on a phone")
	figures = os.listdir(folder + "/svg")
	expect("comparison.svg" in figures and len(figures) >= 8, f"figures: {figures}")
	for name in figures:
		xml.etree.ElementTree.parse(os.path.join(folder, "svg", name))


def evaluation(choose, number):
	"""One line of a long run; times, tiles and resources vary as they do."""
	bm, bn = 16 * choose.randint(1, 16), 16 * choose.randint(1, 16)
	time = 200 * (1 + abs(choose.gauss(0, 1)) + 4096 / bm / bn)
	tiles = -(-4096 // bm) * -(-4096 // bn)
	waves = -(-tiles // 132)
	smem, regs = choose.randint(10_000, 200_000), choose.randint(64, 255)
	score = (f'{{"tiles":{tiles},"slots_per_wave":132,"waves":{waves},"waves_exact":{tiles / 132},"wave_efficiency_ratio":{tiles / 132 / waves},'
		f'"tile_efficiency_ratio":{choose.uniform(.8, 1)},"blocks_per_sm":1,"occupancy_ratio":0.125,"occupancy_limiter":"registers",'
		f'"regs_per_thread":{regs},"smem_bytes":{smem},"bank_conflict_ratio":1,"lines_per_row_ratio":1,"sectors_per_row_ratio":1,'
		f'"dram_bytes":{choose.randint(10**8, 10**9)},"l2_bytes":{choose.randint(10**8, 10**9)},"arithmetic_intensity":{choose.uniform(100, 2000)},'
		f'"bound":"{choose.choice(("tensor", "smem"))}","predicted_time_us":{time * choose.uniform(.7, 1.3)},"predicted_tflops":500,"regs_estimated":false}}')
	ending = '"ok"' if choose.random() < .9 else f'"compile_failed","detail":"error {choose.randint(1, 300)} of some compiler"'
	samples = f'"timing":"measured","samples_us":[{time},{time * 1.01},{time * .99}],' if ending == '"ok"' else ""
	return (f'{{"event":"evaluation","family":"gemm/{"mma" if number % 3 else "wgmma"}","configuration":"BM={bm},BN={bn},BK=64,STAGES={number % 4 + 2},'
		f'GROUP_M={number % 7},ORDER={number}","kernel_hash":"","outcome":{ending},"flags":[],"score":{score},{samples}'
		f'"compile_seconds":1,"from_cache":true,"at_s":{number / 10 + .1},"problem":0}}\n')


def check_large(chromium, folder):
	path = os.path.join(folder, "large.journal.jsonl")
	choose = random.Random(1)
	with open(DATA + "small.journal.jsonl", encoding="utf-8") as small, open(path, "w", encoding="utf-8") as large:
		large.writelines(line for line in small if line.startswith(('{"event":"run"', '{"event":"problem"')))
		large.writelines(evaluation(choose, i) for i in range(EVALUATIONS))
	page = report(folder, "large.html", path)
	size = len(page.encode())
	expect(size < BYTES_MAX, f"{size} bytes for {EVALUATIONS} evaluations, expected less than {BYTES_MAX}")
	# other tests run beside this one: the best of three says what the page itself needs
	ready_ms = OPENS_WITHIN_MS
	for _ in range(3):
		if ready_ms >= OPENS_WITHIN_MS:
			found = drive(chromium, folder, page)
			ready_ms = found["ready_ms"]
	expect(ready_ms < OPENS_WITHIN_MS, f"opens in {ready_ms:.0f} ms, expected less than {OPENS_WITHIN_MS}")
	expect(found["rows"] == 15, f"{found['rows']} rows of candidates, expected 15")
	print(f"{EVALUATIONS} evaluations: {size / 1e6:.1f} MB, open in {ready_ms:.0f} ms")


def main():
	chromium = find_chromium()
	if not chromium:
		print("skipped: no chromium, and none can be installed from here")
		sys.exit(77)
	with tempfile.TemporaryDirectory() as folder:
		check_small(chromium, folder)
		page = report(folder, "sizes.html", DATA + "sizes.json", svg=folder + "/sizes")
		expect("Time and waves over M=N=K" in page, "the sweep has no wave picture")
		expect(os.path.exists(folder + "/sizes/waves.svg"), "the sweep has no waves.svg")
		page = report(folder, "many.html", "results/nvidia-h200/llm.json")
		for width in (390, 1280):
			found = drive(chromium, folder, page, width)
			expect(not found["wider_than_page"], f"with long titles the page is wider than {width} px")
			expect(not found["answers_cut"], f"cut off the table of answers at {width} px: {found['answers_cut'][:3]}")
		check_large(chromium, folder)
	print("\n".join(failures))
	sys.exit(bool(failures))


main()
