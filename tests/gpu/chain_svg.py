"""The map of gemm_chain as a figure: what traffic allows against what was measured. One file that
reads in light and dark."""
import math
from xml.sax.saxutils import escape

width, height = 860, 560
left, right, top, bottom = 74, 24, 92, 64
x_range, y_range = (1, 512), (1 / 16, 16)

style = """
svg{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;
--card:#fff;--ink:#191c22;--muted:#5c6470;--grid:#e8ebef;--band:#eef1f5;--right:#0b5cad;--wrong:#d2500a;--near:#8a93a0}
@media (prefers-color-scheme:dark){svg{--card:#1a1f26;--ink:#e8ebf0;--muted:#9ca6b4;--grid:#272e38;--band:#222934;
--right:#5aa9f0;--wrong:#ff9552;--near:#8490a0}}
.page{fill:var(--card)}text{fill:var(--ink)}.m{fill:var(--muted)}.small{font-size:11.5px}.title{font-size:16px;font-weight:600}
.c{text-anchor:middle}.e{text-anchor:end}.grid{stroke:var(--grid)}.axis{stroke:var(--muted)}.band{fill:var(--band)}
.ceiling{stroke:var(--muted);stroke-dasharray:5 4;fill:none}
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
	"""A disc where the rule says fuse, a ring where it says do not; a square has a name."""
	return '<circle cx="%.1f" cy="%.1f" r="4.6" class="mark %s%s"><title>%s</title></circle>' % (
		x, y, kind, "" if says_fuse else " keep", escape(tip))


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
	parts += [line(x_of(1), y_of(1), x_of(16), y_of(16), "ceiling"),
	          text(x_of(9.6), y_of(13.2), "all that traffic allows", "m small e"),
	          text(left, height - 14, "bytes per row of two products over those of one kernel: (k + 2n + p) / (k + p)", "m"),
	          text(left, top - 12, "times faster than the better of two products (cuBLASLt's, ours); above 1 fusing wins", "m")]
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
	"""One name per group, at its member of the largest gain."""
	best = {}
	for row in rows:
		name = row["name"]
		if name and name != "eight anchors" and row["gain"] >= best.get(name, row)["gain"]:
			best[name] = row
	return [text(x_of(row["ceiling"]) + 9, y_of(row["gain"]) + 4, name, "small name") for name, row in best.items()]


def draw(rows, summary):
	parts = axes() + legend(summary)
	for row in sorted(rows, key=lambda row: row["far"] and not row["right"]):
		kind = "near" if not row["far"] else "right" if row["right"] else "wrong"
		tip = "m=%(m)d k=%(k)d n=%(n)d p=%(p)d: %(best_two_us).1f us, fused %(best_fused_us).1f us: %(gain).2f; rule %(rule_gain).2f" % row
		parts.append(mark(x_of(row["ceiling"]), y_of(row["gain"]), kind, row["says_fuse"], tip))
	parts += labels(rows)
	return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" '
	        'aria-label="Measured gain of fusing two products over what traffic allows"><style>%s</style>'
	        '<rect class="page" width="%d" height="%d"/>\n%s\n</svg>\n') % (
		width, height, width, height, style, width, height, "\n".join(parts))
