#!/usr/bin/python3
"""The output of `export` agrees with the tuned file. For every format that `help export` lists, this script has a decoder, which reads
the result like a user's build. Entries, defines, launches and arguments are compared one by one.

	tests/checks/export.py OUT		OUT: the folder with the binary

A new format fails until it has a decoder: a function in TABLES of tests/tools/exported.py (for texts; COMPILED here for kernels; OF_JOURNALS for journals as well),
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

sys.path.insert(0, "tests/tools")
sys.dont_write_bytecode = True
from exported import TABLES, expected_entry, is_same, pairs, run, texts  # noqa: E402  pylint: disable=wrong-import-position

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


def tiletune(*words):
    return run(os.path.join(OUT, "tiletune"), *words, env={**PLAIN, "TILETUNE_PATH": ROOT})


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
    """Returns, for a journal, a row for each measured evaluation, with the sizes and parameters of its configuration."""
    path = os.path.join(folder, "features")
    tiletune("export", "tests/data/replay/measured.jsonl.gz", "--format", "features", "--path", "tests/data/replay", "-o", path)
    with gzip.open("tests/data/replay/measured.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.endswith("}\n")]  # one line of the journal is incomplete
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
    assert listed and not missing, f"add a decoder to TABLES of tests/tools/exported.py: {missing}"
    files, counts = [], {}
    for path in sorted(glob.glob("results/**/*.json", recursive=True) + glob.glob("tests/data/**/*.json", recursive=True)):
        with open(path, encoding="utf-8") as file:
            if '"tiletune.tuned/1"' in file.read(100):
                file.seek(0)
                files.append((os.path.abspath(path), json.load(file)))
    assert len(files) > 5, files
    with tempfile.TemporaryDirectory() as folder:
        # the templates are absent: a table contains the file's data, not launches of today's sources
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
