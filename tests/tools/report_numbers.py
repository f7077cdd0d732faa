"""Recomputes, independently of the page's script, what a report should show for a tuned file and its journal: formatted numbers, the
card's limit, and the candidates of a search (tests/checks/report_browser.py)."""
import json
import math
import statistics

TILE = ("BM", "BN", "BK")


def load(path):
	with open(path, encoding="utf-8") as file:
		return json.load(file)


def lines_of(path):
	with open(path, encoding="utf-8") as file:
		return [json.loads(line) for line in file]


def show(value):
	"""Formats a number with four significant digits, as the page does."""
	if value == int(value) or value >= 1000:
		return f"{value:.0f}"
	return f"{value:.{1 if value >= 100 else 2 if value >= 10 else 3 if value >= 1 else min(3 - math.ceil(math.log10(value)), 9)}f}"


def show_time(us):
	return f"{show(us / 1e6)} s" if us >= 1e7 else f"{show(us / 1e3)} ms" if us >= 1e4 else f"{show(us)} µs"


def tile(configuration):
	return "x".join(str(configuration[name]) for name in TILE if name in configuration)


def named(configuration):
	return ",".join(f"{key}={value}" for key, value in configuration.items())


def values(text):
	return {key: int(value) if value.lstrip("-").isdigit() else value for key, value in (pair.split("=") for pair in text.split(","))}


def figure(sheet, name):
	return sheet["figures"][name]["value"]


def limit(entry, sheet):
	"""Returns the card's limit in TFLOP/s at the entry's arithmetic intensity."""
	row, dtype = entry["winner"], entry["problem"]["dtype"]
	rates = [sheet["rates"][pipe].get(kind, {}).get("value", 0) for pipe, kind in (("tensor_wgmma", dtype), ("tensor_mma", dtype), ("fp32", "fp32"))]
	peak = max(rates) * figure(sheet, "sm_count") * figure(sheet, "clock_hz") * 1e-12
	return min(peak, row["tflops"] * 1e3 / row["gb_per_s"] * figure(sheet, "dram_bytes_per_s") * 1e-12)


def over(ratio, digits=1):
	"""Formats the ratio of two times: 1.01 gives "+1.0"."""
	said = f"{100 * (ratio - 1):+.{digits}f}"
	return said if float(said) else said[1:]


class Search:
	"""Holds the candidates of one problem, from the lines of a journal and the entry in the tuned file."""

	def __init__(self, lines, entry):
		winner = entry["winner"]
		final, number, rounds, by_round = {}, 0, {}, {}
		for e in (e for e in lines if e["event"] == "final"):
			key = e["family"], e["configuration"]
			number += rounds.get(key) == number
			final[key], rounds[key] = e["time_us"]["median"], number
			by_round.setdefault(key, {})[number] = e["time_us"]["median"]
		for row in (*entry.get("tied", []), winner):
			# a tied row stores only its differences from the winner
			key = row.get("family", winner["family"]), named(row["configuration"] if "family" in row else {**winner["configuration"], **row["configuration"]})
			final[key], rounds[key] = row["time_us"]["median"], number
		self.all = [e for e in lines if e["event"] == "evaluation"]
		self.timed = [e for e in self.all if e["outcome"] == "ok"]
		best = min(e["time_us"]["median"] for e in self.timed)
		for e in self.timed:
			key = e["family"], e["configuration"]
			e["search"], e["final"], e["over_best"] = e["time_us"]["median"], final.get(key), e["time_us"]["median"] / best
			e["over_winner"] = final[key] / winner["time_us"]["median"] if rounds.get(key) == number else None
			e["winner"] = key == (winner["family"], named(winner["configuration"]))
			e["stage"] = 0 if e["over_winner"] else 1 if e["final"] else 2
			# times of an earlier round are corrected by the drift of the candidates that were also in the last one
			clock = [times[number] / times[rounds[key]] for times in by_round.values() if e["final"] and {number, rounds[key]} <= set(times)]
			e["over_final"] = e["over_winner"] or (e["final"] and final[key] * (statistics.median(clock) if clock else 1) / winner["time_us"]["median"])
		self.timed.sort(key=lambda e: (e["stage"], e["final"] or 0, e["search"]))
		self.winner = next(e for e in self.timed if e["winner"])
		others = [e for e in self.timed if not e["winner"]]
		self.runner_up = min((e for e in others if e["over_final"]), key=lambda e: e["over_final"], default=None) or min(others, key=lambda e: e["search"])

	def cells(self, family):
		"""Returns the value of each (BM, BN) in a heat map: from the final measurement if there is one."""
		found = {}
		for e in (e for e in self.all if e["family"] == family):
			found.setdefault(tuple(values(e["configuration"])[name] for name in TILE[:2]), []).append(e)
		text = {}
		for place, tried in found.items():
			timed = [e for e in tried if e["outcome"] == "ok"]
			won = [e for e in timed if e["winner"]]
			final = [e["over_final"] for e in won or timed if e["over_final"]]
			text[place] = over(min(final or [e["over_best"] for e in timed]), 0) if timed else "×"
		return text
