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
