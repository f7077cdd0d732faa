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
