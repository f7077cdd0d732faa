#!/usr/bin/python3
"""Writes tests/data/replay/measured.jsonl.gz: a plausible GPU recording for the operation `tile`.

It has every configuration of two problems with noisy samples, every outcome of a candidate, the final measurements, and an incomplete
last line, as after a kill. The bytes are the same on every machine:

	/usr/bin/python3 tests/tools/record_tile.py | gzip -9n > tests/data/replay/measured.jsonl.gz"""
import sys

from journal_expand import with_checksum

PROBLEMS = [(1000, 1000, 512), (4096, 256, 2048)]
SIZES = [32, 64, 96, 128, 192, 256]
# in the order in which failures are distributed; each outcome determines the other members of the line
FAILURES = ["pruned_by_model", "compile_failed", "compile_crashed", "compile_timeout", "launch_failed",
    "out_of_memory", "crashed", "timed_out", "wrong_result", "out_of_bounds", "nondeterministic",
    "too_noisy", "device_lost"]
EVERY = 9  # one of this many candidates fails
SM_COUNT = 100
state = 12345


def random():
    """Returns 0 <= x < 1, the same on every machine."""
    global state
    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    return (state >> 33) / 2**31


def ceil_div(a, b):
    return -(-a // b)


def direct(k):
    for bm in SIZES:
        for bn in SIZES:
            for bk in (16, 32, 64):
                for stages in (2, 3, 4):
                    if bm * bn <= 32768 and (bm + bn) * bk * stages * 2 <= 98304:
                        yield {"BM": bm, "BN": bn, "BK": bk, "STAGES": stages}


def split(k):
    for bm in (64, 128, 256):
        for bn in (64, 128, 256):
            for bk in (16, 32):
                for parts in (2, 4, 8):
                    if bm * bn <= 32768 and k >= 2 * bk * parts:
                        yield {"BM": bm, "BN": bn, "BK": bk, "SPLIT": parts}


def true_time_us(m, n, k, c):
    parts = c.get("SPLIT", 1)
    tiles = ceil_div(m, c["BM"]) * ceil_div(n, c["BN"]) * parts
    waves = ceil_div(tiles, SM_COUNT)
    rate = 900e3 * min(1, (c["BM"] * c["BN"] / 16384) ** 0.35)  # FLOP per us of one SM
    rate *= {16: 0.8, 32: 0.95, 64: 1}[c["BK"]] * {2: 0.9, 3: 1, 4: 0.97}[c.get("STAGES", 2)]
    time = waves * 2 * c["BM"] * c["BN"] * ceil_div(k, parts) / rate
    return 2 + time + (m * n * parts * 4 / 3e6 + 1.5 if parts > 1 else 0)


def samples(time, count, noise):
    return [round(time * (1 + noise * (random() - 0.3)), 3) for _ in range(count)]


def text_of(configuration):
    return ",".join(f"{name}={value}" for name, value in configuration.items())


def kernel_hash(family, configuration):
    digits = 0
    for c in family + text_of({p: v for p, v in configuration.items() if p != "SPLIT"}):
        digits = (digits * 1000003 + ord(c)) % 2**128
    return f"{digits:032x}"


def resources(configuration):
    return {"regs_per_thread": 40 + configuration["BM"] * configuration["BN"] // 256,
        "smem_static_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0, "stack_bytes": 0,
        "barriers": 1, "flags": [], "blocks_per_sm": 1, "max_clusters": -1}


def evaluation(number, family, configuration, outcome):
    return {"event": "evaluation", "family": family, "configuration": text_of(configuration),
        "kernel_hash": kernel_hash(family, configuration), "outcome": outcome, "flags": [],
        "compile_seconds": 0.5, "from_cache": False, "problem": number}


def put_resources(line, configuration):
    line["resources"] = [resources(configuration)] * (2 if "SPLIT" in configuration else 1)


def put_verification(line, outcome):
    violations = 7 if outcome == "wrong_result" else 0
    line["verification"] = {"points": 65536, "violations": violations}
    if violations:
        line["verification"] |= {"first_bad": 4711, "first_out": 1.5, "first_expected": -0.25}
    line["verification"] |= {"max_abs_error": 1.75 if violations else 0.002, "max_rel_error": 0.01}


def put_samples(line, values):
    line["timing"] = "measured"
    line["samples_us"] = values


def failed(number, family, configuration, outcome):
    line = evaluation(number, family, configuration, outcome)
    line["detail"] = f"as recorded: {outcome}"
    stage = FAILURES.index(outcome)
    if outcome == "pruned_by_model" or stage >= FAILURES.index("launch_failed"):
        put_resources(line, configuration)
    if stage >= FAILURES.index("wrong_result"):
        put_verification(line, outcome)
    if outcome == "too_noisy":
        put_samples(line, [30.0 + 20 * random() for _ in range(4)])
    return line


def problem_line(number, m, n, k):
    families = [{"name": "tile/direct", "parameters": [{"name": "BM", "values": [str(v) for v in SIZES]}]},
        {"name": "tile/split", "parameters": [{"name": "SPLIT", "values": ["2", "4", "8"]}]}]
    return {"event": "problem", "number": number, "operation": "tile",
        "text": f"M={m},N={n},K={k},dtype=bf16",
        "problem": {"M": m, "N": n, "K": k, "dtype": "bf16"}, "families": families}


def run_line():
    return {"event": "run", "format": "tiletune.journal/1", "id": "20260101T000000-000001",
        "date": "2026-01-01T00:00:00Z", "command": "tiletune tune tile", "tiletune": {"version": "0", "commit": ""},
        "driver": "999.1", "nvrtc": "NVRTC 13.0", "uuid": "GPU-00000000-0000-0000-0000-000000000000",
        "signature": "0123456789abcdef0123456789abcdef", "device_kind": "cuda",
        "device": {"name": "Test GPU 100", "sheet": None, "compute_capability": 90, "arch": "sm_90a",
            "sm_count": SM_COUNT, "l2_bytes": 50 << 20, "dram_bytes": 64 << 30,
            "smem_per_sm_bytes": 233472, "smem_per_block_bytes": 232448, "regs_per_sm": 65536},
        "options": {"effort": "exhaustive"}}


def main():
    lines = [run_line()]
    count = 0
    for number, (m, n, k) in enumerate(PROBLEMS):
        lines.append(problem_line(number, m, n, k))
        candidates = [("tile/direct", c) for c in direct(k)] + [("tile/split", c) for c in split(k)]
        ranked = sorted(candidates, key=lambda c: true_time_us(m, n, k, c[1]))
        best = ranked[0]
        times = []
        for family, configuration in candidates:
            # a bumpy landscape, and one candidate that is not tied with any other
            time = true_time_us(m, n, k, configuration) * (1 + 0.06 * random())
            if (family, configuration) == best:
                time = true_time_us(m, n, k, configuration) * 0.93
            times.append(time)
        for (family, configuration), time in zip(candidates, times):
            count += 1
            if count % EVERY == 0 and (family, configuration) != best:
                outcome = FAILURES[count // EVERY % len(FAILURES)]
                lines.append(failed(number, family, configuration, outcome))
                continue
            line = evaluation(number, family, configuration, "ok")
            put_resources(line, configuration)
            put_verification(line, "ok")
            put_samples(line, samples(time, 8, 0.02))
            lines.append(line)
        fastest = sorted(range(len(candidates)), key=lambda i: times[i])[:8]
        for i in fastest:
            line = evaluation(number, *candidates[i], "ok") | {"event": "final"}
            put_resources(line, candidates[i][1])
            put_samples(line, samples(times[i] * 1.01, 24, 0.006))
            lines.append(line)
    text = "".join(with_checksum(line, None if line["event"] == "run" else lines[0]["id"]) for line in lines)
    sys.stdout.write(text + '{"event":"evaluation","family":"tile/direct","configur')


main()
