// Tables: sorted by their headers, filtered by words, with details on demand.

// A row must match every word; a word with "=" matches a whole pair: bm=128 does not find BM=1280. After \0 a
// row has hidden pairs, which are found only as whole pairs: bf16 does not match out_dtype=bf16.
function matcher(text) {
	const words = text.toLowerCase().split(/[\s,]+/).filter(Boolean);
	return row => words.every(word => word.includes("=") ? ` ${row.replace("\0", " ")} `.includes(` ${word} `) : row.split("\0")[0].includes(word));
}

function wordsOf(...texts) {
	return texts.join(" ").toLowerCase().replace(/[,{}()]/g, " ").replace(/\s+/g, " ");
}

// columns: [{name, hint, text(row), value(row) for sorting, always, node(row)}]
// marked(row): a row's class; group(row): the head above rows that follow each other; pinned(row): drawn before all others are asked for
// words: texts of a row that the filter looks into; page: how many rows are drawn at first; details(row): what a row unfolds
function table({ name, columns, rows, words, page = 15, filter, details, filtered, sort, marked, group, pinned }) {
	// values that all rows share are shown below the table; a table with a single row omits only empty
	// values
	const same = columns.filter(c => !c.always && rows.length && rows.every(row => c.text(row) === (rows.length > 1 ? c.text(rows[0]) : "")));
	const shown = columns.filter(c => !same.includes(c));
	const constants = same.filter(c => c.text(rows[0]) !== "").map(c => `${c.name} ${c.text(rows[0])}`).join("; ");
	const state = { column: shown.find(c => c.name === sort?.by), down: sort?.down, limit: page };
	const body = node("tbody"), more = node("button", { type: "button", click: () => { state.limit = Infinity; draw(); } });
	const count = node("span", { class: "muted" });

	const heads = shown.map(column => {
		const head = node("th", { scope: "col", title: column.hint, class: column.value ? "number" : undefined },
			node("button", { type: "button", click: () => { state.down = state.column === column &&
				!state.down; state.column = column; draw(); } }, column.name));
		return head;
	});
	const input = node("input", { type: "search", "aria-label": `Filter ${name}`, placeholder: filter, input: () => search(input.value) });

	const match = row => state.match(row.words ??= wordsOf(...words(row)));

	function search(text) {
		state.match = matcher(text);
		draw();
		filtered?.(rows.filter(match));
	}
	function unfold(row, line, button) {
		const open = button.getAttribute("aria-expanded") === "true";
		button.setAttribute("aria-expanded", !open);
		if (open)
			line.nextSibling.remove();
		else
			line.after(node("tr", { class: "details" }, node("td", { colspan: shown.length }, details(row))));
	}
	function cellOf(row, column, i, line) {
		const text = column.text(row);
		if (i || !details)
			return node(i ? "td" : "th", { class: column.value ? "number" : column.kind, scope: i ? undefined : "row" },
				column.node ? column.node(row) : text);
		const button = node("button", { type: "button", class: "link", "aria-expanded": "false",
			click: () => unfold(row, line, button) }, text || "–");
		return node("th", { scope: "row" }, button);
	}
	function draw() {
		let list = state.match ? rows.filter(match) : rows;
		if (state.column) {
			const by = state.column.value ?? state.column.text, sign = state.down ? -1 : 1;
			const known = v => v !== undefined && v !== "" && !Number.isNaN(v);
			list = [...list].sort((a, b) => {
				const [p, q] = [by(a), by(b)];
				return known(p) && known(q) ? sign * (p < q ? -1 : p > q ? 1 : 0) : known(q) - known(p);
			});
		}
		heads.forEach((head, i) => head.setAttribute("aria-sort", shown[i] !== state.column ? "none" : state.down ? "descending"
			: "ascending"));
		const drawn = list.filter((row, i) => i < state.limit || pinned?.(row));
		let above;
		body.replaceChildren(...drawn.flatMap(row => {
			const name = state.column ? undefined : group?.(row), begins = name && name !== above;
			above = name;
			const line = node("tr", { class: marked?.(row) || undefined });
			line.append(...shown.map((column, i) => cellOf(row, column, i, line)));
			return begins ? [node("tr", { class: "group" }, node("th", { colspan: shown.length, scope: "rowgroup" }, name)), line] : line;
		}));
		more.hidden = list.length === drawn.length;
		more.textContent = `Show all ${list.length}`;
		count.textContent = filter && list.length < rows.length ? ` ${list.length} of ${rows.length}${list.length ? "" : ": words of a row, or NAME=VALUE"}` : "";
	}
	draw();
	return node("div", { class: "table", "data-table": name }, filter ? node("label", { class: "filter" }, "Filter ", input, count)
		: undefined,
		node("div", { class: "scroll", tabindex: 0 }, node("table", {}, node("thead", {}, node("tr", {}, heads)), body)), more,
		constants ? node("p", { class: "muted" }, `The same in all rows: ${constants}.`) : undefined);
}

// Shows names and values of an object, such as a device or a run, one per line.
function facts(title, object) {
	const lines = [];
	const add = (prefix, value) => {
		if (value !== null && typeof value === "object")
			Object.entries(value).forEach(([key, each]) => add(prefix ? `${prefix}.${key}` : key, each));
		else if (value !== null && value !== undefined)
			lines.push(node("tr", {}, node("th", { scope: "row" }, prefix), node("td", {}, String(value))));
	};
	add("", object);
	return node("div", { class: "card scroll" }, node("h3", {}, title), node("table", { class: "facts" }, node("tbody", {}, lines)));
}
