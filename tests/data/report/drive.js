// Plays a person on a report's page and writes what it found into the page, as JSON.
// Put into the page by tests/checks/report_browser.py.
(() => {
	const found = { problems: window.problems, ready_ms: window.ready_ms };
	const all = (selector, root = document) => [...root.querySelectorAll(selector)];
	const text = selector => document.querySelector(selector).textContent;
	const tip = document.getElementById("tip");

	function point(element, type) {
		const box = element.getBoundingClientRect();
		element.dispatchEvent(new PointerEvent(type, { bubbles: true, clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 }));
	}

	function press(element, key) {
		element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
	}

	function hover() {
		const cell = document.querySelector("svg[data-figure=heatmap] .cell");
		point(cell, "pointermove");
		found.hover = tip.hidden ? "" : tip.textContent;
		point(cell, "pointerleave");
		cell.closest("svg").dispatchEvent(new PointerEvent("pointerleave"));
		found.hover_ends = tip.hidden;
	}

	function keyboard(name) {
		const svg = document.querySelector("svg[data-figure=" + name + "]");
		const said = [];
		svg.focus();
		for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "ArrowDown"]) {
			press(svg, key);
			said.push(text("#live"));
		}
		press(svg, "Escape");
		return { focused: document.activeElement === svg, said, closed: tip.hidden };
	}

	function column(table, name) {
		const heads = all("thead th", table), at = heads.findIndex(h => h.textContent === name);
		return { head: heads[at], values: () => all("tbody tr", table).map(r => r.cells[at].textContent) };
	}

	function candidates() {
		const card = document.querySelector(".candidates"), table = card.querySelector("table");
		// a compact journal keeps no scores
		const by = column(table, "Predicted").head ? "Predicted" : "Time";
		const predicted = column(table, by), filter = card.querySelector("input");
		found.rows = all("tbody tr", table).length;
		found.first_times = column(table, "Time").values().slice(0, 5);
		predicted.head.querySelector("button").click();
		found.up = predicted.values();
		found.sorted_up = predicted.head.getAttribute("aria-sort");
		predicted.head.querySelector("button").click();
		found.down = predicted.values();
		filter.value = "bm=128 BN=256";
		filter.dispatchEvent(new Event("input"));
		found.filtered = column(table, "Configuration").values();
		filter.value = "";
		filter.dispatchEvent(new Event("input"));
	}

	function answers() {
		const table = document.querySelector("#answer table.sortable");
		if (!table) return;
		const time = column(table, "Time");
		time.head.querySelector("button").click();
		time.head.querySelector("button").click();
		found.slowest_first = time.values();
		found.answers_cut = all("#answer tbody td, #answer tbody th").filter(cell =>
			cell.getBoundingClientRect().right > innerWidth).map(cell => cell.textContent);
		found.answers_stacked = table.tBodies[0].rows[0].cells[0].getBoundingClientRect().bottom <= table.tBodies[0].rows[0].cells[1].getBoundingClientRect().top;
	}

	function theme() {
		const button = document.getElementById("theme"), seen = [];
		for (let i = 0; i < 3; i++) {
			button.click();
			seen.push(getComputedStyle(document.body).backgroundColor);
		}
		found.themes = seen;
	}

	try {
		hover();
		found.heatmap = keyboard("heatmap");
		found.roofline = keyboard("roofline");
		candidates();
		answers();
		theme();
		found.wider_than_page = document.documentElement.scrollWidth > innerWidth;
		found.reachable = all("a[href],button,input,summary,[tabindex='0']").length;
	} catch (error) {
		found.problems.push(String(error.stack));
	}
	const pre = document.createElement("pre");
	pre.id = "found";
	pre.textContent = JSON.stringify(found);
	document.body.append(pre);
})();
