// Why others lost to the winner: by what the tuned file says of the decision ("lost", src/tune/selection.h), else by what
// times, resources and parameters tell. What is worked out here is called probable.
//
// lost: {by, ratio, low, high, rounds, value, winnerValue, worked: it was worked out here}

// ---- statistics, as src/base/statistics.c has them ----
const STUDENT_95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179];

function medianOf(values) {
	const sorted = [...values].sort((a, b) => a - b), middle = (sorted.length - 1) / 2;
	return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

// The middle of a series and its 95% interval: outliers are moved, the variance is that of the slowest cosine waves.
function intervalOf(series) {
	const count = series.length, middle = medianOf(series), most = 5 * 1.4826 * medianOf(series.map(v => Math.abs(v - middle)));
	const values = most > 0 ? series.map(v => Math.min(Math.max(v, middle - most), middle + most)) : series;
	const waves = Math.min(Math.max(3, Math.floor(0.41 * Math.cbrt(count * count))), STUDENT_95.length, count - 1);
	let squares = 0;
	for (let wave = 1; wave <= waves; wave++) {
		const part = values.reduce((sum, v, i) => sum + v * Math.cos(Math.PI * wave / count * (i + 0.5)), 0);
		squares += 2 * part * part / count;
	}
	const value = values.reduce((sum, v) => sum + v / count, 0);
	const half = waves > 0 ? STUDENT_95[waves - 1] * Math.sqrt(squares / waves / count) : 0;
	return { ratio: value, low: value - half, high: value + half };
}

// ---- how far two rows are apart ----
function differing(a, b) {
	return Object.keys(a.values).filter(key => a.values[key] !== b.values[key]);
}

// The same kernel, launched otherwise: what differs is no constant of the compiled source.
function isLaunchOf(winner, other) {
	const keys = differing(other, winner);
	return other.family === winner.family && keys.length > 0 && Boolean(winner.compiled) && keys.every(key => !(key in winner.compiled));
}

const ROUNDS_MIN = 6;

// A row's time over the winner's, of the last measurement that both were in.
function comparisonOf(entry, row) {
	const c = entry.candidates.find(c => isOf(c, row)), { chosen, winner } = entry;
	const rounds = c?.overWinner && Math.min(c.samples?.length ?? 0, chosen?.samples?.length ?? 0);
	if (rounds >= ROUNDS_MIN)
		return { ...intervalOf(c.samples.slice(0, rounds).map((us, i) => us / chosen.samples[i])), rounds };
	if (c?.overWinner)
		return { ratio: c.overWinner };
	if (c?.final > 0)
		return { ratio: c.overEarlier, earlier: true };
	if (c?.search > 0 && chosen?.search > 0)
		return { ratio: c.search / chosen.search, search: true };
	return { ratio: row.time / winner.time };
}

// ---- what decided ----
// Steps of 1%, by which predictions are compared.
function stepOf(us) {
	return Math.floor(Math.log(us) / 0.01);
}

function isListedBefore(entry, a, b) {
	const parameters = entry.searches[0]?.line?.families.find(f => f.name === a.family)?.parameters ?? [];
	const first = a.family === b.family && parameters.find(p => a.values[p.name] !== b.values[p.name]);
	return first ? first.values.indexOf(String(a.values[first.name])) < first.values.indexOf(String(b.values[first.name])) : undefined;
}

// As many kernels every search tries first: the model's shortlist (src/tune/shortlist.h).
const SHORTLIST = 8;

function isTriedFirst(entry, row) {
	const at = entry.candidates.findIndex(c => isOf(c, row));
	return at >= 0 && at < SHORTLIST;
}

// Of two that are tied: the first step of the order of preference that tells them apart. A step that is for the other row
// did not decide: then it was one before it.
function ruleOf(entry, row, other) {
	const { winner } = entry, launch = isLaunchOf(winner, other);
	const smem = launch ? winner.smem : other.smem ?? row.smem, regs = launch ? winner.regs : other.regs ?? row.regs;
	const of = (by, value, winnerValue, isFor) => isFor ? { by, value, winnerValue } : { by: "before", value: by };
	if (entry.predicted && stepOf(row.time) !== stepOf(winner.time))
		return of("prediction", row.time, winner.time, winner.time < row.time);
	if (!entry.predicted && isTriedFirst(entry, winner) && !isTriedFirst(entry, other))
		return { by: "planned" };
	if (!(smem >= 0 && winner.smem >= 0))
		return { by: "unknown" };
	if (smem !== winner.smem)
		return of("shared_memory", smem, winner.smem, (winner.smem > smem) === !entry.predicted);
	if (!(regs >= 0 && winner.regs >= 0))
		return { by: "unknown" };
	if (regs !== winner.regs)
		return of("registers", regs, winner.regs, winner.regs < regs);
	return of("order", undefined, undefined, isListedBefore(entry, winner, other) !== false);
}

function lostOf(entry, row) {
	const tied = entry.tied.find(other => isOf(other, row));
	const said = [tied, entry.runnerUp, ...entry.families].find(other => other?.lost && isOf(other, row))?.lost;
	if (said)
		return { by: said.by, ratio: said.ratio, low: said.ratio_low, high: said.ratio_high, rounds: said.rounds ?? 0,
			value: said.value, winnerValue: said.winner_value, earlier: !said.rounds && !tied && !entry.predicted };
	const found = { ...comparisonOf(entry, row), worked: true };
	if (tied)
		return { ...found, ...ruleOf(entry, tied, row) };
	return { ...found, by: found.earlier && found.ratio < 1 + TIE ? "earlier_round" : found.ratio < 1 ? "untied" : "slower" };
}

// ---- as text ----
// Two sizes of shared memory that differ, in KiB; in bytes where KiB would look the same.
function smemTexts(...sizes) {
	const texts = sizes.map(bytes => `${show(bytes / 1024)} KiB`);
	return texts[0] === texts[1] ? sizes.map(bytes => `${bytes} bytes`) : texts;
}

// "2.1% slower in 9 common rounds (95%: 1.2 to 3.0%)"
function distanceText(entry, lost) {
	// what is worked out here is a ratio of times
	const text = showOver(lost.ratio), energy = entry.objective === "energy" && !lost.worked, faster = lost.ratio < 1;
	const words = Number(text) === 0 ? energy ? "as much energy" : "as fast as the winner"
		: `${text.replace(/[+-]/, "")}% ${energy ? faster ? "less energy" : "more energy" : faster ? "faster" : "slower"} than the winner`;
	const ends = (faster ? [lost.high, lost.low] : [lost.low, lost.high]).map(end => 100 * (end - 1) * (faster ? -1 : 1));
	const span = lost.low > 0 && lost.high > 0 ? ` (95%: ${ends.map(end => end.toFixed(1).replace(/^-0\.0$/, "0.0")).join(" to ")}%)` : "";
	const where = lost.rounds ? ` in ${lost.rounds} common rounds${span}` : entry.predicted ? " by prediction" : lost.search || !entry.concluded
		? " in the search" : lost.earlier ? " in an earlier round of the final measurement, corrected by what the clock did since" : " in the final measurement";
	return `${words}${where}`;
}

// The order of preference of src/tune/selection.h, said once.
function ruleOfTies(entry) {
	const first = "one that every search of the problem tries first (planned: the kernels that the model predicts to be the fastest, its shortlist)";
	return entry.tied.length ? node("p", { id: "rule", class: "muted" }, `Among tied configurations a fixed rule chooses, not the ${entry.objective === "energy" ? "energy" : "time"}: the file's former winner, then ${
		entry.predicted ? `the better prediction in steps of 1%, ${first}, less` : `${first}, more`} shared memory, fewer registers, the first in the order of the space.`) : "";
}

// CODE_PLACEMENT_NOISE_US of src/tune/selection.h
const PLACE_US = 0.15;

// How a row can be tied that is so far from the winner. What is tied is tied with the fastest of all, or with the fastest
// launch of the winner's kernel: the winner itself may be slower than that. Where few blocks run, the place of the code adds noise.
function tieText(entry, row, lost) {
	const { winner } = entry, faster = lost.ratio < 1, energy = entry.objective === "energy";
	const few = !energy && !entry.predicted && winner.score?.tiles < entry.sheet?.sm_count / 2 ? 2 * PLACE_US / winner.time : 0;
	const end = (faster ? lost.high : lost.low) || NaN, beyond = (faster ? 1 - end : end - 1) - TIE / 2 * lost.ratio - TIE / 2;
	const chosen = faster && Number(showOver(lost.ratio)) ? `the winner was chosen among those that are tied, not by its ${energy ? "energy" : "time"}: ` : "";
	if (energy && lost.worked)
		return "; the file counts it as tied by energy; ";
	if (Math.abs(lost.ratio - 1) <= TIE)
		return `, which counts as tied (within 1% or noise); ${chosen}`;
	if (beyond <= 0)
		return `, which counts as tied (the interval reaches to 1%); ${chosen}`;
	if (beyond <= few)
		return `, which counts as tied (where few blocks run, one load of the code may be up to ${2 * PLACE_US} µs slower than another); ${chosen}`;
	const launch = entry.tied.filter(other => isLaunchOf(winner, other)).reduce((a, b) => b.time < a.time ? b : a, winner);
	const own = faster && !energy && launch !== winner && !isLaunchOf(winner, row)
		? `kernels are compared by their fastest launches, the winner's by one of ${showTime(launch.time)}; ` : "";
	return `; the file counts it as tied; ${chosen}${own}`;
}

function ruleText(entry, lost, row) {
	const { winner } = entry, maybe = lost.worked ? "probably " : "";
	const key = row.family === winner.family ? differing(row, winner)[0] : undefined;
	const both = texts => lost.value >= 0 ? `: ${texts[0]}, this one ${texts[1]}` : "", values = [lost.winnerValue, lost.value];
	return {
		incumbent: () => "the file's former winner stays",
		planned: () => `the rule ${maybe}took the winner as one of the few that every search tries first (the model's shortlist)`,
		prediction: () => `the rule ${maybe}took the better prediction${both(values.map(showTime))}`,
		shared_memory: () => `the rule ${maybe}took the one with ${lost.winnerValue > lost.value ? "more" : "less"} shared memory${both(smemTexts(...values))}`,
		registers: () => `with equal shared memory the rule ${maybe}took the one with fewer registers${both(values.map(show))}`,
		order: () => `with equal shared memory and registers the rule ${maybe}took the first in the order of the space${key ? `: ${key}=${winner.values[key]} before ${row.values[key]}` : ""}`,
		before: () => `the winner probably stood in the file before, or is one of the few that every search tries first (${
			{ prediction: "the prediction", shared_memory: "shared memory", registers: "registers" }[lost.value] ?? "the order of the space"} alone would have preferred this one)`,
	}[lost.by]?.() ?? "which step of the rule decided, the files do not tell";
}

// One sentence: why a row is not the winner.
function lostText(entry, row) {
	const { winner } = entry, lost = lostOf(entry, row), distance = distanceText(entry, lost), maybe = lost.worked ? "probably " : "";
	const launch = isLaunchOf(winner, row) ? `the same kernel, launched with ${differing(row, winner).map(key =>
		`${key}=${row.values[key]} instead of ${winner.values[key]}`).join(", ")}: ` : "";
	const over = lost.value > 0 ? ` (${showOver(lost.value)}% over it; the winner ${showOver(lost.winnerValue)}%)` : "";
	if (lost.worked && entry.objective === "energy" && !entry.tied.some(other => isOf(other, row)))
		return `${launch}${distance}; the winner was chosen by energy, which the files do not tell of this one`;
	const say = {
		slower: () => lost.search && entry.concluded && !entry.predicted ? `${distance}; it was not among those that were timed again`
			: `${distance}${entry.predicted || lost.search || !entry.concluded ? "" : ", which is more than noise"}`,
		untied: () => `${distance}, but not tied with the fastest of all, as a launch of the winner's kernel is${over}`,
		earlier_round: () => `${distance}; it was not timed in the last round, ${maybe}because the rule prefers others that are as fast`,
	}[lost.by];
	return `${launch}${say ? say() : `${distance}${tieText(entry, row, lost)}${ruleText(entry, lost, row)}`}`;
}

// How a row differs from the winner, by what the files say of both.
function differences(entry, other) {
	const winner = entry.winner, a = winner.score, b = other.score ?? entry.families.find(row => isOf(row, other))?.score, list = [];
	const more = (name, words) => a?.[name] > 0 && b?.[name] > 1.03 * a[name] &&
		list.push(`${words} ${(b[name] / a[name]).toFixed(2)} times the winner's`);
	const known = (name, words, text = show) => other[name] > 0 && winner[name] > 0 && other[name] !== winner[name] &&
		list.push(`${text(other[name])} ${words}, winner ${text(winner[name])}`);
	if (a && b) {
		const [busy, best] = [busyOf(entry, b), busyOf(entry, a)];
		if (b.waves > a.waves || busy < best - 0.02)
			list.push(`${countOf(b.waves, "wave")} with ${percent(busy)} of the card's slots busy, winner ${a.waves} with ${percent(best)}`);
		if (b.tile_efficiency_ratio < a.tile_efficiency_ratio - 0.005)
			list.push(`${percent(1 - b.tile_efficiency_ratio, 1)} of its work is outside of the problem, winner ${percent(1 - a.tile_efficiency_ratio, 1)}`);
		if (b.blocks_per_sm < a.blocks_per_sm)
			list.push(`${countOf(b.blocks_per_sm, "block")} per SM, limited by ${RESOURCES[b.occupancy_limiter] ?? b.occupancy_limiter}, winner ${a.blocks_per_sm}`);
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
	return list;
}

// Why it lost, in one sentence; then what it differs in.
function whyLost(entry, other) {
	const list = differences(entry, other);
	if (other.family !== entry.winner.family)
		list.push(`it is of family ${other.family}`);
	else if (!isLaunchOf(entry.winner, other) && differing(other, entry.winner).length)
		list.push(`it differs in ${differing(other, entry.winner).map(key => `${key}=${other.values[key]} (winner ${entry.winner.values[key]})`).join(", ")}`);
	return [node("p", {}, node("b", {}, "Why it lost: "), lostText(entry, other), "."),
		list.length ? node("p", { class: "muted" }, "Compared with the winner: ", list.join("; "), ".") : ""];
}

// ---- the runner-up ----
// As the file names it; else the next best of the final measurement, in any of its rounds, of the search, of the file.
function runnerUp(entry) {
	const others = candidatesOf(entry).filter(c => !isOf(c, entry.winner)), { winner } = entry, named = entry.runnerUp;
	const least = (list, by) => list.filter(row => by(row) > 0).reduce((a, b) => !a || by(b) < by(a) ? b : a, undefined);
	const final = named ? others.find(c => isOf(c, named)) : least(others, c => c.overFinal), search = least(others, c => c.search);
	// the file's time of an earlier round is corrected already
	if (final?.overEarlier)
		return { row: final, time: final.final, corrected: named?.time ?? final.overEarlier * winner.time, measured: "an earlier round of the final measurement" };
	if (named)
		return { row: final ?? named, time: named.time, measured: measurementOf(entry) };
	if (final)
		return { row: final, time: final.final, measured: "final measurement" };
	if (search)
		return { row: search, time: search.search, measured: entry.predicted ? "prediction" : "search" };
	const row = least([...entry.tied, ...entry.families].filter(row => !isOf(row, winner)), row => row.time);
	return row && { row, time: row.time, measured: measurementOf(entry) };
}

function runnerUpCard(entry) {
	const found = runnerUp(entry);
	if (!found)
		return "";
	const { row, time, corrected, measured } = found;
	const clock = corrected > 0 && showTime(corrected) !== showTime(time) ? `, ${showTime(corrected)} when corrected by what the clock did since` : "";
	const same = row.tile === entry.winner.tile ? ` ${differing(row, entry.winner).map(key => `${key}=${row.values[key]}`).join(" ")}` : "";
	return [node("div", { id: "runner-up" }, node("p", {}, node("b", {}, "Runner-up: "), node("b", {}, row.tile || row.configuration),
		` ${row.family}${same}, ${showTime(time)} ${measured === "predicted" || measured.startsWith("best") ? "" : measured.startsWith("an") ? "in " : "in the "}${measured}${clock}.`), whyLost(entry, row)), ruleOfTies(entry)];
}

// ---- other families ----
function otherFamilies(entry) {
	const rows = entry.families.filter(row => row.family !== entry.winner.family && row.time > 0);
	return node("ul", {}, rows.map(row => {
		const over = lostOf(entry, row), list = differences(entry, row);
		return node("li", {}, `The best of ${row.family}, ${row.tile || row.configuration}, takes ${over.ratio.toFixed(2)} times as long${
			over.search && !entry.predicted ? " in the search" : ""}${over.by === "slower" ? "" : ` (${lostText(entry, row)})`}${list.length ? `: ${list.join("; ")}` : ""}.`);
	}));
}
