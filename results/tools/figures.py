"""Figures of the results that pages cite, computed from the files of results/nvidia-h200 for results/checks/claims.py."""
import collections
import csv
import functools
import gzip
import json
import math
import os
import re
import runpy
import statistics
import sys

FOLDER = "results/nvidia-h200"
AGAIN = "several_gpus_again"


@functools.cache
def load(name):
	path = f"{FOLDER}/{name}.json"
	with open(path, encoding="utf-8") if os.path.exists(path) else gzip.open(path + ".gz", "rt", encoding="utf-8") as file:
		return json.load(file)


def model_quality(journal, learned):
	"""Returns, for each problem of a journal: number of configurations, rank correlation, and by how many per cent the best of the model's
	first 8 is slower than the best."""
	import model_quality as model  # pylint: disable=import-outside-toplevel
	return [(count, rank, round(100 * losses[2], 1)) for count, rank, losses in model.qualities(sys.argv[1], f"{FOLDER}/{journal}.journal.jsonl.gz", learned).values()]


def model_rows():
	"""Yields the table of the model's quality, with the current model."""
	def figures(problems):
		ranks, losses = [rank for _, rank, _ in problems], [eight for _, _, eight in problems]
		if len(problems) == 1:
			return f"{ranks[0]:.2f} | {losses[0]:.1f}%"
		return f"{min(ranks):.2f} to {max(ranks):.2f} | within 1% on {sum(loss <= 1 for loss in losses)} of {len(losses)}, {max(losses):.1f}% at worst"

	groups = [(f"`gemm/{what}", "exhaustive", slice(i, i + 1)) for i, what in
		enumerate(("mma` 4096 cubed", "mma` 128 x 4096 x 7168", "simt` 4096 cubed, fp32"))]
	groups += [("eight shapes, Hopper's families", "exhaustive_wgmma", slice(None)), ("eight drawn shapes, Hopper's families", "exhaustive_drawn", slice(None))]
	for what, name, part in groups:
		physics, learned = (model_quality(name, way)[part] for way in (False, True))
		yield f"| {what} | {sum(count for count, _, _ in physics):,} | {figures(physics)} | {figures(learned)} |"


def guess_rows():
	"""Returns our rows in the table of first guesses; the other rows need a package."""
	import first_guess  # pylint: disable=import-outside-toplevel
	sizes = first_guess.spaces()
	return [first_guess.row(f"tiletune, {way}", first_guess.of_tiletune(sizes, way == "learned")) for way in ("physics", "learned")]


def share_rows(seconds=(1, 3, 10, 60)):
	"""Yields the search's best speed after each number of seconds, as a share of the best in the journal."""
	def cell(problems, after_s):
		shares = [max((share for at_s, share in problem if at_s <= after_s), default=0) for problem in problems]
		return f"{statistics.fmean(shares):.3f} ({min(shares):.3f})"

	for what, name in (("GEMM", "tuned"), ("attention", "attention"), ("decoding", "decode"), ("a Triton kernel", "triton_moe")):
		found = collections.defaultdict(list)
		with gzip.open(f"{FOLDER}/{name}.journal.jsonl.gz", "rt", encoding="utf-8") as file:
			for line in map(json.loads, file):
				if line["event"] == "evaluation" and line["outcome"] == "ok":
					found[line["run"], line["problem"]].append((line["at_s"], 1 / line["time_us"]["median"]))
		problems = [[(at_s, speed / max(s for _, s in problem)) for at_s, speed in problem] for problem in found.values()]
		ends = [max(at_s for at_s, _ in problem) for problem in problems]
		yield f"| {what} | {len(problems)} | {' | '.join(cell(problems, after_s) for after_s in seconds)} | {statistics.median(ends):.1f}, {max(ends):.1f} s |"


@functools.cache
def lookup_losses(name):
	"""Returns figures of lookup with its problem left out of the file: problems, timed answers, per cent of the winner's speed (mean,
	worst)."""
	import lookup_quality  # pylint: disable=import-outside-toplevel
	found = lookup_quality.qualities(sys.argv[1], f"{FOLDER}/{name}.json", f"{FOLDER}/{name}.journal.jsonl.gz")
	ratios = [100 * each.ratio for each in found if each.ratio]
	return [len(found), len(ratios), statistics.fmean(ratios), min(ratios)]


def group(name, which, figure):
	return next(g for g in load(name)["groups"] if g["group"] == which)[figure]


def summary(which, name="versus_cublaslt"):
	return [group(name, which, figure) for figure in ("entries", "geometric_mean", "median", "lowest")]


def unseen(name):
	"""Returns figures for untuned problems: geometric mean, median, lowest."""
	with open(f"{FOLDER}/unseen.txt", encoding="utf-8") as file:
		values = [float(value) for value in re.findall(rf"  {name} (\d\.\d+)", file.read())]
	return [geometric_mean(values), statistics.median(values), min(values)]


def unseen_seconds():
	"""Returns the time of a tuning without learned corrections over that of a tuning with them."""
	with open(f"{FOLDER}/unseen.txt", encoding="utf-8") as file:
		seconds = re.findall(r"seconds: shipped ([\d.]+), physics ([\d.]+)", file.read())
	return sum(float(physics) for _, physics in seconds) / sum(float(shipped) for shipped, _ in seconds)


def suite_h100(way):
	"""Returns the evaluations to reach shares of the best, relative to those with physics only."""
	text = open("results/nvidia-h100/suite.txt", encoding="utf-8").read()  # pylint: disable=consider-using-with
	return [float(value) for value in re.findall(rf"best known: {way} .* (\d\.\d+) of physics", text)]


def scoreboard_rows():
	"""Yields, by GPU and size class, our ratios and those that CUDA-L2 publishes for the same shapes."""
	with open("results/nvidia-h100/scoreboard_theirs.csv", encoding="utf-8") as file:
		published = {tuple(int(row[key]) for key in "MNK"): float(row["offline"]) for row in csv.DictReader(file)}
	for where, files in (("thousand, H200", [f"versus_thousand_{part}" for part in (1, 2, 3, 4)]), ("drawn, H200", ["versus_scoreboard"]), ("drawn, H100", ["../nvidia-h100/versus_scoreboard"])):
		everything = [(tuple(int(item[2:]) for item in e["problem"].split(",")[:3]), e["ratio"]["median"], e["gaps"]["ratio"]) for file in files for e in load(file)["entries"] if e["agrees"]]
		for name, low, high in (("below 1 G", 0, 1e9), ("1 to 10 G", 1e9, 1e10), ("10 to 100 G", 1e10, 1e11), ("100 G to 1 T", 1e11, 1e12), ("above 1 T", 1e12, math.inf), ("all", 0, math.inf)):
			ours = [row for row in everything if low <= 2 * math.prod(row[0]) < high]
			ratios, gaps, theirs = [row[1] for row in ours], [row[2] for row in ours], [published[row[0]] for row in ours]
			yield (f"| {where}: {name} | {len(ours)} | {geometric_mean(ratios):.3f} | {statistics.median(ratios):.3f} | {min(ratios):.3f} | {sum(r < 0.95 for r in ratios)} | "
				f"{geometric_mean(gaps):.3f} | {min(gaps):.3f} | {geometric_mean(theirs):.3f} | {min(theirs):.3f} |")


def few_rows_scaled(scale):
	"""Returns the geometric mean of the ratios to cuBLASLt for M of at most 128."""
	return geometric_mean(e["ratio"]["median"] for e in load("versus_fp8_scaled")["entries"]
		if f"scale={scale}," in e["problem"] and int(e["problem"].split(",")[0][2:]) <= 128)


def versus_rows():
	"""Yields the first table of gemm.md."""
	def cells(name, *which):
		digits = 2 if "odd" in which[0] else 3
		return " | ".join(" / ".join(f"{group(name, one, figure):.{places}f}" for one in which)
			for figure, places in (("entries", 0), ("geometric_mean", digits), ("lowest", digits)))
	first = "versus_cublaslt"
	yield from (f"| bf16 aligned | {cells(first, 'bf16 aligned')} |", f"| bf16, odd K / odd N only | {cells(first, 'bf16 odd K', 'bf16 odd N')} |",
		f"| fp8 fast / promoted | {cells(first, 'fp8_e4m3 fast aligned', 'fp8_e4m3 promoted aligned')} |", f"| fp32 without tensor cores (`simt`) | {cells(first, 'fp32 aligned')} |",
		f"128 x 4096 x 7168 | {cells(first + '_fp16_kn', 'fp16 aligned', 'bf16 aligned')} |", f"the same three shapes | {cells(first + '_mma', 'bf16 aligned')} |")


def gelu_costs():
	"""Returns the cost of GELU at 4096 cubed with bias, in per cent."""
	plain, gelu = [next(e["ours_us"] for e in load("versus_epilogues")["entries"] if e["problem"].startswith("M=4096,N=4096,K=4096,")
		and "bias=row" in e["problem"] and f"act={act}," in e["problem"]) for act in ("none", "gelu_tanh")]
	return 100 * (gelu / plain - 1)


def won_before():
	"""Returns the speed relative to two cuBLASLt calls on problems that fusing won before fused_wgmma existed."""
	won = {e["text"] for e in load("chain_wins")["entries"]}
	return [e["gain_over_cublaslt"] for e in load("chain_map")["entries"] if e["text"] in won]


def beside_cudnn(name):
	return [group(name, "over cuDNN, all", figure) for figure in ("entries", "geometric_mean", "median", "lowest")]


def fp8_pairs():
	"""Returns problems without their dtype, with the winners in fp8 and in bf16."""
	pairs = collections.defaultdict(dict)
	for e in load("attention_fp8")["entries"]:
		pairs[tuple((k, v) for k, v in e["problem"].items() if k != "dtype")][e["problem"]["dtype"]] = e["winner"]
	return [(dict(p), w["fp8_e4m3"], w["bf16"]) for p, w in pairs.items() if len(w) == 2]


def fp8_over_bf16(**which):
	"""Returns the time in bf16 over that in fp8, by problem."""
	return [b["time_us"]["median"] / f["time_us"]["median"] for p, f, b in fp8_pairs() if all(p[k] == v for k, v in which.items())]


def fp8_rows():
	order = sorted(fp8_pairs(), key=lambda pair: (pair[0]["head_dim"] != 128, pair[0]["head_dim"], pair[0]["seq_k"], pair[0]["batch"] * pair[0]["heads"], pair[0]["causal"]))
	return [f"| {p['batch']} | {p['heads']}{'' if p['kv_heads'] == p['heads'] else ' (' + str(p['kv_heads']) + ')'} | {p['seq_k']} | {p['head_dim']} | "
		f"{'causal' if p['causal'] else '-'} | {f['time_us']['median']:.0f} | {f['tflops']:.0f} | {b['tflops']:.0f} | "
		f"{b['time_us']['median'] / f['time_us']['median']:.2f} | {f['configuration']['BM']}x{f['configuration']['BN']} |" for p, f, b in order]


def own_kernels():
	return [runpy.run_path("results/gpu/own.py")["row"](kernel) for kernel in load("own_kernels")["kernels"]]


def two_programs():
	"""Returns the new program's times over the old one's, the same ratio of busy seconds per evaluation, and the busier GPU's share
	relative to a half, for new and old."""
	with open(f"{FOLDER}/two_programs.txt", encoding="utf-8") as file:
		new, old = ([list(map(float, line.split()[1:])) for line in file.readlines() if line.startswith(name)] for name in ("new ", "old ") if not file.seek(0))
	return [geometric_mean([f(a) / f(b) for a, b in zip(new, old)]) for f in (lambda r: r[0], lambda r: sum(r[2:]) / r[1])] + [
		statistics.fmean(2 * max(r[2:]) / sum(r[2:]) for r in rows) for rows in (new, old)]


def gpus_run(name, file="several_gpus"):
	return load(file)["runs"][name]


def gpus_faster(name, file="several_gpus"):
	return gpus_run("one", file)["elapsed_s"] / gpus_run(name, file)["elapsed_s"]


def gpus_busy(name, file):
	"""Returns the per cent of time in which GPUs and compilers were busy."""
	run = gpus_run(name, file)
	return [100 * statistics.fmean(run["gpus_busy_s"]) / run["elapsed_s"], 100 * run["compilers_busy_s"] / run["compilers"] / run["elapsed_s"]]


def gpus_winners(name, file="several_gpus"):
	"""Returns the number of winners, of winners equal to one GPU's, of other winners, and of those within 2%. Then per cent by which the
	fastest is ahead, and by which each beyond 2% is behind."""
	beside = load(file)["beside_one"][name]
	ratios = beside["over_one"]
	return [gpus_run(name, file)["problems"], beside["same_winner"], len(ratios), sum(abs(r - 1) <= 0.02 for r in ratios), 100 * (1 - min(ratios)),
		*(100 * (r - 1) for r in reversed(ratios) if r > 1.02)]


def beside_pytorch_row(title, name, *dims):
	rows = [e for e in load(name)["entries"] if any(f"head_dim={d}," in e["problem"] for d in dims)]
	ratios = [e["ratio_cudnn"]["median"] for e in rows]
	return (f"| {title} | {len(rows)} | {geometric_mean(e['ratio']['median'] for e in rows):.2f} | {geometric_mean(ratios):.2f} | "
		f"{statistics.median(ratios):.2f} | {min(ratios):.2f} | {max(e['ours_tflops'] for e in rows):.0f} |")


def beside_pytorch_rows():
	suite = [beside_pytorch_row(title, "versus_attention", *dims) for title, *dims in (("suite `attention`, head_dim 32", 32), ("head_dim 64", 64),
		("head_dim 128", 128), ("head_dim 256", 256), ("head_dim 64 to 256", 64, 128, 256))]
	return suite + [beside_pytorch_row("suite `attention_drawn`", "versus_attention_drawn", 64, 128, 256)]


def grouped_pairs():
	"""Returns entries of versus_moe by sizes and type: (even groups, skewed groups)."""
	found = collections.defaultdict(dict)
	for e in load("versus_moe")["entries"]:
		p = dict(item.split("=") for item in e["problem"].split(","))
		found[p["groups"], p["tokens"], p["N"], p["K"], p["dtype"]][p["spread"]] = e
	return {key: (spreads["even"], spreads["zipf"]) for key, spreads in found.items() if len(spreads) == 2}


def skew_costs():
	"""Returns, by (groups, N, K, type), our time with skewed groups over even ones, for groups of 128 rows or more on average."""
	return {(int(key[0]), int(key[2]), int(key[3]), key[4]): skewed["ours_us"] / even["ours_us"]
		for key, (even, skewed) in grouped_pairs().items() if int(key[1]) >= 128 * int(key[0])}


def skew_cost(groups, name, size, dtype):
	return next(cost for (g, n, k, t), cost in skew_costs().items() if g == groups and {"N": n, "K": k}[name] == size and t == dtype)


def skewed_over_even():
	costs = list(skew_costs().values())
	held = sum(cost <= 1.15 for cost in costs)
	return [held, len(costs), 8, 7168, skew_cost(8, "K", 7168, "bf16"), skew_cost(8, "K", 7168, "fp8_e4m3"), len(costs) - held, max(costs)]


def grouped_rows():
	rows = [f"| {' | '.join(key)} | {even['ours_us']:.0f} | {even['torch_us']:.0f} | {even['ratio']['median']:.2f} | {skewed['ours_us']:.0f} | "
		f"{skewed['torch_us']:.0f} | {skewed['ratio']['median']:.2f} | {skewed['ours_us'] / even['ours_us']:.2f} |" for key, (even, skewed) in grouped_pairs().items()]
	return rows + [f"| {g['group']} | {g['entries']} | {g['geometric_mean']:.2f} | {g['median']:.2f} | {g['lowest']:.2f} |" for g in load("versus_moe")["groups"]]


def counted(metric, *columns):
	with open(f"{FOLDER}/attention_counters.csv", encoding="utf-8") as file:
		values = next(row for row in csv.reader(file) if metric in row[0])[2:]
	return [float(values[i]) for i in columns]


def shape(name, m, n, k, dtype="bf16"):
	wanted = f"M={m},N={n},K={k},dtype={dtype},"
	return next(e for e in load(name)["entries"] if e["problem"].startswith(wanted))


def beside(m, n, k):
	e = shape("versus_cublaslt", m, n, k)
	return [m, n, k, e["ours_tflops"], e["cublaslt_best_tflops"], e["ratio"]["median"]]


def mma(m, n, k):
	return shape("versus_cublaslt_mma", m, n, k)["ratio"]["median"]


def entry(m, n, k, dtype="bf16", name="tuned"):
	return next(e for e in load(name)["entries"]
		if (e["problem"]["M"], e["problem"]["N"], e["problem"]["K"], e["problem"]["dtype"]) == (m, n, k, dtype))


def geometric_mean(values):
	return math.exp(statistics.fmean(math.log(v) for v in values))


def ratios_now(name, problem=""):
	"""Returns today's time over the earlier one, from two rows of each problem."""
	return [c["rows"][1]["over_first"]["value"] for c in load(name)["comparisons"] if problem in c["problem"]]


def before_and_now(name):
	ratios = ratios_now(name)
	return [geometric_mean(ratios), min(ratios), max(ratios)]


def percents_slower(name, problem):
	return [100 * (value - 1) for value in (min(ratios_now(name, problem)), max(ratios_now(name, problem)))]


def intensity(e):
	"""Returns the FLOP per byte of two products with T stored and read, at 16 bits per element."""
	m, k, n, p = (e["problem"][key] for key in "mknp")
	return 2 * m * n * (k + p) / (2 * (m * k + k * n + 2 * m * n + n * p + m * p))


def chains(low, high):
	return [e for e in load("chain_map")["entries"] if low <= intensity(e) < high]


def chain_rows():
	"""Yields rows of the table of chain_wins.json in gemm_chain.md, for each problem that the page names."""
	with open(f"{FOLDER}/gemm_chain.md", encoding="utf-8") as file:
		named = set(re.findall(r"(?m)^\| (\d+ \| \d+ \| \d+ \| \d+) (?:\| [\d.]+ ){5}\|$", file.read()))
	for e in load("chain_wins")["entries"]:
		problem = " | ".join(str(e["problem"][key]) for key in "mknp")
		others = [e[key] for key in ("fused_us", "fused_resident_us") if e.get(key)]
		if problem in named:
			yield (f"| {problem} | {e['cublaslt_us']:.1f} | {e['separate_us']:.1f} | {min(others):.1f} | {e['fused_wgmma_us']:.1f} | "
				f"{e['gain_over_cublaslt']:.2f} |")


def fused_wgmma_over_others():
	"""Returns figures of the chains that fused_wgmma supports: number, number where it is fastest, its speed over the better of the others,
	number where fusing wins."""
	served = [e for e in load("chain_map")["entries"] if e.get("fused_wgmma_us")]
	over = [min(e[key] for key in ("fused_us", "fused_resident_us") if e.get(key)) / e["fused_wgmma_us"] for e in served]
	return [len(served), sum(ratio >= 1 for ratio in over), geometric_mean(over), min(over), max(over), len(wins(served))]


def wins(entries):
	return [e["gain"] for e in entries if e["gain"] > 1]


def mlp():
	return [1 / e["gain"] for e in load("chain_map")["entries"]
		if e["problem"]["k"] == e["problem"]["p"] >= 4096 and e["problem"]["n"] == 4 * e["problem"]["k"]]


def attention_rows():
	return [e["gain"] for e in load("chain_map")["entries"]
		if e["problem"]["k"] == e["problem"]["p"] == 64 and e["problem"]["m"] == e["problem"]["n"]]


def tiles(figure):
	return [figure(r) for r in load("attention_tiles_summary")["results"]]


def kind(result, name):
	return next((k["best_over_best"] for k in result["kinds"] if k["kind"] == name), 0)


def tile(family, head_dim, seq):
	return next(r for r in load("attention_tiles_summary")["results"]
		if (r["family"], r["head_dim"], r["seq"]) == (f"attention/{family}", head_dim, seq))


def pair(family, head_dim=32, seq=1024):
	return next(p for p in tile(family, head_dim, seq)["pairs"] if p["from"] == "45x90" and p["to"] == "48x96")["speed_ratio"]


def pairs(family):
	return [100 * (p["speed_ratio"] - 1) for r in load("attention_tiles_summary")["results"] if r["family"] == f"attention/{family}"
		for p in r["pairs"] if (p["from"], p["to"]) == ("45x90", "48x96")]


def rules():
	return [100 * rule["slower_than_best"] for r in load("attention_tiles_summary")["results"] for rule in r["rules"]]


def sweep(family):
	with open(f"{FOLDER}/sweep_1700_1900_1.csv", encoding="utf-8") as file:
		best = collections.defaultdict(float)
		for row in csv.DictReader(file):
			if row["family"] == family and row["outcome"] == "ok":
				best[row["M=N=K"]] = max(best[row["M=N=K"]], float(row["measured_tflops"]))
	return best


def repacked(family):
	"""Returns the speeds at sizes that `wgmma` does not support."""
	return [speed for size, speed in sweep(family).items() if size not in sweep("gemm/wgmma")]


def checks(kind_of, threshold="5%"):
	return next(e for e in load("check")["experiments"]
		if e["kind"] == kind_of and e["threshold"] == threshold and "stored" in e["title"])


def slower(experiment):
	return sum(e["verdicts"].get("slower", 0) for e in experiment["entries"])


def expected(limit):
	rows = [r for name in LATER for r in load(name)["rows"] if r["expected_loss_ratio"] < limit]
	return [100 * statistics.fmean(r["reached_ratio"] for r in rows), 100 * min(r["reached_ratio"] for r in rows), len(rows), 100 * limit]


def lookups(*names):
	return [100 * r["reached_ratio"] for name in names for r in load(name)["rows"]]


def energies(size, figure):
	"""Returns the figure of the winners for time in both runs, then of the winners for energy."""
	return [figure(e["winner"]) for objective in ("time", "energy") for name in ("energy", "energy_again")
		for e in load(name)["entries"] if e["problem"]["M"] == size and e.get("objective", "time") == objective]


def energy_row(size):
	us, mj = (energies(size, figure) for figure in (lambda w: w["time_us"]["median"], lambda w: 1e3 * w["energy_j"]))
	return us[:2] + mj[:2] + us[2:] + mj[2:]


def energy_known(objective):
	known = [100 * e["winner"]["energy_resolution_ratio"] for name in ("energy", "energy_again")
		for e in load(name)["entries"] if e.get("objective", "time") == objective]
	return [min(known), max(known)]


def energy_saved(size):
	mj = energies(size, lambda w: w["energy_j"])
	return [100 * (1 - sum(mj[2:]) / sum(mj[:2]))]


SESSION = entry(4096, 4096, 4096)
WINNER = SESSION["winner"]
LATER = ["lookup", "lookup_again"]

def slowed_medians():
	medians = [k["slowed"]["ratio_median"] for k in load("pairs")["kernels"]]
	return [100 * (min(medians) - 1), 100 * (max(medians) - 1)]


def durations(*which):
	"""Returns how many of the kernels that the first function selects are within the limit of ncu's duration by one of these methods."""
	chooses, *ways = which
	return sum(any(k["within" + way] for way in ways) for k in load("durations")["kernels"] if chooses(k))


def beside_ncu(kernel_us, way="time_us"):
	"""Returns the difference from ncu in us and in per cent, for the kernel with about this duration."""
	k = min(load("durations")["kernels"], key=lambda k: abs(k["time_us"] - kernel_us))
	return k[way] - k["ncu_us"], 100 * (k[way] / k["ncu_us"] - 1)


def short_ones():
	return [k for k in load("durations")["kernels"] if k["time_us"] < 15]


def any_kernel(_):
	return True


def finish(name):
	whole = f"{FOLDER}/exhaustive_cost_{name}.journal.jsonl.gz"
	with gzip.open(whole if os.path.exists(whole) else whole.replace("journal", "ends"), "rt", encoding="utf-8") as file:
		return [one for one in map(json.loads, file) if one["event"] == "finish"][-1]


def over_larger(name):
	end = finish(name)
	return end["elapsed_s"] / max(end["compile_s"] / end["workers"], end["device_s"])


def cost(name):
	end = finish(name)
	return [end["elapsed_s"], end["compile_s"] / end["workers"], end["device_s"], over_larger(name)]


def repeat_figures(name):
	problems = load(name)["problems"]
	spreads = [100 * p["spread_ratio"] for p in problems]
	return [100 * sum(p["same_configuration"] for p in problems) / sum(p["runs"] for p in problems), statistics.median(spreads), max(spreads)]


def same_answers(name):
	return [load(name)["runs"], load(name)["same_configuration"], load(name)["same_tile"], repeat_figures(name)[0]]


def repeat_seconds():
	return [second for problem in load("repeat")["problems"] for second in problem["seconds"]]


def public_rows():
	"""Returns rows about public files with a reference, with the time of the default configuration over the best."""
	return [f"| {each['project']} | `{os.path.basename(each['file'])}` | {sum(each['outcomes'].values())} | {each['best_us']:,.2f} | {each['default_us']:,.2f} | {each['default_us'] / each['best_us']:.2f} |"
		for each in load("public_kernels")["kernels"] if each["verdict"] == "right"]

def triton_rows():
	"""Yields rows about a mixture of experts in Triton: the results of two runs for each size, and the best known."""
	for each in load("triton_moe")["rows"]:
		tried, seconds = (", ".join(f"{value:.0f}" for value in each[name]) for name in ("tried", "seconds"))
		yield (f"| {each['tokens']} | {each['found_us']:.1f} | {each['ratio']:.3f} | {each['known']} | {tried} | {seconds} | "
			f"{'yes' if each['same'] else 'no'} |")

def bits_rows():
	"""Returns rows with the cost of results that are bitwise equal for all M, and for all batches."""
	return [f"| {key} = {row[key]} | {row['us']:.2f} | {row['free_us']:.2f} | {100 * (row['us'] / row['free_us'] - 1):.1f}% |"
		for part, key in (("price", "M"), ("attention", "batch")) for row in load("bits")["parts"][part]["rows"]]
