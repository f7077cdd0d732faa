# Tuned configurations from tuned.json; made by `tiletune export --format cmake`.
#
#	include(tuned.cmake)
#	tiletune_find(TUNED gemm M=1024 N=1024 K=1024 dtype=fp32 b_layout=nk lda=1024 ldb=1024 ldc=1024 out_dtype=fp32 act=none accum=fast scale=none bias=none alpha=1 beta=0 residual=0 batch=1 rows_a=1024 rows_b=1024)
#	set(sources /usr/local/share/tiletune/templates) # of your installation
#	add_library(kernels OBJECT ${sources}/${TUNED_SOURCE}) # needs the language CUDA
#	target_include_directories(kernels PRIVATE ${sources})
#	target_compile_definitions(kernels PRIVATE ${TUNED_DEFINES})
#	target_compile_options(kernels PRIVATE ${TUNED_OPTIONS})
#	set_target_properties(kernels PROPERTIES CUDA_STANDARD 17 CUDA_ARCHITECTURES 90a)
#
# tiletune_find(PREFIX OPERATION KEY=VALUE...) looks for the one entry whose problem has all
# of these keys, in all such files that were included, and sets PREFIX_FOUND, PREFIX_PROBLEM, PREFIX_FAMILY, PREFIX_CONFIGURATION,
# PREFIX_DEFINES (a list for target_compile_definitions), PREFIX_OPTIONS (those of an own kernel),
# PREFIX_TIME_US, PREFIX_TIMING,
# PREFIX_VERIFIED (beside what its results were compared: reference, file, configuration, self),
# PREFIX_WORKSPACE_BYTES, PREFIX_TENSOR_MAPS (not 0: the kernel takes TMA descriptors; what is
# in them stands in a bundle, --format bundle, which tiletune_launch.h launches) and, of the
# first launch, PREFIX_SOURCE, PREFIX_ENTRY, PREFIX_GRID, PREFIX_BLOCK, PREFIX_CLUSTER,
# PREFIX_SMEM_DYNAMIC_BYTES; PREFIX_LAUNCHES is the JSON of all.
# A family made of steps has no defines of its own: `tiletune export --format source` writes
# each step's source with its defines.
cmake_policy(PUSH)
cmake_policy(VERSION 3.19)

set(TILETUNE_4a541c9a [==[
[{
		"operation":	"gemm",
		"problem":	"M=1024,N=1024,K=1024,dtype=fp32,b_layout=nk,lda=1024,ldb=1024,ldc=1024,out_dtype=fp32,act=none,accum=fast,scale=none,bias=none,alpha=1,beta=0,residual=0,batch=1,rows_a=1024,rows_b=1024",
		"timing":	"measured",
		"verified":	"reference",
		"family":	"gemm/simt",
		"configuration":	"VEC=4,TM=8,TN=8,LANES_M=4,BM=64,BN=128,BK=16,STAGES=1,PAD=4,MIN_BLOCKS=1,GROUP_M=8,SPLIT_K=3",
		"defines":	"ACCUM_fast=1;ACT_none=1;ALPHA=1;BETA=0;BIAS_none=1;BK=16;BM=64;BN=128;B_LAYOUT_nk=1;C_ALIGN=16;DTYPE_fp32=1;LANES_M=4;MIN_BLOCKS=1;OUT_DTYPE_fp32=1;PAD=4;SCALE_none=1;STAGES=1;TM=8;TN=8;VEC=4;block_threads=128;lanes_along_n=8;residual=0;ring_bytes=25600;thread_regs=104",
		"options":	"",
		"time_us":	52.456000819802284,
		"workspace_bytes":	12582912,
		"tensor_maps":	0,
		"launches":	[{
				"source":	"gemm/simt.cu",
				"entry":	"gemm_simt",
				"grid":	[128, 3, 1],
				"block":	[128, 1, 1],
				"cluster":	[1, 1, 1],
				"smem_dynamic_bytes":	25600,
				"args":	["A", "B", "C", "partial", 1024, 1024, 1024, 1024, 1024, 1024, 8, 0, 0, "scale_a", "scale_b", "bias_values", "C_in", "residual_in", "scale_c"]
			}, {
				"source":	"gemm/simt.cu",
				"entry":	"gemm_split_k_reduce",
				"grid":	[1024, 1, 1],
				"block":	[256, 1, 1],
				"cluster":	[1, 1, 1],
				"smem_dynamic_bytes":	0,
				"args":	["partial", "C", 1024, 1024, 1024, 3, "scale_a", "scale_b", "bias_values", "C_in", "residual_in", "scale_c"]
			}]
	}, {
		"operation":	"gemm",
		"problem":	"M=1792,N=1792,K=1792,dtype=bf16,b_layout=nk,lda=1792,ldb=1792,ldc=1792,out_dtype=bf16,act=none,accum=fast,scale=none,bias=none,alpha=1,beta=0,residual=0,batch=1,rows_a=1792,rows_b=1792",
		"timing":	"measured",
		"verified":	"reference",
		"family":	"gemm/wgmma",
		"configuration":	"BM=128,BN=200,BK=64,GROUPS=2,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,BLOCKS_PER_SM=1,STORE=1,STORE_DEPTH=2,STREAM_K=0,STAGES=5,SMS=128,ALONG_N=0,BAND=2",
		"defines":	"ACCUMULATORS=100;ACCUM_fast=1;ACT_none=1;ALPHA=1;BATCHED=0;BETA=0;BIAS_none=1;BK=64;BLOCKS_PER_SM=1;BM=128;BN=200;B_LAYOUT_nk=1;B_SPAN=128;CLUSTER_M=1;CLUSTER_N=1;C_PAIRS=1;DTYPE_bf16=1;ELEMENT_BYTES=2;GROUPS=2;OUT_DTYPE_bf16=1;PARTS=1;PINGPONG=0;REGISTERS=232;SCALE_PART=8;SCALE_none=1;SMEM_BYTES=230496;STAGES=5;STAGE_BYTES=42000;STORE=1;STORE_BOX=40;STORE_BYTES=20480;STORE_DEPTH=2;STREAM_K=0;residual=0",
		"options":	"",
		"time_us":	20.339000038802624,
		"workspace_bytes":	0,
		"tensor_maps":	3,
		"launches":	[{
				"source":	"gemm/wgmma.cu",
				"entry":	"gemm_wgmma",
				"grid":	[126, 1, 1],
				"block":	[384, 1, 1],
				"cluster":	[1, 1, 1],
				"smem_dynamic_bytes":	230496,
				"args":	["map_a", "map_b", "map_c", "C", "partial", "flags", 1792, 1792, 1792, 1792, 0, 2, 1, 0, 0, "scale_a", "scale_b", "bias_values", "C_in", "residual_in", "scale_c"]
			}]
	}, {
		"operation":	"gemm",
		"problem":	"M=16,N=4096,K=4096,dtype=bf16,b_layout=nk,lda=4096,ldb=4096,ldc=4096,out_dtype=bf16,act=none,accum=fast,scale=none,bias=none,alpha=1,beta=0,residual=0,batch=1,rows_a=16,rows_b=4096",
		"timing":	"measured",
		"verified":	"reference",
		"family":	"gemm/wgmma_skinny",
		"configuration":	"SWAP=1,BM=16,BN=64,BK=64,GROUPS=1,CLUSTER_N=1,CLUSTER_K=2,BLOCKS_PER_SM=1,STAGES=8",
		"defines":	"ACCUMULATORS=8;ACCUM_fast=1;ACT_none=1;ALPHA=1;BETA=0;BIAS_none=1;BK=64;BLOCKS_PER_SM=1;BM=16;BN=64;B_LAYOUT_nk=1;B_SPAN=128;CLUSTER_K=2;CLUSTER_N=1;C_ALIGN=16;DTYPE_bf16=1;ELEMENT_BYTES=2;EXCHANGE_IN_RING=0;GROUPS=1;OUT_DTYPE_bf16=1;PARTS=1;REGISTERS=255;SCALE_PART=64;SCALE_REGS=0;SCALE_none=1;SMEM_BYTES=86144;STAGES=8;STAGE_BYTES=10256;SWAP=1;residual=0",
		"options":	"",
		"time_us":	10.64400002360344,
		"workspace_bytes":	0,
		"tensor_maps":	2,
		"launches":	[{
				"source":	"gemm/wgmma_skinny.cu",
				"entry":	"gemm_wgmma_skinny",
				"grid":	[128, 1, 1],
				"block":	[160, 1, 1],
				"cluster":	[2, 1, 1],
				"smem_dynamic_bytes":	86144,
				"args":	["map_a", "map_b", "C", 16, 4096, 4096, 4096, "scale_a", "scale_b", "bias_values", "C_in", "residual_in", "scale_c"]
			}]
	}, {
		"operation":	"gemm",
		"problem":	"M=512,N=28672,K=4096,dtype=fp8_e4m3,b_layout=nk,lda=4096,ldb=4096,ldc=28672,out_dtype=bf16,act=none,accum=fast,scale=none,bias=none,alpha=1,beta=0,residual=0,batch=1,rows_a=512,rows_b=28672",
		"timing":	"measured",
		"verified":	"reference",
		"family":	"gemm/wgmma",
		"configuration":	"BM=128,BN=176,BK=128,GROUPS=2,PINGPONG=1,CLUSTER_M=1,CLUSTER_N=1,BLOCKS_PER_SM=1,STORE=1,STORE_DEPTH=2,STREAM_K=0,STAGES=4,SMS=132,ALONG_N=0,BAND=4",
		"defines":	"ACCUMULATORS=176;ACCUM_fast=1;ACT_none=1;ALPHA=1;BATCHED=0;BETA=0;BIAS_none=1;BK=128;BLOCKS_PER_SM=1;BM=128;BN=176;B_LAYOUT_nk=1;B_SPAN=128;CLUSTER_M=1;CLUSTER_N=1;C_PAIRS=1;DTYPE_fp8_e4m3=1;ELEMENT_BYTES=1;GROUPS=2;OUT_DTYPE_bf16=1;PARTS=1;PINGPONG=1;REGISTERS=232;SCALE_PART=16;SCALE_none=1;SMEM_BYTES=200784;STAGES=4;STAGE_BYTES=38928;STORE=1;STORE_BOX=88;STORE_BYTES=45056;STORE_DEPTH=2;STREAM_K=0;residual=0",
		"options":	"",
		"time_us":	95.17600014805794,
		"workspace_bytes":	0,
		"tensor_maps":	3,
		"launches":	[{
				"source":	"gemm/wgmma.cu",
				"entry":	"gemm_wgmma",
				"grid":	[132, 1, 1],
				"block":	[384, 1, 1],
				"cluster":	[1, 1, 1],
				"smem_dynamic_bytes":	200784,
				"args":	["map_a", "map_b", "map_c", "C", "partial", "flags", 512, 28672, 4096, 28672, 0, 4, 1, 0, 0, "scale_a", "scale_b", "bias_values", "C_in", "residual_in", "scale_c"]
			}]
	}]
]==])
list(APPEND TILETUNE_FILES 4a541c9a)
list(REMOVE_DUPLICATES TILETUNE_FILES)

function(tiletune_find prefix operation)
	set(matches 0)
	foreach(file IN LISTS TILETUNE_FILES)
		string(JSON count LENGTH "${TILETUNE_${file}}")
		math(EXPR last "${count} - 1")
		foreach(i RANGE ${last})
			if(i GREATER last)
				break()
			endif()
			string(JSON its_operation GET "${TILETUNE_${file}}" ${i} operation)
			string(JSON problem GET "${TILETUNE_${file}}" ${i} problem)
			if(NOT its_operation STREQUAL operation)
				continue()
			endif()
			string(REPLACE "," ";" keys "${problem}")
			set(missing ${ARGN})
			list(REMOVE_ITEM missing ${keys})
			if(NOT missing)
				math(EXPR matches "${matches} + 1")
				string(JSON found GET "${TILETUNE_${file}}" ${i})
			endif()
		endforeach()
	endforeach()
	if(NOT matches EQUAL 1)
		set(${prefix}_FOUND FALSE PARENT_SCOPE)
		return()
	endif()
	set(${prefix}_FOUND TRUE PARENT_SCOPE)
	foreach(name operation problem family configuration defines options time_us timing verified workspace_bytes tensor_maps launches)
		string(JSON value ERROR_VARIABLE error GET "${found}" ${name})
		string(TOUPPER "${name}" upper)
		set(${prefix}_${upper} "${value}" PARENT_SCOPE)
	endforeach()
	foreach(name source entry smem_dynamic_bytes)
		string(JSON value ERROR_VARIABLE error GET "${found}" launches 0 ${name})
		string(TOUPPER "${name}" upper)
		set(${prefix}_${upper} "${value}" PARENT_SCOPE)
	endforeach()
	foreach(name grid block cluster)
		set(sizes "")
		foreach(dimension 0 1 2)
			string(JSON value ERROR_VARIABLE error GET "${found}" launches 0 ${name} ${dimension})
			list(APPEND sizes ${value})
		endforeach()
		string(TOUPPER "${name}" upper)
		set(${prefix}_${upper} "${sizes}" PARENT_SCOPE)
	endforeach()
endfunction()

cmake_policy(POP)
