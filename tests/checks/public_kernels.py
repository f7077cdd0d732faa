#!/usr/bin/python3
"""tests/tools/public_kernels.py without the public files and without a GPU: what it is told of each file is a valid own kernel whose
references take what they are given; on the stand-in driver, where every kernel and reference writes 0.75, a kernel that overwrites its
output is right, one that adds to it is not, and a file that is missing fails.

	tests/checks/public_kernels.py OUT"""
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

import jsonschema

OUT = os.path.abspath(sys.argv[1])
TOOLS = os.path.abspath("tests/tools")
FILES = {
	"llm.c/dev/cuda/crossentropy_forward.cu": '#include "common.h"\n__global__ void crossentropy_forward_kernel1(float *losses, const float *, const int *, int B, int T, int)\n'
		"{\n\tif (blockIdx.x * blockDim.x + threadIdx.x < B * T)\n\t\tlosses[blockIdx.x * blockDim.x + threadIdx.x] = VALUE;\n}\n",
	"llm.c/dev/cuda/common.h": "#define VALUE 1.0f\n",
	"cuda-samples/Samples/0_Introduction/asyncAPI/asyncAPI.cu": "__global__ void increment_kernel(int *data, int by)\n{\n\tdata[blockIdx.x * blockDim.x + threadIdx.x] += by;\n}\n",
}


def read(path):
	with open(path, encoding="utf-8") as file:
		return file.read()


def run(*arguments, **options):
	return subprocess.run([sys.executable, f"{TOOLS}/public_kernels.py", *arguments], capture_output=True, text=True, check=False, **options)


described = json.loads(read(f"{TOOLS}/public_references.json"))
named = {f"{item['project']} {item['file']}" for item in json.loads(read(f"{TOOLS}/public_kernels.json"))}
assert set(described) <= named and len(described) >= 14, set(described) - named
schema = json.loads(read("configs/schemas/own_kernel.schema.json"))
takes = {name: args.count(",") + 1 for name, args in re.findall(r"__global__ void (\w+)\(([^)]*)\)", read(f"{TOOLS}/public_references.cu"))}
shared = {"source": "x.cu", "unit": "element", "units_per_block": 256, "block": 256}
for name, own in described.items():
	references = own["reference"] if isinstance(own["reference"], list) else [own["reference"]]
	jsonschema.validate({"format": "tiletune.own_kernel/1", "source": "x.cu", **own, "reference": [{**shared, **one} for one in references]}, schema)
	written = {tensor for tensor, each in own["tensors"].items() if each["role"] != "in"}
	assert written == {one.get("output", next(iter(written))) for one in references}, f"{name}: an output without a reference"
	for one in references:
		assert takes[one["entry"]] == len(one["args"]), f"{name}: {one['entry']} takes {takes[one['entry']]} arguments, found {len(one['args'])}"

with tempfile.TemporaryDirectory() as work:
	for name, text in FILES.items():
		os.makedirs(os.path.dirname(f"{work}/all/{name}"), exist_ok=True)
		with open(f"{work}/all/{name}", "w", encoding="utf-8") as file:
			file.write(text)
	done = run("pack", f"{work}/all", f"{work}/all.tar.gz")
	assert done.returncode == 0 and "22 of the list are not there" in done.stdout, done
	with tarfile.open(f"{work}/all.tar.gz") as archive:
		assert set(archive.getnames()) == set(FILES), archive.getnames()
	os.mkdir(f"{work}/libraries")
	os.symlink(f"{OUT}/faults/libcuda.so.1", f"{work}/libraries/libcuda.so.1")
	with open(f"{work}/script", "w", encoding="utf-8") as file:
		file.write("name NVIDIA H200\nsm_count 132\ncompute_capability 90\nl2_bytes 2097152\nmemory_bytes 4000000000\n")
	environment = {**os.environ, "TILETUNE": f"{OUT}/tiletune", "LD_LIBRARY_PATH": f"{work}/libraries", "TILETUNE_STANDIN": f"{work}/script",
		"TILETUNE_LOCK_FOLDER": f"{work}/locks", "XDG_CACHE_HOME": f"{work}/cache"}
	done = run("tune", f"{work}/all", f"{work}/out", "--budget", "2s", env=environment)
	document = json.loads(read(f"{work}/out/public_kernels.json"))
	jsonschema.validate(document, json.loads(read("configs/schemas/public_kernels.schema.json")))
	verdicts = {row["file"].split("/")[-1]: row["verdict"] for row in document["kernels"]}
	expected = {name.split("/")[-1]: "FAILED" for name in described} | {"crossentropy_forward.cu": "right", "asyncAPI.cu": "WRONG"}
	assert verdicts == expected, (verdicts, done.stdout)
	right = next(row for row in document["kernels"] if "crossentropy_forward" in row["file"])
	assert 0 < right["best_us"] <= right["default_us"] and right["outcomes"]["ok"] >= 2, right
	assert done.returncode == 1 and f"1 of {len(described)} files with a reference are right" in done.stdout, done.stdout
	again = run("tune", f"{work}/all", f"{work}/out", env={**environment, "TILETUNE": "/bin/false"})
	assert again.stdout == done.stdout, "what is there is tuned again"
