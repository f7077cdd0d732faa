"""The report's page explains in one sentence with numbers why a runner-up lost, according to the tuned file. Figures name no row twice,
hide no point, and mention no measurements that were not made.

	report_why.py OUT            OUT/tiletune makes the pages"""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/tools")
sys.dont_write_bytecode = True
import chromium  # noqa: E402  pylint: disable=wrong-import-position
from journal_expand import with_checksum  # noqa: E402  pylint: disable=wrong-import-position
from report_numbers import Search, lines_of, load, show_time, tile, values  # noqa: E402  pylint: disable=wrong-import-position
from report_page import binary, done, expect, failures, report, rows, show_page, text, write  # noqa: E402  pylint: disable=wrong-import-position

DATA = "tests/data/report/"
SUITE = "results/nvidia-h200/tuned.json"
RECORDING = "tests/data/replay/measured.jsonl.gz"


def why(page):
	return text(page, "#runner-up").split("Why it lost: ")[1]


def show_problem(page, number, time):
	page.value(f"(location.hash = '#p{number}', dispatchEvent(new HashChangeEvent('hashchange')))")
	page.wait_for(f"document.querySelector('#detail .stats').textContent.includes('{time}')", 20)


# ---- contents of the file ----
SAID = (
	({"by": "slower", "ratio": 1.021, "ratio_low": 1.012, "ratio_high": 1.03, "rounds": 9},
		"2.1% slower than the winner in 9 common rounds (95%: 1.2 to 3.0%), which is more than noise."),
	({"by": "slower", "ratio": 1.05}, "5.0% slower than the winner in an earlier round of the final measurement, corrected for clock drift, which is more than noise."),
	({"by": "earlier_round", "ratio": 1.004},
		"0.4% slower than the winner in an earlier round of the final measurement, corrected for clock drift; it was not timed in the last round, because the rule prefers others that are as fast."),
	({"by": "untied", "ratio": 1.002, "ratio_low": 0.999, "ratio_high": 1.004, "rounds": 8, "value": 1.013, "winner_value": 1.009},
		"0.2% slower than the winner in 8 common rounds (95%: -0.1 to 0.4%), but not tied with the fastest of all, as a launch of the winner's kernel is (+1.3% over it; the winner +0.9%)."),
	({"by": "incumbent", "ratio": 0.997, "ratio_low": 0.996, "ratio_high": 0.998, "rounds": 20},
		"0.3% less time than the winner in 20 common rounds (95%: 0.2 to 0.4%), which counts as tied (within 1% or noise); the winner was chosen among those that are tied, not by its time: the file's former winner stays."),
	({"by": "incumbent", "ratio": 0.988, "ratio_low": 0.986, "ratio_high": 0.991, "rounds": 20},
		"1.2% less time than the winner in 20 common rounds (95%: 0.9 to 1.4%), which counts as tied (the interval reaches to 1%); the winner was chosen among"),
	({"by": "order", "ratio": 0.984, "ratio_low": 0.984, "ratio_high": 0.985, "rounds": 20},
		"1.6% less time than the winner in 20 common rounds (95%: 1.5 to 1.6%); the file counts it as tied; the winner was chosen among"),
	({"by": "planned", "ratio": 1.0001, "rounds": 20}, "the rule took the winner as one of the few that every search tries first (the model's shortlist)."),
	({"by": "prediction", "ratio": 1.01, "value": 104.8, "winner_value": 101.2}, "the rule took the better prediction: 101.2 µs, this one 104.8 µs."),
	({"by": "shared_memory", "ratio": 1, "rounds": 20, "value": 204800, "winner_value": 229376}, "the rule took the one with more shared memory: 224 KiB, this one 200 KiB."),
	({"by": "shared_memory", "ratio": 1, "rounds": 20, "value": 229472, "winner_value": 229488}, "more shared memory: 229488 bytes, this one 229472 bytes."),
	({"by": "shared_memory", "ratio": 1, "rounds": 20, "value": 229488, "winner_value": 229472}, "less shared memory: 229472 bytes, this one 229488 bytes."),
	({"by": "registers", "ratio": 1, "rounds": 20, "value": 168, "winner_value": 142}, "with equal shared memory the rule took the one with fewer registers: 142, this one 168."),
	({"by": "order", "ratio": 1, "rounds": 20}, "with equal shared memory and registers the rule took the first in the order of the space: "),
)


def check_said(browser, folder):
	tuned = load(DATA + "small.json")
	search = Search(lines_of(DATA + "small.journal.jsonl"), tuned["entries"][0])
	other = next(e for e in search.timed if not e["winner"] and e["family"] == tuned["entries"][0]["winner"]["family"])
	for lost, sentence in SAID:
		changed = copy.deepcopy(tuned)
		changed["entries"][0]["runner_up"] = {"family": other["family"], "configuration": values(other["configuration"]), "time_us": other["time_us"], "lost": lost}
		path = report(folder, "said.html", write(folder, "said.json", json.dumps(changed)))
		page = show_page(browser, path)
		expect(f"the file says {lost['by']}", [sentence in why(page), sentence], [True, sentence])
		if sentence not in why(page):
			failures.append(f"found {why(page)}")
		expect(f"{lost['by']}: what a file says is not called probable", "robably" in why(page), False)
		expect(f"{lost['by']}: the runner-up that the file names", tile(values(other["configuration"])) in text(page, "#runner-up"), True)
		done(page, path, lost["by"])


def check_few_blocks(browser, folder):
	"""If few blocks run, code placement adds noise, so that differences above 1% may be ties."""
	tuned = load("results/nvidia-h200/decode.json")
	entry = next(e for e in tuned["entries"] if any(row["time_us"]["median"] < 0.985 * e["winner"]["time_us"]["median"] for row in e["tied"]))
	expect("few blocks", entry["winner"]["score"]["tiles"] < 66, True)
	row = next(row for row in entry["tied"] if row["time_us"]["median"] < 0.985 * entry["winner"]["time_us"]["median"])
	row["lost"] = {"by": "order", "ratio": 0.984, "ratio_low": 0.984, "ratio_high": 0.985, "rounds": 20}
	entry["runner_up"], tuned["entries"] = row, [entry]
	page = show_page(browser, report(folder, "few.html", write(folder, "few.json", json.dumps(tuned))))
	expect("the place of the code", "which counts as tied (where few blocks run, one load of the code may be up to 0.3 µs slower than another); the winner was chosen" in why(page), True)
	page.close()


def check_energy(browser, folder):
	"""If a file lacks the energy of other rows, the page does not call a ratio of times energy."""
	path = report(folder, "energy.html", "results/nvidia-h200/energy.json.gz")
	page = show_page(browser, path, "#p3")
	expect("chosen by energy", text(page, "#detail h2").endswith("(best energy)"), True)
	expect("a ratio of times", re.search(r"[\d.]+% less time than the winner in the final measurement; the file counts it as tied", why(page)) is not None, True)
	expect("the rule of energy", "chooses, not the energy" in text(page, "#rule"), True)
	done(page, path, "energy")


def check_suite(browser, folder):
	entries, path = load(SUITE)["entries"], report(folder, "suite.html", SUITE)
	expect("the file does not say why others lost", any("lost" in row for e in entries for row in e["tied"]), False)
	page, earlier = None, 0
	for i, entry in enumerate(entries):
		if i % 20 == 0: # a browser follows only a limited number of links of one page in a row
			page = page and page.close()
			page = show_page(browser, path)
		time = show_time(entry["winner"]["time_us"]["median"])
		show_problem(page, i, time)
		said, rule = why(page), text(page, "#rule")
		expect(f"#p{i}: nothing is faster than the winner", "faster than the winner" in text(page, "#detail"), False)
		expect(f"#p{i}: the tied group", len(page.value("[...document.querySelectorAll('#tied li')].map(row => row.textContent)")), len(entry["tied"]))
		expect(f"#p{i}: the rule is said where others are tied", (rule or "").count("then one that every search of the problem tries first (planned: "), int(bool(entry["tied"])))
		if "in an earlier round" in text(page, "#runner-up p"):
			# the sentence's percentage, like the table's, is the corrected time over the winner's
			times = re.findall(r"([\d.]+) µs (?:in an earlier round|when corrected)", text(page, "#runner-up p"))
			marked = page.value("[...document.querySelector('[data-table=candidates] tr.second').cells].map(c => c.textContent)")
			share, least = re.search(r"([\d.]+)% slower", said), sorted(float(row["Over winner"].rstrip("%")) for row in rows(page, "candidates") if row["Over winner"])[1]
			earlier += len(times) == 2
			expect(f"#p{i}: the runner-up is the least over the winner", [f"+{share[1]}%" in marked, f"{times[0]} µs" in marked, least], [True, True, float(share[1])])
			expect(f"#p{i}: time and per cent", abs(float(times[-1]) / entry["winner"]["time_us"]["median"] - 1 - float(share[1]) / 100) < 0.0006, True)
		cells = page.value("[...document.querySelectorAll('#detail figure[data-figure^=tiles] svg')].flatMap(svg => [...svg.querySelectorAll('rect.winner')].map(r => r.previousSibling.textContent))")
		expect(f"#p{i}: the winner's cell has the winner's own time", [cell for cell in cells if cell.startswith("-")], [])
	expect("some runner-up is of an earlier round, at another clock", earlier > 0, True)
	page.close()
	# launches of one kernel are distinguished
	page = show_page(browser, path, "#p6")
	page.value("[...document.querySelectorAll('[data-table=candidates] > button')].at(-1).click()")
	names = [(row.get("Family"), row["Tile"], row["Differs in"]) for row in rows(page, "candidates")]
	expect("rows that look alike", len(names) - len(set(names)), 0)
	done(page, path, "rows")


def check_labels(browser, folder):
	"""Labels of the roofline's limits hide no point and stay within the figure."""
	for name, fragments in ((DATA + "small.json", [""]), (DATA + "stages.json", ["#p0", "#p2"]), (SUITE, ["#p2", "#p25"])):
		path = report(folder, "labels.html", name)
		for fragment in fragments:
			page = show_page(browser, path, fragment)
			found = page.value("""(svg => { const whole = svg.getBoundingClientRect(), by = svg.viewBox.baseVal.width / whole.width;
				const boxes = [...svg.querySelectorAll('text.label')].map(t => { const b = t.getBBox(); return [b.x, b.y, b.x + b.width, b.y + b.height]; });
				const points = [...svg.querySelectorAll('path.dots')].flatMap(p => [...p.getAttribute('d').matchAll(/M([\\d.]+) ([\\d.]+)h0/g)].map(m => [+m[1], +m[2]]));
				return [boxes.length, points.length, boxes.map(b => points.filter(p => p[0] > b[0] && p[0] < b[2] && p[1] > b[1] && p[1] < b[3]).length), Math.max(...boxes.map(b => b[2])) <= svg.viewBox.baseVal.width]; })(document.querySelector('figure[data-figure=roofline] svg'))""")
			expect(f"{name}{fragment}: limits have labels", found[0] > 0 and found[1] > 0, True)
			expect(f"{name}{fragment}: points under labels", sum(found[2]), 0)
			expect(f"{name}{fragment}: labels in the figure", found[3], True)
			page.close()


def check_predicted(browser, folder):
	"""If nothing ran, the page mentions no measurement."""
	tuned = load(DATA + "small.json")
	tuned["entries"][0]["timing"] = "predicted"
	lines = [line for line in lines_of(DATA + "small.journal.jsonl") if line["event"] not in ("final", "entry")]
	other = next(e for e in lines if e["event"] == "evaluation" and e["outcome"] == "ok" and values(e["configuration"]) != tuned["entries"][0]["winner"]["configuration"])
	tuned["entries"][0]["tied"] = [{"family": other["family"], "configuration": values(other["configuration"]), "time_us": other["time_us"]}]
	for line in lines:
		if "timing" in line:
			line["timing"] = "predicted"
	write(folder, "predicted.journal.jsonl", "".join(with_checksum(line, None) for line in lines))
	path = report(folder, "predicted.html", write(folder, "predicted.json", json.dumps(tuned)))
	page = show_page(browser, path)
	expect("a predicted file speaks of no measurement", [words for words in ("Timed by itself", "final measurement", "common rounds", "in the search", "Search time", "Final time") if words in text(page, "#detail")], [])
	expect("its times are called predicted", "Predicted time" in text(page, "#detail"), True)
	expect("predictions: less shared memory wins", [words in text(page, "#rule") for words in ("the better prediction in steps of 1%", "less shared memory")], [True, True])
	expect("no part of a table of one row is cut", page.value("(s => s.scrollWidth - s.clientWidth)(document.querySelector('[data-table=winners] .scroll'))"), 0)
	page.close()
	page = show_page(browser, path, width=420)
	expect("the head breaks behind commas", page.value("[...document.querySelector('h1').childNodes].slice(0, 3).map(n => n.nodeName)"), ["#text", "#text", "WBR"])
	done(page, path, "predicted")


def main():
	if not chromium.find():
		print("skipped: no chromium, and none can be installed from here")
		sys.exit(77)
	with tempfile.TemporaryDirectory() as folder, chromium.Chromium() as browser:
		for check in (check_said, check_few_blocks, check_energy, check_suite, check_labels, check_predicted):
			check(browser, folder)
	print("\n".join(failure[:600] for failure in failures[:20]))
	sys.exit(bool(failures))


main()
