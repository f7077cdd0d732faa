"""The map of gemm_chain as a figure: measured gain over the arithmetic intensity of two products. One
file that reads in light and dark."""
import math
from xml.sax.saxutils import escape

width, height = 860, 560
left, right, top, bottom = 74, 24, 100, 64
x_range, y_range = (4, 4096), (1 / 64, 8)

style = """
svg{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;
--card:#fff;--ink:#191c22;--muted:#5c6470;--grid:#e8ebef;--band:#eef1f5;--right:#0b5cad;--wrong:#d2500a;--near:#8a93a0}
@media (prefers-color-scheme:dark){svg{--card:#1a1f26;--ink:#e8ebf0;--muted:#9ca6b4;--grid:#272e38;--band:#222934;
--right:#5aa9f0;--wrong:#ff9552;--near:#8490a0}}
.page{fill:var(--card)}text{fill:var(--ink)}.m{fill:var(--muted)}.small{font-size:11.5px}.title{font-size:16px;font-weight:600}
.c{text-anchor:middle}.e{text-anchor:end}.grid{stroke:var(--grid)}.axis{stroke:var(--muted)}.band{fill:var(--band)}
.right{stroke:var(--right);fill:var(--right)}.wrong{stroke:var(--wrong);fill:var(--wrong)}.near{stroke:var(--near);fill:var(--near)}
.mark{stroke-width:1.6;fill-opacity:.75}.mark.keep{fill:var(--card);fill-opacity:1}
.name{paint-order:stroke;stroke:var(--card);stroke-width:3px}
"""


def x_of(value):
	low, high = map(math.log, x_range)
	return left + (math.log(min(max(value, x_range[0]), x_range[1])) - low) / (high - low) * (width - left - right)


def y_of(value):
	low, high = map(math.log, y_range)
	return height - bottom - (math.log(min(max(value, y_range[0]), y_range[1])) - low) / (high - low) * (
		height - top - bottom)


def text(x, y, content, classes=""):
	return '<text x="%.1f" y="%.1f" class="%s">%s</text>' % (x, y, classes, escape(content))


def line(x1, y1, x2, y2, classes):
	return '<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>' % (x1, y1, x2, y2, classes)


def mark(x, y, kind, says_fuse, tip=""):
	"""A disc where the rule says fuse, a ring where it says do not."""
	return '<circle cx="%.1f" cy="%.1f" r="4.6" class="mark %s%s"><title>%s</title></circle>' % (
		x, y, kind, "" if says_fuse else " keep", escape(tip))


def intensity(row):
	m, k, n, p = (row[key] for key in "mknp")
	return m * n * (k + p) / (m * k + k * n + n * p + m * p + 2 * m * n)


def axes():
	parts = ['<rect x="%d" y="%.1f" width="%d" height="%.1f" class="band"/>' % (
		left, y_of(1.05), width - left - right, y_of(1 / 1.05) - y_of(1.05))]
	value = x_range[0]
	while value <= x_range[1]:
		parts += [line(x_of(value), top, x_of(value), height - bottom, "grid"),
		          text(x_of(value), height - bottom + 18, "%d" % value, "m c")]
		value *= 2
	value = y_range[0]
	while value <= y_range[1]:
		label = "%d" % value if value >= 1 else "1/%d" % round(1 / value)
		parts += [line(left, y_of(value), width - right, y_of(value), "axis" if value == 1 else "grid"),
		          text(left - 8, y_of(value) + 4, label, "m e")]
		value *= 2
	parts += [text(left, height - 14, "FLOP per byte that two products move, the intermediate stored and read", "m"),
	          text(width - right, y_of(1.15), "fusing wins", "m small e"),
	          text(width - right, y_of(1 / 1.3), "two products win", "m small e"),
	          text(left, top - 12, "times faster than the better of two products (cuBLASLt's, ours); log scale", "m")]
	return parts


def legend(summary):
	everything = summary["all"]
	parts = [text(left, 24, "When is it worth fusing two matrix multiplications?", "title"),
	         text(left, 44, "%s, bf16: %d problems; where the difference exceeds 5%% the rule is right in %d of %d (%.1f%%)" % (
		         summary["device"]["name"], everything["points"], everything["right"],
		         everything["differ_by_more_than_5_percent"], 100 * everything["right_ratio"]))]
	x = left + 6
	for kind, fuse, label in (("right", True, "rule: fuse, right"), ("right", False, "rule: do not, right"),
	                          ("wrong", True, "rule: fuse, wrong"), ("wrong", False, "rule: do not, wrong"),
	                          ("near", False, "within 5%")):
		parts += [mark(x, 61, kind, fuse), text(x + 10, 65, label, "small")]
		x += 30 + 6.4 * len(label)
	return parts


def labels(rows):
	"""One name per group, at its member of the largest gain, off the crowd."""
	best = {}
	for row in rows:
		name = row["name"].split(",")[0]
		if name and name != "eight anchors" and row["gain"] >= best.get(name, row)["gain"]:
			best[name] = row
	parts = []
	for name, row in best.items():
		x, y = x_of(intensity(row)), y_of(row["gain"])
		up = 22 if y > top + 40 else -10
		if x > width - 200:
			parts += [line(x - 4, y - 4, x - 34, y - 4 - up, "axis"), text(x - 37, y - up, name, "small name e")]
		else:
			parts += [line(x + 4, y - (4 if up > 0 else 0), x + 34, y - 4 - up, "axis"), text(x + 37, y - up, name, "small name")]
	return parts


def draw(rows, summary):
	parts = axes() + legend(summary)
	for row in sorted(rows, key=lambda row: row["far"] and not row["right"]):
		kind = "near" if not row["far"] else "right" if row["right"] else "wrong"
		tip = "m=%(m)d k=%(k)d n=%(n)d p=%(p)d: %(best_two_us).1f us, fused %(best_fused_us).1f us: %(gain).2f; rule %(rule_gain).2f" % row
		parts.append(mark(x_of(intensity(row)), y_of(row["gain"]), kind, row["says_fuse"], tip))
	parts += labels(rows)
	return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" '
	        'aria-label="Measured gain of fusing two products over their arithmetic intensity"><style>%s</style>'
	        '<rect class="page" width="%d" height="%d"/>\n%s\n</svg>\n') % (
		width, height, width, height, style, width, height, "\n".join(parts))
