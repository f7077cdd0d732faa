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
