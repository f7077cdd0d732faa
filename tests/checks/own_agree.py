#!/usr/bin/python3
"""Own kernels without barriers (tests/own), run on the CPU in every configuration: the outputs must agree, because tiletune compares them.

	tests/checks/own_agree.py OUT		OUT: the folder of the build"""
import itertools
import json
import os
import subprocess
import sys
import tempfile

OWN = "tests/own"
NAMES = ("steps", "vector_add")
SIZE = 4097  # value of every key; it is no multiple of a tile
HEAD = """
#include <cstdio>
#include <cstring>
#include <vector>
#define __global__
struct place { int x, y, z; };
static place blockIdx, threadIdx, blockDim, gridDim;
template <class Kernel> static void launch(place grid, place block, Kernel kernel)
{
	gridDim = grid, blockDim = block;
	for (blockIdx.z = 0; blockIdx.z < grid.z; blockIdx.z++)
	for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
	for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)
	for (threadIdx.z = 0; threadIdx.z < block.z; threadIdx.z++)
	for (threadIdx.y = 0; threadIdx.y < block.y; threadIdx.y++)
	for (threadIdx.x = 0; threadIdx.x < block.x; threadIdx.x++)
		kernel();
}
"""


def read(name):
	with open(os.path.join(OWN, name), encoding="utf-8") as file:
		return file.read().replace('extern "C" ', "")  # each configuration has its own namespace


def value(expression, names):
	return eval(str(expression), {"ceil_div": lambda a, b: -(-a // b)}, names)  # pylint: disable=eval-used


def entry(text, names):
	"""Returns the entry scale<{PER_THREAD}> with the values of a configuration."""
	for name, number in names.items():
		text = text.replace("{" + name + "}", str(number))
	return text


def configuration(number, kernel, names):
	"""Writes a configuration as C++: its sources, and run_NUMBER(), which makes the tensors and returns them."""
	sources = list(dict.fromkeys(launch.get("source", kernel["source"]) for launch in kernel["launches"]))
	macros = [name for name in kernel["parameters"] if not any("{" + name + "}" in launch["entry"] for launch in kernel["launches"])]
	lines = [f"#define {name} {names[name]}\n" for name in macros]
	lines += [f"namespace c{number}_{i} {{\n#line 1 \"{source}\"\n{read(source)}}}\n" for i, source in enumerate(sources)]
	lines.append(f"static std::vector<std::vector<float>> run_{number}()\n{{\n	std::vector<std::vector<float>> t;\n")
	for i, tensor in enumerate(kernel["tensors"].values()):
		count = 1
		for extent in tensor["shape"]:
			count *= value(extent, names)
		fill = "-1e30f" if tensor["role"] == "out" else f"(float)((i * 37 + {i}) % 64) / 8"
		lines.append(f"	t.emplace_back({count});\n	for (int i = 0; i < {count}; i++)\n		t[{i}][i] = {fill};\n")
	tensors = list(kernel["tensors"])
	for launch in kernel["launches"]:
		shape = [", ".join(str(value(extent, names)) for extent in [*launch[part], 1, 1][:3]) for part in ("grid", "block")]
		given = ", ".join(f"t[{tensors.index(each)}].data()" if each in tensors else str(value(each, names)) for each in launch["args"])
		space = f"c{number}_{sources.index(launch.get('source', kernel['source']))}"
		lines.append(f"	for (int i = 0; i < {launch.get('repeat', 1)}; i++)\n		launch({{{shape[0]}}}, {{{shape[1]}}}, [&] {{ {space}::{entry(launch['entry'], names)}({given}); }});\n")
	return "".join(lines) + "	return t;\n}\n" + "".join(f"#undef {name}\n" for name in macros)


def program(kernel):
	keys = {key: SIZE for key in kernel["keys"]}
	choices = list(itertools.product(*kernel["parameters"].values()))
	labels = [", ".join(f"{name}={number}" for name, number in zip(kernel["parameters"], choice)) for choice in choices]
	parts = [configuration(number, kernel, {**keys, **dict(zip(kernel["parameters"], choice))}) for number, choice in enumerate(choices)]
	runs = "".join(f"	if (run_{number}() != first)\n		printf(\"{labels[number]} differs from {labels[0]}\\n\");\n" for number in range(1, len(choices)))
	return HEAD + "".join(parts) + f"int main()\n{{\n	const auto first = run_0();\n{runs}	return 0;\n}}\n", len(choices)


def main():
	failures = 0
	with tempfile.TemporaryDirectory(dir=sys.argv[1]) as folder:
		for name in NAMES:
			source, built = os.path.join(folder, f"{name}.cc"), os.path.join(folder, name)
			text, count = program(json.loads(read(f"{name}.json")))
			with open(source, "w", encoding="utf-8") as file:
				file.write(text)
			subprocess.run([os.environ.get("CXX", "g++"), "-std=c++17", "-O1", "-o", built, source], check=True)
			said = subprocess.run([built], capture_output=True, text=True, check=True).stdout
			print(f"{name}: {said or f'{count} configurations agree'}")
			failures += bool(said)
	sys.exit(failures > 0)


main()
