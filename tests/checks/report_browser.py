"""The report's page in a real browser (Debian's headless chromium): its numbers are those of the tuned file and the journal, computed
here. Filters, sorting, keyboard, zoom, saving, themes and the width of a phone work. The page makes no network requests. Hostile,
incomplete and unreadable data give text or one clear message.

	report_browser.py OUT            OUT/tiletune makes the pages
	report_browser.py OUT --bench    time to open a journal of 50,000 evaluations"""
import base64
import copy
import gzip
import json
import os
import random
import re
import statistics
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, "tests/tools")
sys.dont_write_bytecode = True
import chromium  # noqa: E402  pylint: disable=wrong-import-position
from journal_expand import with_checksum  # noqa: E402  pylint: disable=wrong-import-position
from report_page import binary, click_head, done, expect, failures, place, report, rows, show_page, text, ticks, type_filter, write  # noqa: E402  pylint: disable=wrong-import-position
from report_numbers import Search, limit, lines_of, load, named, over, show, show_time, tile, values  # noqa: E402  pylint: disable=wrong-import-position

DATA = "tests/data/report/"
SUITE = "results/nvidia-h200/tuned.json"
SHEET = "configs/devices/h200-sxm.json"
BINS = (2.5, 1.7, 1.35, 1.2, 1.1, 1.02)
ATTENTION = DATA + "stages.json"
# ---- one page of many problems ----
def check_problems(browser, folder):
	tuned, sheet = load(SUITE), load(SHEET)
	path = report(folder, "many.html", SUITE)
	page = show_page(browser, path)
	entries, found = tuned["entries"], rows(page, "winners")
	expect("rows of winners", len(found), len(entries))
	for entry, row in zip(entries, found):
		winner, name = entry["winner"], row["Problem"]
		expect(f"{name}: tile", row["Tile"], tile(winner["configuration"]))
		expect(f"{name}: time", row["Time"], show_time(winner["time_us"]["median"]))
		expect(f"{name}: TFLOP/s", row["TFLOP/s"], show(winner["tflops"]))
		expect(f"{name}: family", row["Family"], winner["family"].split("/")[1])
		expect(f"{name}: share of the limit", row["Of limit"], f"{100 * winner['tflops'] / limit(entry, sheet):.0f}%")
		expect(f"{name}: names the dtype", f"dtype={entry['problem']['dtype']}" in name, True)
		others = dict(pair.split("=") for pair in re.findall(r"\w+=\w+", row["Others"].split("more", 1)[1]))
		expect(f"{name}: configuration", others, {key: str(value) for key, value in winner["configuration"].items()})
	slowest = max(entries, key=lambda e: e["winner"]["time_us"]["median"])
	expect("the slowest is named", f"Slowest: gemm M={slowest['problem']['M']}," in text(page, "#summary") and show_time(slowest["winner"]["time_us"]["median"]) in text(page, "#summary"), True)
	far = min(entries, key=lambda e: e["winner"]["tflops"] / limit(e, sheet))
	expect("the furthest from its limit is named", f", {100 * far['winner']['tflops'] / limit(far, sheet):.1f}% of it." in text(page, "#summary"), True)
	expect("the card's limit has its name", page.value("[...document.querySelectorAll('#map text.label')].map(t => t.textContent)"), ["roofline"])
	check_headline(page, entries)
	click_head(page, "winners", "Time")
	click_head(page, "winners", "Time")
	expect("sorted by time, slowest first", [row["Time"] for row in rows(page, "winners")],
		[show_time(us) for us in sorted((e["winner"]["time_us"]["median"] for e in entries), reverse=True)])
	type_filter(page, "winners", "fp8_e4m3 m=1024")
	wanted = [e for e in entries if e["problem"]["dtype"] == "fp8_e4m3" and e["problem"]["M"] == 1024]
	expect("the filter has something to leave out", 0 < len(wanted) < len(entries), True)
	expect("filtered winners", sorted(row["Time"] for row in rows(page, "winners")), sorted(show_time(e["winner"]["time_us"]["median"]) for e in wanted))
	expect("the picture follows the filter", text(page, "#map h3").startswith(f"{len(wanted)} problem"), True)
	type_filter(page, "winners", "")
	expect("the picture has every problem", text(page, "#map h3").startswith(f"{len(entries)} problems"), True)
	# keyboard: the leftmost point has the lowest intensity; Enter shows its problem
	first = min(entries, key=lambda e: e["winner"]["tflops"] / e["winner"]["gb_per_s"])
	page.value("document.querySelector('#map svg').focus()")
	page.key("ArrowRight")
	expect("the tip names the problem", f"{show(first['winner']['tflops'])} TFLOP/s" in text(page, "#tip"), True)
	page.key("Enter")
	expect("Enter shows the problem", page.value("location.hash"), f"#p{entries.index(first)}")
	expect("the problem is shown", show_time(first["winner"]["time_us"]["median"]) in text(page, "#detail .stats"), True)
	expect("the focus follows", page.value("document.activeElement.tagName"), "H2")
	# the problem's number is the first or the last member of a line
	with gzip.open(SUITE.replace(".json", ".journal.jsonl.gz"), "rt", encoding="utf-8") as file:
		runs = [line for line in map(json.loads, file) if line["event"] in ("problem", "evaluation")]
	number = next(e["number"] for e in runs if e["event"] == "problem" and all(e["problem"].get(key) == value for key, value in slowest["problem"].items()))
	page.value(f"location.hash = '#p{entries.index(slowest)}'")
	page.wait_for(f"document.querySelector('#detail .stats').textContent.includes('{show_time(slowest['winner']['time_us']['median'])}')", 20)
	own = {(e["family"], e["configuration"]) for e in runs if e["event"] == "evaluation" and e["problem"] == number and e.get("run", slowest["run"]) == slowest["run"]}
	expect("candidates of the slowest", f"{len(own)} candidates" in text(page, "#detail"), True)
	expect("no column of nothing", "never" in text(page, "main"), False)
	done(page, path, "many problems")
	many = next(i for i, e in enumerate(entries) if [e["problem"][key] for key in ("M", "K", "dtype")] == [512, 14336, "fp8_e4m3"])
	page = show_page(browser, path, f"#p{many}")
	boxes = page.value("[...document.querySelectorAll('#detail svg')].map(svg => [...svg.querySelectorAll('text')].filter(t => t.textContent.includes('–')).map(t => t.getBoundingClientRect()).map(b => [b.top, b.left, b.right]))")
	expect("labels of heat maps that overlap", [b for line in boxes for a, b in zip(line, line[1:]) if a[0] == b[0] and b[1] < a[2]], [])
	copied = next(i for i, e in enumerate(entries) if e["winner"]["family"] == "gemm/wgmma_repack")
	page = show_page(browser, path, f"#p{copied}")
	found = {int(row["Registers"]) for row in rows(page, "candidates") if row.get("Family") == "wgmma_repack"}
	expect("registers of the kernel that multiplies, not of the copy before it", entries[copied]["winner"]["regs_per_thread"] in found and min(found) > 60, True)
	for width in (420, 1280):
		page = show_page(browser, path, "#p5", width=width)
		expect(f"{width} px: nothing is wider than the page", page.value("document.documentElement.scrollWidth"), width)
		expect(f"{width} px: links of the menu are within reach", page.value("[...document.querySelectorAll('#menu a')].filter(a => { const b = a.getBoundingClientRect(); return document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2) !== a; }).map(a => a.textContent)"), [])
		expect(f"{width} px: the configuration is seen", page.value("[...document.querySelectorAll('.configuration .chip')].every(c => c.getBoundingClientRect().right <= innerWidth)"), True)
		page.value("location.hash = '#p6'")
		page.wait_for("location.hash === '#p6' && document.activeElement.tagName === 'H2'", 5)
		expect(f"{width} px: the menu hides no head", page.value("document.querySelector('#detail h2').getBoundingClientRect().top >= document.querySelector('header').getBoundingClientRect().bottom"), True)
		page.value("document.querySelector('#menu a[href=\"#device\"]').click()")
		page.wait_for("document.querySelector('#device').getBoundingClientRect().top < innerHeight", 5)
		done(page, path, f"{width} px")


def check_headline(page, entries):
	"""An interval has one unit; SMs without a block are idle."""
	def follow(entry):
		page.value(f"location.hash = '#p{entries.index(entry)}'")
		page.wait_for(f"document.querySelector('#detail .stats').textContent.includes('{show_time(entry['winner']['time_us']['median'])}')", 20)
		return text(page, "#detail")
	slow = next(e for e in entries if e["winner"]["time_us"]["ci95_low"] > 1e4)
	low, high = (show(slow["winner"]["time_us"][end] / 1e3) for end in ("ci95_low", "ci95_high"))
	expect("an interval has one unit", f"95% interval {low} to {high} ms" in follow(slow), True)
	few = next(e for e in entries if e["winner"]["score"]["slots_per_wave"] < 125 and e["winner"]["score"]["waves_exact"] == 1)
	score, said = few["winner"]["score"], follow(few)
	# a full box has height 24
	height = page.value("+document.querySelector('figure[data-figure=waves] rect.q5').getAttribute('height')")
	defines = " ".join(f"-D{key}={value}" for key, value in few["winner"]["defines"].items())
	expect("the button copies the command and the macros", [defines in page.value("document.getElementById('copy').title"), "tiletune tune" in page.value("document.getElementById('copy').title")], [True, True])
	expect("the bar leaves them out", abs(height / 24 - score["slots_per_wave"] / (132 * score["blocks_per_sm"])) < 0.01, True)
	idle = round(132 - score["slots_per_wave"] / score["blocks_per_sm"])
	waves = f"{score['waves_exact']:.2f} waves, wave efficiency {100 * score['wave_efficiency_ratio']:.0f}%, {idle} idle SM"
	expect("wave efficiency as the terminal shows it, and idle SMs", waves in said, True)


# ---- one problem ----
def row_of(e):
	return {"Tile": tile(values(e["configuration"])), "Final time": show_time(e["final"]) if e["final"] else "", "Over winner": f"{over(e['over_final'])}%" if e["over_final"] else "",
		"Search time": show_time(e["search"]), "Over best search": f"{over(e['over_best'])}%"}


def heads(page):
	return page.value("[...document.querySelectorAll('[data-table=candidates] tr.group')].map(r => r.textContent)")


def cells_of(page, family):
	"""Returns [row, column, text, class] of each cell of a heat map that has a text."""
	return page.value(f"""(svg => {{ const heads = [...svg.querySelectorAll('text.muted')], rows = heads.filter(t => t.classList.contains('end')), columns = heads.filter(t => t.classList.contains('middle'));
			return [...svg.querySelectorAll('text[class*="on-"]')].map(t => {{ const near = (list, axis, at) => list.reduce((a, b) => Math.abs(b.getAttribute(axis) - at) < Math.abs(a.getAttribute(axis) - at) ? b : a).textContent;
			return [near(rows, 'y', +t.getAttribute('y')), near(columns, 'x', +t.getAttribute('x')), t.textContent, t.getAttribute('class')]; }}); }})(document.querySelector('figure[data-figure="tiles {family}"] svg'))""")


# ---- a problem whose winner was slow in its search, with ties, several rounds and no scores in its journal ----
def check_stages(browser, folder):
	tuned = load(ATTENTION)
	index, entry = next((i, e) for i, e in enumerate(tuned["entries"]) if (e["problem"]["batch"], e["problem"]["seq_q"], e["problem"]["head_dim"], e["problem"]["causal"]) == (2, 8192, 64, 0))
	with gzip.open(ATTENTION.replace(".json", ".journal.jsonl.gz"), "rt", encoding="utf-8") as file:
		lines = [e for e in map(json.loads, file) if e["event"] != "run"]
	number = next(e["number"] for e in lines if e["event"] == "problem" and e["problem"] == entry["problem"])
	search, family = Search([e for e in lines if e.get("problem") == number], entry), entry["winner"]["family"]
	path = report(folder, "stages.html", ATTENTION)
	page = show_page(browser, path, f"#p{index}")
	expect("the winner was slow in the search", search.winner["over_best"] > 1.05, True)
	first = rows(page, "candidates")
	expect("candidates of the final measurement come first", [{head: row[head] for head in row_of(e)} for e, row in zip(search.timed, first)], [row_of(e) for e in search.timed[:len(first)]])
	stages = ["Final measurement", "Measured in an earlier round of the final measurement only; over the winner when corrected for clock drift", "Search only, not measured in the final"]
	expect("groups", heads(page), [stages[i] for i in sorted({e["stage"] for e in search.timed[:len(first)]})])
	final = [e for e in search.timed if e["stage"] == 0]
	for head in ("Search time", "Over best search", "Tile"):
		click_head(page, "candidates", head)
		times = [row["Final time"] for row in rows(page, "candidates")]
		second = next(e for e in final if not e["winner"])
		expect(f"sorted by {head}: winner and runner-up are seen", [show_time(e["final"]) in times for e in (search.winner, second)], [True, True])
	cells = {(int(row), int(column)): label for row, column, label, _ in cells_of(page, family)}
	expect("tiles of attention", cells, search.cells(family))
	said = text(page, "#runner-up")
	expect("the runner-up is the next of all rounds", f"{show_time(search.runner_up['final'])} in " in said, True)
	expect("no words instead of facts", "hold no waves" in text(page, "#detail"), False)
	why = said.split("Why it lost: ")[1]
	page.value("(rows => rows.find(r => [...r.cells].some(c => c.textContent === " + json.dumps(show_time(search.runner_up["final"])) + ")).querySelector('.link').click())([...document.querySelectorAll('[data-table=candidates] tbody tr')].filter(r => r.cells.length > 2))")
	expect("the unfolded row has the same text", text(page, "tr.details").endswith("Why it lost: " + why), True)
	# the filter shows a matching problem, and finds keys with default values
	causal = next(e for e in tuned["entries"] if e["problem"]["causal"] == 1)
	for key, value, shown in (("causal", 0, entry), ("causal", 1, causal), ("head_dim_v", causal["problem"]["head_dim_v"], causal)):
		type_filter(page, "winners", f"{key}={value}")
		wanted = [e for e in tuned["entries"] if e["problem"][key] == value]
		expect(f"problems of {key}={value}", [row["Time"] for row in rows(page, "winners")], [show_time(e["winner"]["time_us"]["median"]) for e in wanted])
		expect(f"{key}={value}: the problem that is shown", show_time(shown["winner"]["time_us"]["median"]) in text(page, "#detail .stats"), True)
	done(page, path, "stages")


def check_problem(browser, folder):
	entry = load(DATA + "small.json")["entries"][0]
	winner, search = entry["winner"], Search(lines_of(DATA + "small.journal.jsonl"), entry)
	path, time = report(folder, "small.html", DATA + "small.json"), show_time(winner["time_us"]["median"])
	page = show_page(browser, path)
	for words in (tile(winner["configuration"]), time, f"{show(winner['tflops'])} TFLOP/s", "final measurement", f"median of {winner['time_us']['samples']} samples"):
		expect(f"the headline has {words}", words in text(page, "#detail .stats"), True)
	expect("chips", page.value("[...document.querySelectorAll('.configuration .chip')].map(c => c.textContent)"), [f"{key}={value}" for key, value in winner["configuration"].items()])
	expect("one problem has no plot of one point", page.value("document.querySelectorAll('#map figure').length"), 0)
	found = rows(page, "candidates")
	expect("candidates at first", len(found), 15)
	page.value("[...document.querySelectorAll('[data-table=candidates] > button')].at(-1).click()")
	found = rows(page, "candidates")
	expect("all candidates", len(found), len(search.all))
	for e, row in zip(search.timed, found):
		wanted = {**row_of(e), "Predicted": show_time(e["score"]["predicted_time_us"]), "Waves": f"{e['score']['waves_exact']:.2f}", "Registers": str(e["score"]["regs_per_thread"]), "Family": e["family"].split("/")[1]}
		expect(f"{e['configuration']}", {head: row.get(head) for head in wanted}, wanted)
	expect("one time for one winner", [row["Final time"] for row in found if row["Over winner"] == "0.0%"], [time])
	expect("groups of candidates", heads(page)[:2], ["Final measurement", "Search only, not measured in the final"])
	type_filter(page, "candidates", "bm=128 bn=256")
	expect("filtered candidates", len(rows(page, "candidates")), sum(values(e["configuration"])["BM"] == 128 and values(e["configuration"])["BN"] == 256 for e in search.all))
	type_filter(page, "candidates", "bn=25")
	expect("a pair is whole", rows(page, "candidates"), [])
	type_filter(page, "candidates", "")
	expect("names that are words", {row.get("Bound") for row in found} & {"smem", "l2"}, set())
	expect("parameters are not broken", page.value("getComputedStyle(document.querySelector('[data-table=candidates] td.pairs')).overflowWrap"), "normal")
	click_head(page, "candidates", "Predicted")
	expect("sorted by prediction", [row["Predicted"] for row in rows(page, "candidates") if row["Search time"]][:len(search.timed)],
		[show_time(us) for us in sorted(e["score"]["predicted_time_us"] for e in search.timed)])
	runner_up, said = search.runner_up, text(page, "#runner-up")
	expect("the runner-up", [f"Runner-up: {tile(values(runner_up['configuration']))} {runner_up['family']}" in said, f"{show_time(runner_up['search'])} in the search." in said], [True, True])
	differing = [key for key, value in values(runner_up["configuration"]).items() if value != winner["configuration"][key]]
	expect("why it lost", "Why it lost: " in said and all(re.search(rf"\b{key}={values(runner_up['configuration'])[key]} (\(winner|instead of) {winner['configuration'][key]}\b", said) for key in differing), True)
	page.value("document.querySelector('[data-table=candidates] tbody .link').click()")
	expect("a row unfolds", "BM=" in text(page, "tr.details"), True)
	for family in sorted({e["family"] for e in search.all}):
		cells = cells_of(page, family)
		wanted = search.cells(family)
		expect(f"tiles of {family}", {(int(row), int(column)): label for row, column, label, _ in cells}, wanted)
		expect(f"bins of {family}", all(kind.startswith(f"middle on-q{sum(1 + int(label) / 100 <= most for most in BINS)}") for *_, label, kind in cells if label != "×" and 1 + int(label) / 100 not in BINS), True)
	expect("what is not measured has a name", "not measured, or not legal" in text(page, "figure[data-figure='tiles gemm/wgmma'] svg"), True)
	check_plots(page, entry, search)
	check_saving(page)
	done(page, path, "one problem")
	check_library(browser, folder, entry)
	scripts_off(browser, path, [time, tile(winner["configuration"]), winner["family"]])


def check_library(browser, folder, entry):
	row = {"problem": ",".join(f"{key}={value}" for key, value in entry["problem"].items()), "family": entry["winner"]["family"],
		"configuration": ",".join(f"{key}={value}" for key, value in entry["winner"]["configuration"].items()), "ours_us": 200, "cublaslt_best_us": 190}
	with open(folder + "/versus.json", "w", encoding="utf-8") as file:
		json.dump({"format": "tiletune.versus/1", "entries": [row, {**row, "problem": None, "family": None}]}, file)
	page = show_page(browser, report(folder, "library.html", DATA + "small.json", "--library", folder + "/versus.json"))
	expect("the library's time", "cuBLASLt's fastest algorithm took 190 µs, 0.950 times as long as this kernel, timed in turn with it (200 µs)." in text(page, "#detail"), True)


def check_plots(page, entry, search):
	name = "roofline"
	flop = entry["winner"]["tflops"] * entry["winner"]["time_us"]["median"] * 1e6
	chosen = max((e for e in search.timed if e["final"]), key=lambda e: e["final"] == entry["winner"]["time_us"]["median"])
	ring = page.value(f"(c => [+c.getAttribute('cx'), +c.getAttribute('cy')])(document.querySelector('figure[data-figure={name}] circle.winner'))")
	for wanted, found, axis in ((chosen["score"]["arithmetic_intensity"], ring[0], 0), (flop / chosen["search"] * 1e-6, ring[1], 1)):
		at = place(page, name, wanted, bool(axis))
		expect(f"roofline: the winner's {'xy'[axis]} is {at:.1f}", abs(at - found) < 0.6, True)
	points = page.value(f"[...document.querySelectorAll('figure[data-figure={name}] path.dots')].flatMap(p => p.getAttribute('d').match(/M[^M]+h0/g) ?? [])")
	expect("roofline: its points", 3 < len(points) <= len(search.timed), True)
	for name in ("roofline", "prediction", "progress"):
		expect(f"{name}: the title names the dtype", "bf16" in text(page, f"figure[data-figure={name}] h3"), True)
		before = ticks(page, name)
		page.value(f"document.querySelector('figure[data-figure={name}] button[title=\"Zoom in\"]').click()")
		expect(f"{name}: zoomed in", ticks(page, name) != before, True)
		page.value(f"document.querySelector('figure[data-figure={name}] button[title=\"Show all\"]').click()")
		expect(f"{name}: as before", ticks(page, name), before)
	# dragging over a part of a plot zooms to it
	box = page.value("(f => { f.scrollIntoView(); const b = f.querySelector('svg').getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })(document.querySelector('figure[data-figure=progress]'))")
	page.drag((box[0] + 0.4 * box[2], box[1] + 0.3 * box[3]), (box[0] + 0.6 * box[2], box[1] + 0.6 * box[3]))
	expect("progress: dragging zooms", ticks(page, "progress") != before, True)
	page.mouse("mouseMoved", 5, 5)
	page.value("document.querySelector('figure[data-figure=\"tiles gemm/wgmma\"] svg').focus()")
	page.key("ArrowRight")
	first = text(page, "#tip")
	page.key("ArrowRight")
	expect("arrows walk over the tiles", [bool(first), text(page, "#tip") != first, page.value("document.getElementById('tip').hidden")], [True, True, False])
	page.key("Escape")
	expect("Escape closes the tip", page.value("document.getElementById('tip').hidden"), True)


def check_saving(page):
	saved = page.value("""(async () => { const files = [], make = URL.createObjectURL; URL.createObjectURL = file => { files.push(file); return make.call(URL, file); };
		HTMLAnchorElement.prototype.click = function() { this.download || HTMLElement.prototype.click.call(this); };
		document.querySelectorAll("figure .tools button:last-child").forEach(b => b.click()); return Promise.all(files.map(f => f.text())); })()""")
	expect("figures that can be saved", len(saved), page.value("document.querySelectorAll('figure').length"))
	for svg in saved:
		root = xml.etree.ElementTree.fromstring(svg)
		expect("a saved figure stands alone", [root.tag, "var(" in svg, len(list(root)) > 4, re.findall(r'(?:href|src)="[^#]', svg)], ["{http://www.w3.org/2000/svg}svg", False, True, []])


def scripts_off(browser, path, words):
	page = browser.open(f"file://{path}", scripts=False)
	root = page.call("DOM.getDocument")["root"]["nodeId"]
	table = page.call("DOM.querySelector", nodeId=root, selector="#winners")["nodeId"]
	shown = page.call("DOM.getOuterHTML", nodeId=table)["outerHTML"]
	for word in words:
		expect(f"without scripts the table has {word}", f"<td>{word}</td>" in shown, True)
	expect("without scripts the table is seen", "hidden" in shown.split(">", 1)[0], False)
	page.close()


# ---- several files, sizes, themes ----
def check_several(browser, folder):
	other = load(DATA + "slower.json")
	other["runs"][0]["tiletune"]["commit"], other["runs"][0]["uuid"] = "0123456789ab", other["runs"][0]["uuid"][::-1]
	path = report(folder, "two.html", DATA + "small.json", write(folder, "slower.json", json.dumps(other)))
	times = [load(DATA + name)["entries"][0]["winner"]["time_us"]["median"] for name in ("small.json", "slower.json")]
	page = show_page(browser, path)
	row = rows(page, "comparison")[0]
	expect("comparison", [row["First time"], row["Later time"], row["Ratio"], row["Verdict"]], [show_time(times[0]), show_time(times[1]), f"{times[1] / times[0]:.3f}", "slower"])
	expect("what the runs differ in", "The files differ in: card (uuid), commit of tiletune." in text(page, "#comparison"), True)
	expect("files are told apart", [row["File"] for row in rows(page, "winners")], ["small", "slower"])
	expect("a file without a journal says so", "no journal next to it" in page.value("(location.hash = '#p1', dispatchEvent(new HashChangeEvent('hashchange')), document.querySelector('#detail').textContent)"), True)
	done(page, path, "two files")
	path, entries = report(folder, "sizes.html", DATA + "sizes.json"), load(DATA + "sizes.json")["entries"]
	page, colours = show_page(browser, path, dark=True), []
	for name in ("sizes M=N=K", "waves M=N=K"):
		expect(f"{name}: a point for each size", page.value(f"document.querySelector('figure[data-figure=\"{name}\"] path.dots:last-of-type').getAttribute('d').match(/M/g).length"), len(entries))
	waves = [e["winner"]["score"]["waves"] for e in sorted(entries, key=lambda e: e["problem"]["M"])]
	ys = page.value("[...document.querySelector('figure[data-figure=\"waves M=N=K\"] path.dots').getAttribute('d').matchAll(/M[\\d.]+ ([\\d.]+)/g)].map(m => +m[1])")
	expect("waves of each size", all(abs(y - place(page, "waves M=N=K", w, True, log=False)) < 0.6 for w, y in zip(waves, ys)), True)
	for _ in range(3):
		colours.append(page.value("getComputedStyle(document.body).backgroundColor"))
		page.value("document.getElementById('theme').click()")
	expect("themes: dark as the system says, light, dark", [colours[0] == colours[2], colours[0] != colours[1]], [True, True])
	done(page, path, "sizes")


# ---- untrusted files ----
HOSTILE = "</script><script>window.broken=1</script><img src=http://127.0.0.1:9/ onerror=window.broken=1>\"'&"


def check_hostile(browser, folder):
	tuned, lines = load(DATA + "small.json"), lines_of(DATA + "small.journal.jsonl")
	for row in [tuned["entries"][0]["winner"], *tuned["entries"][0]["families"]]:
		row["configuration"]["STAGES"] = HOSTILE
	tuned["entries"][0]["winner"]["verified"] = "self"
	tuned["device"]["name"] = tuned["runs"][0]["command"] = HOSTILE
	for line in lines:
		if line["event"] == "evaluation" and line["outcome"] != "ok":
			line["detail"] = HOSTILE
			line["configuration"] = "__proto__=1,BM=16,BN=8," + HOSTILE.replace(",", "")
		if line["event"] == "run":
			line["device"]["name"] = HOSTILE
	path = report(folder, "hostile.html", DATA + "small.json")
	with open(path, encoding="utf-8") as file:
		content = file.read()
	# the program refuses most of these, but the page must not rely on that
	for name, data in (("tuned0", json.dumps(tuned)), ("journal0", "".join(with_checksum(line, None) for line in lines))):
		packed = base64.b64encode(gzip.compress(data.encode())).decode()
		content = re.sub(f'(id="{name}">)[^<]*', lambda match: match.group(1) + packed, content)
	write(folder, "hostile.html", content)
	page = show_page(browser, path)
	expect("hostile strings are text", [page.value("window.broken ?? 0"), page.value("document.querySelectorAll('img').length"), page.value("document.querySelectorAll('main script').length"), "onerror=window.broken=1" in text(page, "#detail")], [0, 0, 0, True])
	expect("what the winner was compared with", "compared with: self" in text(page, "#detail"), True)
	expect("the page is drawn", page.value("document.querySelectorAll('figure').length") > 3, True)
	done(page, path, "hostile")
	page = show_page(browser, path)
	page.value("(() => { const image = document.createElement('img'); image.src = 'http://127.0.0.1:9/x.png'; document.body.append(image); fetch('http://127.0.0.1:9/y').catch(() => {}); const code = document.createElement('script'); code.textContent = 'window.broken=1'; document.body.append(code); document.body.setAttribute('onclick', 'window.broken=1'); document.body.click(); })()")
	page.wait_for("true")
	expect("the policy forbids requests and other scripts", [page.value("window.broken ?? 0"), sum("Content Security Policy" in str(p) for p in page.problems()) >= 3], [0, True])
	page.close()


def check_damage(browser, folder):
	with open(DATA + "small.journal.jsonl", encoding="utf-8") as file:
		whole = file.read().splitlines(keepends=True)
	count = 20
	torn = report(folder, "torn.html", write(folder, "torn.journal.jsonl", "".join(whole[:2 + count]) + whole[2 + count][:300]))
	page = show_page(browser, torn)
	notices = page.value("[...document.querySelectorAll('#notices p')].map(p => p.textContent)")
	expect("a torn journal: one line", [len(notices), "torn" in notices[0] if notices else None], [1, True])
	expect("a torn journal: its candidates", text(page, "#detail").count(f"{count} candidates") > 0, True)
	expect("a search that did not end", "best so far" in text(page, "#detail"), True)
	done(page, torn, "torn")
	path = report(folder, "damaged.html", DATA + "small.json")
	with open(path, encoding="utf-8") as file:
		content = file.read()
	damaged = {"the journal": re.sub(r'(id="journal0">.{2000}).{40}', r"\1" + "A" * 40, content), "cut": re.sub(r'(id="journal0">.{2000})[^<]*', r"\1", content),
		"the tuned file": re.sub(r'(id="tuned0">.{400}).{40}', r"\1" + "A" * 40, content), "the index": re.sub(r'(id="index">).{60}', r"\1" + "A" * 60, content)}
	for what, changed in damaged.items():
		page = show_page(browser, write(folder, "damaged.html", changed))
		notices = page.value("[...document.querySelectorAll('#notices p')].map(p => p.textContent)")
		expect(f"{what} is damaged: one line", [len(notices), bool(notices) and len(notices[0]) < 200], [1, True])
		expect(f"{what} is damaged: no error", page.problems(), [])
		expect(f"{what} is damaged: the winners are seen", page.value("!document.getElementById('winners').hidden || document.querySelectorAll('[data-table=winners] tbody tr').length === 1"), True)
		page.close()
	page = show_page(browser, write(folder, "damaged.html", content), before="delete window.DecompressionStream")
	expect("no DecompressionStream", [text(page, "#notices").count("DecompressionStream"), page.value("document.querySelectorAll('#notices p').length"), page.value("document.getElementById('winners').hidden"), page.problems()], [1, 1, False, []])
	page.close()


# ---- 50,000 evaluations ----
def large_journal(folder, count=50_000):
	"""Writes lines like those of a run, with varying times, tiles and resources."""
	choose, path = random.Random(1), os.path.join(folder, "large.journal.jsonl")
	lines = lines_of(DATA + "small.journal.jsonl")
	patterns = [line for line in lines if line["event"] == "evaluation"]
	with open(path, "w", encoding="utf-8") as file:
		for line in lines[:2]:
			file.write(with_checksum(line, None))
		for i in range(count):
			line = copy.deepcopy(choose.choice(patterns))
			line["configuration"] = f"BM={16 * choose.randint(1, 16)},BN={16 * choose.randint(1, 16)}," + line["configuration"].split(",", 2)[2] + f",ORDER={i}"
			line["at_s"] = i / 10 + 0.1
			if line["outcome"] == "ok":
				factor = 1 + abs(choose.gauss(0, 1))
				line["time_us"].update({key: line["time_us"][key] * factor for key in ("median", "ci95_low", "ci95_high")})
				line["samples_us"] = [us * factor * choose.uniform(0.99, 1.01) for us in line["samples_us"]]
				line["score"]["predicted_time_us"] *= factor * choose.uniform(0.8, 1.2)
				line["score"]["arithmetic_intensity"] *= choose.uniform(0.5, 2)
			file.write(with_checksum(line, None))
	return path


def bench(folder):
	path = report(folder, "large.html", large_journal(folder))
	times = []
	for _ in range(5):
		with chromium.Chromium() as browser:
			page = show_page(browser, path, before="new MutationObserver(() => { if (document.documentElement.dataset?.ready) window.drawn ??= (document.body.offsetHeight, performance.now()); }).observe(document, { attributes: true, subtree: true })")
			times.append(page.value("window.drawn"))
			expect("candidates", "50000 candidates" in text(page, "#detail"), True)
	print(f"50,000 evaluations: {os.path.getsize(path) / 1e6:.1f} MB, drawn after {', '.join(f'{ms:.0f}' for ms in sorted(times))} ms, median {statistics.median(times):.0f} ms")
	expect("within 2 s", statistics.median(times) < 2000, True)


def main():
	if not chromium.find():
		print("skipped: no chromium, and none can be installed from here")
		sys.exit(77)
	with tempfile.TemporaryDirectory() as folder:
		if "--bench" in sys.argv:
			bench(folder)
		else:
			with chromium.Chromium() as browser:
				for check in (check_problems, check_problem, check_stages, check_several, check_hostile, check_damage):
					check(browser, folder)
	print("\n".join(failure[:500] for failure in failures[:20]))
	sys.exit(bool(failures))


main()
