// Explains why other rows lost to the winner, from the decision in the tuned file ("lost",
// src/tune/selection.h). For a row without a decision the page shows its distance from the winner.
//
// lost: {by, ratio, low, high, rounds, value, winnerValue}; without "by" it is a ratio of times

function medianOf(values) {
	const sorted = [...values].sort((a, b) => a - b), middle = (sorted.length - 1) / 2;
	return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

// ---- the difference of two rows ----
function differing(a, b) {
	return Object.keys(a.values).filter(key => a.values[key] !== b.values[key]);
}

// The same kernel with other launch arguments: no differing parameter is a constant of the compiled source.
function isLaunchOf(winner, other) {
	const keys = differing(other, winner);
	return other.family === winner.family && keys.length > 0 && Boolean(winner.compiled) && keys.every(key => !(key in winner.compiled));
}

// A row's time over the winner's, from the last measurement that had both.
function comparisonOf(entry, row) {
	const c = entry.candidates.find(c => isOf(c, row)), { chosen, winner } = entry;
	if (c?.overWinner)
		return { ratio: c.overWinner };
	if (c?.final > 0)
		return { ratio: c.overEarlier, earlier: true };
	if (c?.search > 0 && chosen?.search > 0)
		return { ratio: c.search / chosen.search, search: true };
	return { ratio: row.time / winner.time };
}

function lostOf(entry, row) {
	const tied = entry.tied.find(other => isOf(other, row));
	const said = [tied, entry.runnerUp, ...entry.families].find(other => other?.lost && isOf(other, row))?.lost;
	return said ? { by: said.by, ratio: said.ratio, low: said.ratio_low, high: said.ratio_high, rounds: said.rounds ?? 0, value: said.value,
		winnerValue: said.winner_value, earlier: !said.rounds && !tied && !entry.predicted } : comparisonOf(entry, row);
}

// ---- as text ----
// Two sizes of shared memory that differ, in KiB; in bytes where KiB would look the same.
function smemTexts(...sizes) {
	const texts = sizes.map(bytes => `${show(bytes / 1024)} KiB`);
	return texts[0] === texts[1] ? sizes.map(bytes => `${bytes} bytes`) : texts;
}

// "2.1% slower in 9 common rounds (95%: 1.2 to 3.0%)"
function distanceText(entry, lost) {
	const text = showOver(lost.ratio), energy = entry.objective === "energy" && Boolean(lost.by), faster = lost.ratio < 1;
	const words = Number(text) === 0 ? energy ? "as much energy" : "as fast as the winner"
		: `${text.replace(/[+-]/, "")}% ${energy ? faster ? "less energy" : "more energy" : faster ? "less time" : "slower"} than the winner`;
	const ends = (faster ? [lost.high, lost.low] : [lost.low, lost.high]).map(end => 100 * (end - 1) * (faster ? -1 : 1));
	const span = lost.low > 0 && lost.high > 0 ? ` (95%: ${ends.map(end => end.toFixed(1).replace(/^-0\.0$/, "0.0")).join(" to ")}%)` : "";
	const where = lost.rounds ? ` in ${lost.rounds} common rounds${span}` : entry.predicted ? " by prediction" : lost.search || !entry.concluded
		? " in the search" : lost.earlier ? " in an earlier round of the final measurement, corrected for clock drift" : " in the final measurement";
	return `${words}${where}`;
}

// The winner and the rows that are tied with it: the rule in a few words, and unfolded the whole rule and each row.
function tiedGroup(entry) {
	if (!entry.tied.length)
		return "";
	const rule = entry.predicted ? "better prediction, less shared memory" : "shortlist, more shared memory, fewer registers";
	const row = other => node("li", {}, node("span", { class: "mono" }, other.family === entry.winner.family
		? differing(other, entry.winner).map(key => `${key}=${other.values[key]}`).join(" ") : `${other.family} ${other.configuration}`),
		`: ${showTime(other.time)}, ${showOver(lostOf(entry, other).ratio)}%`);
	return node("details", { id: "tied" }, node("summary", {}, node("b", {}, "Tied group: "),
		`the winner and ${countOf(entry.tied.length, "other")} within 1% or noise. Preferred: ${rule}.`),
		ruleOfTies(entry), node("ul", {}, entry.tied.map(row)));
}

// The order of preference of src/tune/selection.h, said once.
function ruleOfTies(entry) {
	const first = "one that every search of the problem tries first (planned: the kernels that the model predicts to be the fastest, its shortlist)";
	return node("p", { id: "rule", class: "muted" }, `Among tied configurations a fixed rule chooses, not the ${entry.objective === "energy" ? "energy" : "time"}: the file's former winner, then ${
		entry.predicted ? `the better prediction in steps of 1%, ${first}, less` : `${first}, more`} shared memory, fewer registers, the first in the order of the space.`);
}

// CODE_PLACEMENT_NOISE_US of src/tune/selection.h
const PLACE_US = 0.15;

// Explains how a row can be tied in spite of its distance from the winner. Ties are with the fastest row of
// all, or with the fastest launch of the winner's kernel, and the winner may be slower than that. If few
// blocks run, code placement adds noise.
function tieText(entry, row, lost) {
	const { winner } = entry, faster = lost.ratio < 1, energy = entry.objective === "energy";
	const few = !energy && !entry.predicted && winner.score?.tiles < entry.sheet?.sm_count / 2 ? 2 * PLACE_US / winner.time : 0;
	const end = (faster ? lost.high : lost.low) || NaN, beyond = (faster ? 1 - end : end - 1) - TIE / 2 * lost.ratio - TIE / 2;
	const chosen = faster && Number(showOver(lost.ratio)) ? `the winner was chosen among those that are tied, not by its ${energy ? "energy" : "time"}: ` : "";
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
	const { winner } = entry;
	const key = row.family === winner.family ? differing(row, winner)[0] : undefined;
	const both = texts => lost.value >= 0 ? `: ${texts[0]}, this one ${texts[1]}` : "", values = [lost.winnerValue, lost.value];
	return {
		incumbent: () => "the file's former winner stays",
		planned: () => `the rule took the winner as one of the few that every search tries first (the model's shortlist)`,
		prediction: () => `the rule took the better prediction${both(values.map(showTime))}`,
		shared_memory: () => `the rule took the one with ${lost.winnerValue > lost.value ? "more" : "less"} shared memory${both(smemTexts(...values))}`,
		registers: () => `with equal shared memory the rule took the one with fewer registers${both(values.map(show))}`,
		order: () => `with equal shared memory and registers the rule took the first in the order of the space${key ? `: ${key}=${winner.values[key]} before ${row.values[key]}` : ""}`,
	}[lost.by]?.() ?? "";
}

// One sentence: why a row is not the winner.
function lostText(entry, row) {
	const { winner } = entry, lost = lostOf(entry, row), distance = distanceText(entry, lost);
	const launch = isLaunchOf(winner, row) ? `the same kernel, launched with ${differing(row, winner).map(key =>
		`${key}=${row.values[key]} instead of ${winner.values[key]}`).join(", ")}: ` : "";
	const over = lost.value > 0 ? ` (${showOver(lost.value)}% over it; the winner ${showOver(lost.winnerValue)}%)` : "";
	if (!lost.by)
		return `${launch}${distance}${entry.tied.some(other => isOf(other, row)) ? "; the file counts it as tied" : ""}`;
	const say = {
		slower: () => `${distance}${entry.predicted ? "" : ", which is more than noise"}`,
		untied: () => `${distance}, but not tied with the fastest of all, as a launch of the winner's kernel is${over}`,
		earlier_round: () => `${distance}; it was not timed in the last round, because the rule prefers others that are as fast`,
	}[lost.by];
	return `${launch}${say ? say() : `${distance}${tieText(entry, row, lost)}${ruleText(entry, lost, row)}`}`;
}

// The differences of a row from the winner that the files show.
function differences(entry, other) {
	const winner = entry.winner, a = winner.score, b = other.score ?? entry.families.find(row => isOf(row, other))?.score, list = [];
	const more = (name, words) => a?.[name] > 0 && b?.[name] > 1.03 * a[name] &&
		list.push(`${words} ${(b[name] / a[name]).toFixed(2)} times the winner's`);
	const known = (name, words, text = show) => other[name] > 0 && winner[name] > 0 && other[name] !== winner[name] &&
		list.push(`${text(other[name])} ${words}, winner ${text(winner[name])}`);
	if (a && b) {
		if (b.waves > a.waves || b.wave_efficiency_ratio < a.wave_efficiency_ratio - 0.02)
			list.push(`${b.waves_exact.toFixed(2)} waves with wave efficiency ${percent(b.wave_efficiency_ratio)}${idleText(entry, b)}, winner ${a.waves_exact.toFixed(2)} with ${percent(a.wave_efficiency_ratio)}${idleText(entry, a)}`);
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
		list.push(`it spills ${other.spill} bytes to local memory`);
	return list;
}

// Why it lost, in one sentence, followed by its differences.
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
	// the file's time of an earlier round is already corrected
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
	const isTied = entry.tied.some(other => isOf(other, row));
	const clock = corrected > 0 && showTime(corrected) !== showTime(time) ? `, ${showTime(corrected)} when corrected for clock drift` : "";
	const same = row.tile === entry.winner.tile ? ` ${differing(row, entry.winner).map(key => `${key}=${row.values[key]}`).join(" ")}` : "";
	return [node("div", { id: "runner-up" }, node("p", {}, node("b", {}, isTied ? "Tied: " : "Runner-up: "), node("b", {}, row.tile || row.configuration),
		` ${row.family}${same}, ${showTime(time)} ${measured === "predicted" || measured.startsWith("best") ? "" : measured.startsWith("an") ? "in " : "in the "}${measured}${clock}.`), whyLost(entry, row)), tiedGroup(entry)];
}

// ---- other families ----
function otherFamilies(entry) {
	const rows = entry.families.filter(row => row.family !== entry.winner.family && row.time > 0);
	return node("ul", {}, rows.map(row => {
		const over = lostOf(entry, row), list = differences(entry, row);
		return node("li", {}, `The best of ${row.family}, ${row.tile || row.configuration}, takes ${over.ratio.toFixed(2)} times as long${
			over.search && !entry.predicted ? " in the search" : ""}${!over.by || over.by === "slower" ? "" : ` (${lostText(entry, row)})`}${list.length ? `: ${list.join("; ")}` : ""}.`);
	}));
}
