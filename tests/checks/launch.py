#!/usr/bin/python3
"""src/launch on the driver's stand-in: the kernels that C and C++ programs and ctypes launch from a bundle agree with `export --format
cubin`; damaged bundles give messages.

	tests/checks/launch.py OUT		OUT: the folder with the binary"""
import ctypes
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

OUT = os.path.abspath(sys.argv[1])
ROOT = os.getcwd()
CACHE = os.path.abspath(os.path.join(os.environ.get("TEST_BUILD", "build"), "test-cache"))
ATTENTION = "batch=1,heads=2,seq_q=40,seq_k=24,head_dim=16,dtype=bf16"
GEMM = "M=200,N=136,K=72,dtype=bf16"
PROBLEMS = {  # (problem, restriction of the space) by family
    "gemm/wgmma": (GEMM, "CLUSTER_M*CLUSTER_N == 1"), "attention/flash_mma": (ATTENTION, "True"),
    "attention/unfused": (ATTENTION.replace("seq_k=24", "seq_k=32"), "True"),  # three launches and a workspace
    "gemm/mma": ("M=64,N=64,K=4096,dtype=fp16", "SPLIT_K > 1 and BM == 64 and STAGES == 3 and MIN_BLOCKS == 1"),  # a grid of two dimensions
    "gemm/wgmma ": ("M=1024,N=1152,K=4096,dtype=bf16", "STREAM_K == 1 and CLUSTER_M*CLUSTER_N > 1"),  # zeroed once; clusters
    "gemm/wgmma_repack": ("M=200,N=136,K=70,dtype=bf16", "CLUSTER_M*CLUSTER_N == 1"),  # tensor maps of workspaces
    "gemm_chain/separate": ("m=64,k=128,n=64,p=128,dtype=bf16", "BM == 64"),
}
MARK_OUTPUT, DTYPE_BF16, MAP_STRIDE_AT = 0, 3, 56  # constants of tests/faults/standin.h, src/expr/dtype.h and struct ttl_map
RIGHT = (0x3F40).to_bytes(2, "little")  # 0.75, the result of the stand-in's kernels
MAP_TYPES = {"fp16": 6, "bf16": 9, "fp32": 7, "tf32": 7, "fp8_e4m3": 0}  # values of cuda.h
MAPS = 7  # index of the table in tiletune_launch.h
REALS = {"f32": "<f", "f64": "<d"}
SWIZZLES, PROMOTIONS = {0: 0, 32: 1, 64: 2, 128: 3}, {0: 0, 64: 1, 128: 2, 256: 3}

if "san-" in os.path.basename(OUT):
    sys.exit(print("skipped: a sanitized library does not load into a plain python3") or 77)
if "--child" not in sys.argv:
    # the loader reads LD_LIBRARY_PATH, and the stand-in its script, only at the start
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(OUT, "faults", "libcuda.so.1"), os.path.join(folder, "libcuda.so.1"))
        with open(os.path.join(folder, "script"), "w", encoding="utf-8") as file:
            print("log", os.path.join(folder, "log"), file=file)
        environment = {**os.environ, "LD_LIBRARY_PATH": folder, "TILETUNE_STANDIN": os.path.join(folder, "script")}
        sys.exit(subprocess.run([sys.executable, *sys.argv, "--child", folder], env=environment, check=False).returncode)
WORK, LOG = sys.argv[-1], os.path.join(sys.argv[-1], "log")

sys.path.insert(0, "src/python")
sys.dont_write_bytecode = True
from tiletune.launch import Error, Library  # noqa: E402  pylint: disable=wrong-import-position


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


def check_launches(lines, plan, addresses, is_bound=True):
    """Checks that the log agrees with the plan at these tensor addresses. is_bound: the log begins with a bind, which zeroes some
    workspaces once. Returns the addresses of all buffers."""
    known, at = dict(addresses), iter(lines)
    for init in ("once", "each") if is_bound else ("each",):
        for buffer in plan["buffers"][plan["tensors"]:]:
            if buffer["bytes"] and buffer["init"] == init:
                line = next(at)
                assert (line["entry"], line["bytes"]) == ("memset", buffer["bytes"]), line
                assert line["address"] == known.setdefault(buffer["name"], line["address"]), (line, known)
    for symbol in plan.get("symbols", ()):
        buffer = plan["buffers"][symbol["buffer"]]
        assert next(at) == {"entry": "copy", "from": known[buffer["name"]], "bytes": buffer["bytes"]}, (lines, known)
    count = 0
    for launch in plan["launches"]:
        for _ in range(launch["repeat"]):
            line, count = next(at), count + 1
            for ours, theirs in (("entry", "entry"), ("smem", "smem_dynamic_bytes"), ("grid", "grid"), ("block", "block"),
                    ("cluster", "cluster")):
                assert line[ours] == launch[theirs], (line, launch)
            assert line.get("cooperative", False) == launch.get("cooperative", False), (line, launch)
            assert len(line["args"]) == len(launch["args"]), (line, launch)
            for found, wanted in zip(line["args"], launch["args"]):
                (kind, value), = wanted.items()
                if kind == "buffer":
                    buffer = plan["buffers"][value]
                    expected = known.setdefault(buffer["name"], found) if buffer["bytes"] else 0
                    assert found == expected and (found != 0) == (buffer["bytes"] != 0), (buffer, found, expected)
                elif kind == "tensor_map":
                    check_map(found, plan["tensor_maps"][value], plan, known)
                elif kind in REALS:
                    assert found.to_bytes(8, "little").startswith(struct.pack(REALS[kind], value)), (wanted, found)
                else:
                    assert found == value, (wanted, found)
    assert next(at, None) is None and count, lines
    assert len(set(known.values())) == len(known), known
    return known


def check_map(found, wanted, plan, known):
    if not wanted["dims"]:
        assert found["address"] == 0, found
        return
    buffer = plan["buffers"][wanted["buffer"]]["name"]
    assert found["address"] == known.setdefault(buffer, found["address"]), (found, wanted)
    assert found["dims"] == wanted["dims"], (found, wanted)
    assert found["strides"] == wanted["strides"] and found["box"] == wanted["box"], (found, wanted)
    assert found["type"] == MAP_TYPES[wanted["dtype"]] and found["swizzle"] == SWIZZLES[wanted["swizzle_bytes"]], found
    assert found["promotion"] == PROMOTIONS[wanted["l2_promotion_bytes"]], (found, wanted)


# ---- tuned files, a bundle of all, the plan of each ----
files = []
for number, (family, (problem, where)) in enumerate(PROBLEMS.items()):
    operation, name = family.strip().split("/")
    files.append(path(f"{number}.json"))
    run("tune", operation, "-p", problem, "--family", name, "--device", "model:h200-sxm", "--effort", "estimate",
        "--where", where, "--evaluations", "1", "--fresh", "--cache-dir", CACHE,
        "-o", files[-1])
run("merge", *files, "-o", path("tuned.json"))
whole, _ = export(path("tuned.json"), name="all.bundle")
plans, bundles = {}, dict.fromkeys(PROBLEMS, whole)
for family, (problem, _) in PROBLEMS.items():
    run("export", path("tuned.json"), family.split("/")[0], "-p", problem, "--format", "cubin", "-o", path("k.cubin"),
        "--cache-dir", CACHE)
    with open(path("k.cubin.json"), encoding="utf-8") as file:
        plans[family] = json.load(file)["plan"]
# a kernel outside templates/
TOY, SOFTMAX = ("--path", os.path.join(ROOT, "tests/toy")), "rows=256,cols=512"
run("tune", "row_softmax", "-p", SOFTMAX, "--device", "model:h200-sxm", "--effort", "estimate", "--evaluations", "1", "--fresh",
    "--cache-dir", CACHE, "-o", path("toy.json"), *TOY)
bundles["row_softmax/online"], _ = export(path("toy.json"), *TOY, name="toy.bundle")
run("export", path("toy.json"), "--format", "cubin", "-o", path("k.cubin"), "--cache-dir", CACHE, *TOY)
with open(path("k.cubin.json"), encoding="utf-8") as file:
    plans["row_softmax/online"] = json.load(file)["plan"]
# in place, with a variable in constant memory and numbers of 1 and 8 bytes; two templates of one source, a second source, repeats
# and a cooperative launch, with a variable of a namespace
OWN = {"types/types": "n=100003", "steps/steps": "n=5000", "grid_sync/grid_sync": "n=5000"}
for family in OWN:
    name = family.split("/")[0]
    file = os.path.join(ROOT, f"tests/own/{name}.json")
    run("tune", file, "--device", "model:h200-sxm", "--effort", "estimate", "--strategy", "random", "--evaluations", "1", "--fresh",
        "--cache-dir", CACHE, "-o", path(name + ".json"))
    bundles[family], _ = export(path(name + ".json"), "--path", file, name=name + ".bundle")
    run("export", path(name + ".json"), "--format", "cubin", "-o", path("k.cubin"), "--cache-dir", CACHE, "--path", file)
    with open(path("k.cubin.json"), encoding="utf-8") as file:
        plans[family] = json.load(file)["plan"]
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
library = Library(os.path.join(OUT, "libtiletune_launch.so"))


def allocate(size):
    address = ctypes.c_uint64()
    assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(size, 1))) == 0
    return address.value


def free_bytes():
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    assert cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)) == 0
    return free.value


def refusal(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except Error as error:
        return str(error)
    return "none"


def items(bundle_, table, first, count, form):
    """Reads a table of the bundle in its memory layout (launch/tiletune_launch.h)."""
    header = library.calls.ttl_bundle_header(bundle_.handle)
    size = struct.calcsize(form)
    start = ctypes.addressof(header.contents) + header.contents.tables[2 * table] + first * size
    return [(struct.unpack(form, ctypes.string_at(start + i * size, size)), start + i * size) for i in range(count)]


# ---- the launcher compared with a model: bind, set, launch and bind again, in any order ----
class Walk:
    def __init__(self, bundle_, family, problem):
        self.random, self.plan = random.Random(family), plans[family]
        self.entry = bundle_.find(family.split("/")[0], problem)
        self.kernel, self.run, self.own = self.entry.load(), None, []
        self.buffers = {buffer["name"]: buffer for buffer in self.plan["buffers"] if buffer["bytes"]}
        self.tensors = [buffer["name"] for buffer in self.plan["buffers"][:self.plan["tensors"]] if buffer["bytes"]]

    def new(self, name):
        self.own.append(allocate(self.buffers[name]["bytes"]))
        return self.own[-1]

    def bind(self):
        given = self.tensors + [name for name in self.buffers if name not in self.tensors and self.random.random() < 0.3]
        self.random.shuffle(given)
        self.known, self.is_bound = {name: self.new(name) for name in given}, True
        self.run = None
        if os.path.exists(LOG):
            os.remove(LOG)  # log of a run that was bound but never launched
        self.run = self.kernel.bind(self.known)

    def set(self):
        name = self.random.choice(list(self.buffers))
        has_map = any(self.plan["buffers"][map_["buffer"]]["name"] == name for map_ in self.plan["tensor_maps"] if map_["dims"])
        address = self.new(name)
        if has_map and self.random.random() < 0.3:
            assert "(1)" in refusal(self.run.set, name, address + 2), name
        elif not (self.is_bound and self.buffers[name].get("init") == "once" and name not in self.known):
            self.run.set(name, address)
            self.known[name] = address

    def launch(self):
        self.run.launch()
        lines = take_log()
        if self.is_bound:  # bind zeroes the workspace, at its address of that time
            once = [name for name, buffer in self.buffers.items() if buffer.get("init") == "once"]
            for name, line in zip(once, lines):
                assert (line["entry"], line["bytes"]) == ("memset", self.buffers[name]["bytes"]), line
                self.known.setdefault(name, line["address"])
            lines = lines[len(once):]
        self.known, self.is_bound = check_launches(lines, self.plan, self.known, is_bound=False), False

    def go(self, steps):
        free = free_bytes()
        self.bind()
        for _ in range(steps):
            self.random.choice([self.bind, self.set, self.set, self.set, self.launch, self.launch])()
        self.launch()
        self.run = self.kernel = None
        for address in self.own:
            assert cuda.cuMemFree_v2(ctypes.c_uint64(address)) == 0, "a run freed what it was given"
        assert free_bytes() == free, "a run left memory allocated"

with open(path("tuned.json"), encoding="utf-8") as file:
    times = {entry["winner"]["time_us"]["median"] for entry in json.load(file)["entries"]}
bundle = library.open(whole)
opened = {whole: bundle}
assert bundle.header("compiler").startswith("NVRTC"), bundle.header("compiler")
for family in plans:
    problem = OWN.get(family) or PROBLEMS.get(family, (SOFTMAX,))[0]
    if bundles[family] not in opened:
        opened[bundles[family]] = library.open(bundles[family])
    walk = Walk(opened[bundles[family]], family, problem)
    entry = walk.entry
    assert (entry.family, entry.is_predicted) == (family.strip(), True), entry.family
    check = {buffer["name"]: buffer["bytes"] for buffer in plans[family]["buffers"][:plans[family]["tensors"]]}
    assert entry.tensors == check, (entry.tensors, check)
    assert entry.time_us in times or family not in PROBLEMS, (entry.time_us, times)
    walk.go(40)

types = opened[bundles["types/types"]]
entry = types.find("types", "n=100003")
tensors = {name: allocate(size) for name, size in entry.tensors.items()}
assert "table" in refusal(entry.load().bind, {name: address for name, address in tensors.items() if name != "table"})
entry = bundle.find("attention", ATTENTION)
tensors = {name: allocate(size) for name, size in entry.tensors.items() if size}
kernel = entry.load()
run_, other = kernel.bind(tensors), allocate(entry.tensors["O"])
run_.set("O", other)
cuda.standin_mark(MARK_OUTPUT, ctypes.c_uint64(other), ctypes.c_uint64(entry.tensors["O"]), DTYPE_BF16)
run_.launch()
assert ctypes.string_at(other, entry.tensors["O"]) == RIGHT * (entry.tensors["O"] // 2), "the kernel did not run"
os.remove(LOG)
del run_, kernel

# ---- ownership of memory ---- a failing bind leaves no workspace allocated: the tensor map of one has a pitch that the driver refuses
entry = bundle.find("gemm", PROBLEMS["gemm/wgmma_repack"][0])
tensors = {name: allocate(size) for name, size in entry.tensors.items() if size}
kernel = entry.load()
strides = [ctypes.c_uint64.from_address(at + MAP_STRIDE_AT)
    for (_, buffer, *_), at in items(bundle, MAPS, entry.fields.maps.first, entry.fields.maps.count, "<2I112s")
    if buffer >= entry.fields.tensor_count]
assert strides, "no map of a workspace"
whole_strides = [stride.value for stride in strides]
for stride in strides:
    stride.value += 8
free_before = free_bytes()
assert "(1)" in refusal(kernel.bind, tensors), "a pitch of 8 bytes was accepted"
assert free_bytes() == free_before, "a binding that failed left memory allocated"
for stride, value in zip(strides, whole_strides):
    stride.value = value
del kernel
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

# ---- an entry serves exactly the sizes of its problem ----
for problem, said in ((GEMM.replace("M=200", "M=199"), "no entry"), (GEMM.replace("M=200", "M=201"), "no entry"),
        (GEMM.replace("N=136", "N=135"), "no entry"), (GEMM + ",lda=80", "no entry"), (GEMM + ",b_layout=kn", "no entry"), (GEMM + ",b=1", "expected KEY=VALUE, found b=1"),
        ("M=x", "expected an integer, found M=x"), ("M", "expected KEY=VALUE, found M"), ("M=200", "no entry")):
    assert said in refusal(bundle.find, "gemm", problem), (problem, refusal(bundle.find, "gemm", problem))
assert bundle.find("gemm", GEMM + ",lda=72,b_layout=nk").address.value == entry.address.value
assert "no such operation" in refusal(bundle.find, "none", GEMM)
assert "B: expected an address" in refusal(entry.load().bind, {**tensors, "B": 0})
assert "no such tensor" in refusal(entry.load().bind, {**tensors, "b": 1})
assert "B" in refusal(entry.load().bind, {name: address for name, address in tensors.items() if name != "B"})
assert "(1)" in refusal(entry.load().bind, {**tensors, "A": tensors["A"] + 2})

# ---- sizes that were not tuned ----
grid, _ = export(path("tuned.json"), "gemm", "-p", "M=128:512:128,N=136,K=72,dtype=bf16", "-p", GEMM, name="grid.bundle")
bundle = library.open(grid)
assert bundle.find("gemm", "M=384,N=136,K=72,dtype=bf16").is_predicted
assert "no such operation" in refusal(bundle.find, "attention", ATTENTION)

# ---- several architectures; embedded ----
two, said = export(path("tuned.json"), "--arch", "sm_80", name="two.bundle")
assert "has the default configuration" in said, said


def picked(pair, capability):
    """Returns which of two images suits the GPU better: `a` fits only that capability, others also fit later minor versions."""
    suits = [number == capability if suffix == ord("a") else number // 10 == capability // 10 and number <= capability
        for number, suffix in pair]
    best = max(((number, suffix != 0) for (number, suffix), fits in zip(pair, suits) if fits), default=None)
    return [fits and (number, suffix != 0) == best for (number, suffix), fits in zip(pair, suits)]

tried = 0
for capability in (80, 86, 89, 90, 100, 103):
    with open(path("script"), "w", encoding="utf-8") as file:
        print("compute_capability", capability, file=file)
    done = subprocess.run([sys.executable, "-B", "tests/tools/launch_images.py", two, library.path, "attention", ATTENTION, str(capability)],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        *numbers, good, said = line.split()
        _, first, first_suffix, second, second_suffix = map(int, numbers)
        fitting = picked(((first, first_suffix), (second, second_suffix)), capability)
        allowed = {"none"} if not any(fitting) else {"loaded"} if fitting[int(good)] else {"other"}
        if all(fitting):  # both images are equally good, so either may be loaded
            allowed = {"loaded", "other"}
        assert said in allowed, (line, allowed)
        tried += 1
assert tried == 6 * 18 * 18 * 2, tried

# ---- GPUs without tuned results: a default entry, as a cubin or from PTX ----
more, said = export(path("tuned.json"), "gemm", "-p", GEMM, "--arch", "sm_80", "--arch", "compute_80", name="more.bundle")
assert "for 2 tuned kernels" in said and "has the default configuration" in said, said
for capability, expected in ((90, "False False gemm/wgmma True"), (80, "False True gemm/mma True"), (86, "False True gemm/mma True"),
        (100, "False True gemm/mma True"), (120, "False True gemm/mma True"), (75, "expected an image for compute capability 7.5")):
    with open(path("script"), "w", encoding="utf-8") as file:
        print("compute_capability", capability, file=file)
    done = subprocess.run([sys.executable, "-B", "tests/tools/launch_entry.py", more, library.path, GEMM], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and expected in done.stdout, (capability, done)
with open("src/launch/README.md", encoding="utf-8") as file:
    embedded = re.search(r"```c\n(__asm__.*?)```", file.read(), re.DOTALL).group(1)  # README of src/launch shows this example
with open(path("embedded.c"), "w", encoding="utf-8") as file:
    file.write(embedded.replace("kernels.bundle", whole) + "#include <stdint.h>\n#include <stdio.h>\nint main(void)\n{\n"
        "return (uintptr_t)bundle_begin % 8 || fwrite(bundle_begin, bundle_end - bundle_begin, 1, stdout) != 1;\n}\n")
subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-o", path("embedded"), path("embedded.c")], check=True)
with open(whole, "rb") as file:
    content = file.read()
assert subprocess.run([path("embedded")], capture_output=True, check=True).stdout == content

# ---- damage ----
for name, damaged, expected in (("none", None, "cannot be opened"), ("empty", b"", "cannot be read"),
        ("other", b"x" * 4096, "expected a bundle"), ("version", content[:8] + b"\1" + content[9:], "expected version 7"),
        ("short", content[:-8], f"expected {len(content)} bytes"),
        ("bit", content[:-100] + bytes([content[-100] ^ 1]) + content[-99:], "checksum")):
    if damaged is not None:
        with open(path(name), "wb") as file:
            file.write(damaged)
    assert expected in refusal(library.open, path(name)), (name, refusal(library.open, path(name)))
print(f"{len(PROBLEMS)} kernels of a bundle are launched as their plans say, in C, C++ and Python")
