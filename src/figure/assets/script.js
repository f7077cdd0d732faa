"use strict";
// What the page shares: candidates of each entry, read from their columns when first asked for.
const tiletune = (() => {
	const alphabet = "#$%()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
	const code = new Uint8Array(128);
	[...alphabet].forEach((c, i) => { code[c.charCodeAt(0)] = i; });
	const entries = new Map();

	function decode(column, n) {
		if (Array.isArray(column)) return column;
		const values = new Array(n), { d, w, s } = column;
		for (let i = 0; i < n; i++) {
			const at = w === 0 ? 0 : w === 1 ? code[s.charCodeAt(i)] : code[s.charCodeAt(2 * i)] * alphabet.length + code[s.charCodeAt(2 * i + 1)];
			values[i] = d[at];
		}
		return values;
	}

	// A member that is computed when it is first asked for.
	function lazy(object, name, make) {
		Object.defineProperty(object, name, { configurable: true, enumerable: true, get: () => {
			const value = make();
			Object.defineProperty(object, name, { value, enumerable: true });
			return value;
		} });
	}

	function load(index) {
		const script = document.querySelector('script.data[data-entry="' + index + '"]');
		if (!script) return null;
		const raw = JSON.parse(script.textContent);
		const entry = { n: raw.n, flop: raw.flop, winner: raw.winner, families: raw.families, columns: {}, parameters: raw.families.map(() => []) };
		const c = entry.columns, none = () => new Array(raw.n).fill(null);
		for (const name in raw.columns) {
			const space = name.indexOf(" "), make = () => decode(raw.columns[name], raw.n);
			if (name === "end") continue;
			if (space < 0) {
				lazy(c, name, make);
				continue;
			}
			const parameter = { name: name.slice(space + 1) };
			lazy(parameter, "values", make);
			entry.parameters[+name.slice(0, space)].push(parameter);
		}
		if (!raw.columns.time) lazy(c, "time", none);
		lazy(c, "order", () => c.time.map((_, i) => i + 1));
		lazy(c, "tflops", () => c.time.map(t => t && raw.flop ? raw.flop / t * 1e-6 : null));
		if (raw.columns.predicted) lazy(c, "error", () => c.time.map((t, i) => t && c.predicted[i] ? c.predicted[i] / t : null));
		return entry;
	}

	function entry(index) {
		if (!entries.has(index)) entries.set(index, load(index));
		return entries.get(index);
	}

	function family(e, row) {
		return e.families[e.columns.family[row]];
	}

	function configuration(e, row) {
		return e.parameters[e.columns.family[row]].map(p => p.name + "=" + p.values[row]).join(" ");
	}

	function number(v) {
		if (v === null || v === undefined) return "";
		const size = Math.abs(v);
		if (v === Math.round(v)) return String(v);
		if (size < 1) return String(+v.toPrecision(3));
		return v.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
	}

	function time(us) {
		if (us === null || us === undefined) return "";
		return us >= 1e7 ? number(us / 1e6) + " s" : us >= 1e4 ? number(us / 1e3) + " ms" : number(us) + " µs";
	}

	function bytes(v) {
		const units = ["B", "KiB", "MiB", "GiB", "TiB"];
		let unit = 0;
		while (v >= 1024 && unit < 4) {
			v /= 1024;
			unit++;
		}
		return (v < 10 && unit ? v.toFixed(1) : Math.round(v)) + " " + units[unit];
	}

	return { entry, family, configuration, number, time, bytes };
})();

// What is under the pointer, or under the keyboard's place, in a figure: a box with the whole score.
(() => {
	const tip = document.getElementById("tip");
	const live = document.getElementById("live");
	const first = [
		["time", "Time", tiletune.time], ["remeasured", "Time, measured again", tiletune.time],
		["tflops", "TFLOP/s", tiletune.number], ["predicted", "Predicted", tiletune.time],
		["measured_rank", "Rank", String], ["model_rank", "Rank by the model", String],
	];
	const hidden = ["family", "low", "high", "samples", "outcome", "compile_seconds", "at_s"];
	const special = { bound: "Bound by", occupancy_limiter: "Limited by", max_rel_error: "Largest relative error", spill_bytes: "Spilled" };
	const words = { regs: "registers", smem: "shared memory", sm: "SM", dram: "DRAM", l2: "L2", abs: "absolute", max: "largest" };

	// A member's name without its unit, in words.
	function label(name) {
		const text = name.replace(/_(ratio|bytes|us|s|j|w)$/, "").split("_").map(w => words[w] || w).join(" ");
		return special[name] || text[0].toUpperCase() + text.slice(1);
	}

	// The unit stands in the name.
	function format(name) {
		const unit = /_(s|j|w)$/.exec(name);
		if (name.endsWith("_bytes")) return tiletune.bytes;
		if (name.endsWith("_us")) return tiletune.time;
		if (/(efficiency|occupancy)_ratio$/.test(name)) return v => (100 * v).toFixed(1) + " %";
		if (name.endsWith("_ratio")) return v => "× " + tiletune.number(v);
		if (name.endsWith("_error")) return v => v.toExponential(2);
		return v => (typeof v === "number" ? tiletune.number(v) : v) + (unit ? " " + unit[1].replace("j", "J").replace("w", "W") : "");
	}

	const known = new Set([...hidden, ...first.map(row => row[0])]);
	const rows = first.map(row => [...row, ""]);
	for (const [name, meaning] of JSON.parse(document.getElementById("columns").textContent))
		if (name && !known.has(name)) rows.push([name, label(name), format(name), meaning]);

	function element(name, text, parent) {
		const made = document.createElement(name);
		made.textContent = text;
		parent.append(made);
		return made;
	}

	function fill(entry, point) {
		tip.textContent = "";
		if (point.text) {
			element("div", point.text, tip).className = "lines";
			return;
		}
		const c = entry.columns;
		element("strong", tiletune.family(entry, point.row), tip);
		element("div", tiletune.configuration(entry, point.row), tip).className = "mono";
		if (point.tried > 1) element("div", "best of " + point.tried + " tried with this tile", tip).className = "muted";
		if (c.outcome[point.row] !== "ok") {
			const why = c.detail && c.detail[point.row];
			element("div", c.outcome[point.row] + (why ? ": " + why : ""), tip).className = "bad";
		}
		const list = document.createElement("dl");
		for (const [key, title, print, meaning] of rows) {
			const value = c[key] && c[key][point.row];
			if (value === null || value === undefined) continue;
			element("dt", title, list).title = meaning;
			element("dd", print(value), list);
		}
		tip.append(list);
	}

	// What a screen reader says: who it is, and the first few figures.
	function speech() {
		const said = [...tip.children].filter(e => e.tagName !== "DL").map(e => e.textContent);
		const names = [...tip.querySelectorAll("dt")].slice(0, 6);
		return said.concat(names.map(dt => dt.textContent + " " + dt.nextSibling.textContent)).join(", ");
	}

	function place(x, y) {
		const box = tip.getBoundingClientRect();
		let left = x + 16, top = y + 16;
		if (left + box.width > innerWidth - 8) left = x - box.width - 16;
		if (top + box.height > innerHeight - 8) top = innerHeight - 8 - box.height;
		tip.style.left = Math.max(8, left) + "px";
		tip.style.top = Math.max(8, top) + "px";
	}

	// Where the candidates of a figure lie: its cells, or points from columns and scales.
	function points(svg, entry) {
		const found = [];
		for (const cell of svg.querySelectorAll(".cell[data-row],.cell[data-tip]")) {
			const box = cell.getBBox();
			found.push({ x: box.x + box.width / 2, y: box.y + box.height / 2, cell, row: +cell.dataset.row, tried: +cell.dataset.n, text: cell.dataset.tip });
		}
		if (found.length || !svg.dataset.x || !entry) return found;
		const scale = text => {
			const [column, log, low, high, from, to] = text.split(" ");
			const f = +log ? Math.log : v => v, span = f(+high) - f(+low);
			return { values: entry.columns[column] || [], at: v => +from + (f(v) - f(+low)) / span * (to - from) };
		};
		const x = scale(svg.dataset.x), y = scale(svg.dataset.y);
		for (let row = 0; row < entry.n; row++)
			if (x.values[row] && y.values[row]) found.push({ x: x.at(x.values[row]), y: y.at(y.values[row]), row });
		return found;
	}

	function watch(svg) {
		const owner = svg.closest("[data-owner]");
		const entry = () => owner && tiletune.entry(owner.dataset.owner);
		let list = null, at = -1, pinned = false;
		const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
		ring.setAttribute("class", "hover");
		ring.setAttribute("r", 9);
		const all = () => list || (list = points(svg, entry()));

		function unmark() {
			ring.remove();
			if (at >= 0 && all()[at].cell) all()[at].cell.classList.remove("on");
		}

		function hide() {
			unmark();
			at = -1;
			pinned = false;
			tip.hidden = true;
		}

		function show(index, x, y, spoken) {
			unmark();
			at = index;
			const point = all()[index];
			fill(entry(), point);
			tip.hidden = false;
			if (point.cell) point.cell.classList.add("on");
			else {
				ring.setAttribute("cx", point.x);
				ring.setAttribute("cy", point.y);
				svg.append(ring);
			}
			if (x === undefined) {
				const seen = new DOMPoint(point.x, point.y).matrixTransform(svg.getScreenCTM());
				x = seen.x;
				y = seen.y;
			}
			place(x, y);
			if (spoken) live.textContent = speech();
		}

		function nearest(x, y, reach) {
			let best = -1, least = reach * reach;
			all().forEach((p, i) => {
				const d = (p.x - x) ** 2 + (p.y - y) ** 2;
				if (d <= least) {
					least = d;
					best = i;
				}
			});
			return best;
		}

		function under(event) {
			const cell = event.target.closest && event.target.closest(".cell");
			if (cell) return all().findIndex(p => p.cell === cell);
			const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
			return nearest(p.x, p.y, 14);
		}

		// The next point in a direction: near, and rather ahead than aside.
		function step(dx, dy) {
			const here = all()[at];
			let best = -1, least = Infinity;
			all().forEach((p, i) => {
				const ahead = (p.x - here.x) * dx + (p.y - here.y) * dy;
				const aside = Math.abs((p.x - here.x) * dy) + Math.abs((p.y - here.y) * dx);
				if (i === at || ahead <= 0.5) return;
				if (ahead + 3 * aside < least) {
					least = ahead + 3 * aside;
					best = i;
				}
			});
			return best;
		}

		svg.addEventListener("pointermove", event => {
			if (pinned) return;
			const index = under(event);
			if (index < 0) hide();
			else show(index, event.clientX, event.clientY);
		});
		svg.addEventListener("pointerleave", () => pinned || hide());
		svg.addEventListener("click", event => {
			const index = under(event);
			hide();
			if (index < 0) return;
			show(index, event.clientX, event.clientY, true);
			pinned = true;
		});
		svg.addEventListener("keydown", event => {
			const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
			if (event.key === "Escape") return hide();
			if (!ways[event.key] || !all().length) return;
			event.preventDefault();
			let next = at < 0 ? Math.max(0, all().findIndex(p => entry() && p.row === entry().winner)) : step(...ways[event.key]);
			if (next >= 0) show(next, undefined, undefined, true);
		});
		svg.addEventListener("blur", hide);
	}

	for (const svg of document.querySelectorAll("svg.figure[data-figure]"))
		if (svg.dataset.x || svg.querySelector(".cell")) {
			svg.setAttribute("tabindex", "0");
			svg.setAttribute("aria-label", svg.getAttribute("aria-label") + "; arrow keys go from point to point");
			watch(svg);
		}
	addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
})();

// Tables whose rows are in the page: a click on a head sorts by that column.
(() => {
	function value(row, column) {
		const cell = row.cells[column];
		if (cell.dataset.value) return +cell.dataset.value;
		const text = cell.textContent.trim(), number = parseFloat(text);
		return text !== "" && /^-?[\d.]/.test(text) && !isNaN(number) ? number : text;
	}

	function compare(a, b) {
		if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
		return typeof a === "number" ? -1 : 1;
	}

	for (const table of document.querySelectorAll("table.sortable"))
		[...table.tHead.rows[0].cells].forEach((head, column) => {
			const button = document.createElement("button"), below = table.tBodies[0].rows[0];
			if (below && below.cells[column] && below.cells[column].classList.contains("n")) head.className = "n";
			button.type = "button";
			button.textContent = head.textContent;
			head.textContent = "";
			head.append(button);
			button.addEventListener("click", () => {
				const up = head.getAttribute("aria-sort") !== "ascending";
				for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
				head.setAttribute("aria-sort", up ? "ascending" : "descending");
				const rows = [...table.tBodies[0].rows].map(row => ({ row, key: value(row, column) }));
				rows.sort((a, b) => up ? compare(a.key, b.key) : compare(b.key, a.key));
				table.tBodies[0].append(...rows.map(r => r.row));
			});
		});
})();
// All candidates of an entry: sorted and filtered here, and only those rows made that are looked at.
(() => {
	const percent = v => v === null || v === undefined ? "" : (100 * v).toFixed(0) + " %";
	const heads = [
		["Time", "time", tiletune.time], ["TFLOP/s", "tflops", v => v ? v.toFixed(1) : ""],
		["Predicted", "predicted", tiletune.time], ["Predicted / measured", "error", v => v ? v.toFixed(2) : ""],
		["Rank by model", "model_rank", tiletune.number], ["Waves", "waves_exact", v => v ? v.toFixed(2) : ""],
		["Wave efficiency", "wave_efficiency_ratio", percent], ["Blocks per SM", "blocks_per_sm", tiletune.number],
		["Registers", "regs_per_thread", tiletune.number], ["Shared memory", "smem_bytes", v => v === null || v === undefined ? "" : tiletune.bytes(v)],
		["Spilled", "spill_bytes", tiletune.number], ["Bound", "bound", v => v || ""], ["Outcome", "outcome", v => v || ""],
	];
	const first = 15, more = 100;

	function open(card) {
		const index = card.dataset.entry, entry = tiletune.entry(index);
		if (!entry || card.dataset.open) return;
		card.dataset.open = "1";
		let texts = null, rows = [], shown = first, by = "time", up = true;

		const label = document.createElement("label"), filter = document.createElement("input");
		label.textContent = "Only rows with ";
		filter.type = "search";
		filter.placeholder = "BM=128 STAGES=4";
		label.append(filter);
		const scroll = document.createElement("div"), table = document.createElement("table");
		scroll.className = "scroll";
		scroll.tabIndex = 0;
		scroll.append(table);
		const button = document.createElement("button"), count = document.createElement("span");
		button.type = "button";
		button.textContent = "Show " + more + " more";
		count.className = "muted count";
		count.setAttribute("role", "status");
		card.append(label, scroll, button, count);

		const row = table.createTHead().insertRow();
		const columns = heads.filter(h => h[1] in entry.columns);
		const all = [...columns.map(h => [h[0], h[1]]), ["Family", "family"], ["Configuration", ""]];
		for (const [title, key] of all) {
			const th = document.createElement("th");
			th.scope = "col";
			if (!key) th.textContent = title;
			else {
				const sort = document.createElement("button");
				sort.type = "button";
				sort.textContent = title;
				sort.addEventListener("click", () => {
					up = by === key ? !up : true;
					by = key;
					refresh();
				});
				th.dataset.key = key;
				if (!["bound", "outcome", "family"].includes(key)) th.className = "n";
				th.append(sort);
			}
			row.append(th);
		}
		const body = table.createTBody();

		function select() {
			const words = filter.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
			if (words.length && !texts) {
				texts = new Array(entry.n);
				for (let i = 0; i < entry.n; i++)
					texts[i] = (tiletune.family(entry, i) + " " + tiletune.configuration(entry, i) + " " + entry.columns.outcome[i] + " ").toLowerCase();
			}
			rows = [];
			for (let i = 0; i < entry.n; i++)
				if (words.every(w => texts[i].includes(w.includes("=") ? w + " " : w))) rows.push(i);
			const values = entry.columns[by], sign = up ? 1 : -1;
			const none = v => v === null || v === undefined;
			rows.sort((a, b) => {
				const x = values[a], y = values[b];
				if (none(x) || none(y)) return none(x) - none(y) || a - b;
				return (typeof x === "string" ? x.localeCompare(y) : x - y) * sign || a - b;
			});
		}

		function draw() {
			body.textContent = "";
			for (const i of rows.slice(0, shown)) {
				const line = body.insertRow();
				if (i === entry.winner) line.className = "won";
				for (const [, key, format] of columns) {
					const cell = line.insertCell();
					cell.textContent = format(entry.columns[key][i]);
					if (typeof entry.columns[key][i] === "number") cell.className = "n";
					if (key === "outcome" && entry.columns.detail && entry.columns.detail[i]) cell.title = entry.columns.detail[i];
				}
				line.insertCell().textContent = tiletune.family(entry, i);
				const last = line.insertCell();
				last.className = "mono";
				last.textContent = tiletune.configuration(entry, i);
			}
			button.hidden = shown >= rows.length;
			count.textContent = " " + Math.min(shown, rows.length) + " of " + rows.length + " rows";
			for (const th of row.cells)
				if (th.dataset.key === by) th.setAttribute("aria-sort", up ? "ascending" : "descending");
				else th.removeAttribute("aria-sort");
		}

		function refresh() {
			shown = first;
			select();
			draw();
		}

		filter.addEventListener("input", refresh);
		button.addEventListener("click", () => {
			shown += more;
			draw();
		});
		refresh();
	}

	for (const card of document.querySelectorAll(".candidates")) {
		const folded = card.closest("details");
		if (!folded || folded.open) open(card);
		else folded.addEventListener("toggle", () => open(card));
	}
})();
// Theme, and links into folded sections.
(() => {
	const button = document.getElementById("theme"), root = document.documentElement;
	const names = ["auto", "light", "dark"];
	let stored = null;
	try { stored = localStorage.getItem("tiletune-theme"); } catch (ignored) { stored = null; }
	let at = Math.max(0, names.indexOf(stored));

	function apply() {
		if (at) root.dataset.theme = names[at];
		else delete root.dataset.theme;
		button.textContent = "Theme: " + names[at];
	}

	button.hidden = false;
	button.addEventListener("click", () => {
		at = (at + 1) % names.length;
		try { localStorage.setItem("tiletune-theme", names[at]); } catch (ignored) { stored = null; }
		apply();
	});
	apply();

	function unfold() {
		const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
		if (!target) return;
		if (target.tagName === "DETAILS") target.open = true;
		target.scrollIntoView();
	}
	addEventListener("hashchange", unfold);
	unfold();
})();
