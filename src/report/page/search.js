// One problem's search: tiles, roofline, prediction, progress, waves, outcomes, candidates.

function candidateTip(entry, c) {
	return [`${c.tile} ${c.family}`, c.final > 0 && `${showTime(c.final)} in ${c.stage === 1 ? "an earlier round of " : ""}the final measurement${
		c.overFinal ? `, ${showOver(c.overFinal)}% over the winner${c.stage === 1 ? " when corrected for clock drift" : ""}` : ""}`,
		c.search > 0 ? `${showTime(c.search)} ${entry.predicted ? "predicted" : "in the search"}, ${showOver(c.overBest)}% over the least there`
			: c.outcome, c.predicted > 0 && `${showTime(c.predicted)} predicted`,
			c.configuration];
}

// Makes the labels of an axis; neighbours share a label if there are many values.
function axisOf(values) {
	const sorted = [...new Set(values)].sort((a, b) => a - b);
	let by = 1;
	while (sorted.length > 24 && (sorted.at(-1) - sorted[0]) / by >= 24)
		by *= 2;
	const starts = [...new Set(sorted.map(v => by > 1 ? Math.floor(v / by) * by : v))];
	return { labels: starts.map(v => by > 1 ? `${v}–${v + by - 1}` : String(v)),
		index: v => starts.indexOf(by > 1 ? Math.floor(v / by) * by : v) };
}

const AXES = [["BM", "BN"], ["TILE_M", "TILE_N"], ["BLOCK_M", "BLOCK_N"], ["BLOCK_Q", "BLOCK_K"]];

function tileAxes(list) {
	const numbers = name => list.every(c => typeof c.values[name] === "number");
	const named = AXES.find(pair => pair.every(numbers));
	const count = name => new Set(list.map(c => c.values[name])).size;
	return named ?? Object.keys(list[0].values).filter(name => numbers(name) && count(name) > 1).sort((a, b) =>
		count(b) - count(a)).slice(0, 2);
}

function heatMap(entry, family) {
	const list = candidatesOf(entry).filter(c => c.family === family), names = list.length ? tileAxes(list) : [];
	if (names.length < 2)
		return "";
	const [rows, columns] = names.map(name => axisOf(list.map(c => c.values[name]))),
		cells = rows.labels.map(() => columns.labels.map(() => []));
	list.forEach(c => cells[rows.index(c.values[names[0]])][columns.index(c.values[names[1]])].push(c));
	const legal = entry.searches[0].line?.families.find(f => f.name === family)?.legal, whole = legal > 0 && list.length >= legal;
	const empty = whole ? "no legal configuration in the space searched" : `not ${entry.predicted ? "predicted" : "measured"}, or not legal`;
	const least = (list, by) => list.filter(by).reduce((a, b) => !a || by(b) < by(a) ? b : a, undefined);
	const cell = (r, c) => {
		const tried = cells[r][c], winner = tried.includes(entry.chosen),
			shown = winner ? entry.chosen : least(tried, t => t.overFinal) ?? least(tried, t => t.overBest),
			where = `${names[0]} ${rows.labels[r]}, ${names[1]} ${columns.labels[c]}`,
			over = shown?.overFinal ?? shown?.overBest;
		if (!shown)
			return { kind: tried.length ? "failed" : whole ? "illegal" : "untried", text: tried.length ? "×" : "",
				tip: () => [where, tried.length ? `${tried.length} tried, none has a time: ${tried[0].outcome}` : empty] };
		return { kind: `q${binOf(over)}`, text: showOver(over, 0), winner, strong: Boolean(shown.overFinal),
			tip: () => [`${where}: ${winner ? "the winner, " : "best "}of ${tried.length} tried`, ...candidateTip(entry, shown)] };
	};
	const final = list.some(c => c.overFinal), best = entry.predicted ? "the least predicted" : "the search's best";
	const states = new Set(cells.flatMap((line, r) => line.map((_, c) => cell(r, c).kind)));
	const bounds = [0, ...BINS], bins = bounds.map((from, i) => [`q${i}`, i === 0 ? `above ${showOver(BINS[0], 0)}%` : i === BINS.length
		? `${showOver(from, 0)}% or less` : `to ${showOver(from, 0)}%`]);
	return grid({ title: `Time by tile, ${family}, ${entry.dtype}, % over ${final ? `the winner (bold) or ${best}` : best}`, name: `tiles ${family}`, rows: rows.labels,
		columns: columns.labels, rowName: names[0], columnName: names[1], cells: cell,
		legend: [...bins.filter(([kind]) => states.has(kind)), ...[["failed", "× tried, none has a time"], ["illegal", empty],
			["untried", empty]].filter(([kind]) => states.has(kind))],
		caption: `The best over the other parameters. ${final ? "Bold: the final time over the winner's final time, of an earlier round when corrected for clock drift. Not bold: nothing of the tile was in the final measurement; the time in the search over the search's best." : `The ${entry.predicted ? "predicted time over the least predicted of all" : "time in the search over the search's best"}.`} The winner's cell is framed and has the winner's own.${entry.where ? ` Searched where ${entry.where}.` : ""}` });
}

function searchFigures(entry) {
	const timed = entry.timed ?? [], families = [...new Set(timed.map(c => c.family))], name = `${entry.operation}, ${entry.dtype}`;
	const point = (c, x, y) => ({ x, y, tip: () => candidateTip(entry, c) });
	const series = (list, x, y) => families.map((family, kind) => ({ name: shortFamily(entry, family), kind: kind % 6,
		points: list.filter(c => c.family === family && x(c) > 0 && y(c) > 0).map(c => point(c, x(c), y(c))) }));
	const scatter = (x, y) => ({ series: series(timed, x, y), winner: entry.chosen?.search > 0
		? { x: x(entry.chosen), y: y(entry.chosen) } : undefined });
	const figures = [roofline(entry, scatter, name)], predicted = timed.filter(c => c.predicted > 0);
	if (predicted.length > 1 && !entry.predicted) {
		const ends = [Math.min(...predicted.map(c => Math.min(c.predicted, c.search))) / 2,
			2 * Math.max(...predicted.map(c => Math.max(c.predicted, c.search)))];
		const quality = entry.model?.measured ? ` Rank correlation ${entry.model.rank_correlation?.toFixed(2)}; the fastest is number ${entry.model.rank_of_best} of the model's list.` : "";
		figures.push(plot({ title: `Predicted and measured time, ${name}`, name: "prediction",
			...scatter(c => c.predicted, c => c.search), x: { label: "predicted, µs", log: true },
			y: { label: "in the search, µs", log: true },
			lines: [{ kind: "roof", points: [[ends[0], ends[0]], [ends[1], ends[1]]] }],
				caption: `On the line the model is right. The winner is ringed.${quality}` }));
	}
	if (timed.length > 2)
		figures.push(progress(entry, families, series, name));
	return figures;
}

function roofline(entry, scatter, name) {
	const flop = entry.flop, intensity = c => c.score?.arithmetic_intensity, measured = scatter(intensity, c => flop / c.search * 1e-6);
	const rows = entry.families.filter(row => row.score?.arithmetic_intensity > 0 && flop > 0).map(row =>
		({ x: intensity(row), y: flop / row.time * 1e-6, tip: () => [`${row.tile} ${row.family}`,
		`${showTime(row.time)}, ${measurementOf(entry)}`, row.configuration] }));
	const inSearch = measured.series.some(s => s.points.length), series = inSearch ? measured.series : [{ kind: 0, points: rows }];
	if (!flop || !series.some(s => s.points.length))
		return "";
	const ceilings = ceilingsOf(entry), slope = entry.sheet?.dram_bytes_per_s * 1e-12, top = ceilings[0]?.tflops,
		lines = ceilings.map(c => ({ kind: "roof", label: `${c.name} ${show(Math.round(c.tflops))}`,
		points: [[c.tflops / slope, c.tflops], [1e6, c.tflops]] }));
	if (top) {
		lines.push({ kind: "roof", label: `DRAM ${show(slope)} TB/s`, points: [[top / slope / 1e4, top / 1e4], [top / slope, top]] });
		if (ceilings[0].sustained < 0.97 * top)
			lines.push({ kind: "roof dashed", points: [[ceilings[0].sustained / slope, ceilings[0].sustained],
				[1e6, ceilings[0].sustained]] });
	}
	const winner = inSearch ? measured.winner : { x: intensity(entry.winner), y: entry.winner.tflops };
	return plot({ title: `Roofline, ${name}`, name: "roofline", series, lines, winner: winner?.x > 0 ? winner : undefined,
		x: { label: "FLOP per byte from DRAM, by the model", log: true, include: top ? [top / slope] : [] },
			y: { label: "TFLOP/s", log: true, include: top ? [top] : [] },
		caption: `${inSearch ? `Every candidate, by its ${entry.predicted ? "predicted time" : "time in the search"}` : `The best of each family, ${entry.predicted ? "as predicted" : "by its final measurement"}`}; the winner is ringed. Limits are at boost clock${ceilings[0]?.sustained < 0.97 * top ? "; dashed: at the clock that dense tensor load leaves" : ""}${top ? "" : "; no sheet of this device is known, so limits are missing"}.` });
}

function progress(entry, families, series, name) {
	const all = candidatesOf(entry), order = new Map(all.map((c, i) => [c, i + 1])), clock = all.every(c => c.at > 0),
		x = c => clock ? c.at : order.get(c);
	const inOrder = [...entry.timed].sort((a, b) => x(a) - x(b)), best = [];
	inOrder.forEach(c => (!best.length || c.search < best.at(-1).y) &&
		best.push({ x: x(c), y: c.search, tip: () => ["The best so far", ...candidateTip(entry, c)] }));
	best.push({ ...best.at(-1), x: x(inOrder.at(-1)) });
	return plot({ title: `Progress of the search, ${name}`, name: "progress",
		series: [...series(entry.timed, x, c => c.search), { name: "best so far", kind: "best", line: true, steps: true,
		hidden: true, points: best }],
		winner: entry.chosen?.search ? { x: x(entry.chosen), y: entry.chosen.search } : undefined,
		x: { label: clock ? "seconds since the problem began" : "candidates", zero: true },
			y: { label: `${entry.predicted ? "predicted" : "in the search"}, µs`, log: true },
			caption: `Each candidate's ${entry.predicted ? "predicted time" : "time in the search"}; the winner is ringed.` });
}

function wavesFigure(entry) {
	const rows = [entry.winner, ...entry.families.filter(row => !isOf(row, entry.winner))].filter(row => row.score?.waves > 0),
		width = 480, left = 12, right = 468;
	if (!rows.length)
		return "";
	return figure({ title: `Waves, ${entry.operation}, ${entry.dtype}`, name: "waves", width, height: 56 * rows.length + 6,
		caption: "Each box is one wave: as many tiles as the card holds at once. Empty at the right of the last one: no tile is left. Empty at the top: idle SMs, for which the launch has no block.",
		draw(canvas) {
			rows.forEach((row, i) => {
				const { waves, waves_exact: exact, slots_per_wave: slots } = row.score, y = 56 * i,
					high = round(24 * launchedOf(entry, row.score)), drawn = Math.min(waves, 24), wide = (right - left) / drawn, gap = drawn > 12 ? 1 : 2;
				canvas.put("text", { x: left, y: y + 16, class: i ? "" : "strong" }, `${row.tile} ${row.family}`);
				canvas.put("text", { x: right, y: y + 16, class: "muted end" },
					`${exact.toFixed(2)} waves, wave efficiency ${percent(row.score.wave_efficiency_ratio)}`);
				for (let w = 0; w < drawn; w++) {
					const share = w < drawn - 1 ? 1 : exact - (waves - 1);
					canvas.put("rect", { class: "slots", x: round(left + w * wide), y: y + 22, width: round(wide - gap), height: 24 });
					canvas.put("rect", { class: share < 0.999 ? "q4" : "q5", x: round(left + w * wide), y: round(y + 46 - high),
						width: round(Math.max(1, (wide - gap) * share)), height: high });
				}
				if (waves > drawn)
					canvas.put("text", { class: "middle on-q5", x: width / 2, y: y + 39 }, `${waves - 1} full waves before the last`);
				canvas.marks.push({ x: width / 2, y: y + 34, tip: () => [`${row.tile} ${row.family}`,
					`${countOf(row.score.tiles, "tile")} in ${countOf(waves, "wave")} of ${slots}`, row.configuration] });
			});
		} });
}

function outcomes(entry) {
	const failed = candidatesOf(entry).filter(c => c.outcome !== "ok"), counts = new Map();
	for (const c of failed) {
		const key = `${c.outcome}\n${c.detail ?? ""}`;
		counts.set(key, { outcome: c.outcome, detail: c.detail ?? "", count: (counts.get(key)?.count ?? 0) + 1 });
	}
	const rows = [...counts.values()].sort((a, b) => b.count - a.count);
	const all = entry.candidates.length, legal = entry.space?.legal ?? entry.searches[0]?.line?.families.reduce((sum, f) =>
		sum + f.legal, 0);
	return node("div", { class: "card" }, node("h3", {}, "Outcomes"), node("p", {},
		`${all - failed.length} of ${all} candidates have a time${legal > all ? `; ${show(legal)} configurations are legal` : ""}.${entry.damaged ? ` ${entry.damaged} damaged lines of the journal are left out.` : ""}`),
		rows.length ? table({ name: "outcomes", rows, page: 8, columns: [{ name: "Outcome", always: true,
			text: row => row.outcome }, { name: "Count", always: true, value: row => row.count, text: row => String(row.count) },
			{ name: "Reason", always: true, kind: "words", text: row => row.detail.length > 300 ? `${row.detail.slice(0, 300)} ...`
				: row.detail }] }) : "");
}

function candidatesTable(entry) {
	const all = candidatesOf(entry), rows = [...(entry.timed ?? []), ...all.filter(c => !(c.search > 0))];
	const number = f => ({ value: f, text: c => show(f(c)) }), time = f => ({ value: f, text: c => showTime(f(c)) }),
		over = f => ({ value: f, text: c => f(c) ? `${showOver(f(c))}%` : "" });
	const second = runnerUp(entry)?.row, final = rows.some(c => c.overWinner), firsts = new Map([[entry.winner.family, entry.winner]]);
	rows.filter(c => !firsts.has(c.family)).forEach(c => firsts.has(c.family) || firsts.set(c.family, c));
	const stages = ["Final measurement", "Measured in an earlier round of the final measurement only; over the winner when corrected for clock drift",
		entry.predicted ? "Predicted, not measured" : final ? "Search only, not measured in the final" : "In the search"];
	return node("div", { class: "card wide" }, node("h3", {}, `${all.length} candidates`),
		table({ name: "candidates", rows, words: c => [c.family, c.configuration, c.outcome], filter: "e.g. BM=128 BN=256 wgmma",
		marked: c => c === entry.chosen ? "marked" : c === second && "second", pinned: c => c === entry.chosen || c === second,
		group: c => stages[c.stage] ?? "No time",
		details: c => [chips(c), c === entry.chosen ? node("p", {}, "The winner.") : c.search > 0
			? whyLost(entry, c)
			: node("p", {}, `${c.outcome}${c.detail ? `: ${c.detail}` : ""}`)], columns: [
			{ name: "Tile", always: true, text: c => c.tile || c.configuration },
			{ name: "Differs in", kind: "pairs", hint: "parameters that are no tile, from the winner's; of another family, from its first row's",
				text: c => differing(c, firsts.get(c.family)).filter(key => !TILE.includes(key)).map(key => `${key}=${c.values[key]}`).join(" ") },
			{ name: "Final time", always: !entry.predicted, ...time(c => c.final) },
				{ name: "Over winner", always: !entry.predicted, hint: "the final time over the winner's final time; of an earlier round when corrected for clock drift; the text of a row compares common rounds", ...over(c => c.overFinal) },
				{ name: entry.predicted ? "Predicted time" : "Search time", always: true, ...time(c => c.search) },
				{ name: entry.predicted ? "Over the least" : "Over best search",
					hint: entry.predicted ? "the predicted time over the least of them" : "the time in the search over the least time in the search", always: true,
				...over(c => c.overBest) }, ...(entry.predicted ? [] : [{ name: "Predicted", ...time(c => c.predicted) }]),
			{ name: "Waves", value: c => c.score?.waves_exact, text: c => c.score?.waves_exact?.toFixed(2) ?? "" },
				{ name: "Blocks/SM", ...number(c => c.blocks) }, { name: "Registers", ...number(c => c.regs) },
			{ name: "Bound", text: c => RESOURCES[c.score?.bound] ?? c.score?.bound ?? "" }, { name: "Family", text: c => shortFamily(entry, c.family) },
				{ name: "Outcome", text: c => c.outcome }] }));
}

function problemSection(entry) {
	const head = node("h2", { tabindex: -1 }, breakable(fullName(entry)));
	if (!entry.winner)
		return [head, node("p", { class: "notice" }, "No candidate has a time."), entry.searches.length ? outcomes(entry) : ""];
	candidatesOf(entry);
	const families = [...new Set([entry.winner.family, ...entry.candidates.map(c => c.family)])];
	return [head, entry.concluded ? "" : node("p", { class: "notice" }, "The search did not end: this is the best so far."),
		node("div", { class: "card" }, stats(entry), node("div", { class: "configuration" }, chips(entry.winner), copyButton(entry)),
			runnerUpCard(entry), reasons(entry), otherFamilies(entry)),
		node("div", { class: "figures" }, families.map(family => heatMap(entry, family)), searchFigures(entry), wavesFigure(entry),
			entry.candidates.length ? [outcomes(entry), candidatesTable(entry)]
				: node("p", { class: "notice" }, "The tuned file has no journal next to it: the other candidates are not known."))];
}
