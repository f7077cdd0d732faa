#!/usr/bin/python3
"""Kernels of templates/ on the CPU. Each is compiled as C++ (tests/host), launched according to its family's JSON on small problems with
odd sizes, and compared with the operation in fp64. References are tested in the same way.

	tests/checks/kernels.py OUT [WORD...]		OUT: the folder with the binary; WORDs select cases that contain all of them"""
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

OUT = sys.argv[1]
# operation, family, problem, configuration; a room of 41 rows is smaller than two of the counts
CASES = """
gemm simt M=37,N=45,K=21,dtype=fp32 BM=32,BN=32,BK=8,STAGES=1,VEC=1,PAD=4
gemm simt M=33,N=68,K=36,dtype=fp32,b_layout=kn,act=relu BM=32,BN=64,BK=16,STAGES=3,VEC=4,GROUP_M=2
gemm simt M=65,N=33,K=40,dtype=fp32 BM=64,BN=32,BK=8,STAGES=2,VEC=1,SPLIT_K=2
gemm simt M=65,N=33,K=80,dtype=fp32,act=silu BM=64,BN=32,BK=8,STAGES=2,VEC=1,SPLIT_K=5
gemm simt M=35,N=31,K=64,dtype=fp32,act=gelu_tanh BM=32,BN=32,BK=16,STAGES=1,VEC=4,PAD=0
gemm mma M=37,N=45,K=50,dtype=bf16 BM=32,WM=16,BN=32,WN=16,BK=16,STAGES=3
gemm mma M=33,N=52,K=72,dtype=fp16,act=silu BM=32,WM=32,BN=40,WN=40,BK=32,STAGES=2,GROUP_M=2
gemm mma M=40,N=72,K=64,dtype=fp16,b_layout=kn,out_dtype=fp32 BM=48,WM=48,BN=64,WN=32,BK=32,STAGES=2
gemm mma M=17,N=33,K=41,dtype=tf32 BM=16,WM=16,BN=24,WN=24,BK=16,STAGES=3
gemm mma M=31,N=36,K=44,dtype=tf32,b_layout=kn BM=32,WM=16,BN=32,WN=16,BK=16,STAGES=2
gemm mma M=50,N=40,K=132,dtype=bf16 BM=64,WM=32,BN=48,WN=24,BK=64,STAGES=2,SPLIT_K=1
gemm mma M=33,N=35,K=256,dtype=bf16,b_layout=kn BM=32,WM=32,BN=32,WN=32,BK=32,STAGES=4,SPLIT_K=3
gemm mma M=40,N=61,K=416,dtype=bf16,scale=row,bias=row,beta=1,residual=1 BM=32,WM=32,BN=24,WN=24,BK=32,STAGES=2,SPLIT_K=6
gemm mma M=130,N=136,K=256,dtype=fp16,b_layout=kn,out_dtype=fp32 BM=128,WM=64,BN=128,WN=64,BK=32,STAGES=2,SPLIT_K=4
gemm simt M=37,N=46,K=24,dtype=fp32,scale=row,bias=row,alpha=0.5,beta=-1.5,act=silu,residual=1 BM=32,BN=32,BK=8,STAGES=1,VEC=1,PAD=4
gemm simt M=33,N=44,K=64,dtype=fp32,scale=tensor,bias=row_fp32,ldc=48 BM=32,BN=32,BK=8,STAGES=2,VEC=1,SPLIT_K=2
gemm mma M=37,N=45,K=50,dtype=bf16,scale=row,bias=row,beta=0.25,ldc=47 BM=32,WM=16,BN=32,WN=16,BK=16,STAGES=3
gemm mma M=33,N=46,K=72,dtype=fp16,bias=row_fp32,act=gelu_tanh,residual=1,alpha=2 BM=32,WM=32,BN=40,WN=40,BK=32,STAGES=2
gemm mma M=33,N=36,K=256,dtype=bf16,scale=tensor,bias=row,beta=1,act=relu,b_layout=kn BM=32,WM=32,BN=32,WN=32,BK=32,STAGES=4,SPLIT_K=3
gemm simt batch=3,M=37,N=45,K=21,dtype=fp32,rows_a=40,residual=1 BM=32,BN=32,BK=8,STAGES=1,VEC=1,PAD=4
gemm mma batch=2,M=33,N=52,K=72,dtype=fp16,rows_b=0,bias=row BM=32,WM=32,BN=40,WN=40,BK=32,STAGES=2,GROUP_M=2
gemm mma batch=3,M=20,N=36,K=44,dtype=tf32,b_layout=kn,rows_b=50,beta=1 BM=32,WM=16,BN=32,WN=16,BK=16,STAGES=2
gemm mma_fp8 M=37,N=45,K=50,lda=52,ldb=56,dtype=fp8_e4m3,scale=row BM=32,WM=16,BN=32,WN=16,BK=32,STAGES=3
gemm mma_fp8 M=33,N=36,K=300,dtype=fp8_e4m3,scale=tensor,bias=row,out_dtype=fp32 BM=32,WM=32,BN=32,WN=32,BK=64,STAGES=2,SPLIT_K=2
attention tiled_simt batch=1,heads=2,seq_q=37,seq_k=53,head_dim=24,dtype=bf16 BM=17,BN=23
attention tiled_simt batch=2,heads=4,seq_q=29,seq_k=41,head_dim=16,dtype=fp16,kv_heads=2,causal=1 BM=16,BN=9
attention tiled_simt batch=1,heads=1,seq_q=41,seq_k=20,head_dim=64,dtype=bf16,causal=1 BM=70,BN=100
attention tiled_wmma batch=1,heads=2,seq_q=37,seq_k=53,head_dim=32,dtype=bf16 -
attention tiled_wmma batch=1,heads=2,seq_q=37,seq_k=53,head_dim=32,dtype=fp16,causal=1 BM=21,BN=37
attention unfused batch=1,heads=2,seq_q=70,seq_k=45,head_dim=24,dtype=bf16 QM=64,QN=64,VM=64,DN=16
attention unfused batch=2,heads=2,seq_q=37,seq_k=150,head_dim=40,dtype=fp16,kv_heads=1,causal=1 QM=64,QN=64,VM=64,DN=48,ROW_THREADS=128
attention unfused batch=1,heads=1,seq_q=133,seq_k=67,head_dim=16,dtype=bf16,causal=1 QM=128,QN=64,VM=128,DN=16,ROW_THREADS=32
attention flash_mma batch=1,heads=2,seq_q=37,seq_k=53,head_dim=24,dtype=bf16 -
attention flash_mma batch=2,heads=4,seq_q=70,seq_k=41,head_dim=64,dtype=fp16,kv_heads=2,causal=1 -
gemm_grouped mma groups=5,tokens=200,N=45,K=50,dtype=bf16 BM=32,WM=16,BN=32,WN=16,BK=32,STAGES=2
gemm_grouped mma groups=40,tokens=300,N=72,K=64,dtype=fp16,spread=zipf BM=64,WM=32,BN=64,WN=32,BK=32,STAGES=2
gemm_grouped mma groups=3,tokens=9,N=33,K=132,dtype=bf16,spread=steep BM=16,WM=16,BN=32,WN=32,BK=64,STAGES=2
gemm_grouped mma groups=7,tokens=180,N=45,K=52,dtype=fp8_e4m3,scale=row BM=32,WM=16,BN=32,WN=16,BK=32,STAGES=2
gemm_grouped mma groups=6,tokens=180,N=37,K=144,dtype=fp8_e4m3,scale=tensor,layout=masked BM=64,WM=32,BN=32,WN=32,BK=64,STAGES=3
gemm_grouped mma groups=6,tokens=172,N=40,K=64,dtype=bf16,scale=row,layout=masked,room=41 BM=16,WM=16,BN=32,WN=16,BK=32,STAGES=2
attention flash_mma batch=1,heads=1,seq_q=21,seq_k=300,head_dim=16,dtype=bf16 -
gemm_chain fused m=37,n=45,k=21,p=19,dtype=bf16 RESIDENT=regs
gemm_chain fused m=50,n=70,k=40,p=72,dtype=fp16,act=relu RESIDENT=smem
gemm wgmma batch=3,M=192,N=64,K=128,dtype=bf16 BM=128,BN=64,BK=64,GROUPS=2,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,STAGES=3,STORE=1,STREAM_K=0
gemm wgmma batch=2,M=320,N=64,K=1160,dtype=fp16 BM=128,BN=64,BK=64,GROUPS=2,PINGPONG=0,CLUSTER_M=2,CLUSTER_N=1,STAGES=8,STORE=1,STREAM_K=0
gemm wgmma batch=3,M=320,N=72,K=200,dtype=bf16 BM=256,BN=48,BK=64,GROUPS=2,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=2,STAGES=4,STORE=1,STREAM_K=0
gemm wgmma batch=2,M=320,N=64,K=200,dtype=bf16,rows_b=0,bias=row,act=silu BM=192,BN=32,BK=64,GROUPS=3,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,STAGES=4,STORE=1,STREAM_K=0
gemm wgmma M=200,N=100,K=200,dtype=fp16,residual=1 BM=64,BN=40,BK=128,GROUPS=2,PINGPONG=1,CLUSTER_M=1,CLUSTER_N=1,STAGES=2,STORE=2,STREAM_K=0
gemm wgmma M=100,N=96,K=200,dtype=bf16,b_layout=kn,out_dtype=fp32 BM=64,BN=96,BK=64,GROUPS=1,CLUSTER_M=2,CLUSTER_N=1,STAGES=4,STORE=0,STREAM_K=0
gemm wgmma M=192,N=128,K=320,dtype=bf16 BM=64,BN=64,BK=64,GROUPS=1,CLUSTER_M=1,CLUSTER_N=1,BLOCKS_PER_SM=1,STAGES=5,STORE=1,STREAM_K=1
gemm wgmma M=130,N=96,K=1296,dtype=fp8_e4m3,accum=promoted,scale=row BM=128,BN=96,BK=128,GROUPS=2,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,STAGES=6,STORE=1,STREAM_K=0
gemm wgmma_skinny M=17,N=200,K=520,dtype=bf16 -
gemm wgmma_skinny M=40,N=96,K=1040,dtype=fp16,bias=row -
gemm wgmma_splitk M=66,N=97,K=4112,dtype=fp8_e4m3,scale=row,bias=row,act=silu BM=64,BN=64,GROUPS=1,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=4
gemm wgmma_splitk M=67,N=97,K=2064,dtype=bf16,scale=tensor,bias=row,beta=0.5,residual=1,ldc=99 BM=64,BN=96,GROUPS=1,CLUSTER_M=2,CLUSTER_N=1,SPLIT_K=5
gemm wgmma_splitk M=129,N=66,K=2056,lda=2072,ldb=2064,dtype=fp16 BM=128,BN=64,GROUPS=1,CLUSTER_M=1,CLUSTER_N=2,SPLIT_K=4
gemm wgmma_splitk M=193,N=97,K=2312,lda=2320,dtype=fp16,out_dtype=fp32,bias=row_fp32 BM=64,BN=64,GROUPS=1,CLUSTER_M=4,CLUSTER_N=2,SPLIT_K=2
gemm_grouped wgmma groups=5,tokens=300,N=96,K=136,dtype=bf16 -
gemm_grouped wgmma groups=6,tokens=40,N=72,K=200,dtype=fp16 -
gemm_chain fused_wgmma m=300,n=128,k=40,p=72,dtype=bf16 A_REGS=0
gemm_chain fused_wgmma m=200,n=256,k=64,p=64,dtype=fp16 A_REGS=1
attention flash_wgmma batch=1,heads=2,seq_q=100,seq_k=150,head_dim=64,dtype=bf16 -
attention flash_wgmma batch=1,heads=4,seq_q=70,seq_k=300,head_dim=40,dtype=fp16,kv_heads=2,causal=1 -
attention decode batch=2,heads=4,seq_q=1,seq_k=150,head_dim=64,dtype=bf16,kv_heads=2 -
attention decode batch=1,heads=8,seq_q=2,seq_k=1100,head_dim=40,dtype=fp16,kv_heads=2 -
gemm_chain separate m=37,n=45,k=21,p=19,dtype=bf16,act=silu BM=32,WM=16,FIRST_BN=32,SECOND_BN=32,STAGES=3
gemm_chain separate m=50,n=72,k=40,p=70,dtype=fp16 BM=64,WM=32,FIRST_BN=96,SECOND_BN=64,FIRST_WN=48
gemm_chain separate_wgmma m=200,n=136,k=72,p=104,dtype=bf16,act=relu BM=64,GROUPS=1,CLUSTER_M=2,FIRST_BN=64,SECOND_BN=112
gemm_chain separate_wgmma m=300,n=80,k=200,p=64,dtype=fp16 BM=64,GROUPS=2,PINGPONG=1,CLUSTER_M=1,FIRST_BN=80,SECOND_BN=64
gemm_chain fused_resident m=37,n=40,k=24,p=24,dtype=bf16 -
gemm_chain fused_resident m=21,n=264,k=24,p=24,dtype=bf16 -
"""


def corners(rows, steps, step):
	"""Returns sizes: each number of rows, with k just below, at and above each of these numbers of steps."""
	return [(m, step * s + beside) for m in rows for s in steps for beside in (-8, 0, 8)]


def odd(count, *most):
	"""Draws odd shapes between half of these sizes and the sizes, so that one kernel fits all of them."""
	return [tuple(2 * DRAWN.randrange(size // 4, size // 2) + 1 for size in most) for _ in range(count)]


DRAWN = random.Random(40)
# One kernel per line runs all of these sizes (made()). They cover, under a causal mask, a row's last key at each place of a tile of 16,
# bands whose last one is narrower, and rows in both halves of both tiles of a warp, whose keys warps and blocks share. For Hopper's
# products they cover an M that is one fragment of 64 rows short of a tile or of a cluster's tiles, or no whole number of fragments; a K
# next to a whole step; pitches with garbage behind K; ping-pong in blocks with several tiles; and repacked A that ends with a page.
SIZES = {
	"gemm mma M={0},N={1},K={2},dtype=bf16 BM=32,WM=16,BN=32,WN=16,BK=16,STAGES=3,GROUP_M=2,SPLIT_K=1": odd(6, 99, 99, 99),
	"gemm mma M={0},N={1},K={2},dtype=fp16,act=relu BM=32,WM=32,BN=40,WN=40,BK=32,STAGES=2,GROUP_M=2,SPLIT_K=1": odd(6, 120, 99, 140),
	"gemm mma M={0},N={1},K={2},dtype=bf16,b_layout=kn BM=48,WM=48,BN=64,WN=32,BK=32,STAGES=2,GROUP_M=2,SPLIT_K=1": odd(6, 130, 140, 99),
	"gemm mma M={0},N={1},K={2},dtype=tf32 BM=16,WM=16,BN=24,WN=24,BK=16,STAGES=3,GROUP_M=2,SPLIT_K=1": odd(6, 70, 70, 99),
	"gemm simt M={0},N={1},K={2},dtype=fp32 BM=32,BN=32,BK=8,STAGES=1,VEC=1,PAD=4,GROUP_M=2,SPLIT_K=1": odd(6, 99, 99, 60),
	"gemm_grouped mma groups=7,tokens={0},N={1},K={2},dtype=bf16,spread=zipf BM=32,WM=16,BN=32,WN=16,BK=32,STAGES=2": odd(6, 250, 99, 99),
	"gemm mma_fp8 M={0},N={1},K={2},lda=100,ldb=104,dtype=fp8_e4m3,scale=row BM=32,WM=16,BN=32,WN=16,BK=32,STAGES=3,GROUP_M=2,SPLIT_K=1": odd(4, 70, 70, 99),
	"gemm_grouped mma groups=6,tokens={0},N={1},K={2},dtype=fp16,layout=masked,room={3} BM=16,WM=16,BN=32,WN=16,BK=32,STAGES=2": odd(4, 200, 60, 70, 120),
	"gemm_chain separate m={0},n={1},k={2},p={3},dtype=fp16 BM=32,WM=16,FIRST_BN=32,SECOND_BN=32,STAGES=3": odd(4, 90, 70, 60, 70),
	"attention tiled_simt batch=1,heads=2,seq_q={0},seq_k={1},head_dim=24,dtype=fp16,causal=1 BM=17,BN=23": odd(4, 70, 90),
	"attention tiled_wmma batch=1,heads=2,seq_q={0},seq_k={1},head_dim=32,dtype=bf16 BM=21,BN=37": odd(4, 70, 90),
	"attention unfused batch=1,heads=2,seq_q={0},seq_k={1},head_dim=24,dtype=fp16 QM=64,QN=64,VM=64,DN=16,ROW_THREADS=32": odd(4, 140, 150),
	"attention flash_mma batch=1,heads=2,seq_q={0},seq_k={1},head_dim=24,dtype=bf16 BM=32,BN=16,WARPS=2,STAGES=2,Q_REGS=1,SWIZZLE=1,MIN_BLOCKS=1,HEAD_GROUP=1": odd(4, 90, 120),
	"attention flash_mma batch=1,heads=1,seq_q=40,seq_k={},head_dim=16,dtype=fp16,causal=1 BM=32,BN=16,WARPS=2,STAGES=2,Q_REGS=1,SWIZZLE=1,MIN_BLOCKS=1,HEAD_GROUP=1": range(37, 58),
	"attention flash_wgmma batch=1,heads=1,seq_q=70,seq_k={},head_dim=64,dtype=fp16,causal=1 PACK=0,BM=128,BN=80,STAGES=2": range(70, 88, 4),
	"gemm wgmma M={},N=128,K=64,dtype=bf16 BM=64,BN=64,BK=64,GROUPS=1,CLUSTER_M=1,CLUSTER_N=1,STAGES=3,STORE=1,STREAM_K=0,ALONG_N=0,BAND=2": (128, 192),
	"attention decode batch=1,heads=24,seq_q=1,seq_k={},head_dim=16,dtype=bf16,kv_heads=1 ROW_TILES=2,ROW_WARPS=1,KEY_WARPS=2,KEYS=16,CLUSTER=1,SPLIT=2": (70, 129),
	"attention decode batch=1,heads=12,seq_q=1,seq_k={},head_dim=16,dtype=fp16,kv_heads=1 ROW_TILES=1,ROW_WARPS=1,KEY_WARPS=1,KEYS=16,CLUSTER=2,SPLIT=2": (40,),
	"gemm wgmma batch=3,M={0},N=32,K={1},lda=272,ldb=264,dtype=bf16 BM=128,BN=32,BK=64,GROUPS=2,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,STAGES=4,BLOCKS_PER_SM=1,STORE=1,STREAM_K=0,BAND=1": corners((192,), (1, 3), 64),
	"gemm wgmma batch=3,M={0},N=40,K={1},lda=272,rows_a=330,dtype=fp16 BM=128,BN=32,BK=64,GROUPS=2,PINGPONG=0,CLUSTER_M=2,CLUSTER_N=1,STAGES=4,BLOCKS_PER_SM=1,STORE=1,STREAM_K=0,BAND=1": corners((192, 320), (1,), 64),
	"gemm wgmma batch=3,M={0},N=48,K={1},lda=272,rows_b=50,dtype=fp16 BM=64,BN=32,BK=64,GROUPS=2,PINGPONG=1,CLUSTER_M=1,CLUSTER_N=2,STAGES=4,BLOCKS_PER_SM=1,STORE=2,STREAM_K=0,BAND=1": corners((63, 65, 129), (2,), 64),
	"gemm wgmma batch=3,M={0},N=24,K={1},lda=272,dtype=bf16,out_dtype=fp32 BM=192,BN=16,BK=64,GROUPS=3,PINGPONG=0,CLUSTER_M=2,CLUSTER_N=1,STAGES=4,BLOCKS_PER_SM=1,STORE=0,STREAM_K=0,BAND=1": corners((320, 321), (1,), 64),
	"gemm wgmma batch=17,M={0},N=40,K={1},lda=200,ldb=136,dtype=bf16 BM=64,BN=32,BK=64,GROUPS=2,PINGPONG=1,CLUSTER_M=4,CLUSTER_N=2,STAGES=4,BLOCKS_PER_SM=1,STORE=2,STREAM_K=0,BAND=1,SMS=120": [(200, 136)],
	"gemm wgmma M={0},N=48,K={1},lda=264,ldb=56,dtype=bf16,b_layout=kn BM=128,BN=32,BK=64,GROUPS=2,PINGPONG=0,CLUSTER_M=2,CLUSTER_N=1,STAGES=4,BLOCKS_PER_SM=1,STORE=1,STREAM_K=0,BAND=1": corners((192,), (1, 3), 64),
	"gemm wgmma_repack M={0},N=40,K={1},lda=257,ldb=259,dtype=bf16 BM=128,BN=32,BK=64,GROUPS=2,PINGPONG=0,CLUSTER_M=2,CLUSTER_N=1,STAGES=4,BLOCKS_PER_SM=1,STORE=1,STREAM_K=0,BAND=1": [(m, k) for m in (192, 191) for k in (63, 64, 65, 193)],
	"gemm wgmma_repack M={0},N=37,K={1},lda=264,ldb=45,dtype=fp16,b_layout=kn BM=64,BN=48,BK=64,GROUPS=1,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,STAGES=4,BLOCKS_PER_SM=1,STORE=2,STREAM_K=0,BAND=1": [(m, k) for m in (63, 65) for k in (127, 128, 129)],
	"gemm wgmma_repack batch=3,M={0},N=36,K={1},lda=193,ldb=197,rows_a=330,dtype=bf16 BM=128,BN=32,BK=64,GROUPS=2,PINGPONG=0,CLUSTER_M=2,CLUSTER_N=1,STAGES=4,BLOCKS_PER_SM=1,STORE=2,STREAM_K=0,BAND=1": [(m, k) for m in (192, 191) for k in (63, 65)],
	"gemm wgmma_repack batch=2,M={0},N=40,K={1},lda=72,ldb=197,rows_a=0,dtype=fp16 BM=128,BN=32,BK=64,GROUPS=2,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,STAGES=4,BLOCKS_PER_SM=1,STORE=1,STREAM_K=0,BAND=1": [(192, 71), (320, 64)],
	"gemm wgmma_skinny M={0},N=72,K={1},lda=784,ldb=776,dtype=bf16 SWAP=1,BM=16,BN=64,BK=64,GROUPS=1,CLUSTER_N=2,CLUSTER_K=2,BLOCKS_PER_SM=1,STAGES=4": corners((9, 15, 17), (9, 11), 64),
	"gemm wgmma_skinny M={0},N=40,K={1},lda=272,ldb=48,dtype=fp16,b_layout=kn SWAP=0,BM=128,BN=32,BK=64,GROUPS=2,CLUSTER_N=1,CLUSTER_K=1,BLOCKS_PER_SM=1,STAGES=4": corners((65, 128, 192), (1, 4), 64),
	"gemm wgmma_skinny batch=3,M={0},N=72,K={1},lda=784,ldb=776,rows_a=20,rows_b=80,dtype=bf16,bias=row,residual=1 SWAP=1,BM=16,BN=64,BK=64,GROUPS=1,CLUSTER_N=2,CLUSTER_K=2,BLOCKS_PER_SM=1,STAGES=4": corners((9, 15, 17), (9,), 64),
	"gemm wgmma_skinny batch=3,M={0},N=40,K={1},lda=272,ldb=264,rows_a=0,dtype=fp16,out_dtype=fp32 SWAP=0,BM=128,BN=32,BK=64,GROUPS=2,CLUSTER_N=1,CLUSTER_K=1,BLOCKS_PER_SM=1,STAGES=4": corners((65, 128, 192), (1,), 64),
	"gemm wgmma batch=3,M={0},N=48,K={1},lda=264,ldb=56,rows_b={2},dtype=bf16,b_layout=kn BM=128,BN=32,BK=64,GROUPS=2,PINGPONG=0,CLUSTER_M=2,CLUSTER_N=1,STAGES=4,BLOCKS_PER_SM=1,STORE=1,STREAM_K=0,BAND=1": [(192, 64, 64), (192, 128, 150), (320, 72, 0)],
	"gemm wgmma_repack batch=3,M={0},N=37,K={1},lda=201,ldb=45,rows_b={2},dtype=fp16,b_layout=kn BM=64,BN=48,BK=64,GROUPS=1,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,STAGES=4,BLOCKS_PER_SM=1,STORE=2,STREAM_K=0,BAND=1": [(65, 128, 128), (63, 64, 67)],
	"gemm wgmma_skinny batch=3,M={0},N=72,K={1},lda=520,ldb=80,rows_b={2},dtype=fp16,b_layout=kn SWAP=1,BM=16,BN=64,BK=64,GROUPS=1,CLUSTER_N=1,CLUSTER_K=2,BLOCKS_PER_SM=1,STAGES=4": [(15, 512, 512), (17, 512, 530)],
	"gemm wgmma_skinny batch=3,M={0},N=40,K={1},lda=272,ldb=48,rows_b={2},dtype=bf16,b_layout=kn SWAP=0,BM=128,BN=32,BK=64,GROUPS=2,CLUSTER_N=1,CLUSTER_K=1,BLOCKS_PER_SM=1,STAGES=4": [(65, 128, 128), (128, 72, 0)],
	"gemm wgmma_splitk M={0},N={1},K={2},ldc=130,dtype=bf16 BM=64,BN=64,GROUPS=1,CLUSTER_M=2,CLUSTER_N=2,SPLIT_K=3": [(128, 128, 2048), (65, 126, 2056), (127, 65, 2056)],
	"gemm wgmma_splitk M={0},N={1},K={2},ldc=66,dtype=fp16,act=relu BM=128,BN=64,GROUPS=2,CLUSTER_M=2,CLUSTER_N=1,SPLIT_K=5": [(130, 65, 2048)],
	"gemm_grouped wgmma groups=5,tokens={0},N=40,K={1},dtype=bf16 SWAP=0,BM=128,BN=32,BK=64,GROUPS=2,PINGPONG=0,CLUSTER_M=1,BLOCKS_PER_SM=1,STORE=1,PART_ROWS=0,STAGES=4": corners((320, 960), (1,), 64),
	"gemm_grouped wgmma groups=3,tokens={0},N=40,K={1},dtype=fp16,spread=zipf SWAP=0,BM=128,BN=32,BK=64,GROUPS=2,PINGPONG=1,CLUSTER_M=2,BLOCKS_PER_SM=1,STORE=1,PART_ROWS=1,STAGES=4": corners((576, 700), (2,), 64),
	"gemm_grouped wgmma groups=140,tokens={0},N=24,K={1},dtype=bf16 SWAP=0,BM=64,BN=32,BK=64,GROUPS=2,PINGPONG=1,CLUSTER_M=1,BLOCKS_PER_SM=1,STORE=1,PART_ROWS=0,STAGES=4": [(300, 136)],
	"gemm_grouped wgmma groups=5,tokens={0},N=72,K={1},dtype=bf16,spread=zipf SWAP=1,BM=16,BN=64,BK=64,GROUPS=1,PINGPONG=0,CLUSTER_M=1,BLOCKS_PER_SM=1,STORE=0,PART_ROWS=0,STAGES=4": corners((40, 79), (1, 3), 64),
}
SHEET = "configs/devices/h200-sxm.json"
# All blocks of these families run at once and would fill a GPU; the number of SMs of a smaller one is enough here.
SMALL, SMALL_SMS = "wgmma_splitk", 22
FLAGS = ["-std=c++17", "-O1", "-fno-pie", "-no-pie", "-ffp-contract=off", "-fno-strict-aliasing", "-U_FORTIFY_SOURCE", "-w"]
CXX = os.environ.get("CXX", "g++")
CACHE = os.path.join(os.environ.get("TEST_BUILD", "build"), "test-cache", "kernels-on-cpu")
HOST = "tests/host"
KERNELS_PER_PROGRAM = 10
DTYPES = {"fp32": "FP32", "tf32": "TF32", "fp16": "FP16", "bf16": "BF16", "i32": "I32", "fp8_e4m3": "FP8"}


def describe(lines):
	lines = list(lines)
	with open(SHEET, encoding="utf-8") as file, tempfile.TemporaryDirectory() as folder:
		sheet = json.load(file)
		sheet["name"], sheet["figures"]["sm_count"]["value"] = "small", SMALL_SMS
		os.makedirs(folder + "/configs/devices")
		with open(folder + "/configs/devices/small.json", "w", encoding="utf-8") as small:
			json.dump(sheet, small)
		found = [described([line for line in lines if (line[1] == SMALL) == is_small], ["model:small" if is_small else "model:h200-sxm", folder]) for is_small in (False, True)]
	return [found[line[1] == SMALL].pop(0) for line in lines]


def described(lines, device):
	text = "".join(" ".join(line) + "\n" for line in lines)
	result = subprocess.run([OUT + "/tests/kernel_text", ".", *device], input=text, capture_output=True, text=True, check=False)
	found = [json.loads(line) for line in result.stdout.splitlines()]
	if result.returncode != 0 or len(found) != len(lines):
		sys.exit(f"kernel_text: {len(found)} of {len(lines)} kernels: {result.stderr}")
	return found


def made(words):
	"""Returns the cases of SIZES: the first size of each kernel, with the other sizes in "others"."""
	chosen = [[line.format(*(size if isinstance(size, tuple) else [size])).split() for size in sizes] for line, sizes in SIZES.items() if all(word in line for word in words)]
	sizes = iter(describe(line for lines in chosen for line in lines))
	found = [[next(sizes) for _ in lines] for lines in chosen]
	return [{**of_kernel[0], "others": of_kernel[1:]} for of_kernel in found]


def code(text, at):
	"""Yields (place, character, depth of brackets after it) outside strings."""
	depth, quoted = 0, False
	while at < len(text):
		c = text[at]
		if quoted and c == "\\":
			at += 1
		elif c == '"':
			quoted = not quoted
		elif not quoted:
			depth += (c in "([{") - (c in ")]}")
			yield at, c, depth
		at += 1


def closing(text, at):
	"""Returns the place of the parenthesis that closes the one at `at`."""
	return next(place for place, c, depth in code(text, at) if depth == 0)


def split(text, separator):
	"""Splits at separators outside brackets and strings."""
	ends = [at for at, c, depth in code(text, 0) if depth == 0 and c == separator and "::" not in (text[at : at + 2], text[at - 1 : at + 1])]
	return [text[start + 1 : end] for start, end in zip([-1, *ends], [*ends, len(text)])]


def call_of(statement):
	"""Turns asm("op.x %0, [%1];" : "=r"(a) : "r"(b) : "memory") into ptx_op_x(a, b)."""
	statement = re.sub(r'"\s*::', '" : :', statement)
	parts = split(statement, ":")
	template = "".join(json.loads(s) for s in re.findall(r'"(?:[^"\\]|\\.)*"', parts[0]))
	operands = [re.sub(r"^[^(]*", "", o.strip(), count=1) for part in parts[1:3] for o in split(part, ",") if o.strip()]
	if not template:
		return ";"  # this statement is only a compiler barrier
	product = re.search(r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k(\d+)\.f32\.(\w+)\.\w+ \{.*?\}, (\{)?.*, add, 1, 1(.*);", template)
	if product:
		columns, k, kind, registers, layout = product.groups()
		*transposed_a, transposed_b = re.findall(r"[01]", layout) or "00"
		form = f"{{{columns}, {k}, {32 // int(k)}, host::value_of_{ {'f16': 'half', 'bf16': 'bfloat', 'e4m3': 'fp8'}[kind] }, {(transposed_a or ['0'])[0]}, {transposed_b}, {int(bool(registers))}}}"
		rest = operands[int(columns) // 2 :]
		return f"static const host::product_form form = {form}; host::product_begin(form, &{operands[0]}, {', '.join(rest)})"
	name = re.sub(r"\W+", "_", re.search(r"[a-z]\w*(?:(?:\.|::)\w+)*", re.sub(r"\.reg[^;]*;", "", template)).group(0))
	return f"ptx_{name}({', '.join(operands)})"


def as_cpp(text):
	"""Turns asm statements into calls."""
	out, at = [], 0
	for match in re.finditer(r"\basm\s*(?:volatile\s*)?\(", text):
		if match.start() < at:
			continue
		end = closing(text, match.end() - 1)
		out += [text[at : match.start()], call_of(text[match.end() : end])]
		at = end + 1
	return "".join(out) + text[at:]


def box_map(number, each):
	"""Writes a tensor map as host::box_map."""
	size = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8_e4m3": 1}[each["dtype"]]
	dims, strides, box = ("{" + ", ".join(map(str, values)) + "}" for values in (each["dims"], [size, *each["strides"]], each["box"]))
	return f"{{t[{each['buffer']}].data, {size}, {len(each['dims'])}, {dims}, {strides}, {box}, {each['swizzle_bytes']}}}"


def preprocess(unit):
	source = re.sub(r"\bextern\s+__shared__", "extern", unit["source"])
	defines = [o for o in unit["options"] if o.startswith("-D")] + [f"-D__CUDA_ARCH__={900 if 'mbarrier' in unit['source'] else 800}", "-D__CUDACC__=1"]
	result = subprocess.run([CXX, "-E", "-P", "-x", "c++", "-std=c++17", *defines, "-"], input=source, capture_output=True, text=True, check=False)
	if result.returncode != 0:
		raise RuntimeError(result.stderr[:2000])
	return as_cpp(result.stdout)


def tensor(buffer):
	is_input = "true" if buffer["role"] == "in" else "false"
	words = buffer["bytes"] // 4  # length of a workspace, or of an absent tensor
	dtype = DTYPES[buffer["dtype"]] if "rows" in buffer else "FP32"
	rows, columns, ld = (buffer.get("rows", 1), buffer.get("columns", words), buffer.get("ld", max(1, words)))
	return f'{{"{buffer["name"]}", {rows}, {columns}, {ld}, host::{dtype}, {buffer["bytes"]}, {is_input}, {int(buffer.get("fill_low", 0))}, {"true" if buffer.get("contents") == "counts" else "false"}}}'


def argument(value):
	kind, number = next(iter(value.items()))
	return {
		"buffer": lambda: f"host::argument{{t[{number}].data}}",
		"i32": lambda: str(number),
		"i64": lambda: f"{number}ll",
		"f32": lambda: f"(float){number!r}",
		"tensor_map": lambda: f"host::map_argument{{&maps[{number}]}}" if number is not None else "{}",
		"units": lambda: "units.data()",
		"unit_count": lambda: "(int)units.size()",
		"expected": lambda: "expected.data()",
	}[kind]()


def launch_hopper(plan):
	"""Writes a launch in which the blocks of a cluster run together, or all blocks of a grid if they wait for each other."""
	dims = ["{" + ", ".join(map(str, d)) + "}" for d in (plan["grid"], plan["block"])]
	cluster = plan["cluster"][0] * plan["cluster"][1] * plan["cluster"][2]
	call = f"unit_{plan['unit']}::{plan['entry']}({', '.join(map(argument, plan['args']))})"
	return f"	host::launch_clusters({dims[0]}, {dims[1]}, {cluster}, {plan['grid'][0] if plan['waits'] else cluster}, [&] {{ {call}; }});\n"


def launch(plan, grid, shared, last_first="false"):
	dims = ["{" + ", ".join(map(str, d)) + "}" for d in (grid, plan["block"])]
	call = f"unit_{plan.get('unit', 0)}::{plan['entry']}({', '.join(map(argument, plan['args']))})"
	where = f"{shared}, {plan['smem_dynamic_bytes']}" if shared else "nullptr, 0"
	return f"	host::launch({dims[0]}, {dims[1]}, {where}, {last_first}, [&] {{ {call}; }});\n" * plan.get("repeat", 1)


def wanted(case):
	"""Writes the operation in fp64, as a call of tests/host/reference.h."""
	p, operation = case["problem"], case["family"].split("/")[0]
	index = {b["name"]: f"t[{i}]" for i, b in enumerate(case["plan"]["buffers"])}
	act = f"host::ACT_{p.get('act', 'none')}_"
	if operation == "gemm":
		others = ", ".join(index[name] for name in ("scale_a", "scale_b", "bias_values", "C_in", "residual_in"))
		product = f"host::gemm_batch({index['A']}, {index['B']}, {'true' if p['b_layout'] == 'nk' else 'false'}, {p['batch']}, {p['M']}, {p['rows_a']}, {p['rows_b']})"
		return (f"host::gemm_finished({product}, "
			f"{others}, {p['alpha']}, {p['beta']}, {p['N']}, {act})")
	if operation == "gemm_grouped":
		names = ("A", "B", "offsets", "counts", "scale_a", "scale_b")
		return f"host::gemm_grouped({', '.join(index[name] for name in names)}, {p['room']})"
	if operation == "gemm_chain":
		return f"host::gemm_chain({index['A']}, {index['B']}, {index['C']}, {act})"
	return (f"host::attention({index['Q']}, {index['K']}, {index['V']}, {p['batch']}, {p['heads']}, {p['kv_heads']}, "
		f"{p['seq_q']}, {p['seq_k']}, {'true' if p['causal'] else 'false'})")


def name_of(case, is_reference):
	problem = ",".join(f"{k}={v}" for k, v in case["problem"].items())
	return f"{case['family']}{' (its reference)' if is_reference else ' {' + case['label'] + '}'} {problem}"


def shared_array(text):
	found = re.search(r"\bextern\s+(?:__align__\(\d+\)\s+)?(\w+)\s+(\w+)\[\]", text)
	return (f"alignas(1024) {found.group(1)} {found.group(2)}[232448 / sizeof({found.group(1)})];\n", f"unit_0::{found.group(2)}") if found else ("", None)


def part(number, case, is_reference):
	"""Writes a kernel in its own namespace, with run() for the case and for other cases that differ only in arguments."""
	sizes = [case, *case.get("others", ())]
	parts = [part_of(each, is_reference) for each in sizes]
	if any(text != parts[0][0] for text, _ in parts):
		raise RuntimeError("sizes that are other kernels")
	runs = "".join(f"static int run_{i}()\n{{\n{body}}}\n" for i, (_, body) in enumerate(parts))
	calls = "".join(f"	if (run_{i}()) {{\n		printf(\"%s\\n\", \"{name_of(each, is_reference)}\");\n		return 1;\n	}}\n" for i, each in enumerate(sizes))
	return f'namespace kernel_{number} {{\n#line 1 "{name_of(case, is_reference)}"\n{parts[0][0]}{runs}static int run()\n{{\n{calls}	return 0;\n}}\n}}\n'


def part_of(case, is_reference):
	"""Returns the kernel, and the body of a function that checks its results."""
	plan, reference = case["plan"], case["reference"]["outputs"][0]
	units = case["reference_units"] if is_reference else case["units"]
	texts = [preprocess(unit).replace('extern "C"', "") for unit in units]
	is_hopper = bool(plan["tensor_maps"]) and not is_reference
	if is_hopper:
		texts = [re.sub(r"\bextern\s+(?:__align__\(\d+\)\s+)?(\w+)\s+(\w+)\[\];", r"\1 *const \2 = (\1 *)host::block_shared;", text) for text in texts]
	definition, shared = ("", None) if is_hopper else shared_array(texts[0])
	text = "".join(f"namespace unit_{i} {{\n{each}\n{definition}}}\n" for i, each in enumerate(texts))
	buffers = plan["buffers"][: plan["tensors"]] if is_reference else plan["buffers"]
	output, abs_rel = reference["tensor"], f"{reference['tolerance_abs']!r}, {reference['tolerance_rel']!r}"
	body = f'	host::tensor t[] = {{{", ".join(map(tensor, buffers))}}};\n'
	body += "	for (host::tensor &each : t)\n		host::tensor_make(each);\n"
	body += f"	const std::vector<double> wanted = {wanted(case)};\n"
	if is_reference:
		size = plan["buffers"][output]["columns"] if reference["unit"] == "row" else 1
		body += f"	std::vector<long long> units(wanted.size() / {size});\n	std::vector<double> expected(wanted.size(), NAN);\n"
		body += "	for (size_t i = 0; i < units.size(); i++)\n		units[i] = (long long)i;\n"
		per_block = reference["units_per_block"]
		body += launch(reference["launch"], [f"(unsigned)((units.size() + {per_block - 1}) / {per_block})", 1, 1], shared)
		return text, body + "	return host::same(wanted, expected) ? 0 : 1;\n"
	body += "".join(f"	memset(t[{i}].data, 0, t[{i}].bytes);\n" for i, b in enumerate(buffers) if b.get("init", "none") != "none" and b["bytes"])
	if is_hopper:
		body += f"	static const host::box_map maps[] = {{{', '.join(box_map(*each) for each in enumerate(plan['tensor_maps']))}}};\n"
	once = any(b.get("init") == "once" and b["bytes"] for b in buffers)
	for last_first in ["false", "true"][: 1 + once]:
		for each in plan["launches"]:
			each["waits"] = "STREAM_K=1" in case["label"] or case["family"] == "gemm/wgmma_splitk"
			body += launch_hopper(each) if is_hopper else launch(each, each["grid"], shared, last_first)
		# workspaces that were zeroed once are zero again after a launch, and the order of blocks has no effect
		if once and last_first == "false":
			body += f"	const std::vector<unsigned char> first(t[{output}].data, t[{output}].data + t[{output}].bytes);\n"
			body += f"	host::set_not_a_number(t[{output}].data, t[{output}].bytes);\n"
	body += f'	if (memcmp(first.data(), t[{output}].data, first.size())) {{\n		printf("launched again: other bits\\n");\n		return 1;\n	}}\n' if once else ""
	intact = " & ".join(f"host::is_intact(t[{i}])" for i, b in enumerate(buffers) if b["role"] != "out")
	return text, body + f"	return host::compare(t[{output}], wanted, {abs_rel}) & {intact} ? 0 : 1;\n"


def input_bytes(case):
	plan = case["plan"]
	return sum(buffer["bytes"] for buffer in plan["buffers"][: plan["tensors"]])


def program(jobs):
	"""Writes a program with several kernels; `program NUMBER` runs one of them. Shared parts are compiled once."""
	runs = ", ".join(f"kernel_{number}::run" for number in range(len(jobs)))
	return '#include "reference.h"\n' + "".join(part(number, *job) for number, job in enumerate(jobs)) + (
		f"int main(int, char **arguments)\n{{\n	int (*const runs[])() = {{{runs}}};\n	return runs[atoi(arguments[1])]();\n}}\n")


def precompile():
	"""Precompiles the headers, which take half of a program's compile time. Returns their folder."""
	key = "headers-" + hashlib.sha256((" ".join(FLAGS) + CXX + HEADERS).encode()).hexdigest()[:24]
	folder = os.path.join(CACHE, key)
	used.add(key)
	if not os.path.exists(folder):
		with tempfile.TemporaryDirectory(dir=CACHE) as fresh:
			for name in os.listdir(HOST):
				shutil.copy(os.path.join(HOST, name), fresh)
			subprocess.run([CXX, *FLAGS, "-x", "c++-header", "-o", fresh + "/reference.h.gch", fresh + "/reference.h"], check=True)
			shutil.copytree(fresh, folder)
	return folder


def compiled(text):
	"""Returns the program's path, and an error message or ''."""
	key = hashlib.sha256((" ".join(FLAGS) + CXX + HEADERS + text).encode()).hexdigest()[:24]
	path = os.path.join(CACHE, key)
	used.add(key)
	if not os.path.exists(path):
		with tempfile.TemporaryDirectory() as folder:
			with open(folder + "/kernels.cc", "w", encoding="utf-8") as file:
				file.write(text)
			done = subprocess.run([CXX, *FLAGS, "-I" + precompiled, "-o", folder + "/kernels", folder + "/kernels.cc"], capture_output=True, text=True, check=False)
			if done.returncode != 0:
				return path, "\n".join(line for line in done.stderr.splitlines() if "error" in line)[:3000]
			shutil.move(folder + "/kernels", path + "." + str(os.getpid()))
			os.rename(path + "." + str(os.getpid()), path)
	return path, ""


def run(jobs):
	"""Returns an error message or '' for each job."""
	try:
		path, wrong = compiled(program(jobs))
	except (RuntimeError, KeyError) as error:
		wrong = repr(error)
	if wrong:
		return [wrong] + ["not compiled, as the first of its program"] * (len(jobs) - 1)
	found = []
	for number in range(len(jobs)):
		result = subprocess.run([path, str(number)], capture_output=True, text=True, check=False)
		found.append("" if result.returncode == 0 else result.stdout[:1000] + (f"ended with {result.returncode}" if result.returncode != 1 else ""))
	return found


if __name__ == "__main__":
	HEADERS = "".join(open(os.path.join(HOST, name), encoding="utf-8").read() for name in sorted(os.listdir(HOST)) if name.endswith(".h"))
	os.makedirs(CACHE, exist_ok=True)
	used, failed = set(), 0
	chosen = [line for line in CASES.strip().splitlines() if all(word in line for word in sys.argv[2:])]
	cases = describe(line.split() for line in chosen)
	jobs = [(case, False) for case in cases + made(sys.argv[2:])]
	# the references, once for each set of compiler options, on the smallest problem
	jobs += [(case, True) for case in {" ".join(c["reference_units"][0]["options"]): c for c in sorted(cases, key=input_bytes, reverse=True)}.values()]
	precompiled = precompile()
	programs = [jobs[i : i + KERNELS_PER_PROGRAM] for i in range(0, len(jobs), KERNELS_PER_PROGRAM)]
	with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
		for group, found in zip(programs, pool.map(run, programs)):
			for job, wrong in zip(group, found):
				if wrong:
					print(f"{name_of(*job)}: {wrong}")
					failed += 1
	for name in os.listdir(CACHE):
		if len(sys.argv) == 2 and name not in used:
			shutil.rmtree(os.path.join(CACHE, name)) if name.startswith("headers") else os.unlink(os.path.join(CACHE, name))
	print(f"{len(jobs)} kernels ran, {failed} of them wrong")
	sys.exit(failed > 0 or not jobs)
