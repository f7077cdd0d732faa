// All problems: one picture and one table. One problem: its winner, and why others lost.

function shortFamily(entry, family) {
	return family?.startsWith(`${entry.operation}/`) ? family.slice(entry.operation.length + 1) : family ?? "";
}

// Lines may break behind commas.
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

function mapOf(entries, select) {
	const drawn = entries.filter(entry => entry.limit && entry.winner), dtypes = [...new Set(drawn.map(entry => entry.dtype))];
	return plot({ title: `${drawn.length} problem${drawn.length === 1 ? "" : "s"} below the card's limit${dtypes.length === 1 ? `, ${dtypes[0]}` : ""}`, name: "problems", height: 360,
		caption: "Each point is a problem's winner: its speed as a share of what the card allows at that arithmetic intensity (DRAM bandwidth, or the fastest pipe at boost clock). A click shows the problem.",
		series: dtypes.map((dtype, kind) => ({ name: dtype, kind: kind % 6,
			points: drawn.filter(entry => entry.dtype === dtype).map(entry =>
			({ x: entry.intensity, y: shareOf(entry), tip: () => problemTip(entry), go: () => select(entry, true) })) })),
		x: { label: "arithmetic intensity, FLOP per byte", log: true },
			y: { label: "share of the card's limit", zero: true, include: [1],
				show: share => `${show(Number((100 * share).toPrecision(6)))}%` },
		lines: [{ kind: "roof", label: "the card's limit", points: [[1e-3, 1], [1e7, 1]] }] });
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
		{ name: "File", text: row => row.entry.label },
		{ name: "Tile", always: true, hint: "BM x BN x BK", value: row => TILE.slice(0,
			2).reduce((all, name) => all * (row.winner.values[name] ?? 1), 1), text: row => row.winner.tile },
		{ name: "Time", always: true, hint: "of the winner: final measurement, median", value: row => row.winner.time,
			text: row => row.entry.winner ? showTime(row.winner.time) : "none" },
		{ name: "TFLOP/s", ...number(row => row.winner.tflops) },
		{ name: "Of limit", hint: "of what the card allows at this arithmetic intensity", value: row => shareOf(row.entry),
			text: row => percent(shareOf(row.entry)) },
		{ name: "Family", text: row => shortFamily(row.entry, row.winner.family) },
		{ name: "Measured by", text: row => measurementOf(row.entry) },
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
		stat("Time", showTime(winner.time), `${measurementOf(entry)}${interval}`),
		stat("Speed", winner.tflops > 0 && `${show(winner.tflops)} TFLOP/s`,
			entry.limit ? `${percent(shareOf(entry))} of the card's limit here, ${show(entry.limit)} TFLOP/s (${entry.limit < ceiling.tflops ? "DRAM bandwidth" : ceiling.name})${shareOf(entry) > 1 ? "; more than 100%: the limit's bandwidth is what a copy reached" : ""}` : ""),
		stat("Memory", winner.gbPerS > 0 && `${show(winner.gbPerS)} GB/s`,
			`of what must be read and written once${dram ? `; ${percent(winner.gbPerS / dram)} of DRAM's` : ""}`));
}

const BOUNDS = { tensor: "the tensor cores", fp32: "the CUDA cores", mufu: "special functions",
	instructions: "the issue of instructions", smem: "shared memory",
	l2: "the L2 cache", dram: "device memory", latency: "latency" };

// The share of the card's slots that have work: a launch on fewer multiprocessors leaves some out.
function busyOf(entry, score) {
	const all = score.blocks_per_sm * entry.sheet?.sm_count;
	return Math.min(score.wave_efficiency_ratio, score.waves === 1 ? score.waves_exact : 1) *
		(all > score.slots_per_wave ? score.slots_per_wave / all : 1);
}

function reasons(entry) {
	const { score, spill, verified, time } = entry.winner, list = [], ratio = 1 / entry.winner.time;
	if (score?.tiles) {
		const edge = score.tile_efficiency_ratio < 0.9995
			? `; ${percent(1 - score.tile_efficiency_ratio, 1)} of the work is outside of the problem` : "";
		list.push(`${score.tiles} tiles run in ${score.waves} wave${score.waves > 1 ? "s" : ""} of ${score.slots_per_wave} (${score.waves_exact.toFixed(2)} exactly): ${percent(busyOf(entry, score))} of the card's slots are busy${edge}.`);
		list.push(`${score.blocks_per_sm} block${score.blocks_per_sm > 1 ? "s" : ""} per SM (occupancy ${percent(score.occupancy_ratio)}, limited by ${score.occupancy_limiter}): ${score.regs_per_thread} registers per thread, ${show(score.smem_bytes / 1024)} KiB of shared memory${spill > 0 ? `, ${spill} bytes spilled` : ""}.`);
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
	if (entry.chosen?.search && time)
		list.push(`In the search, alone on the card, it took ${showTime(entry.chosen.search)}${entry.predicted || !entry.concluded ? "" : `, in the final measurement ${showTime(time)}`}.`);
	return node("ul", {}, list.map(text => node("li", {}, text)));
}

function differing(a, b) {
	return Object.keys(a.values).filter(key => a.values[key] !== b.values[key]);
}

// Why the winner stands before one that is tied with it, as far as the files tell (src/tune/select.h).
function tieOf(entry, row, other) {
	const { winner } = entry, keys = differing(other, winner), sides = [];
	const launch = other.family === winner.family && keys.every(key => winner.compiled && !(key in winner.compiled)) &&
		other.regs === winner.regs;
	const smem = launch ? winner.smem : other.smem, kib = bytes => `${show(bytes / 1024)} KiB`;
	if (row.low > 0 && winner.low > 0)
		sides.push(` (intervals ${showSpan(row.low, row.high)} of ${row.samples} samples and, of the winner, ${showSpan(winner.low, winner.high)} of ${winner.samples})`);
	const tied = `tied: within 1% or the noise of both${sides.join("")}`;
	const equal = Number.isFinite(smem) && winner.smem === smem;
	if (winner.smem > smem)
		return `${tied}; among tied ones more shared memory wins: ${kib(smem)}, winner ${kib(winner.smem)}`;
	if (equal && winner.regs < other.regs)
		return `${tied}; among tied ones of equal shared memory fewer registers win: ${other.regs}, winner ${winner.regs}`;
	if (equal && winner.regs === other.regs && isListedBefore(entry, winner, other))
		return `${tied}; shared memory and registers are equal, so the order of the space decides`;
	return `${tied}; then the file's former winner stays, else more shared memory, then fewer registers, then the order of the space decide: which one, the files do not tell`;
}

function isListedBefore(entry, a, b) {
	const parameters = entry.searches[0]?.line?.families.find(f => f.name === a.family)?.parameters ?? [];
	const first = a.family === b.family && parameters.find(p => a.values[p.name] !== b.values[p.name]);
	return first && first.values.indexOf(String(a.values[first.name])) < first.values.indexOf(String(b.values[first.name]));
}

// Why a row is not the winner, by what the files say of both.
function whyLost(entry, other) {
	const winner = entry.winner, a = winner.score, b = other.score ?? entry.families.find(row => isOf(row, other))?.score, list = [];
	const tied = entry.tied.find(row => isOf(row, other));
	const more = (name, words) => a?.[name] > 0 && b?.[name] > 1.03 * a[name] &&
		list.push(`${words} ${(b[name] / a[name]).toFixed(2)} times the winner's`);
	const known = (name, words, text = show) => other[name] > 0 && winner[name] > 0 && other[name] !== winner[name] &&
		list.push(`${text(other[name])} ${words}, winner ${text(winner[name])}`);
	if (tied)
		list.push(tieOf(entry, tied, other));
	if (a && b) {
		const [busy, best] = [busyOf(entry, b), busyOf(entry, a)];
		if (b.waves > a.waves || busy < best - 0.02)
			list.push(`${b.waves} wave${b.waves > 1 ? "s" : ""} with ${percent(busy)} of the card's slots busy, winner ${a.waves} with ${percent(best)}`);
		if (b.tile_efficiency_ratio < a.tile_efficiency_ratio - 0.005)
			list.push(`${percent(1 - b.tile_efficiency_ratio, 1)} of its work is outside of the problem, winner ${percent(1 - a.tile_efficiency_ratio, 1)}`);
		if (b.blocks_per_sm < a.blocks_per_sm)
			list.push(`${b.blocks_per_sm} block${b.blocks_per_sm > 1 ? "s" : ""} per SM, limited by ${b.occupancy_limiter}, winner ${a.blocks_per_sm}`);
		more("l2_bytes", "traffic from L2 is");
		more("dram_bytes", "traffic from DRAM is");
		more("bank_conflict_ratio", "bank conflicts are");
		if (a.bound !== b.bound)
			list.push(`by the model bound by ${BOUNDS[b.bound] ?? b.bound}, winner by ${BOUNDS[a.bound] ?? a.bound}`);
		more("predicted_time_us", "predicted time is");
	} else {
		if (other.tile !== winner.tile)
			list.push(`its tile is ${other.tile || "not named"}, winner ${winner.tile}`);
		known("blocks", "blocks per SM");
		known("regs", "registers per thread");
		known("smem", "bytes of shared memory");
	}
	if (other.spill > 0 && !(winner.spill > 0))
		list.push(`it spills ${other.spill} bytes`);
	if (!list.length)
		list.push(a && b ? "the model sees no difference: only the clock tells them apart"
			: "what the files say of both (tile, blocks per SM, registers, spills) is equal");
	if (other.family !== winner.family)
		list.push(`it is of family ${other.family}`);
	else
		list.push(`it differs in ${differing(other, winner).map(key => `${key}=${other.values[key]} (winner ${winner.values[key]})`).join(", ")}`);
	return list;
}

// The next best: of the final measurement, else of the search, else of the tuned file.
function runnerUp(entry) {
	const others = candidatesOf(entry).filter(c => !isOf(c, entry.winner)), { chosen, winner } = entry;
	const least = (list, by) => list.filter(row => by(row) > 0).reduce((a, b) => !a || by(b) < by(a) ? b : a, undefined);
	const final = least(others, c => c.overWinner), search = least(others, c => c.search);
	if (final)
		return { row: final, time: final.final, over: final.overWinner, measured: "final measurement" };
	if (search)
		return { row: search, time: search.search, over: search.search / chosen?.search,
			measured: entry.predicted ? "prediction" : "search" };
	const row = least([...entry.tied, ...entry.families].filter(row => !isOf(row, winner)), row => row.time);
	return row && { row, time: row.time, over: row.time / winner.time, measured: measurementOf(entry) };
}

function runnerUpCard(entry) {
	const found = runnerUp(entry);
	if (!found)
		return "";
	const { row, time, over, measured } = found, tied = entry.tied.some(other => isOf(row, other));
	const distance = over > 0 ? `, ${showOver(over)}% (${over < 1 ? `faster${tied ? ", but tied" : ""}` : tied ? "tied" : "slower"})` : "";
	const same = row.tile === entry.winner.tile ? ` ${differing(row, entry.winner).map(key => `${key}=${row.values[key]}`).join(" ")}` : "";
	return node("div", { id: "runner-up" }, node("p", {}, node("b", {}, "Runner-up: "),
		node("b", {}, row.tile || row.configuration), ` ${row.family}${same}, ${showTime(time)} in the ${measured}${distance}.`),
		node("p", {}, "Why it lost: ", whyLost(entry, row).join("; "), "."));
}

// How much longer than the winner, in one measurement.
function distanceOf(entry, row) {
	const c = entry.candidates.find(c => isOf(c, row)), search = c?.search / entry.chosen?.search;
	if (!c || c.overWinner || !(search > 0))
		return `${(c?.overWinner ?? row.time / entry.winner.time).toFixed(2)} times as long`;
	return `${search.toFixed(2)} times as long${entry.predicted ? "" : " in the search"}`;
}

function otherFamilies(entry) {
	const rows = entry.families.filter(row => row.family !== entry.winner.family && row.time > 0);
	return node("ul", {}, rows.map(row => node("li", {},
		`The best of ${row.family}, ${row.tile || row.configuration}, takes ${distanceOf(entry, row)}: ${whyLost(entry, row).slice(0, -1).join("; ")}.`)));
}
