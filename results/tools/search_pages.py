"""Compares the pages about the search with the file of Kernel Tuner's runs, and with each other.

The repository does not have our own runs. Therefore a mean must follow from the rows above it, and a summary must repeat its page."""
import csv
import math
import re
import statistics

SEARCH, SEARCH_OWN, SEARCH_SUITES, SUMMARY = "results/search.md", "results/search_own.md", "results/search_suites.md", "src/search/README.md"
HAVE_FAILURES = ("convolution_A100", "convolution_A4000", "convolution_A6000")


def kernel_tuner():
	"""Returns space -> strategy -> shares."""
	found = {}
	with open("results/tools/kernel_tuner.csv", encoding="utf-8") as file:
		for space, strategy, *shares in csv.reader(line for line in file if not line.startswith("#")):
			if space != "space":
				found.setdefault(space, {})[strategy] = [float(share) for share in shares]
	return found


def kernel_tuner_rows():
	return [f"|  | {strategy} | " + " | ".join(f"{share:.4f}" for share in shares) + " |"
		for strategies in kernel_tuner().values() for strategy, shares in strategies.items()]


def best_of_kernel_tuner_row():
	spaces = kernel_tuner().values()
	best = [statistics.fmean(max(shares[i] for shares in strategies.values()) for strategies in spaces) for i in range(5)]
	return ["| best of Kernel Tuner's nine on each | " + " | ".join(f"{share:.3f}" for share in best) + " |"]


def table_of(text, columns=5):
	"""Returns title -> name -> [(figure, error)]. A row without a title has the title of the row above."""
	found, title = {}, ""
	for line in text.splitlines():
		cells = [cell.strip() for cell in line.strip("|").split("|")]
		if not line.startswith("|") or len(cells) < 3 or not re.match(r"-?\d", cells[2]):
			continue
		title = cells[0] or title
		numbers = [[float(number) for number in re.findall(r"-?[\d.]+", cell)] for cell in cells[2:2 + columns] if cell]
		found.setdefault(title, {})[cells[1]] = [(cell[0], cell[1] if len(cell) > 1 else 0.0) for cell in numbers]
	return found


def means_of(page, text):
	"""Yields a message for each mean that does not follow from the rows above."""
	table = table_of(text)
	title = next(title for title in table if title.startswith("mean of"))
	spaces = [rows for name, rows in table.items() if name != title and "chosen" not in name]
	for name, figures in table[title].items():
		rows = [rows[name] for rows in spaces if name in rows]
		for i, (mean, error) in enumerate(figures):
			columns = [row[i] for row in rows if i < len(row)]
			of_rows = statistics.fmean(figure for figure, _ in columns), math.sqrt(sum(error * error for _, error in columns)) / len(columns)
			# each row is rounded to 0.00005
			if abs(mean - of_rows[0]) > 0.00011 or abs(error - of_rows[1]) > 0.00011:
				yield f"{page}: {title}, {name}: {mean} ±{error}, but the rows give {of_rows[0]:.4f} ±{of_rows[1]:.4f}"


def chosen_of(text):
	"""Yields a message for each "chosen on the others" row that does not repeat the row of the chosen strategy."""
	table = table_of(text)
	for title, rows in table.items():
		space = title.partition(", chosen")[0]
		for name, figures in rows.items() if space != title else ():
			above = next(above for name_of, above in table.items() if name_of.startswith(space + ",") and name_of != title)
			if name in above and above[name] != figures:
				yield f"{SEARCH}: {title}: {name} differs from its row above"


def scores_of(text):
	"""Yields a message for each P score whose last column is not the mean of the others."""
	for line in re.findall(r"^\| \w+ \|(?: *-?[\d.]* \|){8}$", text, re.M):
		*cells, mean = [cell.strip() for cell in line.strip("|").split("|")][1:]
		if mean and abs(statistics.fmean(map(float, cells)) - float(mean)) > 0.0011:
			yield f"{SEARCH}: {line}: the mean is {statistics.fmean(map(float, cells)):.3f}"


def summaries_of(pages):
	"""Yields a message for each row of the summary that does not repeat the means of its page, rounded to three decimals."""
	for page, text, names in ((SEARCH, pages[SEARCH], ("guided", "local", "evolution", "random")), (SEARCH_OWN, pages[SEARCH_OWN], ("guided:learned", "guided:physics"))):
		table = table_of(text)
		means = table[next(title for title in table if title.startswith("mean of"))]
		for name in names:
			wanted = [figure for figure, _ in means[name]]
			rows = [list(map(float, row.split("|"))) for row in re.findall(rf"^\| {name} \|(.*)\|$", pages[SUMMARY], re.M)]
			if not any(len(row) == len(wanted) and all(abs(a - b) < 0.00056 for a, b in zip(row, wanted)) for row in rows):
				yield f"{SUMMARY}: expected the row of {name} with {wanted} of {page}"


def convolutions_of(text):
	"""Returns the means of guided over the three convolutions."""
	table = table_of(text)
	rows = [next(rows for title, rows in table.items() if title.startswith(space + ","))["guided"] for space in HAVE_FAILURES]
	return [statistics.fmean(row[i][0] for row in rows) for i in range(5)]


def suites_of(text):
	"""Yields a message for each mean or ratio that does not follow from its row or column."""
	rows = [[float(cell) for cell in line.strip("|").split("|")[1:]] for line in text.splitlines() if re.match(r"\| [\w ,]+ \| [\d.]+ \|", line)]
	*suites, mean = rows
	for i in range(9):
		kept = i % 3 != 2
		wanted = statistics.fmean(row[i] for row in suites) if kept else mean[i - 1] / mean[i - 2]
		if abs(mean[i] - wanted) > (0.051 if kept else 0.011):
			yield f"{SEARCH_SUITES}: mean, column {i + 1}: {mean[i]}, but the rows give {wanted:.3f}"
		for row in suites:
			if not kept and abs(row[i] - row[i - 1] / row[i - 2]) > 0.011:
				yield f"{SEARCH_SUITES}: {row}: column {i + 1} is no ratio"


def failures_of(pages):
	failures = [*means_of(SEARCH, pages[SEARCH]), *chosen_of(pages[SEARCH]), *scores_of(pages[SEARCH]), *suites_of(pages[SEARCH_SUITES]), *summaries_of(pages)]
	said = "0.980 to " + ", ".join(f"{share:.3f}" for share in convolutions_of(pages[SEARCH]))
	return failures + ([] if said in pages[SUMMARY] else [f"{SUMMARY}: expected {said!r}"])
