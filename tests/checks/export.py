#!/usr/bin/python3
"""The output of `export` agrees with the tuned file. For every format that `help export` lists, this script has a decoder, which reads
the result like a user's build. Entries, defines, launches and arguments are compared one by one.

	tests/checks/export.py OUT		OUT: the folder with the binary

A new format fails until it has a decoder: a function in TABLES (for texts; COMPILED for kernels; OF_JOURNALS for journals as well),
from (tuned file, its content, folder, path of the export) to a list of entries like those of expected_entry(). Members that the
format lacks are omitted."""
import glob
import gzip
import json
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

OUT = os.path.abspath(sys.argv[1])
ROOT = os.getcwd()
CACHE = os.path.abspath(os.path.join(os.environ.get("TEST_BUILD", "build"), "test-cache"))
OWN, TOY = os.path.join(ROOT, "tests/own/steps.json"), os.path.join(ROOT, "tests/toy")
MADE = {  # operation: additional arguments; exported with everything that was compiled
    OWN: (),  # two kernels of one source, and one of another source with an equal name; one is launched twice
    "row_softmax": ("-p", "rows=256,cols=512", "--path", TOY),
    "gemm": ("-p", "M=64,N=64,K=4096,dtype=fp16", "--family", "mma", "--where", "SPLIT_K > 1 and BM == 64 and STAGES == 3"),
    "attention": ("-p", "batch=1,heads=2,seq_q=40,seq_k=32,head_dim=16,dtype=bf16", "--family", "unfused"),
}
PLAIN = {key: value for key, value in os.environ.items() if key not in ("TILETUNE_PATH", "LD_LIBRARY_PATH")}


def run(*words, check=True, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    assert not check or done.returncode == 0, (done.returncode, words, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def tiletune(*words):
    return run(os.path.join(OUT, "tiletune"), *words, env={**PLAIN, "TILETUNE_PATH": ROOT})


def texts(values):
    return {name: str(value) for name, value in values.items()}


def is_same(found, expected):
    """Numbers are compared as numbers: 3, "3" and 3.0 are equal."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(is_same(found[key], expected[key]) for key in expected)
    if isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(is_same, found, expected))
    try:
        return float(found) == float(expected)
    except (TypeError, ValueError):
        return str(found) == str(expected)


def expected_entry(entry):
    winner = entry["winner"]
    return {
        "operation": entry["operation"], "problem": texts(entry["problem"]), "timing": entry["timing"],
        "family": winner["family"], "configuration": texts(winner["configuration"]),
        "defines": [f"{name}={value}" for name, value in winner.get("defines", {}).items()],
        "options": winner.get("options", []), "time_us": winner["time_us"]["median"],
        "workspace_bytes": winner.get("workspace_bytes", 0), "kernel_hash": winner["kernel_hash"],
        "verified": winner.get("verified", "reference") if entry["timing"] == "measured" else None,
        "launches": [{"source": launch["source"], "entry": launch["entry"], "grid": launch["grid"], "block": launch["block"],
            "cluster": launch.get("cluster", [1, 1, 1]), "smem_dynamic_bytes": launch["smem_dynamic_bytes"],
            "repeat": launch.get("repeat", 1), "cooperative": int(launch.get("cooperative", False)), "args": launch["args"]} for launch in winner.get("launches", [])]}


def pairs(text, separator=","):
    return dict(item.split("=", 1) for item in text.split(separator) if item)


# ---- tables ----
C_PRINTER = r"""
#include <stdio.h>
#include "exported.h"
int main(void)
{
	for (unsigned i = 0; i < TILETUNE_ENTRY_COUNT; i++) {
		const struct tiletune_entry *e = &tiletune_entries[i];
		printf("%s\037%s\037%s\037%s\037%s\037%.17g\037%d\037%llu", e->operation, e->problem, e->family, e->configuration,
			e->defines, e->time_us, e->is_measured, e->workspace_bytes);
		for (unsigned k = 0; k < e->launch_count; k++) {
			const struct tiletune_launch *l = &e->launches[k];
			printf("\036%s\037%s\037%u %u %u\037%u %u %u\037%u %u %u\037%u\037%u\037%d\037%s", l->source, l->entry, l->grid[0],
				l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->cluster[0], l->cluster[1],
				l->cluster[2], l->smem_dynamic_bytes, l->repeat, l->is_cooperative, l->args);
		}
		puts(tiletune_find(e->operation, e->problem) == e ? "\035" : "\036lost\035");
	}
}
"""


def split_defines(flags):
    return ([flag[2:] for flag in flags if flag.startswith("-D")], [flag for flag in flags if not flag.startswith("-D")])


def table_launch(fields):
    source, entry, grid, block, cluster, smem, repeat, cooperative, args = fields
    return {"source": source, "entry": entry, "grid": grid.split(), "block": block.split(), "cluster": cluster.split(),
        "smem_dynamic_bytes": smem, "repeat": repeat, "cooperative": cooperative, "args": args}


def c_header(_file, _tuned, folder, path):
    os.replace(path, os.path.join(folder, "exported.h"))
    with open(os.path.join(folder, "printer.c"), "w", encoding="utf-8") as file:
        file.write(C_PRINTER)
    run("gcc", "-std=c99", "-w", "-o", os.path.join(folder, "printer"), os.path.join(folder, "printer.c"))
    for record in run(os.path.join(folder, "printer")).split("\035\n")[:-1]:
        entry, *launches = record.split("\036")
        operation, problem, family, configuration, defines, time, measured, workspace = entry.split("\037")
        defines, options = split_defines(defines.split())
        launches = [table_launch(launch.split("\037")) for launch in launches]
        for launch in launches:
            launch["args"] = launch["args"].split(",") if launch["args"] else []
        yield {"operation": operation, "problem": pairs(problem), "family": family, "configuration": pairs(configuration),
            "defines": defines, "options": options, "time_us": time, "timing": ("predicted", "measured")[int(measured)],
            "workspace_bytes": workspace, "launches": launches}


def make(_file, _tuned, folder, path):
    script = os.path.join(folder, "Makefile")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"include {path}\n$(info entries=$(TILETUNE_ENTRIES))\n"
            "$(foreach v,$(filter TILETUNE_%,$(.VARIABLES)),$(info $v=$($v)))\nall:;@:\n")
    said = dict(line.split("=", 1) for line in run("make", "-s", "-f", script).splitlines())
    for name in said["entries"].split():
        def variable(word, name=name):
            return said[f"TILETUNE_{name}_{word}"]
        defines, options = split_defines(variable("DEFINES").split())
        launches = [table_launch([variable(f"{index}_{word}") for word in ("SOURCE", "ENTRY", "GRID", "BLOCK", "CLUSTER",
            "SMEM_DYNAMIC_BYTES", "REPEAT", "COOPERATIVE", "ARGS")]) for index in variable("LAUNCHES").split()]
        for launch in launches:
            launch["args"] = launch["args"].split()
        yield {"operation": variable("OPERATION"), "problem": pairs(variable("PROBLEM"), " "), "family": variable("FAMILY"),
            "configuration": pairs(variable("CONFIGURATION"), " "), "defines": defines, "options": options,
            "time_us": variable("TIME_US"), "timing": variable("TIMING"), "workspace_bytes": variable("WORKSPACE_BYTES"),
            "verified": said.get(f"TILETUNE_{name}_VERIFIED"), "launches": launches}


CMAKE_NAMES = ("PROBLEM", "TIMING", "FAMILY", "CONFIGURATION", "DEFINES", "OPTIONS", "TIME_US", "WORKSPACE_BYTES", "SOURCE", "ENTRY",
    "GRID", "BLOCK", "CLUSTER", "SMEM_DYNAMIC_BYTES", "LAUNCHES")


def cmake(_file, tuned, folder, path):
    """Calls tiletune_find() for every entry; in large files, where each call takes long, only for a few."""
    script = os.path.join(folder, "find.cmake")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"include({path})\n")
        for entry in tuned["entries"][::len(tuned["entries"]) // 8 + 1]:
            file.write(f"tiletune_find(E {entry['operation']} {' '.join(f'{k}={v}' for k, v in entry['problem'].items())})\n"
                f"if(NOT E_FOUND)\nmessage(FATAL_ERROR \"{entry['problem']} is not found\")\nendif()\n"
                "message(\"" + "\x1f".join([entry["operation"]] + [f"${{E_{name}}}" for name in CMAKE_NAMES]) + "\x1d\")\n")
    done = subprocess.run(["cmake", "-P", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    for record in done.stderr.split("\x1d\n")[:-1]:
        said = dict(zip(("OPERATION", *CMAKE_NAMES), record.split("\x1f"), strict=True))
        launches = json.loads(said["LAUNCHES"])
        for launch in launches:
            launch.setdefault("cluster", [1, 1, 1])
            launch.setdefault("repeat", 1)
            launch["cooperative"] = int(launch.get("cooperative", False))
        if launches:  # the variables of the first are the same
            first = {"source": said["SOURCE"], "entry": said["ENTRY"], "smem_dynamic_bytes": said["SMEM_DYNAMIC_BYTES"],
                **{name: said[name.upper()].split(";") for name in ("grid", "block", "cluster")}}
            assert is_same(first, {name: launches[0][name] for name in first}), (first, launches[0])
        names = ("source", "entry", "grid", "block", "cluster", "smem_dynamic_bytes", "repeat", "cooperative", "args")
        yield {"operation": said["OPERATION"], "problem": pairs(said["PROBLEM"]), "timing": said["TIMING"], "family": said["FAMILY"],
            "configuration": pairs(said["CONFIGURATION"]), "defines": said["DEFINES"].split(";") if said["DEFINES"] else [],
            "options": said["OPTIONS"].split(";") if said["OPTIONS"] else [], "time_us": said["TIME_US"],
            "workspace_bytes": said["WORKSPACE_BYTES"] or 0, "launches": [{name: launch[name] for name in names} for launch in launches]}


# ---- compiled ----
def source_name(symbol):
    """Extracts scale<1> from "void scale<1>(float*, int)"; names of extern "C" are unchanged."""
    return re.sub(r"^void |\(.*$", "", run("c++filt", symbol).strip())


def bundle(_file, _tuned, _folder, path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"ttbundle"
    sizes = (1, 1, 20, 8, 80, 16, 48, 120, 12, 64, 24, 32)
    names = ("texts", "code", "operations", "keys", "entries", "sizes", "buffers", "maps", "symbols", "steps", "arguments", "images")
    tables = {name: (struct.unpack_from("<QQ", data, 32 + 16 * i), sizes[i]) for i, name in enumerate(names)}

    def item(table, index, form):
        (offset, count), size = tables[table]
        assert index < count
        return struct.unpack_from("<" + form, data, offset + index * size)

    def text(offset):
        at = tables["texts"][0][0] + offset
        return data[at:data.index(b"\0", at)].decode()
    for number in range(tables["operations"][0][1]):
        name, first_key, keys, first, count = item("operations", number, "5I")
        for index in range(first, first + count):
            fields = item("entries", index, "6I12Id")
            family, configuration, kernel_hash, _, is_predicted, _ = fields[:6]
            ranges, time = fields[6:18], fields[18]
            problem, launches = {}, []
            for key in range(keys):
                key_name, is_text = item("keys", first_key + key, "2I")
                value, = item("sizes", ranges[0] + key, "q")
                problem[text(key_name)] = text(value) if is_text else str(value)
            for step in range(ranges[8], ranges[8] + ranges[9]):
                fields = item("steps", step, "16I")
                entry, _, *sizes_, smem, repeat, cooperative, first_argument, argument_count = fields
                args = []
                for argument in range(first_argument, first_argument + argument_count):
                    word, kind, size, _, bits = item("arguments", argument, "4Iq")
                    forms = {2: ("<q", "<i"), 3: ("<q", "<f")}
                    args.append(text(word) if kind < 2 else struct.unpack(forms[kind][1], struct.pack("<q", bits)[:4])[0]
                        if kind in forms else bits)
                    assert kind != 4 or size in (1, 2, 4, 8), size
                launches.append({"entry": source_name(text(entry)), "grid": sizes_[:3], "block": sizes_[3:6],
                    "cluster": sizes_[6:9], "smem_dynamic_bytes": smem, "repeat": repeat, "cooperative": cooperative, "args": args})
            yield {"operation": text(name), "problem": problem, "family": text(family), "configuration": pairs(text(configuration)),
                "timing": ("measured", "predicted")[is_predicted], "kernel_hash": text(kernel_hash), "time_us": time,
                "launches": launches}


def kernel(suffix):
    def decode(file, tuned, folder, _path):
        for entry in tuned["entries"]:
            problem = ",".join(f"{key}={value}" for key, value in entry["problem"].items())
            out = os.path.join(folder, "kernel." + suffix)
            tiletune("export", file, entry["operation"], "-p", problem, "--format", {"cu": "source"}.get(suffix, suffix), "-o", out,
                "--cache-dir", CACHE, *tuned["words"])
            with open(out + ".json", encoding="utf-8") as metadata:
                said = json.load(metadata)
            launches = []
            for launch in said["plan"]["launches"]:
                unit = said["units"][launch["unit"]]
                with open(os.path.join(folder, unit["file"]), "rb") as image:
                    content = image.read()
                name = launch["entry"]
                assert suffix == "cu" or name.encode() in content, (name, unit)
                args = [said["plan"]["buffers"][value]["name"] if kind == "buffer" else said["plan"]["tensor_maps"][value]["name"]
                    if kind == "tensor_map" else value for argument in launch["args"] for kind, value in argument.items()]
                assert name in unit["entries"] or source_name(name) in unit["entries"], (name, unit["entries"])
                launches.append({**launch, "source": unit["name"], "entry": source_name(name), "args": args})
                del launches[-1]["unit"]
                options = [option for option in unit["options"] if option.startswith("-D") and option != "-DNDEBUG"]
                if suffix == "cu":
                    lines = re.findall(r"^#define (\w+) (.*)$", content.decode(), re.MULTILINE)[:len(options) + 1]
                    assert all(tuple(option[2:].split("=", 1)) in lines for option in options), (options, lines)
            yield {"operation": said["operation"], "problem": texts(said["problem"]), "family": said["family"],
                "configuration": texts(said["configuration"]), "defines": sorted(option[2:] for option in options),
                "kernel_hash": said["kernel_hash"], "launches": launches}
    return decode


def features(folder):
    """For a journal: a row for each measured evaluation, with the sizes and parameters of its configuration."""
    path = os.path.join(folder, "features")
    tiletune("export", "tests/data/replay/measured.jsonl.gz", "--format", "features", "--path", "tests/data/replay", "-o", path)
    with gzip.open("tests/data/replay/measured.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.endswith("}\n")]  # one line is incomplete
    problems = {line["number"]: line["text"] for line in lines if line["event"] == "problem"}
    measured = {(problems[line["problem"]], line["family"], line["configuration"]): statistics.median(line["samples_us"])
        for line in lines if line["event"] == "evaluation" and line["outcome"] == "ok"}
    with open(path, encoding="utf-8") as file:
        documents = json.loads("[" + file.read().replace("}\n{", "},{") + "]")
    for document in documents:
        operation, problem = document["problem"].split(" ")
        assert document["family"].startswith(operation + "/"), document["family"]
        for configuration, time, physics, *values in document["rows"]:
            known = dict(zip(document["features"], values, strict=True))
            assert is_same(time, measured.pop((problem, document["family"], configuration))) and physics > 0, (configuration, time)
            for name, value in {**pairs(problem), **pairs(configuration)}.items():
                assert not value.isdigit() or known[name] == float(value), (name, known)
            assert abs(known["score.tiles"] / known["score.slots_per_wave"] - known["score.waves_exact"]) < 1e-5, known
            assert known["score.waves"] - 1 < known["score.waves_exact"] <= known["score.waves"], known
    assert not measured, list(measured)[:3]
    return sum(len(document["rows"]) for document in documents)


TABLES = {"c-header": c_header, "cmake": cmake, "make": make}
COMPILED = {"bundle": bundle, "cubin": kernel("cubin"), "ptx": kernel("ptx"), "source": kernel("cu")}
OF_JOURNALS = {"features": features}


def compare(form, decoder, file, tuned, folder):
    expected = [expected_entry(entry) for entry in tuned["entries"]]
    path = os.path.join(folder, "exported")
    if decoder in TABLES.values():
        run(os.path.join(folder, "tiletune"), "export", file, "--format", form, "-o", path, env=PLAIN, cwd=folder)
    elif form == "bundle":
        tiletune("export", file, "--format", form, "-o", path, "--cache-dir", CACHE, *tuned["words"])
    found = list(decoder(file, tuned, folder, path))
    assert len(found) == len(expected) or (form == "cmake" and found), (form, file, len(found), len(expected))
    known = {(entry["operation"], *sorted(entry["problem"].items())): entry for entry in expected}
    for entry in found:
        wanted = known[(entry["operation"], *sorted(entry["problem"].items()))]
        wanted = {**wanted, "defines": sorted(wanted["defines"])} if form in ("cubin", "ptx", "source") else wanted
        for member, value in entry.items():
            expectation = wanted[member]
            if member == "launches":
                assert len(value) == len(expectation), (form, file, entry["problem"], value, expectation)
                expectation = [{name: launch[name] for name in mine} for mine, launch in zip(value, expectation)]
            assert is_same(value, expectation), f"{form} of {file}, {entry['problem']}: {member}\nexported  {value}\ntuned     {expectation}"
    return len(found)


def main():
    listed = re.findall(r"^ {8}(\S+) {2,}", tiletune("help", "export"), re.MULTILINE)
    # rules are not tables of entries: tests/python/test_rules.py
    missing = [name for name in listed if name not in {**TABLES, **COMPILED, **OF_JOURNALS} and not name.startswith("rule-")]
    assert listed and not missing, f"add a decoder to tests/checks/export.py: {missing}"
    files, counts = [], {}
    for path in sorted(glob.glob("results/**/*.json", recursive=True) + glob.glob("tests/data/**/*.json", recursive=True)):
        with open(path, encoding="utf-8") as file:
            if '"tiletune.tuned/1"' in file.read(100):
                file.seek(0)
                files.append((os.path.abspath(path), json.load(file)))
    assert len(files) > 5, files
    with tempfile.TemporaryDirectory() as folder:
        # without the templates: a table has the file's data, not launches of today's sources
        shutil.copy(os.path.join(OUT, "tiletune"), folder)
        for file, tuned in files:
            for form, decoder in TABLES.items():
                counts[form] = counts.get(form, 0) + compare(form, decoder, file, tuned, folder)
        file, repeated = os.path.join(folder, "repeated.json"), next(tuned for _, tuned in files if any(e["winner"].get("launches") for e in tuned["entries"]))
        for launch in (launch for entry in repeated["entries"] for launch in entry["winner"].get("launches", [])):
            launch.update(repeat=3, cooperative=True)
        with open(file, "w", encoding="utf-8") as content:
            json.dump(repeated, content)
        for form, decoder in TABLES.items():
            compare(form, decoder, file, repeated, folder)
        for number, (operation, words) in enumerate(MADE.items()):
            file = os.path.join(folder, f"made{number}.json")
            tiletune("tune", operation, *words, "--device", "model:h200-sxm", "--effort", "estimate", "--strategy", "random",
                # two configurations of an own kernel without a model may have equal predictions
                "--evaluations", "1" if operation.endswith(".json") else "2", "--fresh", "--cache-dir", CACHE, "-o", file)
            with open(file, encoding="utf-8") as content:
                tuned = json.load(content)
            tuned["words"] = ("--path", OWN) if operation == OWN else words[words.index("--path"):] if "--path" in words else ()
            for form, decoder in {**TABLES, **COMPILED}.items():
                if form != "make" or operation != OWN:  # make refuses "scale<1>"
                    counts[form] = counts.get(form, 0) + compare(form, decoder, file, tuned, folder)
        counts |= {form: decoder(folder) for form, decoder in OF_JOURNALS.items()}
    print(", ".join(f"{form}: {count} entries" for form, count in counts.items()))


main()
