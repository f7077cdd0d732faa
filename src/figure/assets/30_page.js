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
