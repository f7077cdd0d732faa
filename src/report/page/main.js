// Comparisons of several entries, and the start of the page.

// ---- two runs, or two GPUs ----
const TIE = 0.01;

function verdictOf(a, b) {
	if (a.predicted !== b.predicted)
		return "not comparable: one is predicted";
	const known = a.winner.low > 0 && b.winner.low > 0, ratio = b.winner.time / a.winner.time;
	const low = known ? b.winner.low / a.winner.high : ratio, high = known ? b.winner.high / a.winner.low : ratio;
	return high < 1 - TIE ? "faster" : low > 1 + TIE ? "slower" : "same";
}

function pairsOfEntries(entries) {
	const first = new Map(), pairs = [];
	for (const entry of entries.filter(entry => entry.winner)) {
		const key = `${entry.operation} ${entry.problem} ${/\(best .*\)$/.exec(entry.title) ?? ""}`;
		if (first.has(key))
			pairs.push({ a: first.get(key), b: entry, ratio: entry.winner.time / first.get(key).winner.time,
				verdict: verdictOf(first.get(key), entry) });
		else
			first.set(key, entry);
	}
	return pairs;
}

function comparison(pairs, select) {
	const verdicts = ["faster", "same", "slower"], kinds = [["GPU", e => e.device.name], ["card (uuid)", e => e.run?.uuid],
		["commit of tiletune", e => e.run?.tiletune?.commit], ["driver", e => e.run?.driver], ["NVRTC", e => e.run?.nvrtc]];
	const unlike = kinds.filter(([, of]) => pairs.some(p => of(p.a) && of(p.b) && of(p.a) !== of(p.b))).map(([name]) => name);
	const tip = p => () => [`${p.b.operation} ${p.b.title}`,
		`${p.a.label}: ${showTime(p.a.winner.time)}, ${p.a.winner.tile} ${p.a.winner.family}`,
		`${p.b.label}: ${showTime(p.b.winner.time)}, ${p.b.winner.tile} ${p.b.winner.family}`, `${p.ratio.toFixed(3)}: ${p.verdict}`];
	const words = p => [p.b.operation, p.b.problem, p.a.label, p.b.label, p.verdict, p.a.winner.family, p.b.winner.family];
	const side = (name, of) => [{ name, text: row => of(row).label }, { name: `${name} tile`, always: true,
		text: row => of(row).winner.tile }, { name: `${name} time`, always: true, value: row => of(row).winner.time,
		text: row => showTime(of(row).winner.time) }];
	return [node("h2", {}, "Comparison"), node("p", {},
		verdicts.map(v => `${pairs.filter(p => p.verdict === v).length} ${v}`).join(", "),
		" in the later file; differences below 1% or within both intervals are the same.",
		unlike.length ? ` The files differ in: ${unlike.join(", ")}.` : ""),
		node("div", { class: "figures" }, plot({ title: "Time in the later file over the first", name: "comparison", wide: true,
			width: 760, series: verdicts.map((v, i) => ({ name: v, kind: [2, 5, 1][i],
			points: pairs.filter(p => p.verdict === v).map(p => ({ x: p.a.winner.time, y: p.ratio, tip: tip(p),
			go: () => select(p.b, true) })) })),
			x: { label: "time in the first file, µs", log: true }, y: { label: "ratio of times", log: true, include: [0.9, 1.1] },
				lines: [{ kind: "roof", points: [[1e-6, 1], [1e12, 1]] }],
				caption: "Above the line the later file is slower. A click shows the problem." }),
		node("div", { class: "card wide" }, table({ name: "comparison", rows: pairs, words, page: 30, filter: "e.g. slower bf16",
			sort: { by: "Ratio", down: true }, columns: [{ name: "Problem", always: true, text: row => `${row.b.operation} ${row.b.title}`,
			node: row => node("a", { href: `#p${row.b.id}` }, breakable(`${row.b.operation} ${row.b.title}`)) },
				...side("First", row => row.a), ...side("Later", row => row.b),
			{ name: "Ratio", always: true, value: row => row.ratio, text: row => row.ratio.toFixed(3) },
				{ name: "Verdict", always: true, text: row => row.verdict }] })))];
}

// ---- sizes: problems that differ in one size, or in several that are equal ----
function sweepsOf(entries) {
	const kinds = new Map();
	for (const entry of entries.filter(entry => entry.winner)) {
		const kind = `${entry.operation} ${entry.label} ${Object.keys(entry.keys)}`;
		kinds.set(kind, [...(kinds.get(kind) ?? []), entry]);
	}
	return [...kinds.values()].flatMap(sweepsOfKind).sort((a, b) => b.points.length - a.points.length).slice(0, 4);
}

function sweepsOfKind(list) {
	const integers = entry => Object.keys(entry.keys).filter(key => Number.isInteger(entry.keys[key])), sets = new Map(),
		groups = new Map();
	for (const entry of list)
		for (const key of integers(entry)) {
			const equal = integers(entry).filter(other => entry.keys[other] === entry.keys[key]);
			sets.set(key, [key]).set(equal.join("="), equal);
		}
	for (const entry of list)
		for (const [name, keys] of sets) {
			if (keys.some(key => entry.keys[key] !== entry.keys[keys[0]]))
				continue;
			const others = Object.keys(entry.keys).filter(key => !keys.includes(key)).map(key =>
				`${key}=${entry.keys[key]}`).join(","), id = `${name} ${others}`;
			const group = groups.get(id) ?? { keys, others, points: new Map(), title: valuesOf(entry.title) };
			groups.set(id, group);
			if (!group.points.has(entry.keys[keys[0]]))
				group.points.set(entry.keys[keys[0]], entry);
		}
	return [...groups.values()].filter(group => group.points.size >= 3).map(group =>
		({ ...group, name: group.keys.filter(key => key in group.title).join("=") || group.keys.join("="),
		points: [...group.points].sort((a, b) => a[0] - b[0]).map(([size, entry]) => ({ size, entry })) }));
}

function sweepFigures(group, select) {
	const first = group.points[0], last = group.points.at(-1), speed = group.points.every(p => p.entry.winner.tflops > 0),
		log = last.size > 6 * first.size;
	const waves = p => p.entry.winner.score?.waves, x = { label: group.name, log },
		name = `${first.entry.operation} ${Object.entries(group.title).filter(([key]) => !group.keys.includes(key)).map(pair => pair.join("=")).join(",")}`, flop = p => p.entry.winner.tflops * p.entry.winner.time;
	const point = (p, row, y) => ({ x: p.size, y, go: () => select(p.entry, true),
		tip: () => [`${group.name}=${p.size}`, `${showTime(row.time)}, ${measurementOf(p.entry)}`,
		row.score && `${countOf(row.score.tiles, "tile")} in ${countOf(row.score.waves, "wave")}`, `${row.tile} ${row.family}`, row.configuration] });
	const series = (name, kind, rowOf) => ({ name, kind, line: true, points: group.points.map(p =>
		[p, rowOf(p)]).filter(([, row]) => row?.time > 0).map(([p, row]) => point(p, row, speed ? flop(p) / row.time : row.time)) });
	const families = [...new Set(group.points.flatMap(p => p.entry.families.map(row => row.family)))];
	const of = families.length > 1 ? families.slice(0, 5).map((family, i) => series(shortFamily(first.entry, family), i + 1,
		p => p.entry.families.find(row => row.family === family))) : [];
	// mark where another wave starts, between sizes that are near each other
	const edges = group.points.slice(1).map((p, i) => [group.points[i], p]).filter(([a, b]) => waves(b) > waves(a) &&
		b.size <= 1.3 * a.size).map(([a, b]) => (a.size + b.size) / 2);
	const lines = edges.map(size => ({ kind: "edge", points: [[size, 1e-9], [size, 1e9]] })),
		width = group.points.length > 12 ? 760 : 480, wide = width > 480;
	const counted = group.points.filter(p => waves(p) > 0),
		caption = `A point is a problem of this file; a click shows it.${lines.length ? " Dotted: one more wave begins." : ""}`;
	return [plot({ title: `${speed ? "Speed" : "Time"} over ${group.name}, ${name}`, name: `sizes ${group.name}`, width, wide,
		series: [...of, series("winner of each size", 0, p => p.entry.winner)], lines, x,
		y: { label: speed ? "TFLOP/s" : "time, µs", zero: speed, log: !speed }, caption }),
		counted.length > 1 ? plot({ title: `Waves over ${group.name}, ${name}`, name: `waves ${group.name}`, width, wide,
			height: 220, lines, x, y: { label: "waves", zero: true }, caption,
			series: [{ kind: 2, line: true, points: counted.map(p => point(p, p.entry.winner, waves(p))) }] }) : ""];
}

// ---- the page ----
function section(id, title, ...content) {
	document.getElementById("menu").append(node("a", { href: `#${id}` }, title));
	return node("section", { id }, content);
}

function overview(entries, select, filtered) {
	const drawMap = list => {
		const drawn = list.filter(entry => entry.limit && entry.winner);
		return drawn.length > 1 ? mapOf(drawn, select) : "";
	};
	const map = node("div", { id: "map" }, drawMap(entries)), winners = winnersTable(entries, list => {
			map.replaceChildren(drawMap(list));
			filtered(list);
		});
	return [summary(entries), node("div", { class: map.childNodes.length ? "overview" : "" }, map,
		node("div", { class: "card tall" }, winners))];
}

function devices(entries) {
	const seen = new Set(), once = (title, value) => !value || seen.has(JSON.stringify(value)) ? ""
		: (seen.add(JSON.stringify(value)), facts(title, value));
	const run = r => r && { id: r.id, date: r.date, command: r.command, tiletune: r.tiletune, driver: r.driver, nvrtc: r.nvrtc,
		uuid: r.uuid, clocks: r.clocks, power_limit_w: r.power_limit_w, mig: r.mig, anchor_us: r.anchor_us,
		device: r.device_kind ?? r.device, options: r.options };
	return node("div", { class: "figures" }, entries.flatMap(entry => [once(entry.device.name ?? "Device", entry.device),
		once(`Run of ${entry.label}`, run(entry.run))]));
}

function build(entries) {
	const detail = node("div", { id: "detail" });
	let current;
	const select = (entry, go) => {
		current = entry;
		detail.replaceChildren(...[problemSection(entry)].flat().filter(Boolean));
		if (!go)
			return;
		document.documentElement.style.scrollPaddingTop = `${document.querySelector("header").offsetHeight + 8}px`;
		history.replaceState(null, "", `#p${entry.id}`);
		detail.scrollIntoView();
		detail.querySelector("h2").focus({ preventScroll: true });
	};
	const pairs = pairsOfEntries(entries), sweeps = sweepsOf(entries);
	document.getElementById("page").append(...[
		section("problems", "Problems", overview(entries, select, list =>
			list.length && !list.includes(current) && select(list[0]))),
		section("problem", entries.length > 1 ? "One problem" : "Details", detail),
		pairs.length ? section("comparison", "Comparison", comparison(pairs, select)) : "",
		sweeps.length ? section("sizes", "Sizes", node("h2", {}, "Across sizes"),
			node("div", { class: "figures" }, sweeps.flatMap(group => sweepFigures(group, select)))) : "",
		section("device", "Device", node("h2", {}, "Device and toolchain"), devices(entries))].filter(Boolean));
	const follow = first => {
		const number = /^#p(\d+)$/.exec(location.hash)?.[1];
		if (entries[number])
			select(entries[number], true);
		else if (first)
			select(entries[0]);
	};
	addEventListener("hashchange", () => follow());
	follow(true);
}

function themes() {
	const button = document.getElementById("theme"), order = ["auto", "light", "dark"], dark = matchMedia("(prefers-color-scheme: dark)");
	let chosen = "auto";
	const apply = () => {
		document.documentElement.dataset.theme = chosen !== "auto" ? chosen : dark.matches ? "dark" : "light";
		button.textContent = `Theme: ${chosen}`;
	};
	dark.addEventListener("change", apply);
	button.addEventListener("click", () => {
		chosen = order[(order.indexOf(chosen) + 1) % order.length];
		apply();
	});
	button.hidden = false;
	apply();
}

async function main() {
	const notices = [], say = () => document.getElementById("notices").replaceChildren(...[...new Set(notices)].map(text =>
		node("p", { class: "notice" }, text)));
	themes();
	try {
		if (typeof DecompressionStream === "undefined")
			throw new Error("this browser cannot unpack gzip (it has no DecompressionStream): Chrome 80, Firefox 113, Safari 16.4 and later can");
		const index = JSON.parse(await unpack("index")), sources = await readFiles(index, notices);
		const entries = index.entries.map((given, i) => entryOf(given, i, sources[given.source], index.sheets));
		const comparisons = await readComparisons();
		entries.forEach(entry => { entry.libraries = librariesOf(entry, comparisons); });
		entries.forEach(entry => { entry.several = entries.some(other => other.label !== entry.label); });
		if (entries.some(entry => entry.predicted))
			notices.push(`${entries.every(entry => entry.predicted) ? "All" : "Some"} times are predicted by the model, not measured.`);
		document.querySelector("h1").replaceChildren(...breakable(document.querySelector("h1").textContent));
		build(entries);
		document.getElementById("winners").hidden = true;
	} catch (error) {
		notices.push(`The figures cannot be drawn: ${error.message}. The table below has the winners.`);
	}
	say();
	document.documentElement.dataset.ready = "true";
}

main();
