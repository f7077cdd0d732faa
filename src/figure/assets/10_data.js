"use strict";
// What the page shares: candidates of each entry, read from their columns when first asked for.
const tiletune = (() => {
	const alphabet = "#$%()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
	const code = new Uint8Array(128);
	[...alphabet].forEach((c, i) => { code[c.charCodeAt(0)] = i; });
	const entries = new Map();

	function decode(column, n) {
		if (Array.isArray(column)) return column;
		const values = new Array(n), { d, w, s } = column;
		for (let i = 0; i < n; i++) {
			const at = w === 0 ? 0 : w === 1 ? code[s.charCodeAt(i)] : code[s.charCodeAt(2 * i)] * alphabet.length + code[s.charCodeAt(2 * i + 1)];
			values[i] = d[at];
		}
		return values;
	}

	// A member that is computed when it is first asked for.
	function lazy(object, name, make) {
		Object.defineProperty(object, name, { configurable: true, enumerable: true, get: () => {
			const value = make();
			Object.defineProperty(object, name, { value, enumerable: true });
			return value;
		} });
	}

	function load(index) {
		const script = document.querySelector('script.data[data-entry="' + index + '"]');
		if (!script) return null;
		const raw = JSON.parse(script.textContent);
		const entry = { n: raw.n, flop: raw.flop, winner: raw.winner, families: raw.families, columns: {}, parameters: raw.families.map(() => []) };
		const c = entry.columns, none = () => new Array(raw.n).fill(null);
		for (const name in raw.columns) {
			const space = name.indexOf(" "), make = () => decode(raw.columns[name], raw.n);
			if (name === "end") continue;
			if (space < 0) {
				lazy(c, name, make);
				continue;
			}
			const parameter = { name: name.slice(space + 1) };
			lazy(parameter, "values", make);
			entry.parameters[+name.slice(0, space)].push(parameter);
		}
		if (!raw.columns.time) lazy(c, "time", none);
		lazy(c, "order", () => c.time.map((_, i) => i + 1));
		lazy(c, "tflops", () => c.time.map(t => t && raw.flop ? raw.flop / t * 1e-6 : null));
		if (raw.columns.predicted) lazy(c, "error", () => c.time.map((t, i) => t && c.predicted[i] ? c.predicted[i] / t : null));
		return entry;
	}

	function entry(index) {
		if (!entries.has(index)) entries.set(index, load(index));
		return entries.get(index);
	}

	function family(e, row) {
		return e.families[e.columns.family[row]];
	}

	function configuration(e, row) {
		return e.parameters[e.columns.family[row]].map(p => p.name + "=" + p.values[row]).join(" ");
	}

	function number(v) {
		if (v === null || v === undefined) return "";
		const size = Math.abs(v);
		if (v === Math.round(v)) return String(v);
		if (size < 1) return String(+v.toPrecision(3));
		return v.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
	}

	function time(us) {
		if (us === null || us === undefined) return "";
		return us >= 1e7 ? number(us / 1e6) + " s" : us >= 1e4 ? number(us / 1e3) + " ms" : number(us) + " µs";
	}

	function bytes(v) {
		const units = ["B", "KiB", "MiB", "GiB", "TiB"];
		let unit = 0;
		while (v >= 1024 && unit < 4) {
			v /= 1024;
			unit++;
		}
		return (v < 10 && unit ? v.toFixed(1) : Math.round(v)) + " " + units[unit];
	}

	return { entry, family, configuration, number, time, bytes };
})();
