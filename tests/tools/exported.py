"""Reads the tables that `export` makes for builds, as a user's build does: with a C compiler, CMake and make.

Each decoder yields entries like those of expected_entry(); members that the format lacks are omitted."""
import json
import os
import subprocess


def run(*words, check=True, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    assert not check or done.returncode == 0, (done.returncode, words, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def texts(values):
    return {name: str(value) for name, value in values.items()}


def is_same(found, expected):
    """Compares numbers as numbers: 3, "3" and 3.0 are equal."""
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
    """Calls tiletune_find() for every entry; in large files, where each call takes long, only for a few entries."""
    script = os.path.join(folder, "find.cmake")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"include({path})\n")
        for entry in tuned["entries"][::len(tuned["entries"]) // 8 + 1]:
            file.write(f"tiletune_find(E {entry['operation']} {' '.join(f'{k}={v}' for k, v in entry['problem'].items())})\n"
                f"if(NOT E_FOUND)\nmessage(FATAL_ERROR \"{entry['problem']} is not found\")\nendif()\n"
                "list(JOIN E_DEFINES \"\x1e\" E_DEFINES)\nlist(JOIN E_OPTIONS \"\x1e\" E_OPTIONS)\n"
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
        if launches:  # the variables without a number repeat the first launch
            first = {"source": said["SOURCE"], "entry": said["ENTRY"], "smem_dynamic_bytes": said["SMEM_DYNAMIC_BYTES"],
                **{name: said[name.upper()].split(";") for name in ("grid", "block", "cluster")}}
            assert is_same(first, {name: launches[0][name] for name in first}), (first, launches[0])
        names = ("source", "entry", "grid", "block", "cluster", "smem_dynamic_bytes", "repeat", "cooperative", "args")
        yield {"operation": said["OPERATION"], "problem": pairs(said["PROBLEM"]), "timing": said["TIMING"], "family": said["FAMILY"],
            "configuration": pairs(said["CONFIGURATION"]), "defines": said["DEFINES"].split("\x1e") if said["DEFINES"] else [],
            "options": said["OPTIONS"].split("\x1e") if said["OPTIONS"] else [], "time_us": said["TIME_US"],
            "workspace_bytes": said["WORKSPACE_BYTES"] or 0, "launches": [{name: launch[name] for name in names} for launch in launches]}


TABLES = {"c-header": c_header, "cmake": cmake, "make": make}
