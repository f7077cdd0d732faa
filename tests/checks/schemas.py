#!/usr/bin/python3
"""Schemas, files and readers, each tested against the others.

	tests/checks/schemas.py OUT		OUT: the folder with the binary

Every schema is a valid draft-07 schema. Every file in the tree matches the schema of its format, and so do a new tuned file, journal
and explanation. `tiletune validate` agrees with python3-jsonschema on all of them and on hundreds of damaged copies."""
import copy
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import jsonschema

TILETUNE = os.path.join(os.path.abspath(sys.argv[1]), "tiletune")
ENVIRONMENT = {**os.environ, "TILETUNE_PATH": os.getcwd()}  # wherever OUT is
MUTANTS_PER_FORMAT = 64
LENGTH_OF_LISTS = 200 if os.environ.get("TEST_SIZE") == "full" else 12
# Readers of these also check members against each other, which schemas cannot express.
READ_STRICTLY = {"tiletune.learned/1", "tiletune.family/1", "tiletune.operation/1", "tiletune.own_kernel/1", "tiletune.journal/1", "tiletune.kernel/1"}
# programs of tests and benchmarks write these files, and tiletune reads none of them
UNREAD = {f"tiletune.{name}/1" for name in ("autotune_repeat", "bits", "compared_rows", "lookup_rates", "own_kernel_results", "repeat_rates", "triton_autotune", "versus")}
# Answers of earlier versions and of experiments whose scripts have left the tree (results/README.md), kept among the results.
EARLIER = {f"tiletune.{name}/1" for name in ("chain_counters", "chain_map", "chain_rule", "check_rates", "durations", "loads", "pairs", "program_rates",
    "public_kernels", "several_gpus", "sweep", "tiles")}
# these are read together with the other files of their folder
IN_FOLDER = {"tiletune.family/1", "tiletune.operation/1"}
WRONG_FORM = r'\$\S*: expected (a known member here|a member "\w+"(,|$)|one of "|at (least|most) \d+ element|an architecture)'
# Members named after a family's own parameters.
OWN_NAMES = r"\$\.(defaults|examples.*\.config)\."
failures = []


def fail(text):
    failures.append(text)
    print(text)


def load_schemas():
    schemas = {}
    for path in sorted(glob.glob("configs/schemas/*.schema.json")):
        with open(path, encoding="utf-8") as file:
            schema = json.load(file)
        try:
            jsonschema.Draft7Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            fail(f"{path}: {error.message}")
            continue
        schemas[f"tiletune.{os.path.basename(path).split('.')[0]}/1"] = jsonschema.Draft7Validator(schema)
    return schemas


def read_documents(path):
    """Returns (format, documents). For a journal, documents are a sample of lines and the shortest line of each event; `validate` reads all
    lines."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        text = file.read()
    if ".jsonl" in path:
        lines = [line for line in text.split("\n")[:-1] if line]
        shortest = {}
        for line in lines:
            event = re.search(r'"event":\s*"(\w+)"', line)[1]
            shortest[event] = min(shortest.get(event, line), line, key=len)
        return "tiletune.journal/1", [json.loads(line) for line in dict.fromkeys(spread(lines, LENGTH_OF_LISTS) + list(shortest.values()))]
    document = json.loads(text)
    return document.get("format"), [document]


def files_of_the_tree():
    patterns = ["configs/devices/**/*.json", "configs/learned/**/*.json", "tests/data/score/configs/**/*.json",
        "configs/suites/*.json", "templates/**/*.json", "tests/toy/**/*.json", "tests/data/kernel/templates/**/*.json", "tests/own/*[a-z].json",
        "results/**/*.json", "results/**/*.json.gz", "results/**/*.jsonl*", "tests/data/replay/**/*.json", "tests/data/replay/*.jsonl*"]
    return sorted(path for pattern in patterns for path in glob.glob(pattern, recursive=True))


def run(*arguments, **variables):
    return subprocess.run([TILETUNE, *arguments], capture_output=True, text=True, check=False,
        env={**ENVIRONMENT, **variables})


def make_files(folder):
    """Makes a tuned file and journals on the model device and on a recording, and an explanation."""
    env_cache = ["--cache-dir", os.path.join(folder, "cache")]
    made = []
    for name, arguments in {
        "model": ["tune", "row_softmax", "-p", "rows=256,cols=512", "--path", "tests/toy", "--device", "model:toy",
            "--effort", "estimate", "--evaluations", "2", *env_cache],
        "replay": ["tune", "tile", "-p", "M=1000,N=1000,K=512", "-p", "M=4096,N=256,K=2048", "--path",
            "tests/data/replay", "--device", "replay:tests/data/replay/measured.jsonl.gz"],
    }.items():
        tuned = os.path.join(folder, name + ".json")
        result = run(*arguments, "-o", tuned)
        if result.returncode:
            fail(f"{' '.join(arguments)}: {result.stderr}")
            continue
        made += [tuned, os.path.join(folder, name + ".journal.jsonl")]
    model = os.path.join(folder, "model.json")
    for name, arguments in {
        "explain": ["gemm", "-p", "M=1793,N=1793,K=1793,dtype=fp16", "--family", "mma", "--config",
            "BM=256,BN=128", "--device", "model:a100-sxm4", *env_cache],
        "check": [model, "--path", "tests/toy", "--device", "model:toy", *env_cache],
        "lookup": [model, "row_softmax", "-p", "rows=300,cols=512", "-p", "rows=256,cols=512", "--path", "tests/toy"],
        "advise": ["gemm", "-p", "M=16,N=513,K=512,dtype=bf16", "-f", "wgmma_skinny", "--device", "model:h200-sxm", *env_cache],
        "advise range": ["gemm", "-p", "N=512:640:64,M=512,K=512,dtype=fp32", "-f", "simt",
            "-c", "BM=64,BN=64,BK=16", "--device", "model:a100-sxm4", *env_cache],
    }.items():
        result = run(name.split()[0], *arguments, "--json")
        if result.returncode:
            fail(f"{name}: {result.stderr}")
            continue
        made.append(os.path.join(folder, name + ".json"))
        with open(made[-1], "w", encoding="utf-8") as file:
            file.write(result.stdout)
    made += judgements(folder)
    for kind, name in {"source": "kernel.cu", "cubin": "kernel.cubin"}.items():
        result = run("export", model, "row_softmax", "-p", "rows=256,cols=512", "--format", kind, "--path", "tests/toy",
            "-o", os.path.join(folder, name), *env_cache)
        if result.returncode:
            fail(f"export: {result.stderr}")
        else:
            made.append(os.path.join(folder, name + ".json"))
    return made


def judgements(folder):
    """Makes verdicts of judge about a correct kernel with a baseline, and about one that does not compile, on the stand-in driver."""
    os.mkdir(os.path.join(folder, "lib"))
    os.symlink(os.path.abspath(os.path.join(os.path.dirname(TILETUNE), "faults/libcuda.so.1")), os.path.join(folder, "lib/libcuda.so.1"))
    for name in ("vector_add.json", "vector_add.cu"):
        shutil.copy(os.path.join("tests/own", name), folder)
    with open(os.path.join(folder, "broken.json"), "w", encoding="utf-8") as file:
        json.dump({"format": "tiletune.own_kernel/1", "source": "vector_add.cu", "launches": [{"entry": "none", "grid": [1], "block": [32], "args": []}]}, file)
    made = []
    for name, kernel in {"right": "tests/own/vector_add.json", "wrong": os.path.join(folder, "broken.json")}.items():
        result = run("judge", kernel, "--baseline", os.path.join(folder, "vector_add.json"), "-p", "n=1000", "--device", "cuda:0", "--json",
            "--cache-dir", os.path.join(folder, "cache"), LD_LIBRARY_PATH=os.path.join(folder, "lib"), TILETUNE_LOCK_FOLDER=folder)
        if result.returncode not in (0, 1, 3, 4):
            fail(f"judge: {result.stderr}")
            continue
        made.append(os.path.join(folder, f"judgement_{name}.json"))
        with open(made[-1], "w", encoding="utf-8") as file:
            file.write(result.stdout)
    return made


def places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], path + (key,))
    elif isinstance(value, list):
        for index in range(min(len(value), 2)):
            yield from places(value[index], path + (index,))


def changes_of(document):
    """Yields single changes. Most make a document invalid, some do not, and both validators must agree."""
    for path in places(document):
        if not path:
            continue
        changes = [lambda p, k: p.pop(k)]
        for replacement in (None, -1, 2.5, "?", [], {}, True):
            changes.append(lambda p, k, r=replacement: p.__setitem__(k, r))
        if isinstance(path[-1], str):
            changes.append(lambda p, k: p.__setitem__(k + "_2", p.pop(k)))
        for change in changes:
            yield path, change


def mutate(document, path, change):
    mutant = copy.deepcopy(document)
    parent = mutant
    for step in path[:-1]:
        parent = parent[step]
    change(parent, path[-1])
    return mutant


def spread(items, count):
    return items if len(items) <= count else [items[i * len(items) // count] for i in range(count)]


def shortened(value):
    """Shortens long lists, for which Python would take minutes; tiletune reads all elements."""
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    return [shortened(each) for each in spread(value, LENGTH_OF_LISTS)] if isinstance(value, list) else value


def compare_mutants(schemas, documents, folder):
    """documents maps a format to one (document, path) of each kind. Runs both validators over damaged copies."""
    paths, expected = [], []
    for name, group in documents.items():
        if name in UNREAD:
            continue
        for number, (document, origin) in enumerate(group):
            chosen = spread(list(changes_of(document)), max(30, MUTANTS_PER_FORMAT // len(group)))
            for path, change in chosen:
                mutant = mutate(document, path, change)
                if not isinstance(mutant.get("format", name), str) or mutant.get("format", name) != name:
                    continue  # the change makes a file of another format
                if name == "tiletune.journal/1" and "event" not in mutant:
                    continue
                if name != "tiletune.journal/1" and "format" not in mutant:
                    continue
                file_path = os.path.join(folder, f"{len(paths)}.json")
                if name in IN_FOLDER:
                    place = os.path.dirname(origin)
                    there = os.path.join(folder, str(len(paths)), os.path.basename(place))
                    shutil.copytree(place, there)
                    file_path = os.path.join(there, os.path.basename(origin))
                with open(file_path, "w", encoding="utf-8") as file:
                    json.dump(mutant, file)
                paths.append(file_path)
                expected.append((schemas[name].is_valid(mutant), name, number, path))
    result = run("validate", "--schema-only", "--json", *paths)
    verdicts = json.loads(result.stdout)
    wrong = sum(not valid for valid, *_ in expected)
    print(f"{len(paths)} damaged copies, {wrong} of them invalid")
    if wrong < len(paths) // 4 or wrong == len(paths):
        fail("the damaged copies are not what they should be")
    for verdict, (valid, name, number, path) in zip(verdicts, expected):
        if verdict["ok"] != valid and not (valid and name in READ_STRICTLY):
            fail(f"{name} document {number}, changed at {path}: python says {valid}, we say {verdict}")


def check_error_rows(schemas):
    """Documents of a wrong form (missing or additional members, ...: rows of tests/errors) are refused by the schema, too."""
    count = 0
    for path in sorted(glob.glob("tests/errors/*.txt")):
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        for number, line in enumerate(lines, 1):
            fields = line.split(" | ")
            if len(fields) == 1:
                good = line.partition(" by ")[0]
            elif good.endswith(".json") and re.match(WRONG_FORM, fields[2]) and not re.match(OWN_NAMES, fields[2]):
                with open(good, encoding="utf-8") as file:
                    document = json.loads(fields[1] if fields[0] == "*" else file.read().replace(fields[0], fields[1], 1))
                count += 1
                if "format" in document and schemas[document["format"]].is_valid(document):
                    fail(f"{path}:{number}: the schema accepts {fields[1]}")
    if not count:
        fail("tests/errors: no row of a wrong form")


def check_recording():
    """The committed recording equals the output of its script."""
    script = subprocess.run([sys.executable, "tests/tools/record_tile.py"], capture_output=True, text=True, check=True)
    with gzip.open("tests/data/replay/measured.jsonl.gz", "rt", encoding="utf-8") as file:
        if file.read() != script.stdout:
            fail("tests/data/replay/measured.jsonl.gz: expected what tests/tools/record_tile.py writes")


def main():
    schemas = load_schemas()
    samples, readable = {}, []
    with tempfile.TemporaryDirectory() as folder:
        paths = files_of_the_tree() + make_files(folder)
        for path in paths:
            name, documents = read_documents(path)
            if name in EARLIER:
                continue
            if name not in schemas:
                fail(f"{path}: no schema for {name}")
                continue
            for number, document in enumerate(documents):
                for error in schemas[name].iter_errors(shortened(document)):
                    fail(f"{path}: document {number}: {list(error.absolute_path)}: {error.message[:200]}")
                    break
            kinds = samples.setdefault(name, {})
            if name not in UNREAD:
                readable.append(path)
            for document in documents:
                kind = document.get("event", "whole")
                if kind not in kinds or len(str(document)) < len(str(kinds[kind][0])):
                    kinds[kind] = document, path
        # one process, because a template's folder is loaded again for each of its files; families.py compiles them
        result = run("validate", "--path", "tests/toy", "--path", "tests/data/replay", "--path", "tests/data/kernel", "--json", *readable,
            TILETUNE_NVRTC="/none")
        if result.returncode:
            fail(f"validate: {[verdict for verdict in json.loads(result.stdout) if not verdict['ok']]}")
        for name in schemas:
            if name not in samples:
                fail(f"{name}: no file of it anywhere")
        compare_mutants(schemas, {name: list(kinds.values()) for name, kinds in samples.items()}, folder)
    check_error_rows(schemas)
    check_recording()
    print(f"{len(schemas)} schemas, {len(paths)} files, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
