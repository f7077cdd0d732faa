#!/usr/bin/env python3
"""python3 -m tiletune.t1: T1 files of both dialects become kernels that `validate` accepts. Features that a CUDA kernel cannot have are
refused with place and reason. Paths also work from another folder.

tests/data/t1 has the expected results for tests/own/*.t1.json. Each case below changes one part of a file."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.getcwd()
TILETUNE = os.path.join(ROOT, sys.argv[1], "tiletune")
KERNEL_TUNER, KTT = "vector_add.t1.json", "scale.t1.json"  # one file of each dialect
failures = []


def run(*command):
    env = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "src/python"), "PYTHONDONTWRITEBYTECODE": "1", "TILETUNE_PATH": ROOT}
    return subprocess.run(command, env=env, capture_output=True, text=True)


def convert(*arguments):
    return run(sys.executable, "-W", "error", "-m", "tiletune.t1", *arguments)


def expect(what, found, expected):
    if found != expected:
        failures.append(f"{what}: expected {expected!r}, found {found!r}")


def changed(source, *changes):
    """Replaces texts (which must exist) in the file and converts it; returns the parsed result or the message."""
    with open(source) as file:
        text = file.read()
    for old, new in changes:
        assert old in text, (source, old)
        text = text.replace(old, new, 1)
    with open("changed.t1.json", "w") as file:
        file.write(text)
    answer = convert("changed.t1.json")
    expect(f"exit code of {changes}", answer.returncode, 2 if answer.stderr else 0)
    return json.loads(answer.stdout) if answer.returncode == 0 else answer.stderr.strip().removeprefix("tiletune.t1: changed.t1.json: ")


def test_whole():
    for name in (KERNEL_TUNER, KTT):
        answer = convert(name, "-o", "made.json")
        expect(f"{name}: the answer", (answer.returncode, answer.stdout, answer.stderr), (0, "wrote made.json\n", ""))
        with open("made.json") as made, open(os.path.join(ROOT, "tests/data/t1", name.replace(".t1", ""))) as wanted:
            expect(f"{name}: the file", made.read(), wanted.read())
        answer = run(TILETUNE, "validate", "made.json")
        expect(f"{name}: validate", (answer.returncode, answer.stdout), (0, "made.json: ok (tiletune.own_kernel/1)\n"))


def test_members():
    def value(path, *changes, source=KTT):
        found = changed(source, *changes)
        for key in path:
            found = found[key]
        return found

    # values as a list; options and folders
    expect("values", value(["parameters", "PER_THREAD"], ('"[1, 2, 4]"', "[1, 2, 4]")), [1, 2, 4])
    options = ('"-use_fast_math"', '"-use_fast_math", "-Iinclude", "-DX=1", "-std=c++20"')
    expect("options", value(["options"], options), ["--use_fast_math", "-DX=1", "-std=c++20"])
    expect("folders", value(["include_paths"], options), ["include"])
    # a grid in threads or in thread blocks
    expect("blocks", value(["launches", 0, "grid"], ('"OpenCL"', '"CUDA"')), ["65536 // PER_THREAD", "1", "1"])
    expect("vulkan", value(["launches", 0, "grid", 1], ('"OpenCL"', '"Vulkan"')), "ceil_div(1, 1)")
    # element types and contents
    expect("lanes", value(["tensors", "x"], ('"Type": "float", "Size"', '"Type": "float4", "Size"')),
        {"shape": ["65536", 4], "dtype": "fp32", "role": "inout", "fill": [0, 2]})
    integers = ('"Type": "float", "Size": 65536, "TypeSize": 4', '"Type": "uint8", "Size": 65536, "TypeSize": 1')
    expect("integers", value(["tensors", "x", "dtype"], integers), "u8")
    generated = '"FillType": "Generator", "DataSource": "1 + (i//4)*0.1 if i%4 < 3 else 0.5"'
    for fill, wanted in (
        ('"FillType": "Constant"', "zero"),
        ('"FillType": "Constant", "FillValue": 1.0', "one"),
        ('"FillType": "Constant", "FillValue": 2.50', {"expression": "2.5"}),
        ('"FillType": "BinaryRaw", "DataSource": "b.bin"', {"file": "b.bin"}),
        ('"FillType": "Generator", "DataSource": "max(list(PER_THREAD)) + i*pi"', {"expression": "max((([1, 2, 4]))) + index*pi"}),
    ):
        expect(fill, value(["tensors", "b", "contents"], (generated, fill)), wanted)
    # constant memory: passed to Kernel Tuner's kernels by name, to KTT's as a symbol
    symbol = ('"MemoryType": "Vector"}\n\t\t],', '"MemoryType": "Symbol", "SymbolName": "s"}\n\t\t],')
    both = (generated, generated + ', "MemType": "Constant"')
    expect("MemType", value(["symbols"], both), {"b": "b"})
    expect("MemType's argument", value(["launches", 0, "args", 1], both), "b")
    scalar = ('"Name": "n", "Type": "int32", "FillType": "Constant", "FillValue": 65536, "MemoryType": "Scalar"',
        '"Name": "n", "Type": "int32", "Size": 1, "FillType": "Constant", "FillValue": 1, "MemoryType": "Symbol", "SymbolName": "count"')
    expect("symbol", value(["symbols"], scalar), {"count": "n"})
    expect("symbol's role", value(["tensors", "n", "role"], scalar), "in")
    expect("symbol's argument", value(["launches", 0, "args"], scalar), ["x", "b", {"value": "0.25", "type": "f32"}])
    expect("no integer, no key", list(value(["keys"], scalar)), ["run"])
    # expected values
    file = ('"FillType": "Generator", "DataSource": "i", "TargetName"', '"FillType": "BinaryRaw", "DataSource": "x.bin", "TargetName"')
    expect("reference", value(["reference"], file), [{"file": "x.bin", "output": "x"}])
    # Kernel Tuner's sizes by axis, and divisors
    three = ('"ProblemSize": [100000], "GridDivX": ["block_size_x"]', '"ProblemSize": [100000, 8], "GridDivX": ["block_size_x", 2], "GridDivY": []')
    expect("divisors", value(["launches", 0, "grid"], three, source=KERNEL_TUNER),
        ["ceil_div(problem_size_x, (block_size_x)*(2))", "ceil_div(problem_size_y, 1)", "1"])
    expect("one size", value(["keys"], ("[100000], ", "7, "), source=KERNEL_TUNER),
        {"problem_size_x": {"min": 7, "max": 7, "default": 7}})
    expect("no block", value(["launches", 0, "block"], ('"LocalSize"', '"Local"'), ('"Name": "block_size_x"', '"Name": "Block_Size_X"'),
        source=KERNEL_TUNER), ["Block_Size_X", "1", "1"])
    expect("no such parameter", value(["constants", "block_size_x"], ('"LocalSize"', '"Local"'), ('"Name": "block_size_x"', '"Name": "bx"'),
        source=KERNEL_TUNER), "256")


def test_defaults():
    """A default that is not among the values is dropped; if that cannot be decided, it stays."""
    def default(values, number):
        return changed(KERNEL_TUNER, ('"[32] + list(range(64, 1024+1, 64))"', values), ('"Default": 128', f'"Default": {number}')) \
            .get("defaults", {}).get("block_size_x")

    for values, number, wanted in (
        ('"[32] + list(range(64, 1024+1, 64))"', 128, 128),
        ('"[32] + list(range(64, 1024+1, 64))"', 1024, 1024),
        ('"[32] + list(range(64, 1024+1, 64))"', 96.5, None),
        ("[32, 64]", 128, None),
        ("[32, 64]", 64, 64),
        ('"[2**i for i in range(10)]"', 511, None),
        ('"[2**i for i in range(10)]"', 512, 512),
        ('"[x for x in anything()]"', 3, 3),
        ('"[2**2**2**2**2**2]"', 3, 3),
        ('"range(10**12)"', 3, 3),
        ('"[0]*10**9*10**9"', 3, 3),
        ("\"__import__('os').system('touch ran')\"", 3, 3),
    ):
        expect(f"{number} of {values}", default(values, number), wanted)
    expect("a program ran", os.path.exists("ran"), False)


def test_refused():
    specification = "$.KernelSpecification"
    arguments = specification + ".Arguments"
    for source, change, message in (
        (KERNEL_TUNER, ('"Language": "CUDA"', '"Language": "OpenCL"'), f'{specification}.Language: expected "CUDA", found "OpenCL"'),
        (KERNEL_TUNER, ("vector_add.cu", "vector_sub.cu"), f'{specification}.KernelFile: expected a file of ., found "vector_sub.cu"'),
        (KERNEL_TUNER, ('"WriteOnly"', '"ReadOnly"'),
            f"{arguments}: expected the kernel's arguments, at least one of them a Vector that is written, "
            'found [{"Name":"c","Type":"float","MemoryType":"Vector","AccessTyp...'),
        (KERNEL_TUNER, ('"Type": "int32"', '"Type": "complex"'),
            f"{arguments}[3].Type: expected one of float, double, half, bool, int8, uint8, int16, uint16, int32, uint32, int64, "
            'uint64, or float, double, half with a number of lanes, found "complex"'),
        (KERNEL_TUNER, ('"Type": "int32"', '"Type": "int32x4"'), None),
        (KERNEL_TUNER, ('"Values": "[2', '"Value": "[2'),
            '$.ConfigurationSpace.TuningParameters[1]: expected a member "Values", found {"Name":"blocks_per_sm","Type":"int","Value":"[2**i for i in...'),
        (KERNEL_TUNER, ('"Type": "int", "Values": "[2', '"Type": "string", "Values": "[2'),
            '$.ConfigurationSpace.TuningParameters[1].Type: expected one of int, uint, float, bool, found "string"'),
        (KERNEL_TUNER, ('"ProblemSize": [100000]', '"ProblemSize": ["n"]'), f'{specification}.ProblemSize[0]: expected an integer, found "n"'),
        (KERNEL_TUNER, ("[100000]", "[1, 1, 1, 1]"), f"{specification}.ProblemSize[3]: expected at most 3 sizes, found 1"),
        (KERNEL_TUNER, ("[100000]", "[]"), f"{specification}.ProblemSize: expected at least one size, found []"),
        (KERNEL_TUNER, ('"Size": 100000', '"Sizes": 100000'), None),
        (KERNEL_TUNER, ('"Size": 100000', '"Size": [1]'), f"{arguments}[2].Size: expected a string, found [1]"),
        (KERNEL_TUNER, ('"FillValue": 324.5', '"FillValue": "3"'), f'{arguments}[2].FillValue: expected a number, found "3"'),
        (KTT, ('"Generator", "DataSource": "1', '"Script", "DataSource": "1'),
            f'{arguments}[1].FillType: expected one of Constant, Random, Generator, BinaryRaw, found "Script"'),
        (KTT, ('"MemoryType": "Vector"}', '"MemoryType": "Local"}'),
            f'{arguments}[0].MemoryType: expected one of Vector, Scalar, Symbol, found "Local"'),
        (KTT, ('"GlobalSize"', '"GlobalSizes"'),
            f'{specification}: expected a member "GlobalSize", found {{"Language":"CUDA","KernelName":"scale","KernelFile":"scale....'),
        (KTT, ('"FillValue": 2.0', '"FillValue": 1e999'), None),
        (KTT, ('"KernelFile"', '"KernelName": "twice", "KernelFile"'), 'expected members once, found two of "KernelName"'),
        (KTT, ('"KernelFile": "scale.cu"', '"KernelFile": "a\\u0000b"'), None),
        (KTT, ('{', '['), None),
        (KTT, ('"KernelSpecification"', '"Kernel"'), None),
    ):
        found = changed(source, change)
        if message is None:
            expect(f"{change} is refused in one line", isinstance(found, str) and found.count("\n"), 0)
        else:
            expect(str(change), found, message)


def test_folders():
    """The kernel is in the parent folder. A result in a third folder still finds the files that it names."""
    os.makedirs("a/cases")
    os.makedirs("b")
    shutil.copy("scale.cu", "a/scale.cu")
    shutil.copy(KTT, "a/cases/scale.t1.json")
    expect("above", convert("a/cases/scale.t1.json", "-o", "b/made.json").returncode, 0)
    with open("b/made.json") as file:
        expect("its source", json.load(file)["source"], "../a/scale.cu")
    expect("validate", run(TILETUNE, "validate", "b/made.json").returncode, 0)
    expect("onto itself", convert(KTT, "-o", "./" + KTT).returncode, 2)
    expect("no folder", convert(KTT, "-o", "none/x.json").returncode, 1)
    expect("no file", convert("none.t1.json").returncode, 2)


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    for name in (KERNEL_TUNER, KTT, "vector_add.cu", "scale.cu"):
        shutil.copy(os.path.join(ROOT, "tests/own", name), name)
    for test in (test_whole, test_members, test_defaults, test_refused, test_folders):
        test()
    os.chdir(ROOT)
print("\n".join(failures))
sys.exit(1 if failures else 0)
