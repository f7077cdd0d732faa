"""Opens the report's page in a browser for checks: makes pages and reads their tables, figures and texts
(tests/checks/report_browser.py, tests/checks/report_why.py). sys.argv[1] is the folder of tiletune."""
import json
import math
import os
import re
import subprocess
import sys

binary = sys.argv[1] + "/tiletune"
failures = []


def expect(what, found, wanted):
	if found != wanted:
		failures.append(f"{what}: expected {wanted!r}, found {found!r}")


# ---- pages ----
def report(folder, name, *files):
	path = os.path.join(folder, name)
	subprocess.run([binary, "report", *files, "-o", path], check=True)
	return path


def write(folder, name, text):
	path = os.path.join(folder, name)
	with open(path, "w", encoding="utf-8") as file:
		file.write(text)
	return path


def show_page(browser, path, fragment="", **how):
	page = browser.open(f"file://{path}{fragment}", **how)
	page.wait_for("document.documentElement?.dataset.ready")
	return page


def done(page, path, what):
	"""Checks that the page made no other requests and that the browser reported no errors."""
	expect(f"{what}: requests", sorted(set(re.sub("#.*", "", address) for address in page.requests())), [f"file://{path}"])
	expect(f"{what}: complaints", page.problems(), [])
	page.close()


def rows(page, name):
	"""Returns a table's rows, each as {head: text}."""
	return page.value("""(name => { const table = document.querySelector(`[data-table="${name}"] table`), heads = [...table.tHead.rows[0].cells].map(c => c.textContent);
		return [...table.tBodies[0].rows].filter(r => r.cells.length === heads.length).map(r => Object.fromEntries([...r.cells].map((c, i) => [heads[i], c.textContent]))); })(""" + json.dumps(name) + ")")


def click_head(page, name, head):
	page.value(f"[...document.querySelectorAll('[data-table=\"{name}\"] thead button')].find(b => b.textContent === '{head}').click()")


def type_filter(page, name, text):
	page.value(f"(input => {{ input.value = {json.dumps(text)}; input.dispatchEvent(new Event('input')); }})(document.querySelector('[data-table=\"{name}\"] input'))")


def text(page, selector):
	return page.value(f"document.querySelector({json.dumps(selector)})?.textContent")


def ticks(page, name):
	return page.value(f"[...document.querySelectorAll('figure[data-figure=\"{name}\"] text.muted')].map(t => [t.textContent, t.classList.contains('end'), +t.getAttribute('x'), +t.getAttribute('y')])")


def place(page, name, number, vertical, log=True):
	"""Returns the value at a position on an axis, interpolated from two of its ticks."""
	scale = math.log if log else float
	marks = [(scale(float(label.rstrip("%"))), at[1] - 4 if vertical else at[0]) for label, is_left, *at in ticks(page, name) if is_left == vertical and re.fullmatch(r"[\d.]+%?", label)]
	(a, p), (b, q) = marks[0], marks[-1]
	return p + (scale(number) - a) / (b - a) * (q - p)
