#!/usr/bin/python3
"""Builds this machine's wheel like `make wheel`, installs it into a fresh environment and runs a tuning without a CUDA toolkit.

	tests/checks/wheel.py OUT

The pinned compiler (zig's cc, glibc 2.28) runs only if an input file of the wheel has changed: build/wheel/ARCH.hash identifies the
inputs of the wheel. pip takes the wheels that tiletune requires from build/wheel/required. The environment is not activated, and
Landlock hides the machine's toolkits and NVRTC from all processes. Skipped only if the packages cannot be fetched."""
import ctypes
import glob
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from typing import NoReturn

OUT, BUILD = sys.argv[1], os.path.abspath(os.environ.get("TEST_BUILD", "build"))
WHEELS = f"{BUILD}/wheel"
REQUIRED = f"{WHEELS}/required"
VERSION = re.search(r"^VERSION *:= *(\S+)", open("Makefile", encoding="utf-8").read(), re.M).group(1)
KERNEL = """#include <type_traits>
#include "cuda_fp16.h"

template <typename T> __device__ T twice(T x)
{
	static_assert(std::is_same<T, __half>::value, "expected half");
	return __hadd(x, x);
}

extern "C" __global__ void scale(__half *y, const __half *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = twice(x[i]);
}
"""
MODULE = """import ctypes, os, tiletune, tiletune.launch
tuned = tiletune.load("tuned.json")
answer = tuned.lookup("gemm", M=256, N=256, K=256, dtype="bf16")
print(answer.family, os.path.dirname(tiletune.__file__), tiletune.__version__)
ctypes.CDLL(tiletune.launch.find_library()).ttl_open  # a bundle needs the driver, too
"""


def skip(reason: str) -> NoReturn:
	print(f"skipped: {reason}")
	sys.exit(77)


# ---- hidden state ----
LIBC = ctypes.CDLL(None, use_errno=True)
CREATE_RULESET, ADD_RULE, RESTRICT_SELF, PR_SET_NO_NEW_PRIVS = 444, 445, 446, 38
READ_FILE_AND_FOLDER = 1 << 2 | 1 << 3


def hidden_paths() -> list[str]:
	cached = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
	found = glob.glob("/usr/local/cuda*") + glob.glob("/opt/cuda*") + re.findall(r"libnvrtc\S* .*=> (\S+)", cached)
	return sorted({os.path.realpath(path) for path in [*found, "/usr/include/cuda_fp16.h"] if os.path.exists(path)})


HIDDEN = hidden_paths()
HAS_LANDLOCK = LIBC.syscall(CREATE_RULESET, None, 0, 1) > 0  # this call only queries the version


def hide() -> None:
	"""Lets this process and its children read everything but HIDDEN. Links are not followed, because their targets have their own
	rules."""
	ruleset = LIBC.syscall(CREATE_RULESET, ctypes.byref(ctypes.c_uint64(READ_FILE_AND_FOLDER)), ctypes.c_size_t(8), 0)

	def allow(path: str) -> None:
		if path in HIDDEN or os.path.islink(path):
			return
		if os.path.isdir(path) and any(hidden.startswith(path.rstrip("/") + "/") for hidden in HIDDEN):
			for name in os.listdir(path):
				allow(os.path.join(path, name))
			return
		beneath = os.open(path, os.O_PATH)
		rights = READ_FILE_AND_FOLDER if os.path.isdir(path) else 1 << 2
		rule = (ctypes.c_uint8 * 12)(*rights.to_bytes(8, "little"), *beneath.to_bytes(4, "little"))
		if LIBC.syscall(ADD_RULE, ruleset, 1, ctypes.byref(rule), 0):
			raise OSError(ctypes.get_errno(), "landlock_add_rule", path)
		os.close(beneath)

	allow("/")
	if LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or LIBC.syscall(RESTRICT_SELF, ruleset, 0):
		raise OSError(ctypes.get_errno(), "landlock_restrict_self")


# ---- the wheel ----
def run(*words: str, folder: str, code: int = 0, is_hidden: bool = True) -> str:
	environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": REQUIRED,
		"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
	done = subprocess.run(words, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
		check=False, preexec_fn=hide if is_hidden and HIDDEN and HAS_LANDLOCK else None)
	if done.returncode != code:
		sys.exit(f"{' '.join(words)}: expected exit code {code}, found {done.returncode}\n{done.stdout}")
	return done.stdout


def expect(what: str, expected: str, found: str) -> None:
	if not re.search(expected, found):
		sys.exit(f"{what}: expected {expected}, found {found}")


def inputs_hash() -> str:
	"""Returns a hash of the names and contents of all files in the wheel, committed or not."""
	listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "Makefile", "README.md", "LICENSE", "src", "templates",
		"configs"], check=True, capture_output=True, text=True).stdout.splitlines()
	total = hashlib.sha256()
	for path in filter(os.path.isfile, sorted(listed)):
		with open(path, "rb") as file:
			total.update(f"{path} {hashlib.sha256(file.read()).hexdigest()}\n".encode())
	return total.hexdigest()


def make(*targets: str) -> subprocess.CompletedProcess[str]:
	environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
	return subprocess.run(["make", "-s", "-o", "packages", f"BUILD={BUILD}", *targets], env=environment, text=True, stdout=subprocess.PIPE,
		stderr=subprocess.STDOUT, check=False)


def build_wheel() -> str:
	machine, made_from = platform.machine(), inputs_hash()
	name = f"{WHEELS}/tiletune-{VERSION}-py3-none-manylinux_2_28_{machine}.whl"
	mark = f"{WHEELS}/{machine}.hash"
	if os.path.exists(name) and os.path.exists(mark) and open(mark, encoding="utf-8").read() == made_from:
		return name
	fetched = make(f"{WHEELS}/tools/made", f"{WHEELS}/sources/made")
	if fetched.returncode:
		skip(f"the compiler of wheels or the sources of what is linked in cannot be fetched: {(fetched.stdout.split(chr(10)) or [''])[-2:][0]}")
	done = make(f"wheel-{machine}")
	if done.returncode or not os.path.exists(name):
		sys.exit(f"make wheel-{machine}: exit code {done.returncode}\n{done.stdout}")
	with open(mark, "w", encoding="utf-8") as file:
		file.write(made_from)
	return name


def ci_install_line() -> str:
	"""Returns the command by which the CI examples install the wheel, which is the same in all of their jobs."""
	lines: set[str] = set()
	for name in ("configs/ci/github-actions.yml", "configs/ci/gitlab-ci.yml"):
		with open(name, encoding="utf-8") as file:
			lines |= set(re.findall(r"- (?:run: )?(.*pip install.*)", file.read()))
	if len(lines) != 1:
		sys.exit(f"configs/ci: expected one line that installs the wheel, found {sorted(lines)}")
	return lines.pop()


def try_wheel(wheel: str, folder: str) -> None:
	bin_folder = f"{folder}/env/bin"
	tiletune, python = f"{bin_folder}/tiletune", f"{bin_folder}/python"
	shutil.copy(wheel, folder)
	run("sh", "-c", ci_install_line(), folder=folder, is_hidden=False)
	for path in HIDDEN if HAS_LANDLOCK else []:
		command, code = ("ls", 2) if os.path.isdir(path) else ("cat", 1)
		expect("what is hidden", "Permission denied", run(command, path, folder=folder, code=code))
	expect("--version", rf"^tiletune {re.escape(VERSION)} ", run(tiletune, "--version", folder=folder))
	expect("python -m tiletune", rf"^tiletune {re.escape(VERSION)} ", run(python, "-m", "tiletune", "--version", folder=folder))
	compiler = json.loads(run(tiletune, "devices", "--json", folder=folder))["compiler"]
	expect("NVRTC's path", f"^{re.escape(bin_folder)}/.*/site-packages/nvidia/cu13/lib/libnvrtc.so.13$", compiler.get("path", compiler.get("missing")))

	run(tiletune, "tune", "gemm", "-p", "M=256,N=256,K=256,dtype=bf16", "--device", "model:h200-sxm", "--family", "mma",
		"--where", "BM == 64 and BN == 64 and BK == 32", "--effort", "estimate", "--evaluations", "1", "-o", "tuned.json", folder=folder)
	run(tiletune, "export", "tuned.json", "--format", "bundle", "-o", "kernels.bundle", folder=folder)
	expect("import tiletune", rf"^gemm/mma {folder}/env/lib/python3[^\n]* {re.escape(VERSION)}\n$", run(python, "-c", MODULE, folder=folder))
	for name in ("include/tiletune_launch.h", "share/tiletune/templates/gemm/operation.json"):
		if not os.path.exists(f"{folder}/env/{name}"):
			sys.exit(f"{wheel}: expected {name} in the environment, found none")

	with open(f"{folder}/scale.cu", "w", encoding="utf-8") as file:
		file.write(KERNEL)
	run(tiletune, "new", "scale.cu", "-o", "draft.json", folder=folder)
	with open(f"{folder}/draft.json", encoding="utf-8") as file:
		own = json.load(file)
	own["keys"]["n"]["default"] = 1024
	for tensor in own["tensors"].values():
		tensor["shape"] = ["n"]
	own["tensors"]["y"]["role"] = "out"
	own["parameters"], own["defaults"] = {"block_x": [256]}, {"block_x": 256}
	own["launches"][0] |= {"grid": ["ceil_div(n, block_x)"], "block": ["block_x"]}
	with open(f"{folder}/scale.json", "w", encoding="utf-8") as file:
		json.dump(own, file)
	expect("validate", "^scale.json: ", run(tiletune, "validate", "scale.json", folder=folder))
	expect("an own kernel", r"\d+ registers[\s\S]* 1 ok\n", run(tiletune, "tune", "scale.json", "--device", "model:h200-sxm", "-o", "own.json", folder=folder))


with tempfile.TemporaryDirectory() as scratch:
	if "san-" in os.path.basename(OUT):
		skip("wheels are of the release build")
	wheel = build_wheel()
	done = subprocess.run(["sh", "tests/cuda.sh", "wheels", REQUIRED], stderr=subprocess.PIPE, text=True, check=False)
	if done.returncode:
		skip(f"the wheels that tiletune's requires cannot be fetched: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
	size = os.path.getsize(wheel)
	if size > 2e6:
		sys.exit(f"{wheel}: expected at most 2 MB, found {size} bytes")
	try_wheel(wheel, scratch)
	print(f"{os.path.basename(wheel)}: {size} bytes, installed and tried{', nothing to hide' if not HIDDEN else ''}")
	if HIDDEN and not HAS_LANDLOCK:
		print(f"skipped: this kernel has no Landlock: the machine's toolkit was not hidden ({HIDDEN[0]})")
