"""Suites from lists of other tools, as their documents and sources show them, and from a torch run; the program reads each."""
import collections
import json
import subprocess
import sys

import pytest

import tiletune
from conftest import program
from tiletune import suites

TUNABLEOP = """Validator,PT_VERSION,2.9.0
Validator,ROCM_VERSION,6.3.0
GemmTunableOp_BFloat16_TN,tn_512_256_4096_ld_4096_4096_512,Gemm_Rocblas_45,0.1
GemmTunableOp_Half_NN,nn_96_64_32_ld_96_40_100
GemmTunableOp_float_NT,nt_8_16_24_ld_8_16_8
GemmAndBiasTunableOp_BFloat16_TN,tn_512_256_4096_ld_4096_4096_512
GemmStridedBatchedTunableOp_BFloat16_TN,tn_64_32_16_B_6_ld_16_16_64
ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN,tn_128_256_512_ld_512_512_128_rw_1_bias_None
GemmTunableOp_double_TN,tn_8_8_8_ld_8_8_8
"""
AITER = "M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle\n1,7168,2048,False,torch.bfloat16,torch.bfloat16,False,False\n16,7168,2048,False,torch.float16,torch.float16,False,False\n"
AITER_FP8 = "M,N,K,q_dtype_w\n1,24576,1536,torch.float8_e4m3fn\n32,24576,1536,torch.float8_e4m3fn\n"
CUTLASS = """Problem,Provider,OperationKind,Operation,Disposition,Status,gemm_kind,m,n,k,A,B,C,D,alpha,beta,batch_count,Bytes,Flops,Flops/Byte,Runtime,GB/s,GFLOPs
1,CUTLASS,gemm,cutlass3x_sm90,passed,success,universal,512,256,128,bf16:row,bf16:column,bf16:row,bf16:row,1,0,1,1,2,3,4,5,6
2,CUTLASS,gemm,cutlass3x_sm90,passed,success,universal,512,256,128,f16:row,f16:row,f16:column,f16:column,1,0,1,1,2,3,4,5,6
3,CUTLASS,gemm,cutlass3x_sm90,passed,success,universal,512,256,128,f16:column,f16:column,f16:column,f16:column,1,0,4,1,2,3,4,5,6
"""
HEURISTICS = [{"m": 4096, "n": 512, "k": 1024, "batch_count": 1, "layout": "tnn", "dtype_a": "f16", "dtype_b": "f16", "dtype_c": "f32", "dtype_d": "f16",
	"beta": 0.0, "use_fast_acc": False}, {"m": 64, "n": 32, "k": 16, "batch_count": 2, "layout": "tnt", "dtype_a": "bf16", "beta": 0.0}]
LISTS = {  # file, text, and problems computed by hand: C[M,N] = A[M,K] B, stored by rows
	"tunableop_untuned0.csv": (TUNABLEOP, ["M=256,N=512,K=4096,dtype=bf16", "M=64,N=96,K=32,dtype=fp16,b_layout=kn,lda=40,ldc=100",
		"M=256,N=512,K=4096,dtype=bf16,bias=row", "M=32,N=64,K=16,dtype=bf16,batch=6", "M=256,N=128,K=512,dtype=fp8_e4m3,scale=row"]),
	"model_untuned_gemm.csv": (AITER, ["M=1,N=7168,K=2048,dtype=bf16", "M=16,N=7168,K=2048,dtype=fp16"]),
	"a8w8_untuned_gemm.csv": (AITER_FP8, ["M=1,N=24576,K=1536,dtype=fp8_e4m3", "M=32,N=24576,K=1536,dtype=fp8_e4m3"]),
	"profile.gemm.csv": (CUTLASS, ["M=512,N=256,K=128,dtype=bf16", "M=256,N=512,K=128,dtype=fp16,b_layout=kn,batch=4"]),
	"problems.json": (json.dumps(HEURISTICS), ["M=512,N=4096,K=1024,dtype=fp16", "M=64,N=32,K=16,dtype=bf16,batch=2"]),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists(name, tmp_path):
	text, expected = LISTS[name]
	(tmp_path / name).write_text(text)
	done = subprocess.run([sys.executable, "-m", "tiletune.suites", name, "-o", "suite.json"], cwd=tmp_path, capture_output=True, text=True, check=False)
	assert done.returncode == 0, done.stderr
	suite = json.loads((tmp_path / "suite.json").read_text())
	found = [",".join(sorted(problem.split(","))) for problem in suite["problems"]]
	assert found == [",".join(sorted(problem.split(","))) for problem in expected]
	assert suite["operation"] == "gemm" and "(tiletune.suite/1)" in program("validate", str(tmp_path / "suite.json"))
	for why, count in (("dtype double", 1), ("a first factor by columns", 1)) if name.startswith("tunable") else ():
		assert f"left out: {count} with {why}" in done.stdout


HEAD = "M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle\n"


@pytest.mark.parametrize("name, text, expected, left_out", [
	("bf16_untuned_gemm.csv", HEAD + "64,128,256,True,torch.bfloat16,torch.bfloat16,False,False\n", ["M=64,N=128,K=256,dtype=bf16,bias=row"], []),
	("bf16_untuned_gemm.csv", HEAD + "64,128,256,False,torch.bfloat16,torch.float32,False,False\n", ["M=64,N=128,K=256,dtype=bf16,out_dtype=fp32"], []),
	("bf16_untuned_gemm.csv", HEAD + "64,128,256,False,torch.bfloat16,torch.float16,False,False\n", [], ["dtype bf16 and output type torch.float16"]),
	("bf16_untuned_gemm.csv", HEAD + "64,128,256,False,torch.bfloat16,,True,False\n", [], ["a column scaleab"]),
	("bf16_untuned_gemm.csv", HEAD + "64,128,256,False,torch.bfloat16,,False,True\n", [], ["a column bpreshuffle"]),
	("a8w8_untuned_gemm.csv", "M,N,K\n1, 1280, 8192\n", [], ["no column for the type"]),
	("bf16_untuned_gemm.csv", '\ufeff"M", "N" ,K\r\n1, 1280 ,8192\r\n\r\n', ["M=1,N=1280,K=8192,dtype=bf16"], []),
	("profile.csv", CUTLASS.splitlines()[0] + "\n1,CUTLASS,gemm,x,passed,success,universal,512,256,128,bf16:row,bf16:column,f32:row,f32:row,2,1,1,1,2,3,4,5,6\n",
		["M=512,N=256,K=128,dtype=bf16,out_dtype=fp32,alpha=2,beta=1"], []),
	("profile.csv", CUTLASS.splitlines()[0] + "\n1,CUTLASS,gemm,x,passed,success,universal,512,256,128,bf16:row,f16:column,f32:row,f32:row,1,0,1,1,2,3,4,5,6\n", [],
		["dtypes bf16 and f16"]),
	("tunableop.csv", "ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_Float_TN,tn_64_32_16_ld_16_16_64_rw_0_bias_BFloat16\n",
		["M=32,N=64,K=16,dtype=fp8_e4m3,out_dtype=fp32,scale=tensor,bias=row"], []),
	("tunableop.csv", "ScaledGemmTunableOp_Float8_e4m3fn_Float8_e5m2_Half_TN,tn_64_32_16_ld_16_16_64_rw_0_bias_None\n", [], ["dtype Float8_e4m3fn_Float8_e5m2_Half"]),
	("list.json", json.dumps([{**HEURISTICS[0], "beta": 0.5, "dtype_d": "f32"}, {**HEURISTICS[0], "epilogue": "relu"}]),
		["M=512,N=4096,K=1024,dtype=fp16,out_dtype=fp32,beta=0.5"], ["epilogue relu"]),
])
def test_what_changes_the_problem_is_carried_over_or_counted(name, text, expected, left_out, tmp_path):
	(tmp_path / name).write_bytes(text.encode())
	skipped = collections.Counter()
	found = suites.read(str(tmp_path / name), skipped)
	assert [suites.text_of(problem) for problem in found] == expected and list(skipped) == left_out
	if expected:
		suites.write(str(tmp_path / "suite.json"), "gemm", found, "one")
		assert "(tiletune.suite/1)" in program("validate", str(tmp_path / "suite.json"))


def test_suite_is_tuned(tmp_path):
	(tmp_path / "problems.json").write_text(json.dumps(HEURISTICS))
	suites.write(str(tmp_path / "suite.json"), "gemm", suites.read(str(tmp_path / "problems.json")), "two")
	said = program("tune", "--suite", str(tmp_path / "suite.json"), "--device", "model:h200-sxm", "--family", "mma", "--dry-run")
	assert "M=512,N=4096,K=1024" in said and "batch=2" in said


def test_broken_lists(tmp_path):
	path = tmp_path / "list.csv"
	for text, said in (("GemmTunableOp_BFloat16_TN,tn_1_2\n", "line 1: expected a problem, found expected tn_M_N_K_ld_A_B_C, found tn_1_2"),
			("M,N,K\n1,2\n", "line 2: expected a column 'K', found 'K'"), ("M,N,K\n1,2,x\n", "line 2: expected a problem, found invalid literal"),
			("", "expected a list of problems, found"), ("M,N,K\n", "expected a list of problems, found none")):
		path.write_text(text)
		with pytest.raises(tiletune.Error) as error:
			suites.read(str(path))
		assert error.value.message.startswith(f"{path}: {said}") and "\n" not in error.value.message, error.value
	with pytest.raises(tiletune.Error, match="none.csv: expected a list of problems"):
		suites.read(str(tmp_path / "none.csv"))
	(tmp_path / "list.json").write_text('[{"m": 1}]')
	with pytest.raises(tiletune.Error, match=r"list.json: \$\[0\]: expected a column 'layout'"):
		suites.read(str(tmp_path / "list.json"))


def test_record(tmp_path):
	torch = pytest.importorskip("torch", reason="torch is not installed")
	half = {"dtype": torch.bfloat16}
	a, b = torch.zeros(64, 32, **half), torch.zeros(32, 96, **half)
	layer = torch.nn.Linear(32, 96, **half)
	q, kv = torch.zeros(2, 8, 16, 64, **half), torch.zeros(2, 2, 16, 64, **half)
	with tiletune.record(str(tmp_path / "model.json")) as recorder:
		for _ in range(3):
			a @ b  # pylint: disable=pointless-statement
		torch.matmul(a, torch.zeros(96, 32, **half).t())
		torch.mm(a[:, :16], b[:16])  # the rows of A have a pitch of 32
		torch.bmm(torch.zeros(4, 8, 16, **half), torch.zeros(4, 16, 24, **half))
		torch.matmul(torch.zeros(5, 64, 32, **half), b)
		layer(torch.zeros(2, 7, 32, **half))
		torch.nn.functional.linear(torch.zeros(3, 32), torch.zeros(8, 32))
		torch.nn.functional.scaled_dot_product_attention(q, kv, kv, enable_gqa=True)
		torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)
		a.t() @ a  # pylint: disable=pointless-statement
		a.double() @ b.double()  # pylint: disable=expression-not-assigned
		torch.nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=torch.ones(16, 16, dtype=torch.bool))
		torch.nn.functional.scaled_dot_product_attention(q[:, :, :4], q, q, is_causal=True)
	assert recorder.files == [str(tmp_path / "model_gemm.json"), str(tmp_path / "model_attention.json")]
	suite = [json.loads((tmp_path / f"model_{name}.json").read_text())["problems"] for name in ("gemm", "attention")]
	assert suite[0] == ["M=64,N=96,K=32,dtype=bf16,b_layout=kn", "M=64,N=96,K=32,dtype=bf16", "M=64,N=96,K=16,dtype=bf16,b_layout=kn,lda=32",
		"M=8,N=24,K=16,dtype=bf16,b_layout=kn,batch=4", "M=320,N=96,K=32,dtype=bf16,b_layout=kn", "M=14,N=96,K=32,dtype=bf16,bias=row",
		"M=3,N=8,K=32,dtype=fp32"]
	assert suite[1] == ["batch=2,heads=8,seq_q=16,seq_k=16,head_dim=64,dtype=bf16,kv_heads=2",
		"batch=2,heads=8,seq_q=16,seq_k=16,head_dim=64,dtype=bf16,causal=1"]
	assert sum(recorder.skipped.values()) == 4 and {why.split()[0] for why in recorder.skipped} == {"a", "dtype", "attention"}, recorder.skipped
	for path in recorder.files:
		assert "(tiletune.suite/1)" in program("validate", path)


def test_record_without_torch(tmp_path, monkeypatch):
	monkeypatch.setitem(sys.modules, "torch", None)
	with pytest.raises(tiletune.Error, match="record: expected torch, found none"):
		with tiletune.record(str(tmp_path / "x.json")):
			pass
