#!/usr/bin/python3
"""src/launch over the driver's stand-in: what is launched from a bundle, by a program in C and C++ and through
ctypes, is what `export --format cubin` says of the same kernels; sizes at run time; damage is named.

	tests/checks/launch.py OUT		OUT: the folder with the binary
"""
import ctypes
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

OUT = os.path.abspath(sys.argv[1])
ROOT = os.getcwd()
CACHE = os.path.abspath(os.path.join(os.environ.get("TEST_BUILD", "build"), "test-cache"))
ATTENTION = "batch=1,heads=2,seq_q=40,seq_k=24,head_dim=16,dtype=bf16"
GEMM = "M=200,N=136,K=72,dtype=bf16"
PROBLEMS = {  # family: problem, sub-space
    "gemm/wgmma": (GEMM, "CLUSTER_M*CLUSTER_N == 1"), "attention/flash_mma": (ATTENTION, "True"),
    "attention/unfused": (ATTENTION.replace("seq_k=24", "seq_k=32"), "True"),  # three launches and a workspace
    "gemm/mma": ("M=64,N=64,K=4096,dtype=fp16", "SPLIT_K > 1 and BM == 64 and STAGES == 3 and MIN_BLOCKS == 1"),  # a grid of two dimensions
    "gemm/mma ": ("M=300,N=64,K=64,dtype=fp16", "SPLIT_K == 1 and BM == 64"),  # five tiles, down to M=257
    "gemm/wgmma ": ("M=1024,N=1152,K=4096,dtype=bf16", "STREAM_K == 1 and CLUSTER_M*CLUSTER_N > 1"),  # zeroed once; clusters
    "gemm_chain/separate": ("m=64,k=128,n=64,p=128,dtype=bf16", "True"),  # a composite
}
MARK_OUTPUT, DTYPE_BF16 = 0, 3  # of tests/faults/standin.h and src/expr/dtype.h
RIGHT = (0x3F40).to_bytes(2, "little")  # 0.75, what the stand-in's kernels write
MAP_TYPES = {"fp16": 6, "bf16": 9, "fp32": 7, "tf32": 7, "fp8_e4m3": 0}  # of cuda.h
REALS = {"f32": "<f", "f64": "<d"}
SWIZZLES, PROMOTIONS = {0: 0, 32: 1, 64: 2, 128: 3}, {0: 0, 64: 1, 128: 2, 256: 3}

if "san-" in os.path.basename(OUT):
    print("skipped: a sanitized library does not load into a plain python3")
    sys.exit(77)
if "--child" not in sys.argv:
    # the loader reads LD_LIBRARY_PATH once, at the start, and the stand-in its script
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(OUT, "faults", "libcuda.so.1"), os.path.join(folder, "libcuda.so.1"))
        with open(os.path.join(folder, "script"), "w", encoding="utf-8") as file:
            print("log", os.path.join(folder, "log"), file=file)
        environment = {**os.environ, "LD_LIBRARY_PATH": folder, "TILETUNE_STANDIN": os.path.join(folder, "script")}
        sys.exit(subprocess.run([sys.executable, *sys.argv, "--child", folder], env=environment, check=False).returncode)
WORK = sys.argv[-1]
LOG = os.path.join(WORK, "log")

sys.path.insert(0, "tests/consumers/python")
sys.dont_write_bytecode = True
import tiletune_launch  # noqa: E402  pylint: disable=wrong-import-position


def run(*arguments, **options):
    environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    done = subprocess.run([os.path.join(OUT, "tiletune"), *arguments, "--path", ROOT], capture_output=True, text=True,
        check=False, env=environment, **options)
    assert done.returncode == 0, (done.returncode, arguments, done.stderr)
    return done.stderr


def path(name):
    return os.path.join(WORK, name)


def export(*arguments, name, form="bundle"):
    said = run("export", *arguments, "--format", form, "-o", path(name), "--cache-dir", CACHE)
    return path(name), said


def take_log():
    with open(LOG, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    os.remove(LOG)
    return lines


def check_launches(lines, plan, addresses, sizes=()):
    """The log is the plan, at these addresses of tensors; sizes: what differs at run time, by argument's value."""
    known, at = dict(addresses), iter(lines)
    for buffer in plan["buffers"][plan["tensors"]:]:
        if buffer["bytes"] and buffer["init"] in ("once", "each"):
            line = next(at)
            assert (line["entry"], line["bytes"]) == ("memset", buffer["bytes"]), line
            known[buffer["name"]] = line["address"]
    replaced = dict(sizes)
    count = 0
    for launch in plan["launches"]:
        for _ in range(launch["repeat"]):
            line, count = next(at), count + 1
            for ours, theirs in (("entry", "entry"), ("smem", "smem_dynamic_bytes"), ("grid", "grid"), ("block", "block"),
                    ("cluster", "cluster")):
                assert line[ours] == launch[theirs], (line, launch)
            assert len(line["args"]) == len(launch["args"]), (line, launch)
            for found, wanted in zip(line["args"], launch["args"]):
                (kind, value), = wanted.items()
                if kind == "buffer":
                    buffer = plan["buffers"][value]
                    expected = known.setdefault(buffer["name"], found) if buffer["bytes"] else 0
                    assert found == expected and (found != 0) == (buffer["bytes"] != 0), (buffer, found, expected)
                elif kind == "tensor_map":
                    check_map(found, plan["tensor_maps"][value], plan, known, replaced)
                elif kind in REALS:
                    assert found.to_bytes(8, "little").startswith(struct.pack(REALS[kind], value)), (wanted, found)
                else:
                    assert found == replaced.get(value, value), (wanted, found)
    assert next(at, None) is None and count, lines
    workspaces = [known[name] for name in known if name not in addresses]
    assert len(set(workspaces) | set(addresses.values())) == len(workspaces) + len(addresses), known


def check_map(found, wanted, plan, known, replaced):
    if not wanted["dims"]:
        assert found["address"] == 0, found
        return
    buffer = plan["buffers"][wanted["buffer"]]["name"]
    assert found["address"] == known.setdefault(buffer, found["address"]), (found, wanted)
    assert found["dims"] == [replaced.get(size, size) for size in wanted["dims"]], (found, wanted)
    assert found["strides"] == wanted["strides"] and found["box"] == wanted["box"], (found, wanted)
    assert found["type"] == MAP_TYPES[wanted["dtype"]] and found["swizzle"] == SWIZZLES[wanted["swizzle_bytes"]], found
    assert found["promotion"] == PROMOTIONS[wanted["l2_promotion_bytes"]], (found, wanted)


# ---- tuned files, a bundle of all, the plan of each ----
files = []
for number, (family, (problem, where)) in enumerate(PROBLEMS.items()):
    operation, name = family.strip().split("/")
    files.append(path(f"{number}.json"))
    run("tune", operation, "-p", problem, "--family", name, "--device", "model:h200-sxm", "--effort", "estimate",
        *(() if name == "separate" else ("--where", where)), "--evaluations", "1", "--fresh", "--cache-dir", CACHE,
        "-o", files[-1])
run("merge", *files, "-o", path("tuned.json"))
whole, _ = export(path("tuned.json"), name="all.bundle")
plans, bundles = {}, dict.fromkeys(PROBLEMS, whole)
for family, (problem, _) in PROBLEMS.items():
    run("export", path("tuned.json"), family.split("/")[0], "-p", problem, "--format", "cubin", "-o", path("k.cubin"),
        "--cache-dir", CACHE)
    with open(path("k.cubin.json"), encoding="utf-8") as file:
        plans[family] = json.load(file)["plan"]
# a kernel that is not of templates/
TOY, SOFTMAX = ("--path", os.path.join(ROOT, "tests/toy")), "rows=256,cols=512"
run("tune", "row_softmax", "-p", SOFTMAX, "--device", "model:h200-sxm", "--effort", "estimate", "--evaluations", "1", "--fresh",
    "--cache-dir", CACHE, "-o", path("toy.json"), *TOY)
bundles["row_softmax/online"], _ = export(path("toy.json"), *TOY, name="toy.bundle")
run("export", path("toy.json"), "--format", "cubin", "-o", path("k.cubin"), "--cache-dir", CACHE, *TOY)
with open(path("k.cubin.json"), encoding="utf-8") as file:
    plans["row_softmax/online"] = json.load(file)["plan"]
# in place, with a variable in constant memory and numbers of 1 and 8 bytes
TYPES = os.path.join(ROOT, "tests/own/types.json")
run("tune", TYPES, "--device", "model:h200-sxm", "--effort", "estimate", "--strategy", "random", "--evaluations", "1", "--fresh",
    "--cache-dir", CACHE, "-o", path("types.json"))
bundles["types/types"], _ = export(path("types.json"), "--path", TYPES, name="types.bundle")
run("export", path("types.json"), "--format", "cubin", "-o", path("k.cubin"), "--cache-dir", CACHE, "--path", TYPES)
with open(path("k.cubin.json"), encoding="utf-8") as file:
    plans["types/types"] = json.load(file)["plan"]
launches = [launch for plan in plans.values() for launch in plan["launches"]]
assert len(launches) > len(plans) and any(launch["grid"][1] > 1 for launch in launches), launches
assert any(launch["cluster"][0] > 1 for launch in launches) and any(plan["tensor_maps"] for plan in plans.values())
assert any(buffer.get("init") == "once" and buffer["bytes"] for plan in plans.values() for buffer in plan["buffers"])

# ---- a program in C and C++ ----
strict = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-pedantic", "-I", os.path.join(OUT, "include"),
    "-isystem", os.environ.get("CUDA_INCLUDE", "/usr/local/cuda/include"), "tests/consumers/launch/main.c", "-x", "none",
    os.path.join(OUT, "faults", "libcuda.so.1")]
for compiler in (os.environ.get("CC", "gcc"), "-std=gnu11", "-x", "c"), ("g++", "-std=gnu++17", "-x", "c++"):
    subprocess.run([*compiler, *strict, "-o", path("program")], check=True)
    for chosen in (("gemm/wgmma", "attention/flash_mma"), ("row_softmax/online",)):
        words = []
        for family in chosen:
            folder = path(family.replace("/", "-"))
            os.makedirs(folder, exist_ok=True)
            for buffer in plans[family]["buffers"][:plans[family]["tensors"]]:
                with open(os.path.join(folder, buffer["name"]), "wb") as file:
                    file.write(b"\1" * buffer["bytes"])
            words += [family.split("/")[0], PROBLEMS.get(family, (SOFTMAX,))[0], folder]
        done = subprocess.run([path("program"), bundles[chosen[0]], *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        lines = take_log()
        for family in chosen:
            count = sum(launch["repeat"] for launch in plans[family]["launches"])
            check_launches(lines[:count], plans[family], {})
            lines = lines[count:]
        assert not lines, lines

# ---- Python ----
cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuInit(0)
context = ctypes.c_void_p()
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
library = tiletune_launch.Library(os.path.join(OUT, "gpu", "libtiletune_launch.so"))


def allocate(size):
    address = ctypes.c_uint64()
    assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(size, 1))) == 0
    return address.value


def refusal(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except RuntimeError as error:
        return str(error)
    return "none"


bundle = library.open(whole)
for family, (problem, _) in PROBLEMS.items():
    entry = bundle.find(family.split("/")[0], problem)
    assert (entry.family, entry.is_predicted) == (family.strip(), True), entry.family
    tensors = {name: allocate(size) for name, size in entry.tensors.items() if size}
    check = {buffer["name"]: buffer["bytes"] for buffer in plans[family]["buffers"][:plans[family]["tensors"]]}
    assert entry.tensors == check, (entry.tensors, check)
    kernel = entry.load()
    run_ = kernel.bind(tensors)
    run_.launch()
    check_launches(take_log(), plans[family], tensors)
types = library.open(bundles["types/types"])
entry = types.find("types", "n=100003")
tensors = {name: allocate(size) for name, size in entry.tensors.items()}
run_ = entry.load().bind(tensors)
for again in range(2):
    run_.launch()
    lines = take_log()
    assert lines[0] == {"entry": "copy", "from": tensors["table"], "bytes": 256}, lines[0]
    check_launches(lines[1:], plans["types/types"], tensors)
smaller = types.find("types", "n=100000")  # an i64
assert smaller.address.value == entry.address.value
smaller.load().bind(tensors, "n=100000").launch()
check_launches(take_log()[1:], plans["types/types"], tensors, {100003: 100000}.items())
assert "table" in refusal(entry.load().bind, {name: address for name, address in tensors.items() if name != "table"})
del run_
entry = bundle.find("attention", ATTENTION)
tensors = {name: allocate(size) for name, size in entry.tensors.items() if size}
kernel = entry.load()
run_ = kernel.bind(tensors)
other = allocate(entry.tensors["O"])
run_.set("O", other)
cuda.standin_mark(MARK_OUTPUT, ctypes.c_uint64(other), ctypes.c_uint64(entry.tensors["O"]), DTYPE_BF16)
run_.launch()
assert ctypes.string_at(other, entry.tensors["O"]) == RIGHT * (entry.tensors["O"] // 2), "the kernel did not run"
os.remove(LOG)

# ---- who owns what: a buffer that was given stays the caller's; one of no bytes is no address; libraries are unloaded ----
entry = bundle.find("gemm", PROBLEMS["gemm/mma"][0])
tensors = {name: allocate(size) for name, size in entry.tensors.items() if size}
kernel = entry.load()
run_ = kernel.bind(tensors)
size = next(buffer["bytes"] for buffer in plans["gemm/mma"]["buffers"] if buffer["name"] == "partial")
first, second = allocate(size), allocate(size)
run_.set("partial", first)
run_.set("partial", second)
run_.launch()
check_launches(take_log(), plans["gemm/mma"], {**tensors, "partial": second})
del run_, kernel
for address in (first, second):
    assert cuda.cuMemFree_v2(ctypes.c_uint64(address)) == 0, "a run freed what it was given"
entry = bundle.find("gemm", GEMM)
tensors = {name: allocate(size) for name, size in entry.tensors.items() if size}
loaded = ctypes.c_int.in_dll(cuda, "standin_library_count")
before, kernel = loaded.value, entry.load()
assert loaded.value == before + 1, (loaded.value, before)
run_ = kernel.bind(tensors)
run_.set("partial", tensors["A"])
run_.launch()
check_launches(take_log(), plans["gemm/wgmma"], tensors)
del run_, kernel
assert loaded.value == before, "a library stays loaded"

# ---- sizes that are smaller than the tuned ones: the same kernel, as its own plan says ----
smaller = GEMM.replace("M=200", "M=197")
entry = bundle.find("gemm", smaller)
tensors = {name: allocate(size) for name, size in entry.tensors.items() if size}
entry.load().bind(tensors, smaller).launch()
check_launches(take_log(), plans["gemm/wgmma"], tensors, {200: 197}.items())
tiles = PROBLEMS["gemm/mma "][0]
assert bundle.find("gemm", tiles.replace("300", "257")).address.value == bundle.find("gemm", tiles).address.value
for problem, said in ((tiles.replace("300", "256"), "no entry"), (GEMM.replace("M=200", "M=1"), "no entry"),
        (GEMM.replace("N=136", "N=135"), "no entry"), (GEMM + ",lda=80", "no entry"), (GEMM + ",b_layout=kn", "no entry"), (GEMM + ",b=1", "expected KEY=VALUE, found b=1"),
        ("M=x", "expected an integer, found M=x"), ("M", "expected KEY=VALUE, found M"), ("M=200", "no entry")):
    assert said in refusal(bundle.find, "gemm", problem), (problem, refusal(bundle.find, "gemm", problem))
assert bundle.find("gemm", GEMM + ",lda=72,b_layout=nk").address.value == entry.address.value
assert "no such operation" in refusal(bundle.find, "none", GEMM)
assert "B: expected an address" in refusal(entry.load().bind, {**tensors, "B": 0})
assert "no such tensor" in refusal(entry.load().bind, {**tensors, "b": 1})
assert "B" in refusal(entry.load().bind, {name: address for name, address in tensors.items() if name != "B"})
assert "(1)" in refusal(entry.load().bind, {**tensors, "A": tensors["A"] + 2})
assert "a problem that the kernel is for" in refusal(entry.load().bind, tensors, GEMM.replace("M=200", "M=1"))

# ---- sizes that were not tuned ----
grid, _ = export(path("tuned.json"), "gemm", "-p", "M=128:512:128,N=136,K=72,dtype=bf16", "-p", GEMM, name="grid.bundle")
bundle = library.open(grid)
assert bundle.find("gemm", "M=384,N=136,K=72,dtype=bf16").is_predicted
assert "no entry" in refusal(bundle.find, "attention", ATTENTION) or "no such operation" in refusal(bundle.find,
    "attention", ATTENTION)

# ---- several architectures; the same as a C array ----
two, said = export(path("tuned.json"), "--arch", "sm_80", name="two.bundle")
assert "did not compile" in said, said
with open(path("script"), "w", encoding="utf-8") as file:
    print("compute_capability 80", file=file)
child = "import ctypes, sys; sys.path.insert(0, 'tests/consumers/python'); import tiletune_launch as t\n" \
    "c = ctypes.CDLL('libcuda.so.1'); c.cuInit(0); x = ctypes.c_void_p()\n" \
    "c.cuDevicePrimaryCtxRetain(ctypes.byref(x), 0); c.cuCtxSetCurrent(x)\n" \
    f"b = t.Library({library.calls._name!r}).open({two!r}); b.find('attention', {ATTENTION!r}).load()\n" \
    f"b.find('gemm', {GEMM!r}).load()"
done = subprocess.run([sys.executable, "-Bc", child], capture_output=True, text=True, check=False)
assert "gemm/wgmma: expected an image for compute capability 8.0, found none" in done.stderr, done.stderr
export(path("tuned.json"), name="all.h", form="bundle-c")
with open(path("array.c"), "w", encoding="utf-8") as file:
    file.write('#include "all.h"\n#include <stdio.h>\nint main(void)\n{\n'
        "return fwrite(tiletune_bundle, sizeof(tiletune_bundle), 1, stdout) != 1;\n}\n")
subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o", path("array"), path("array.c")], check=True)
with open(whole, "rb") as file:
    content = file.read()
assert subprocess.run([path("array")], capture_output=True, check=True).stdout == content

# ---- damage ----
for name, damaged, expected in (("none", None, "cannot be opened"), ("empty", b"", "cannot be read"),
        ("other", b"x" * 4096, "expected a bundle"), ("version", content[:8] + b"\1" + content[9:], "expected version 3"),
        ("short", content[:-8], f"expected {len(content)} bytes"),
        ("bit", content[:-100] + bytes([content[-100] ^ 1]) + content[-99:], "checksum")):
    if damaged is not None:
        with open(path(name), "wb") as file:
            file.write(damaged)
    assert expected in refusal(library.open, path(name)), (name, refusal(library.open, path(name)))
shutil.rmtree(path("gemm-wgmma"))
print(f"{len(PROBLEMS)} kernels of a bundle are launched as their plans say, in C, C++ and Python")
