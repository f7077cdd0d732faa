#!/usr/bin/python3
"""The wheel in a fresh environment, as `pip install tiletune` leaves it, on a machine without a CUDA toolkit.

	tests/checks/wheel.py OUT [WHEEL]	OUT: the folder with the binary; without WHEEL it is packed from there, for this machine

pip takes the wheels that it requires from build/wheel/required (tests/cuda.sh wheels, once a build folder). The environment is not
activated, and Landlock hides the machine's toolkits and NVRTC from every process below. Skipped where PyPI cannot be reached."""
import ctypes
import glob
import json
import os
import platform
import re
import subprocess
import sys
import tempfile

OUT, BUILD = sys.argv[1], os.environ.get("TEST_BUILD", "build")
REQUIRED = os.path.abspath(f"{BUILD}/wheel/required")
VERSION = re.search(r"^VERSION *:= *(\S+)", open("Makefile", encoding="utf-8").read(), re.M).group(1)
PYTHON = next((python for python in ("/usr/bin/python3", sys.executable)
	if not subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode), "")
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

# ---- what is hidden ----
LIBC = ctypes.CDLL(None, use_errno=True)
CREATE_RULESET, ADD_RULE, RESTRICT_SELF, PR_SET_NO_NEW_PRIVS = 444, 445, 446, 38
READ_FILE_AND_FOLDER = 1 << 2 | 1 << 3


def hidden_paths() -> list[str]:
	cached = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
	found = glob.glob("/usr/local/cuda*") + glob.glob("/opt/cuda*") + re.findall(r"libnvrtc\S* .*=> (\S+)", cached)
	return sorted({os.path.realpath(path) for path in [*found, "/usr/include/cuda_fp16.h"] if os.path.exists(path)})


HIDDEN = hidden_paths()
HAS_LANDLOCK = LIBC.syscall(CREATE_RULESET, None, 0, 1) > 0  # asks for the version


def hide() -> None:
	"""This process, and those that it starts, may read all but HIDDEN. Links are not followed: their targets have rules."""
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
	environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"}
	done = subprocess.run(words, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
		check=False, preexec_fn=hide if is_hidden and HIDDEN and HAS_LANDLOCK else None)
	if done.returncode != code:
		sys.exit(f"{' '.join(words)}: expected exit code {code}, found {done.returncode}\n{done.stdout}")
	return done.stdout


def expect(what: str, expected: str, found: str) -> None:
	if not re.search(expected, found):
		sys.exit(f"{what}: expected {expected}, found {found}")


def pack(folder: str) -> str:
	"""As the compiler at hand made it, without symbols."""
	files = os.path.join(folder, "files")
	os.makedirs(f"{files}/include")
	for name in ("tiletune", "libtiletune_launch.so"):
		subprocess.run(["strip", "-o", f"{files}/{name}", f"{OUT}/{name}"], check=True)
	os.symlink(os.path.abspath(f"{OUT}/include/tiletune_launch.h"), f"{files}/include/tiletune_launch.h")
	return subprocess.run(["/usr/bin/python3", "src/python/wheel/pack.py", "wheel", files, f"linux_{platform.machine()}", "-o", folder],
		check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def try_wheel(wheel: str, folder: str) -> None:
	bin_folder = f"{folder}/env/bin"
	tiletune, python = f"{bin_folder}/tiletune", f"{bin_folder}/python"
	run(PYTHON, "-m", "venv", "--without-pip", f"{folder}/env", folder=folder, is_hidden=False)  # a pip of its own takes 3 s
	run(PYTHON, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--no-index",
		"--find-links", REQUIRED, wheel, folder=folder, is_hidden=False)
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
	own["launches"][0] |= {"grid": ["ceil_div(n, 256)"], "block": [256]}
	with open(f"{folder}/scale.json", "w", encoding="utf-8") as file:
		json.dump(own, file)
	expect("validate", "^scale.json: ", run(tiletune, "validate", "scale.json", folder=folder))
	expect("an own kernel", r"\d+ registers[\s\S]* 1 ok\n", run(tiletune, "tune", "scale.json", "--device", "model:h200-sxm", "-o", "own.json", folder=folder))


with tempfile.TemporaryDirectory() as scratch:
	if "san-" in os.path.basename(OUT):
		sys.exit(print("skipped: a sanitized library does not load into a plain python3") or 77)
	done = subprocess.run(["sh", "tests/cuda.sh", "wheels", REQUIRED], stderr=subprocess.PIPE, text=True, check=False)
	if done.returncode:
		reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
		sys.exit(print(f"skipped: the wheels that tiletune's requires are not to be had here: {reason}") or 77)
	if not PYTHON:
		sys.exit(print("skipped: /usr/bin/python3 has no pip") or 77)
	given = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else pack(scratch)
	size = os.path.getsize(given)
	if size > 2e6:
		sys.exit(f"{given}: expected at most 2 MB, found {size} bytes")
	try_wheel(given, scratch)
	print(f"{os.path.basename(given)}: {size} bytes, installed and tried{', nothing to hide' if not HIDDEN else ''}")
	if HIDDEN and not HAS_LANDLOCK:
		print(f"skipped: this kernel has no Landlock: the machine's toolkit was not hidden ({HIDDEN[0]})")
