"use strict";
// The data that the program wrote into the page, unpacked and linked.
//
// entry:      one tuned problem: {operation, title, label, dtype, winner, families, tied, searches, ...}
// row:        a winner, or another family's best: {family, configuration, values, tile, time, score, ...}
// candidate:  a configuration of the search: {family, configuration, values, tile, outcome, search, final, ...}
// Times are in microseconds. `final` is the final measurement, in which the best candidates are timed
// in turn; `search` is a candidate's own time in the search. One never replaces the other:
// overWinner is the final time over the winner's; overEarlier is that of an earlier round, corrected for clock
// drift; overFinal is whichever of both exists; overBest is the time in the search over the least one there.

// ---- unpacking ----
function bytesOf(base64) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(base64);
	const text = atob(base64), bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	return bytes;
}

async function unpack(id) {
	const packed = new Blob([bytesOf(document.getElementById(id).textContent.trim())]);
	return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

// ---- configurations ----
// "BM=128,BN=256" -> {BM: 128, BN: 256}; a program's free text -> {}
function valuesOf(text) {
	const values = Object.create(null);
	for (const pair of text.includes("{") ? [] : text.split(",")) {
		const at = pair.indexOf("="), value = pair.slice(at + 1);
		if (at > 0)
			values[pair.slice(0, at)] = value !== "" && isFinite(value) ? Number(value) : value;
	}
	return values;
}

function configurationText(row) {
	const text = values => Object.entries(values ?? {}).map(([key, value]) => `${key}=${value}`).join(",");
	return text(row.configuration);
}

const TILE = ["BM", "BN", "BK"];

function tileOf(values) {
	return TILE.filter(name => name in values).map(name => values[name]).join("x");
}

// A tied row stores only its differences from the winner.
function tiedOf(json, winner) {
	return rowOf(json.family ? json : { ...json, family: winner.family, configuration: { ...winner.configuration, ...json.configuration } });
}

function rowOf(json) {
	const configuration = configurationText(json), values = valuesOf(configuration), time = json.time_us ?? {};
	return { family: json.family, configuration, values, tile: tileOf(values), time: time.median, low: time.ci95_low,
		high: time.ci95_high, samples: time.samples, tflops: json.tflops, gbPerS: json.gb_per_s, score: json.score,
		regs: json.regs_per_thread, smem: json.smem_bytes, spill: json.spill_bytes, verified: json.verified_by || json.verified, inputs: json.bits?.inputs,
		blocks: json.score?.blocks_per_sm ?? json.launches?.[0]?.blocks_per_sm, compiled: json.defines, lost: json.lost };
}

// ---- journals ----
// Stores lines of evaluations as text, by run and number of their problem, until the problem is shown.
function readJournal(text, label, notices) {
	const journal = { runs: new Map(), problems: new Map() };
	const problem = (run, number) => {
		const key = `${run} ${number}`;
		if (!journal.problems.has(key))
			journal.problems.set(key, { lines: [] });
		return journal.problems.get(key);
	};
	let run = "";
	for (let at = 0, end, lines = 1; at < text.length; at = end + 1, lines++) {
		end = text.indexOf("\n", at);
		const torn = end < 0;
		end = torn ? text.length : end;
		const line = text.slice(at, end);
		if (!torn && (line.startsWith('{"event":"evaluation"') || line.startsWith('{"event":"final"'))) {
			const tail = line.slice(-240), number = /"problem":(\d+)/.exec(line.slice(0, 60) + tail);
			if (number)
				problem(/"run":"([^"]*)"/.exec(tail)?.[1] ?? run, number[1]).lines.push(line);
			continue;
		}
		let event;
		try {
			event = JSON.parse(line);
		} catch {
			if (line.trim())
				notices.push(torn ? `${label}: the last line of the journal is torn and is left out.`
					: `${label}: line ${lines} of the journal is damaged and is left out.`);
			continue;
		}
		if (event.event === "run")
			journal.runs.set(run = event.id, event);
		else if (event.event === "problem")
			problem(event.run ?? run, event.number).line = event;
		else if (event.event === "entry")
			problem(event.run ?? run, event.problem).entry = event.entry;
		else if (event.event === "evaluation" || event.event === "final")
			problem(event.run ?? run, event.problem).lines.push(line);
	}
	return journal;
}

function candidateOf(line) {
	const values = valuesOf(line.configuration), samples = line.samples_us ?? [];
	const time = line.time_us?.median ?? [...samples].sort((a, b) => a - b)[samples.length >> 1];
	// The kernel with the most registers counts, because copies and sums have fewer.
	const main = (line.resources ?? []).reduce((a, b) => a && a.regs_per_thread >= b.regs_per_thread ? a : b, undefined);
	return { family: line.family, configuration: line.configuration, values, tile: tileOf(values), outcome: line.outcome,
		detail: line.detail, search: line.outcome === "ok" ? time : undefined, score: line.score, at: line.at_s,
		predicted: line.score?.predicted_time_us, regs: line.score?.regs_per_thread ?? main?.regs_per_thread,
		blocks: line.score?.blocks_per_sm ?? main?.blocks_per_sm, smem: line.score?.smem_bytes,
		spill: (main?.spill_store_bytes ?? 0) + (main?.spill_load_bytes ?? 0) };
}

function isOf(row, other) {
	return row.configuration === other.configuration && row.family === other.family;
}

// Returns all candidates of an entry in the order of the search; for a repeated candidate, the newest run's result.
function candidatesOf(entry) {
	if (entry.candidates)
		return entry.candidates;
	const found = new Map(), finals = new Map();
	let damaged = 0, round = 0;
	for (const search of [...entry.searches].reverse()) {
		round++;
		for (const text of search.lines) {
			let line;
			try {
				line = JSON.parse(text);
			} catch {
				damaged++;
				continue;
			}
			const key = `${line.family} ${line.configuration}`;
			if (line.event !== "final") {
				found.set(key, candidateOf(line));
				continue;
			}
			// measuring candidates again begins another round; the last round selected the winner
			const known = finals.get(key) ?? { rounds: new Map() }, final = candidateOf(line).search;
			round += known.round === round;
			known.rounds.set(round, final);
			finals.set(key, Object.assign(known, { final, round, samples: line.samples_us }));
		}
	}
	entry.damaged = damaged;
	for (const [key, final] of finals)
		if (found.has(key))
			Object.assign(found.get(key), final);
	entry.round = round;
	entry.candidates = [...found.values()];
	finishCandidates(entry);
	return entry.candidates;
}

// Returns the clock drift since an earlier round of the final measurement, from the candidates in both that and the last round.
function clockOf(entry, timed, round) {
	entry.clocks ??= new Map();
	if (!entry.clocks.has(round)) {
		const both = timed.filter(c => c.rounds?.has(round) && c.rounds.has(entry.round));
		entry.clocks.set(round, both.length ? medianOf(both.map(c => c.rounds.get(entry.round) / c.rounds.get(round))) : 1);
	}
	return entry.clocks.get(round);
}

// The file has the model's score only for the winner, the journal for every candidate.
function addScores(entry) {
	for (const row of entry.families) {
		const found = entry.candidates.find(c => isOf(c, row));
		row.score ??= found?.score;
		row.blocks ??= found?.blocks;
	}
}

function finishCandidates(entry) {
	addScores(entry);
	const timed = entry.candidates.filter(c => c.search > 0), first = timed[0]?.score;
	entry.flop ||= first?.predicted_tflops > 0 ? first.predicted_tflops * first.predicted_time_us * 1e6 : 0;
	entry.chosen = entry.winner && entry.candidates.find(c => isOf(c, entry.winner));
	if (!entry.winner && timed.length) {
		const best = timed.reduce((a, b) => b.search < a.search ? b : a);
		entry.winner = { ...best, time: best.search, tflops: entry.flop / best.search * 1e-6 };
		entry.chosen = best;
	}
	const best = timed.reduce((least, c) => Math.min(least, c.search), Infinity), rows = new Map();
	if (entry.concluded && !entry.predicted)
		[...entry.tied, entry.winner].forEach(row => rows.set(`${row.family} ${row.configuration}`, row));
	for (const c of timed) {
		const row = rows.get(`${c.family} ${c.configuration}`);
		if (row)
			[c.final, c.round] = [row.time, entry.round];
		c.overBest = c.search / best;
		if (rows.size && c.final > 0 && c.round === entry.round)
			c.overWinner = c.final / entry.winner.time;
		c.stage = c.overWinner ? 0 : rows.size && c.final > 0 ? 1 : 2;
		if (c.stage === 1)
			c.overEarlier = c.final * clockOf(entry, timed, c.round) / entry.winner.time;
		c.overFinal = c.overWinner ?? c.overEarlier;
	}
	entry.timed = timed.sort((a, b) => a.stage - b.stage || (a.stage < 2 ? a.final - b.final : 0) || a.search - b.search);
}

// ---- entries ----
async function readFiles(index, notices) {
	const sources = [];
	for (const entry of index.entries) {
		const number = entry.source, source = sources[number] ??= {};
		if (source.read)
			continue;
		source.read = true;
		for (const kind of ["tuned", "journal"]) {
			const id = kind + number;
			try {
				if (document.getElementById(id))
					source[kind] = kind === "tuned" ? JSON.parse(await unpack(id)) : readJournal(await unpack(id), entry.label, notices);
			} catch {
				notices.push(`${entry.label}: the ${kind === "tuned" ? "tuned file" : "journal"} in this page is damaged and is left out.`);
			}
		}
	}
	return sources;
}

// ---- comparisons with libraries (tiletune.versus/1) ----
const LIBRARIES = { cublaslt_best: "cuBLASLt's fastest algorithm", cublaslt_default: "cuBLASLt's default algorithm", fa2: "FlashAttention-2",
	cudnn: "cuDNN", torch: "PyTorch" };

async function readComparisons() {
	const found = [];
	for (let i = 0; document.getElementById(`library${i}`); i++)
		found.push(...JSON.parse(await unpack(`library${i}`)).entries);
	return found;
}

// Returns the times of libraries for the entry's problem, and of the family's kernel that was timed in turn with them.
function librariesOf(entry, comparisons) {
	const isOfEntry = row => row.problem && row.family?.startsWith(`${entry.operation}/`)
		&& Object.entries(valuesOf(row.problem)).every(([key, value]) => entry.keys[key] === value);
	return comparisons.filter(isOfEntry).flatMap(row => Object.keys(LIBRARIES).filter(name => row[`${name}_us`] > 0)
		.map(name => ({ title: LIBRARIES[name], time: row[`${name}_us`], family: row.family, ours: row.ours_us,
			isWinner: Boolean(entry.winner) && isOf(row, entry.winner) })));
}

function entryOf(given, id, source, sheets) {
	const searches = given.searches.map(s => source.journal?.problems.get(`${s.run} ${s.number}`)).filter(Boolean);
	const run = source.journal?.runs.get(given.searches[0]?.run);
	const json = "tuned" in given ? source.tuned?.entries[given.tuned] : searches[0]?.entry;
	const device = source.tuned?.device ?? run?.device ?? {}, keys = valuesOf(given.problem);
	const entry = { ...given, id, searches, keys, dtype: keys.dtype ?? "fp32", device, sheet: sheets[device.sheet],
		every: Object.entries(json?.problem ?? {}).map(([key, value]) => `${key}=${value}`).join(","),
		concluded: Boolean(json), predicted: json?.timing === "predicted", l2: json?.l2, space: json?.space, model: json?.model, bits: json?.bits,
		run: source.tuned?.runs.find(r => r.id === json?.run) ?? run, where: run?.options?.where,
		families: json ? [json.winner, ...json.families ?? []].map(rowOf) : [], objective: json?.objective,
		runnerUp: json?.runner_up && tiedOf(json.runner_up, json.winner), tied: (json?.tied ?? []).map(row => tiedOf(row, json.winner)),
		winner: json && rowOf(json.winner) };
	if (entry.winner) {
		entry.flop = entry.winner.tflops * entry.winner.time * 1e6 || 0;
		entry.intensity = entry.winner.tflops * 1e3 / entry.winner.gbPerS;
	}
	if (!entry.winner && searches.length)
		candidatesOf(entry);
	entry.limit = limitOf(entry);
	return entry;
}

// ---- the card's limits, TFLOP/s ----
const PIPES = [["tensor_wgmma_flop", "wgmma"], ["tensor_mma_flop", "mma.sync"], ["fp32_flop", "CUDA cores, fp32"]];

// Returns rates at the boost clock and at the clock under dense tensor load, the fastest first.
function ceilingsOf(entry) {
	const sheet = entry.sheet;
	return (sheet ? PIPES : []).map(([pipe, name], i) => {
		const rate = (sheet.rates[pipe]?.[i < 2 ? entry.dtype : "fp32"] ?? 0) * sheet.sm_count * 1e-12;
		return { name, tflops: rate * sheet.clock_hz, sustained: rate * (i < 2 ? sheet.tensor_clock_hz : sheet.clock_hz) };
	}).filter(c => c.tflops > 0).sort((a, b) => b.tflops - a.tflops);
}

// Returns the card's limit at a problem's arithmetic intensity: DRAM bandwidth, or the fastest pipe.
function limitOf(entry) {
	const peak = ceilingsOf(entry)[0]?.tflops;
	return peak && entry.intensity > 0 ? Math.min(peak, entry.intensity * entry.sheet.dram_bytes_per_s * 1e-12) : undefined;
}

function shareOf(entry) {
	return entry.limit && entry.winner ? entry.winner.tflops / entry.limit : undefined;
}
