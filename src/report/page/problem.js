// All problems: one figure and one table. One problem: its winner.

function shortFamily(entry, family) {
	return family?.startsWith(`${entry.operation}/`) ? family.slice(entry.operation.length + 1) : family ?? "";
}

// Lines may break after commas.
function breakable(text) {
	return text.split(",").flatMap((part, i) => i ? [",", node("wbr"), part] : [part]);
}

function chips(row) {
	if (row.configuration.includes("{"))
		return node("span", { class: "mono" }, row.configuration);
	return node("span", { class: "chips" }, Object.entries(row.values).map(([key, value]) =>
		[node("span", { class: TILE.includes(key) ? "chip tile" : "chip" }, `${key}=`, node("b", {}, String(value))), " "]));
}

function fullName(entry) {
	return `${entry.operation} ${entry.title}${entry.several ? ` (${entry.label})` : ""}`;
}

function measurementOf(entry) {
	return entry.predicted ? "predicted" : entry.concluded ? "final measurement" : "best so far in the search";
}

// ---- all problems ----
function problemTip(entry) {
	const winner = entry.winner;
	return [fullName(entry), `${winner.tile} ${winner.family}`,
		`${showTime(winner.time)} (${measurementOf(entry)}), ${show(winner.tflops)} TFLOP/s`,
		entry.limit && `${percent(shareOf(entry))} of the card's limit, ${show(entry.limit)} TFLOP/s`];
}

function mapOf(drawn, select) {
	const dtypes = [...new Set(drawn.map(entry => entry.dtype))];
	return plot({ title: `${drawn.length} problems below the roofline${dtypes.length === 1 ? `, ${dtypes[0]}` : ""}`, name: "problems", height: 360,
		caption: "Each point is a problem's winner: its speed as a share of what the card allows at that arithmetic intensity (DRAM bandwidth, or the fastest pipe at boost clock). A click shows the problem.",
		series: dtypes.map((dtype, kind) => ({ name: dtype, kind: kind % 6,
			points: drawn.filter(entry => entry.dtype === dtype).map(entry =>
			({ x: entry.intensity, y: shareOf(entry), tip: () => problemTip(entry), go: () => select(entry, true) })) })),
		x: { label: "arithmetic intensity, FLOP per byte", log: true },
			y: { label: "share of the roofline", zero: true, include: [1],
				show: share => `${show(Number((100 * share).toPrecision(6)))}%` },
		lines: [{ kind: "roof", label: "roofline", points: [[1e-3, 1], [1e7, 1]] }] });
}

function winnersTable(entries, filtered) {
	const number = f => ({ value: f, text: row => show(f(row)) });
	const rows = entries.map(entry => ({ entry, winner: entry.winner ?? { family: "", configuration: "", values: {}, tile: "" } }));
	const words = ({ entry, winner }) => [entry.operation, entry.title, entry.label, winner.family, winner.configuration, "\0", entry.problem, entry.every];
	const others = row => Object.keys(row.winner.values).filter(key => !TILE.includes(key));
	return table({ name: "winners", rows, words, page: Infinity, filter: "e.g. bf16 M=4096 wgmma",
		filtered: list => filtered(list.map(row => row.entry)), columns: [
		{ name: "Problem", always: true, text: row => `${row.entry.operation} ${row.entry.title}`,
			node: row => node("a", { href: `#p${row.entry.id}` }, breakable(`${row.entry.operation} ${row.entry.title}`)) },
		{ name: "File", text: row => row.entry.several ? row.entry.label : "" },
		{ name: "Tile", always: true, hint: "BM x BN x BK", value: row => TILE.slice(0,
			2).reduce((all, name) => all * (row.winner.values[name] ?? 1), 1), text: row => row.winner.tile },
		{ name: "Time", always: true, hint: "of the winner: final measurement, median", value: row => row.winner.time,
			text: row => row.entry.winner ? showTime(row.winner.time) : "none" },
		{ name: "TFLOP/s", ...number(row => row.winner.tflops) },
		{ name: "Of limit", hint: "of what the card allows at this arithmetic intensity", value: row => shareOf(row.entry),
			text: row => percent(shareOf(row.entry)) },
		{ name: "Family", text: row => shortFamily(row.entry, row.winner.family) },
		{ name: "Measured by", text: row => entries.length > 1 ? measurementOf(row.entry) : "" },
		{ name: "Others", always: true, hint: "the other parameters", text: row =>
			others(row).map(key => `${key}=${row.winner.values[key]}`).join(" "),
			node: row => others(row).length ? node("details", {}, node("summary", {}, `${others(row).length} more`),
				chips(row.winner)) : row.winner.configuration },
	] });
}

function summary(entries) {
	const timed = entries.filter(entry => entry.winner), link = entry => node("a", { href: `#p${entry.id}` }, breakable(fullName(entry)));
	if (timed.length < 2)
		return "";
	const least = (list, by) => list.reduce((a, b) => by(b) < by(a) ? b : a);
	const slowest = least(timed, entry => -entry.winner.time), limited = timed.filter(shareOf);
	const far = limited.length ? least(limited, shareOf) : undefined;
	return node("p", { id: "summary" }, "Slowest: ", link(slowest), `, ${showTime(slowest.winner.time)}. `,
		...(far ? ["Furthest below the card's limit: ", link(far), `, ${percent(shareOf(far), 1)} of it.`] : []));
}

// ---- one problem: the winner ----
function stat(label, value, note) {
	return value ? node("div", { class: "stat" }, node("span", { class: "muted" }, label), node("span", { class: "value" }, value),
		node("span", { class: "muted" }, note)) : "";
}

function stats(entry) {
	const winner = entry.winner, ceiling = ceilingsOf(entry)[0], dram = entry.sheet?.dram_bytes_per_s * 1e-9;
	const interval = winner.low > 0 && winner.samples > 1
		? `, median of ${winner.samples} samples, 95% interval ${showSpan(winner.low, winner.high)}` : "";
	return node("div", { class: "stats" },
		stat(`Tile of the winner, ${TILE.filter(name => name in winner.values).join(" x ")}`, winner.tile, winner.family),
		stat("Time", showTime(winner.time), `${measurementOf(entry)}${entry.l2 ? `, ${entry.l2} cache` : ""}${interval}`),
		stat("Speed", winner.tflops > 0 && `${show(winner.tflops)} TFLOP/s`,
			entry.limit ? `${percent(shareOf(entry))} of the card's limit here, ${show(entry.limit)} TFLOP/s (${entry.limit < ceiling.tflops ? "DRAM bandwidth" : ceiling.name})${shareOf(entry) > 1 ? "; more than 100%: the limit's bandwidth is what a copy reached" : ""}` : ""),
		stat("Memory", winner.gbPerS > 0 && `${show(winner.gbPerS)} GB/s`,
			`of what must be read and written once${dram ? `; ${percent(winner.gbPerS / dram)} of DRAM's` : ""}`));
}

const BOUNDS = { tensor: "the tensor cores", fp32: "the CUDA cores", mufu: "special functions",
	instructions: "the issue of instructions", smem: "shared memory",
	l2: "the L2 cache", dram: "device memory", latency: "latency" };

// Labels of resources whose names in the files are not words.
const RESOURCES = { smem: "shared memory", l2: "L2", dram: "DRAM", fp32: "CUDA cores", mufu: "special functions" };

function countOf(count, word) {
	return `${count} ${word}${count === 1 ? "" : "s"}`;
}

// The share of the card's slots that a launch uses, because a launch may use fewer multiprocessors.
function launchedOf(entry, score) {
	const all = score.blocks_per_sm * entry.sheet?.sm_count;
	return all > score.slots_per_wave ? score.slots_per_wave / all : 1;
}

// Tells how many SMs get no block of the launch.
function idleText(entry, score) {
	const idle = Math.round(entry.sheet?.sm_count * (1 - launchedOf(entry, score)));
	return idle > 0 ? `, ${countOf(idle, "idle SM")}` : "";
}

// Copies the command of the run and the macros of the winner.
function copyButton(entry) {
	const defines = Object.entries(entry.winner.compiled ?? {}).map(([key, value]) => `-D${key}=${value}`).join(" ");
	const copied = [entry.run?.command, defines].filter(Boolean).join("\n");
	return copied && node("button", { type: "button", id: "copy", title: copied, click: async event => {
		const button = event.currentTarget;
		await navigator.clipboard.writeText(copied).then(() => { button.textContent = "Copied"; },
			() => button.after(node("pre", {}, copied)));
	} }, defines ? "Copy command and -D list" : "Copy command");
}

function reasons(entry) {
	const { score, spill, verified, time } = entry.winner, list = [], ratio = 1 / entry.winner.time;
	if (score?.tiles) {
		list.push(`${countOf(score.tiles, "tile")} on ${countOf(score.slots_per_wave, "slot")}: ${score.waves_exact.toFixed(2)} waves, wave efficiency ${percent(score.wave_efficiency_ratio)}${idleText(entry, score)}, tile efficiency ${percent(score.tile_efficiency_ratio, 1)}.`);
		list.push(`${countOf(score.blocks_per_sm, "block")} per SM (occupancy ${percent(score.occupancy_ratio)}, limited by ${RESOURCES[score.occupancy_limiter] ?? score.occupancy_limiter}): ${score.regs_per_thread} registers per thread, ${show(score.smem_bytes / 1024)} KiB of shared memory${spill > 0 ? `, spills ${spill} bytes to local memory` : ""}.`);
		const off = score.predicted_time_us * ratio - 1;
		list.push(`By the model it is bound by ${BOUNDS[score.bound] ?? score.bound}${entry.predicted ? "" : `; predicted ${showTime(score.predicted_time_us)}, ${percent(Math.abs(off))} ${off > 0 ? "more" : "less"} than measured`}.`);
	}
	if (entry.bits) {
		const { rule, loss, mean_loss: mean, worst_loss: worst } = entry.bits;
		list.push(`Tuned with --bits ${rule}: the same bits on ${entry.winner.inputs} inputs${loss >= 0 ? `; ${percent(loss, 1)} slower than the free choice, over all problems ${percent(mean, 1)} in the geometric mean and at most ${percent(worst, 1)}` : ""}.`);
	}
	if (verified && verified !== "reference" && !entry.predicted)
		list.push(verified === "program" ? "verified_by: program. The program compares and times by itself."
			: `Its result was compared with: ${verified}.`);
	for (const { title, time: theirs, family, ours, isWinner } of entry.libraries)
		list.push(`${title} took ${showTime(theirs)}, ${(theirs / ours).toFixed(3)} times as long as ${isWinner ? "this kernel" : `another kernel of ${family}`}, timed in turn with it (${showTime(ours)}).`);
	if (entry.chosen?.search && time && !entry.predicted)
		list.push(`Timed by itself, in the search, it took ${showTime(entry.chosen.search)}${entry.concluded ? `; interleaved with the other best ones, in the final measurement, ${showTime(time)}` : ""}.`);
	return node("ul", {}, list.map(text => node("li", {}, text)));
}
