"""Formats of other projects, each compared with a recorded example and with content that must not be written."""
import ast
import copy
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

import tiletune
from conftest import ROOT
from tiletune import formats

PARAMETERS = {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 1, "num_warps": 4, "num_stages": 5}
# recorded: beginning of vLLM's E=128,N=384,device_name=NVIDIA_H200,dtype=fp8_w8a8,block_shape=[128,128].json
VLLM = """{
    "triton_version": "3.4.0",
    "1": {
        "BLOCK_SIZE_M": 16,
        "BLOCK_SIZE_N": 64,
        "BLOCK_SIZE_K": 128,
        "GROUP_SIZE_M": 1,
        "num_warps": 4,
        "num_stages": 5
    },
    "16": {
        "BLOCK_SIZE_M": 64,
        "BLOCK_SIZE_N": 64,
        "BLOCK_SIZE_K": 128,
        "GROUP_SIZE_M": 1,
        "num_warps": 4,
        "num_stages": 5
    }
}
"""
# recorded: Triton's K.autotune.json, with one of its configurations (triton#6261)
TRITON = '{"key": [3968, 64, "torch.float16"], "configs_timings": [[{"kwargs": {"BLOCK_SIZE_M": 128}, "num_warps": 8, "num_ctas": 1, "num_stages": 3}, [0.2, 0.1, 0.3]]]}'
# recorded: an entry of Inductor's lookup table
INDUCTOR_KEY = "NVIDIA H100+((torch.float16,[128,256],[0,1]),(torch.float16,[128,64],[64,1]),(torch.float16,[64,256],[256,1]))+alpha=1&beta=1+addmm"
INDUCTOR = {"template_id": "triton::mm", "BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 64, "num_stages": 2, "num_warps": 4, "GROUP_M": 8, "EVEN_K": True,
	"ACC_TYPE": "tl.float32"}


def row(configuration, median=200.0):
	return {"family": "moe/triton", "configuration": configuration, "time_us": {"median": median, "ci95_low": median / 2, "ci95_high": median * 1.5}}


def tuned_of(*entries):
	return tiletune.Tuned("made.json", {"device": {"name": "NVIDIA H200"}, "entries": [
		{"operation": "moe", "problem": problem, "timing": "measured", "winner": rows[0], "tied": rows[1:]} for problem, *rows in entries]})


def test_vllm_and_sglang(tmp_path):
	tuned = tuned_of(({"M": 16, "E": 128}, row({**PARAMETERS, "BLOCK_SIZE_M": 64})), ({"M": 1, "E": 128}, row(PARAMETERS)), ({"M": 1, "E": 8}, row(PARAMETERS)))
	table = formats.moe_table(tuned, "moe", triton_version="3.4.0", E=128)
	device = "NVIDIA H200"
	name = formats.table_name({"E": 128, "N": 384}, device, style="vllm", dtype="fp8_w8a8", block_shape=[128, 128])
	assert name == "E=128,N=384,device_name=NVIDIA_H200,dtype=fp8_w8a8,block_shape=[128,128].json"
	with open(formats.write_table(str(tmp_path / "configs"), name, table), encoding="utf-8") as file:
		assert file.read() == VLLM
	assert formats.table_name({"N": 2112, "K": 7168}, device, style="vllm", dtype="fp8_w8a8", block_shape=[128, 128]) == \
		"N=2112,K=7168,device_name=NVIDIA_H200,dtype=fp8_w8a8,block_shape=[128,128].json"
	assert formats.table_name({"N": 2112, "K": 7168}, device, style="sglang", dtype="fp8_w8a8", block_shape=[128, 128]) == \
		"N=2112,K=7168,device_name=NVIDIA_H200,dtype=fp8_w8a8,block_shape=[128, 128].json"
	assert formats.table_name({"E": 8, "N": 14336}, device, style="sglang", per_channel_quant=True, down=True) == \
		"E=8,N=14336,device_name=NVIDIA_H200,per_channel_quant=True_down.json"
	for card, sizes, style, expected in (("NVIDIA H200 NVL", {"E": 8, "N": 64}, "vllm", "NVIDIA_H200"), ("NVIDIA H200 NVL", {"E": 8, "N": 64}, "sglang", "NVIDIA_H200_NVL"),
			("NVIDIA GH200 480GB", {"E": 8, "N": 64}, "vllm", "NVIDIA_GH200_480GB"), ("NVIDIA H200 NVL", {"N": 8, "K": 64}, "vllm", "NVIDIA_H200_NVL")):
		assert f"device_name={expected}.json" in formats.table_name(sizes, card, style=style)
	assert formats.sglang_folder("3.7.1") == "triton_3_7_1"
	down = tuned_of(({"M": 1}, row({**PARAMETERS, "USE_TMA": True})))
	assert formats.moe_table(down, "moe") == {"1": {**PARAMETERS, "USE_TMA": True}}  # the version may be missing


# recorded: the first two entries of vLLM's N=2112,K=7168 (H200) and SGLang's N=2048,K=1024 (H20) of block fp8, which name no version of
# Triton
BLOCK_FP8 = {"vllm": (2112, 7168, "NVIDIA H200", (16, 32, 128, 64, 4, 4), (16, 32, 128, 32, 4, 4)),
	"sglang": (2048, 1024, "NVIDIA H20", (16, 64, 128, 1, 8, 4), (64, 128, 128, 32, 4, 3))}
BLOCK_FP8_NAMES = {"vllm": "N=2112,K=7168,device_name=NVIDIA_H200,dtype=fp8_w8a8,block_shape=[128,128].json",
	"sglang": "N=2048,K=1024,device_name=NVIDIA_H20,dtype=fp8_w8a8,block_shape=[128, 128].json"}


@pytest.mark.parametrize("style", BLOCK_FP8)
def test_block_fp8(tmp_path, style):
	n, k, device, *recorded = BLOCK_FP8[style]
	entries = [({"M": m, "N": n, "K": k}, row(dict(zip(PARAMETERS, values)))) for m, values in zip((1, 2), recorded)]
	tuned = tuned_of(entries[1], ({"M": 1, "N": 8, "K": k}, row(PARAMETERS)), entries[0])
	name = formats.table_name({"N": n, "K": k}, device, style=style, dtype="fp8_w8a8", block_shape=[128, 128])
	assert name == BLOCK_FP8_NAMES[style]
	with open(formats.write_table(str(tmp_path), name, formats.moe_table(tuned, "moe", N=n, K=k)), encoding="utf-8") as file:
		assert file.read() == "{\n" + ",\n".join(f'    "{m}": {{\n' + ",\n".join(f'        "{key}": {value}' for key, value in zip(PARAMETERS, values)) + "\n    }"
			for m, values in zip((1, 2), recorded)) + "\n}\n"


def test_names_are_mapped():
	short = {"BM": 16, "BN": 64, "BK": 128, "GROUP": 1, "num_warps": 4, "num_stages": 5}
	names = dict(zip(short, PARAMETERS))
	assert formats.moe_table(tuned_of(({"M": 1}, row(short))), "moe", names=names) == {"1": PARAMETERS}
	with pytest.raises(tiletune.Error) as error:
		formats.moe_table(tuned_of(({"M": 1}, row(short))), "moe")
	assert "expected the parameters BLOCK_SIZE_M, BLOCK_SIZE_N, BLOCK_SIZE_K, GROUP_SIZE_M, found BM" in error.value.message and error.value.hint


def test_triton():
	one, two = {"BLOCK_SIZE_M": 128, "num_warps": 8, "num_stages": 3}, {"BLOCK_SIZE_M": 64, "num_warps": 4}
	tuned = tuned_of(({"M": 1}, row(one), row(two, 201.0)), ({"M": 2}, row(one)), ({"M": 3}, row(two)))
	text = formats.triton_configs(tuned, "moe")
	calls = ast.parse(text, mode="eval").body.elts
	assert [(ast.literal_eval(call.args[0]), {word.arg: ast.literal_eval(word.value) for word in call.keywords}) for call in calls] == [
		({"BLOCK_SIZE_M": 128}, {"num_warps": 8, "num_stages": 3}), ({"BLOCK_SIZE_M": 64}, {"num_warps": 4})]
	assert text.splitlines()[1] == "    triton.Config({'BLOCK_SIZE_M': 128}, num_warps=8, num_stages=3),"
	assert json.dumps(formats.triton_cache(tuned, "moe", [3968, 64, "torch.float16"], M=2)) == TRITON
	assert len(formats.triton_cache(tuned, "moe", [1], M=1)["configs_timings"]) == 2
	with pytest.raises(tiletune.Error, match="expected one problem, found 3"):
		formats.triton_cache(tuned, "moe", [1])
	evil = tuned_of(({"M": 1}, row({"BLOCK_SIZE_M": 128, "num_warps": "8) or exit(1"})))
	with pytest.raises(tiletune.Error, match="num_warps: expected an integer"):
		formats.triton_configs(evil, "moe")


def test_inductor():
	configuration = {key: value for key, value in INDUCTOR.items() if key not in ("template_id", "EVEN_K", "ACC_TYPE")}
	key = formats.inductor_key("NVIDIA H100", [("torch.float16", [128, 256], [0, 1]), ("torch.float16", [128, 64], [64, 1]),
		("torch.float16", [64, 256], [256, 1])], "addmm", alpha=1, beta=1)
	assert key == INDUCTOR_KEY
	assert formats.inductor_key("NVIDIA H100", [("torch.float16", [2, 3], [3, 1])] * 2, "mm").endswith("[3,1]))+mm")
	tuned = tuned_of(({"K": 64}, row(configuration)), ({"K": 65}, row(configuration)))
	assert formats.inductor_table(tuned, "moe", {key: {"K": 64}}) == {key: [INDUCTOR]}
	assert formats.inductor_table(tuned, "moe", {key: {"K": 65}})[key][0]["EVEN_K"] is False


def test_only_what_a_program_timed():
	tuned = tiletune.load(os.path.join(ROOT, "results/nvidia-h200/tuned.json"))
	with pytest.raises(tiletune.Error, match="expected configurations that a program timed, found gemm/"):
		formats.moe_table(tuned, "gemm")
	predicted = tuned_of(({"M": 1}, row(PARAMETERS)))
	predicted.entries[0]["timing"] = "predicted"
	with pytest.raises(tiletune.Error, match="expected measured times, found predicted ones"):
		formats.triton_configs(predicted, "moe")
	with pytest.raises(tiletune.Error, match="expected entries of moe with {'M': 7}, found none"):
		formats.moe_table(copy.copy(predicted), "moe", M=7)


def test_solution(bundle, tmp_path):
	"""Matches FlashInfer-Bench's data model, with C++ that compiles with stand-ins of TVM-FFI's headers."""
	header = os.path.join(os.path.dirname(os.environ["TILETUNE"]), "include/tiletune_launch.h")
	done = subprocess.run([sys.executable, "-m", "tiletune.formats", "solution", bundle, "gemm", "M=256,N=64,K=64,dtype=fp16", "--definition",
		"gemm_n64_k64", "--header", header, "-o", "solution.json"], cwd=tmp_path, capture_output=True, text=True, check=False)
	assert done.returncode == 0, done.stderr
	found = json.loads((tmp_path / "solution.json").read_text())
	assert set(found) == {"name", "definition", "author", "spec", "sources", "description"} and found["definition"] == "gemm_n64_k64"
	assert found["spec"] == {"language": "cuda", "target_hardware": ["cuda"], "entry_point": "main.cu::run", "dependencies": [],
		"destination_passing_style": True, "binding": "tvm-ffi"}
	sources = {item["path"]: item["content"] for item in found["sources"]}
	assert found["spec"]["entry_point"].split("::")[0] in sources and not any(path.startswith("/") or ".." in path for path in sources)
	assert "void run(tvm::ffi::TensorView A, tvm::ffi::TensorView B, tvm::ffi::TensorView C)" in sources["main.cu"]
	assert '"M=" + std::to_string(A.size(0)) + "," + "N=" + std::to_string(B.size(0)) + "," + "K=" + std::to_string(A.size(1)) + "," + ' \
		'std::string("dtype=fp16")' in sources["main.cu"]
	numbers = re.search(r"\{(.*)\}", sources["bundle.h"], re.DOTALL).group(1)
	with open(bundle, "rb") as file:
		assert bytes(int(word) for word in numbers.replace("\n", "").rstrip(",").split(",")) == file.read()
	compiler = shutil.which("g++")
	cuda = os.environ.get("CUDA_INCLUDE", "/usr/local/cuda/include")
	if not compiler or not os.path.exists(os.path.join(cuda, "cuda.h")):
		pytest.skip("g++ or cuda.h is missing")
	for path, content in {**sources, "tvm/ffi/function.h": STAND_IN, "tvm/ffi/error.h": "", "tvm/ffi/container/tensor.h": "", "tvm/ffi/extra/c_env_api.h": ""}.items():
		(tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
		(tmp_path / path).write_text(content)
	done = subprocess.run([compiler, "-std=c++17", "-fsyntax-only", "-x", "c++", "-I", str(tmp_path), "-isystem", cuda, "main.cu"], cwd=tmp_path,
		capture_output=True, text=True, check=False)
	assert done.returncode == 0, done.stderr


STAND_IN = """
#include <cstdint>
#include <sstream>
#include <stdexcept>
struct DLDevice { int device_type, device_id; };
extern "C" void *TVMFFIEnvGetStream(int32_t type, int32_t id);
namespace tvm { namespace ffi { struct TensorView {
	void *data_ptr() const; uint64_t byte_offset() const; int64_t size(int64_t) const; bool IsContiguous() const; DLDevice device() const; }; } }
#define TVM_FFI_THROW(kind) std::ostringstream()
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, function) auto *name##_exported = &function
"""
