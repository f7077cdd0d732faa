/* Tuned configurations from tuned.json; made by `tiletune export --format c-header`.
 *
 *	const struct tiletune_entry *e =
 *		tiletune_find("gemm",
 *"M=1024,N=1024,K=1024,dtype=fp32,b_layout=nk,lda=1024,ldb=1024,ldc=1024,out_dtype=fp32,act=none,accum=fast,scale=none,bias=none,alpha=1,beta=0,residual=0,batch=1,rows_a=1024,rows_b=1024");
 *
 * gives the one entry whose problem has all of these keys, or a null pointer where there is
 * none, or more than one. `defines` is what the source is compiled with; launches follow one
 * another, each with its grid, block, cluster and dynamic shared memory; `args` are the
 * kernel's arguments by name, numbers as they are. A family made of steps has no defines of
 * its own: `tiletune export --format source` writes each step's source with its defines.
 * Kernels that take tensor maps (TMA descriptors) cannot be launched from this table: their
 * dimensions are in a bundle, `--format bundle`, which tiletune_launch.h launches.
 */
#ifndef TILETUNE_TUNED_H
#define TILETUNE_TUNED_H 0x98c54b18

struct tiletune_launch {
	const char *source, *entry, *args;
	unsigned grid[3], block[3], cluster[3];
	unsigned smem_dynamic_bytes, repeat;
};

struct tiletune_entry {
	const char *operation, *problem, *family, *configuration, *defines;
	double time_us; /* measured or predicted: is_measured */
	int is_measured;
	unsigned long long workspace_bytes;
	unsigned launch_count;
	const struct tiletune_launch *launches;
	unsigned tensor_map_count; /* not 0: launched from a bundle */
};

#define TILETUNE_DEVICE "NVIDIA H200"

static const struct tiletune_launch tiletune_launches[] = {
	{"gemm/simt.cu", "gemm_simt",
		"A,B,C,partial,1024,1024,1024,1024,1024,1024,8,0,0,scale_a,scale_b,bias_values,C_"
		"in,residual_in,scale_c",
		{128, 3, 1}, {128, 1, 1}, {1, 1, 1}, 25600, 1},
	{"gemm/simt.cu", "gemm_split_k_reduce",
		"partial,C,1024,1024,1024,3,scale_a,scale_b,bias_values,C_in,residual_in,scale_c",
		{1024, 1, 1}, {256, 1, 1}, {1, 1, 1}, 0, 1},
	{"gemm/wgmma.cu", "gemm_wgmma",
		"map_a,map_b,map_c,C,partial,flags,1792,1792,1792,1792,0,2,1,0,0,scale_a,scale_b,"
		"bias_values,C_in,residual_in,scale_c",
		{126, 1, 1}, {384, 1, 1}, {1, 1, 1}, 230496, 1},
	{"gemm/wgmma_skinny.cu", "gemm_wgmma_skinny",
		"map_a,map_b,C,16,4096,4096,4096,scale_a,scale_b,bias_values,C_in,residual_in,"
		"scale_c",
		{128, 1, 1}, {160, 1, 1}, {2, 1, 1}, 86144, 1},
	{"gemm/wgmma.cu", "gemm_wgmma",
		"map_a,map_b,map_c,C,partial,flags,512,28672,4096,28672,0,4,1,0,0,scale_a,scale_b,"
		"bias_values,C_in,residual_in,scale_c",
		{132, 1, 1}, {384, 1, 1}, {1, 1, 1}, 200784, 1},
};

#define TILETUNE_ENTRY_COUNT 4u
static const struct tiletune_entry tiletune_entries[] = {
	{"gemm",
		"M=1024,N=1024,K=1024,dtype=fp32,b_layout=nk,lda=1024,ldb=1024,ldc=1024,out_dtype="
		"fp32,act=none,accum=fast,scale=none,bias=none,alpha=1,beta=0,residual=0,batch=1,"
		"rows_a=1024,rows_b=1024",
		"gemm/simt",
		"VEC=4,TM=8,TN=8,LANES_M=4,BM=64,BN=128,BK=16,STAGES=1,PAD=4,MIN_BLOCKS=1,GROUP_M="
		"8,SPLIT_K=3",
		"-DACCUM_fast=1 -DACT_none=1 -DALPHA=1 -DBETA=0 -DBIAS_none=1 -DBK=16 -DBM=64 "
		"-DBN=128 -DB_LAYOUT_nk=1 -DC_ALIGN=16 -DDTYPE_fp32=1 -DLANES_M=4 -DMIN_BLOCKS=1 "
		"-DOUT_DTYPE_fp32=1 -DPAD=4 -DSCALE_none=1 -DSTAGES=1 -DTM=8 -DTN=8 -DVEC=4 "
		"-Dblock_threads=128 -Dlanes_along_n=8 -Dresidual=0 -Dring_bytes=25600 "
		"-Dthread_regs=104",
		52.456000819802284, 1, 12582912ULL, 2, tiletune_launches + 0, 0},
	{"gemm",
		"M=1792,N=1792,K=1792,dtype=bf16,b_layout=nk,lda=1792,ldb=1792,ldc=1792,out_dtype="
		"bf16,act=none,accum=fast,scale=none,bias=none,alpha=1,beta=0,residual=0,batch=1,"
		"rows_a=1792,rows_b=1792",
		"gemm/wgmma",
		"BM=128,BN=200,BK=64,GROUPS=2,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,BLOCKS_PER_SM=1,"
		"STORE=1,STORE_DEPTH=2,STREAM_K=0,STAGES=5,SMS=128,ALONG_N=0,BAND=2",
		"-DACCUMULATORS=100 -DACCUM_fast=1 -DACT_none=1 -DALPHA=1 -DBATCHED=0 -DBETA=0 "
		"-DBIAS_none=1 -DBK=64 -DBLOCKS_PER_SM=1 -DBM=128 -DBN=200 -DB_LAYOUT_nk=1 "
		"-DB_SPAN=128 -DCLUSTER_M=1 -DCLUSTER_N=1 -DC_PAIRS=1 -DDTYPE_bf16=1 "
		"-DELEMENT_BYTES=2 -DGROUPS=2 -DOUT_DTYPE_bf16=1 -DPARTS=1 -DPINGPONG=0 "
		"-DREGISTERS=232 -DSCALE_PART=8 -DSCALE_none=1 -DSMEM_BYTES=230496 -DSTAGES=5 "
		"-DSTAGE_BYTES=42000 -DSTORE=1 -DSTORE_BOX=40 -DSTORE_BYTES=20480 -DSTORE_DEPTH=2 "
		"-DSTREAM_K=0 -Dresidual=0",
		20.339000038802624, 1, 0ULL, 1, tiletune_launches + 2, 3},
	{"gemm",
		"M=16,N=4096,K=4096,dtype=bf16,b_layout=nk,lda=4096,ldb=4096,ldc=4096,out_dtype="
		"bf16,act=none,accum=fast,scale=none,bias=none,alpha=1,beta=0,residual=0,batch=1,"
		"rows_a=16,rows_b=4096",
		"gemm/wgmma_skinny",
		"SWAP=1,BM=16,BN=64,BK=64,GROUPS=1,CLUSTER_N=1,CLUSTER_K=2,BLOCKS_PER_SM=1,STAGES="
		"8",
		"-DACCUMULATORS=8 -DACCUM_fast=1 -DACT_none=1 -DALPHA=1 -DBETA=0 -DBIAS_none=1 "
		"-DBK=64 -DBLOCKS_PER_SM=1 -DBM=16 -DBN=64 -DB_LAYOUT_nk=1 -DB_SPAN=128 "
		"-DCLUSTER_K=2 -DCLUSTER_N=1 -DC_ALIGN=16 -DDTYPE_bf16=1 -DELEMENT_BYTES=2 "
		"-DEXCHANGE_IN_RING=0 -DGROUPS=1 -DOUT_DTYPE_bf16=1 -DPARTS=1 -DREGISTERS=255 "
		"-DSCALE_PART=64 -DSCALE_REGS=0 -DSCALE_none=1 -DSMEM_BYTES=86144 -DSTAGES=8 "
		"-DSTAGE_BYTES=10256 -DSWAP=1 -Dresidual=0",
		10.644000023603439, 1, 0ULL, 1, tiletune_launches + 3, 2},
	{"gemm",
		"M=512,N=28672,K=4096,dtype=fp8_e4m3,b_layout=nk,lda=4096,ldb=4096,ldc=28672,out_"
		"dtype=bf16,act=none,accum=fast,scale=none,bias=none,alpha=1,beta=0,residual=0,"
		"batch=1,rows_a=512,rows_b=28672",
		"gemm/wgmma",
		"BM=128,BN=176,BK=128,GROUPS=2,PINGPONG=1,CLUSTER_M=1,CLUSTER_N=1,BLOCKS_PER_SM=1,"
		"STORE=1,STORE_DEPTH=2,STREAM_K=0,STAGES=4,SMS=132,ALONG_N=0,BAND=4",
		"-DACCUMULATORS=176 -DACCUM_fast=1 -DACT_none=1 -DALPHA=1 -DBATCHED=0 -DBETA=0 "
		"-DBIAS_none=1 -DBK=128 -DBLOCKS_PER_SM=1 -DBM=128 -DBN=176 -DB_LAYOUT_nk=1 "
		"-DB_SPAN=128 -DCLUSTER_M=1 -DCLUSTER_N=1 -DC_PAIRS=1 -DDTYPE_fp8_e4m3=1 "
		"-DELEMENT_BYTES=1 -DGROUPS=2 -DOUT_DTYPE_bf16=1 -DPARTS=1 -DPINGPONG=1 "
		"-DREGISTERS=232 -DSCALE_PART=16 -DSCALE_none=1 -DSMEM_BYTES=200784 -DSTAGES=4 "
		"-DSTAGE_BYTES=38928 -DSTORE=1 -DSTORE_BOX=88 -DSTORE_BYTES=45056 -DSTORE_DEPTH=2 "
		"-DSTREAM_K=0 -Dresidual=0",
		95.176000148057938, 1, 0ULL, 1, tiletune_launches + 4, 3},
};

/* Whether the list "a=1,b=2" has this item of so many characters. */
static inline int tiletune_has(const char *list, const char *item, unsigned long size)
{
	while (*list) {
		unsigned long length = 0, same = 0;

		while (list[length] && list[length] != ',')
			length++;
		while (same < length && same < size && list[same] == item[same])
			same++;
		if (length == size && same == size)
			return 1;
		list += length;
		list += *list == ',';
	}
	return 0;
}

static inline int tiletune_matches(
	const struct tiletune_entry *entry, const char *operation, const char *problem)
{
	const char *a = entry->operation;

	while (*a && *a == *operation) {
		a++;
		operation++;
	}
	if (*a || *operation)
		return 0;
	while (*problem) {
		unsigned long length = 0;

		while (problem[length] && problem[length] != ',')
			length++;
		if (!tiletune_has(entry->problem, problem, length))
			return 0;
		problem += length;
		problem += *problem == ',';
	}
	return 1;
}

static inline const struct tiletune_entry *tiletune_find(const char *operation, const char *problem)
{
	const struct tiletune_entry *found = 0;
	unsigned i;

	for (i = 0; i < TILETUNE_ENTRY_COUNT; i++) {
		if (!tiletune_matches(&tiletune_entries[i], operation, problem))
			continue;
		if (found)
			return 0;
		found = &tiletune_entries[i];
	}
	return found;
}

#elif TILETUNE_TUNED_H != 0x98c54b18
#error "two different headers of tiletune export: merge the tuned files, then export one"
#endif
