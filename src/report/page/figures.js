// Figures: SVG with points and lines over two axes, and grids of cells. Each can be saved and read by pointer
// and keyboard, and plots can be zoomed.

// ---- readable numbers ----
// Formats a number with four significant digits and no exponent.
function show(value) {
	if (!Number.isFinite(value))
		return "";
	const size = Math.abs(value);
	if (Number.isInteger(value) || size >= 1000)
		return value.toFixed(0);
	return value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : Math.min(3 - Math.ceil(Math.log10(size)), 9));
}

function showTime(us) {
	if (!Number.isFinite(us))
		return "";
	return us >= 1e7 ? `${show(us / 1e6)} s` : us >= 1e4 ? `${show(us / 1e3)} ms` : `${show(us)} µs`;
}

// Formats an interval with both ends in one unit.
function showSpan(low, high) {
	const [unit, us] = high >= 1e7 ? ["s", 1e6] : high >= 1e4 ? ["ms", 1e3] : ["µs", 1];
	return `${show(low / us)} to ${show(high / us)} ${unit}`;
}

// The ratio of two times: 1.01 gives "+1.0%".
function showOver(ratio, digits = 1) {
	const text = (100 * (ratio - 1)).toFixed(digits);
	return Number.isFinite(ratio) ? `${Number(text) > 0 ? "+" : ""}${Number(text) ? text : text.replace("-", "")}` : "";
}

function percent(ratio, digits = 0) {
	return Number.isFinite(ratio) ? `${(100 * ratio).toFixed(digits)}%` : "";
}

// ---- elements: strings become text, never markup ----
function fill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes ?? {}))
		if (typeof value === "function")
			element.addEventListener(name, value);
		else if (value !== undefined && value !== false)
			element.setAttribute(name, value === true ? "" : value);
	element.append(...children.flat(Infinity).filter(child => child !== undefined && child !== null && child !== ""));
	return element;
}

function node(name, attributes, ...children) {
	return fill(document.createElement(name), attributes, children);
}

function svgNode(name, attributes, ...children) {
	return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function round(value) {
	return Math.round(value * 10) / 10;
}

// ---- the box for the point under the pointer ----
function showTip(lines, x, y) {
	const tip = document.getElementById("tip");
	tip.replaceChildren(...lines.filter(Boolean).map(line => node("div", {}, line)));
	tip.hidden = false;
	const box = tip.getBoundingClientRect();
	tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - box.width - 8))}px`;
	tip.style.top = `${y + 18 + box.height > innerHeight ? Math.max(8, y - box.height - 12) : y + 18}px`;
}

function hideTip() {
	document.getElementById("tip").hidden = true;
}

// ---- a figure: draw(canvas) fills canvas.svg and lists canvas.marks {x, y, tip(), go()} ----
function saveSvg(svg, name) {
	const copy = svg.cloneNode(true), style = getComputedStyle(document.documentElement);
	const rules = [...document.styleSheets[0].cssRules].map(rule => rule.cssText).filter(text => text.startsWith("svg"));
	copy.querySelectorAll(".here, .zoom").forEach(extra => extra.remove());
	const css = rules.join("\n").replace(/var\((--[\w-]+)\)/g, (_, variable) => style.getPropertyValue(variable).trim());
	copy.prepend(svgNode("style", {}, css), svgNode("rect", { width: "100%", height: "100%",
		fill: style.getPropertyValue("--card").trim() }));
	copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
	const file = new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
	const link = node("a", { href: URL.createObjectURL(file), download: `${name.replace(/[^\w=.]+/g, "-")}.svg` });
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function nearest(canvas, x, y) {
	let best, least = 24 ** 2;
	for (const mark of canvas.marks) {
		const away = mark.inside ? (mark.inside(x, y) ? 0 : Infinity) : (mark.x - x) ** 2 + (mark.y - y) ** 2;
		if (away < least)
			[best, least] = [mark, away];
	}
	return best;
}

// Returns the mark that an arrow key leads to: the next in reading order, or in the next line of cells.
function step(canvas, key) {
	const marks = canvas.marks, at = marks.indexOf(canvas.here);
	const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: canvas.columns ?? 1, ArrowUp: -(canvas.columns ?? 1) }[key];
	return at < 0 ? marks[0] : marks[Math.max(0, Math.min(at + by, marks.length - 1))];
}

function figure({ title, name = title, caption, width = 480, height = 320, wide, draw, zoom }) {
	const svg = svgNode("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title, tabindex: 0 });
	svg.style.maxWidth = `${1.35 * width}px`;
	const canvas = { svg, marks: [], width, height, put: (kind, attributes, ...text) =>
		svg.appendChild(svgNode(kind, attributes, ...text)) };
	const point = mark => {
		svg.querySelector(".here")?.remove();
		canvas.here = mark;
		if (!mark)
			return hideTip();
		canvas.put("circle", { class: "here", cx: mark.x, cy: mark.y, r: 7 });
		const box = svg.getBoundingClientRect(), scale = box.width / width;
		showTip(mark.tip(), box.x + mark.x * scale, box.y + mark.y * scale);
	};
	const place = event => {
		const box = svg.getBoundingClientRect();
		return [(event.clientX - box.x) * width / box.width, (event.clientY - box.y) * height / box.height];
	};
	const redraw = () => {
		svg.replaceChildren();
		canvas.marks = [];
		draw(canvas);
	};
	const button = (text, label, click) => node("button", { type: "button", "aria-label": `${label}: ${title}`, title: label,
		click }, text);
	const tools = node("div", { class: "tools" }, zoom ? [["+", "Zoom in", 0.5], ["−", "Zoom out", 2],
		["⤢", "Show all", 0]].map(([text, label, by]) =>
		button(text, label, () => { zoom.by(by, canvas.here); redraw(); })) : [],
			button("Save SVG", "Save as SVG", () => saveSvg(svg, name)));
	svg.addEventListener("pointermove", event => point(nearest(canvas, ...place(event))));
	svg.addEventListener("pointerleave", () => point());
	svg.addEventListener("blur", () => point());
	svg.addEventListener("click", event => nearest(canvas, ...place(event))?.go?.());
	svg.addEventListener("keydown", event => {
		if (event.key.startsWith("Arrow") && canvas.marks.length) {
			point(step(canvas, event.key));
			event.preventDefault();
		} else if (event.key === "Enter") {
			canvas.here?.go?.();
		} else if (event.key === "Escape") {
			point();
		}
	});
	if (zoom)
		dragToZoom(svg, canvas, zoom, place, redraw);
	redraw();
	return node("figure", { class: wide ? "card wide" : "card", "data-figure": name }, node("h3", {}, title), tools, svg,
		node("figcaption", {}, caption));
}

function dragToZoom(svg, canvas, zoom, place, redraw) {
	let from;
	svg.addEventListener("pointerdown", event => { from = event.pointerType === "touch" ? undefined : place(event); });
	svg.addEventListener("pointermove", event => {
		svg.querySelector(".zoom")?.remove();
		if (!from || !event.buttons)
			return;
		const [x, y] = place(event), box = { x: Math.min(x, from[0]), y: Math.min(y, from[1]), width: Math.abs(x - from[0]),
			height: Math.abs(y - from[1]) };
		canvas.put("rect", { class: "zoom", ...box });
	});
	svg.addEventListener("pointerup", event => {
		const to = place(event);
		if (from && Math.abs(to[0] - from[0]) > 8 && Math.abs(to[1] - from[1]) > 8) {
			zoom.to(from, to);
			redraw();
		}
		from = undefined;
	});
}

// ---- axes ----
function scaleOf({ low, high, log }, from, to) {
	const f = log ? Math.log : v => v, back = log ? Math.exp : v => v;
	const a = f(low), b = f(high);
	return { low, high, log, at: v => from + (f(v) - a) / (b - a) * (to - from), value: p => back(a + (p - from) / (to - from) * (b - a)) };
}

function ticksOf({ low, high, log }) {
	const ticks = [];
	if (log && high / low > 15) {
		const steps = high / low > 3000 ? [1] : high / low > 30 ? [1, 3] : [1, 2, 5];
		for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10)
			ticks.push(...steps.map(step => step * power));
	} else {
		const raw = (high - low) / 5, power = 10 ** Math.floor(Math.log10(raw));
		const by = power * ([1, 2, 5, 10].find(step => step * power >= raw));
		for (let i = Math.ceil(low / by); i * by <= high; i++)
			ticks.push(Number((i * by).toPrecision(12)));
	}
	return ticks.filter(tick => tick >= low && tick <= high);
}

function rangeOf(values, { log, zero, include = [] }) {
	const all = [...values, ...include].filter(v => Number.isFinite(v) && (!log || v > 0));
	let low = Infinity, high = -Infinity;
	for (const v of all)
		[low, high] = [Math.min(low, v), Math.max(high, v)];
	if (!all.length)
		[low, high] = [1, 10];
	if (log)
		return { log, low: low / 1.15, high: high * 1.15 };
	low = zero ? Math.min(0, low) : low;
	const room = (high - low || Math.abs(high) || 1) * 0.05;
	return { low: zero ? low : low - room, high: high + room };
}

// ---- plots ----
// series: [{name, points: [{x, y, tip(), go()}], line, kind}]; kind: the number of its colour, or a class.
// x, y: {label, log, zero, include}. lines: [{points, kind, label}] beneath and beyond any zoom; winner: a ringed point.
let clips = 0;

function plot({ series, x, y, lines = [], winner, width = 480, height = 320, ...rest }) {
	const left = 62, top = series.length > 1 ? 32 : 14, right = width - 14, bottom = height - 44;
	const points = series.flatMap(s => s.points), whole = [rangeOf(points.map(p => p.x), x), rangeOf(points.map(p => p.y), y)];
	const clip = `clip${++clips}`;
	let ranges = whole, scales;
	const cut = (range, a, b) => ({ ...range, low: Math.min(a, b), high: Math.max(a, b) });
	const zoom = {
		to(from, to) {
			ranges = ranges.map((range, i) => cut(range, scales[i].value(from[i]), scales[i].value(to[i])));
		},
		by(factor, mark) {
			const middle = [mark?.x ?? (left + right) / 2, mark?.y ?? (top + bottom) / 2],
				half = [(right - left) / 2 * factor, (bottom - top) / 2 * factor];
			if (!factor)
				ranges = whole;
			else
				zoom.to(middle.map((m, i) => m - half[i]), middle.map((m, i) => m + half[i]));
		},
	};
	function axes(canvas) {
		const [X, Y] = scales;
		for (const tick of ticksOf(X)) {
			canvas.put("line", { class: "grid", x1: round(X.at(tick)), x2: round(X.at(tick)), y1: top, y2: bottom });
			canvas.put("text", { class: "muted middle", x: round(X.at(tick)), y: bottom + 16 }, show(tick));
		}
		for (const tick of ticksOf(Y)) {
			canvas.put("line", { class: "grid", y1: round(Y.at(tick)), y2: round(Y.at(tick)), x1: left, x2: right });
			canvas.put("text", { class: "muted end", x: left - 6, y: round(Y.at(tick)) + 4 }, y.show ? y.show(tick) : show(tick));
		}
		canvas.put("text", { class: "middle", x: (left + right) / 2, y: height - 8 }, x.label);
		canvas.put("text", { class: "middle", transform: `translate(14 ${(top + bottom) / 2}) rotate(-90)` }, y.label);
	}
	function legend(canvas) {
		let at = left;
		for (const s of series.length > 1 ? series.filter(s => s.name) : []) {
			canvas.put("circle", { class: `s${s.kind}`, cx: at + 5, cy: 14, r: 5 });
			canvas.put("text", { class: "muted", x: at + 14, y: 18 }, s.name);
			at += 28 + 7.6 * s.name.length;
		}
	}
	// Places a label next to the visible part of a line, where it hides the fewest points and other
	// labels, at its right end if possible.
	function label(canvas, { points: [from, to], label }, taken) {
		const [X, Y] = scales, start = Math.max(left, X.at(from[0])), end = Math.min(right, X.at(to[0]));
		const wide = 7.2 * label.length + 4, high = 14, places = [], slope = (Y.at(to[1]) - Y.at(from[1])) / (X.at(to[0]) - X.at(from[0]));
		if (end - start < 40)
			return;
		for (let x = end - wide - 2; x >= start - wide; x -= 12)
			for (const above of [true, false]) {
				// a slanted line has its label above on the left, or below on the right
				const line = Y.at(to[1]) + slope * ((above ? x + wide : x) - X.at(to[0])), y = above ? line - high - 3 : line + 3;
				if (x >= left && x + wide <= right && y >= top - 14 && y + high <= bottom)
					places.push({ x, y });
			}
		const meets = (p, m, by) => m.x > p.x - by && m.x < p.x + wide + by && m.y > p.y - by && m.y < p.y + high + by;
		const hidden = p => canvas.marks.reduce((count, m) => count + meets(p, m, 6), 0) +
			1e6 * taken.filter(t => t.x < p.x + wide && t.x + t.wide > p.x && t.y < p.y + high && t.y + high > p.y).length;
		let best, least = Infinity;
		for (const p of places) {
			const count = least > 0 ? hidden(p) : Infinity;
			[best, least] = count < least ? [p, count] : [best, least];
		}
		if (!best)
			return;
		taken.push({ ...best, wide });
		canvas.put("text", { class: "label", x: round(best.x + 2), y: round(best.y + 11) }, label);
	}
	const path = points => points.map((p, i) => `${i ? "L" : "M"}${round(p[0])} ${round(p[1])}`).join("");
	function draw(canvas) {
		scales = [scaleOf(ranges[0], left, right), scaleOf(ranges[1], bottom, top)];
		const [X, Y] = scales, inside = p => p.x >= X.low && p.x <= X.high && p.y >= Y.low && p.y <= Y.high;
		canvas.put("clipPath", { id: clip }, svgNode("rect", { x: left, y: top - 4, width: right - left, height: bottom - top + 4 }));
		axes(canvas);
		legend(canvas);
		const inner = canvas.put("g", { "clip-path": `url(#${clip})` });
		const add = (kind, attributes, ...text) => inner.appendChild(svgNode(kind, attributes, ...text));
		for (const line of lines)
			add("path", { class: `line ${line.kind}`, d: path(line.points.map(p => [X.at(p[0]), Y.at(p[1])])) });
		for (const s of series) {
			const seen = new Set(), dots = [];
			if (s.line)
				add("path", { class: `line l${s.kind}`, d: path((s.steps ? stairs(s.points) : s.points).map(p =>
					[X.at(p.x), Y.at(p.y)])) });
			for (const p of s.points) {
				const at = { x: round(X.at(p.x)), y: round(Y.at(p.y)), tip: p.tip, go: p.go };
				if (!inside(p))
					continue;
				// points that coincide are drawn once
				const key = Math.round(at.x * 2) * 4096 + Math.round(at.y * 2);
				if (seen.has(key))
					continue;
				seen.add(key);
				canvas.marks.push(at);
				dots.push(`M${at.x} ${at.y}h0`);
			}
			if (!s.hidden)
				add("path", { class: `dots s${s.kind}${points.length > 3000 ? " many" : points.length < 200 ? " few" : ""}`,
					d: dots.join("") });
		}
		const taken = [];
		for (const line of lines.filter(line => line.label))
			label(canvas, line, taken);
		if (winner && inside(winner))
			add("circle", { class: "winner", cx: round(X.at(winner.x)), cy: round(Y.at(winner.y)), r: 8 });
		canvas.marks.sort((a, b) => a.x - b.x);
	}
	return figure({ width, height, draw, zoom, ...rest });
}

function stairs(points) {
	return points.flatMap((p, i) => i ? [{ x: p.x, y: points[i - 1].y }, p] : [p]);
}

// ---- a grid of cells ----
const BINS = [2.5, 1.7, 1.35, 1.2, 1.1, 1.02];

function binOf(over) {
	return BINS.filter(most => over <= most).length;
}

// rows, columns: labels; cells(row, column) -> {kind, text, tip, go, winner, strong}; legend: [[kind, text]]
function grid({ rows, columns, rowName, columnName, cells, legend, ...rest }) {
	const longest = Math.max(...columns.map(label => label.length));
	const left = 70, top = 36, high = 26, wide = Math.max(40, 7 * longest + 6, Math.min(64, 520 / columns.length));
	const width = Math.max(480, left + wide * columns.length + 10), places = [];
	let x = 8, y = top + high * rows.length + 20;
	for (const [kind, text] of legend) {
		const length = 32 + 7.2 * text.length;
		[x, y] = x + length > width ? [8, y + 20] : [x, y];
		places.push({ kind, text, x, y });
		x += length;
	}
	function draw(canvas) {
		canvas.columns = columns.length;
		canvas.put("text", { class: "middle", x: left + wide * columns.length / 2, y: 13 }, columnName);
		canvas.put("text", { class: "middle", transform: `translate(14 ${top + high * rows.length / 2}) rotate(-90)` }, rowName);
		columns.forEach((label, c) => canvas.put("text", { class: "muted middle", x: left + wide * (c + 0.5), y: top - 6 }, label));
		rows.forEach((label, r) => {
			canvas.put("text", { class: "muted end", x: left - 7, y: top + high * r + 17 }, label);
			columns.forEach((_, c) => cell(canvas, cells(r, c), left + wide * c, top + high * r));
		});
		for (const { kind, text, x, y } of places) {
			canvas.put("rect", { class: kind, x, y: y - 11, width: 14, height: 13 });
			canvas.put("text", { class: "muted", x: x + 19, y }, text);
		}
	}
	function cell(canvas, { kind, text, tip, go, winner, strong }, x, y) {
		canvas.put("rect", { class: kind, x: x + 1, y: y + 1, width: wide - 2, height: high - 2 });
		if (text)
			canvas.put("text", { class: `middle on-${kind}${strong ? " strong" : ""}`, x: x + wide / 2, y: y + 17 }, text);
		if (winner)
			canvas.put("rect", { class: "winner", x: x + 1, y: y + 1, width: wide - 2, height: high - 2 });
		canvas.marks.push({ x: x + wide / 2, y: y + high / 2, tip, go,
			inside: (px, py) => px >= x && px < x + wide && py >= y && py < y + high });
	}
	return figure({ width, height: y + 10, wide: width > 560, draw, ...rest });
}
