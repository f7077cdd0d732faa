// Writing runs of neighbouring elements of C, rounded to the output type, in accesses as wide as
// ldc keeps aligned. C_ALIGN is the power of two, 16 at most, that divides the bytes of a row's
// pitch.
#include "gemm_types.cuh"
#pragma once
constexpr int output_bytes = sizeof(output::memory);

// COUNT floats as output words: 16-bit types are packed in pairs. (DTYPE is a template parameter so
// that the packing of a type that needs none is never looked up.)
template <int COUNT, typename DTYPE = output> struct output_run {
	static constexpr int words = COUNT * (int)sizeof(typename DTYPE::memory) / 4;
	u32 word[words];

	__device__ __forceinline__ explicit output_run(const float (&value)[COUNT])
	{
		if constexpr (words == COUNT) {
#pragma unroll
			for (int w = 0; w < words; w++)
				word[w] = __float_as_uint(value[w]);
		} else {
#pragma unroll
			for (int w = 0; w < words; w++)
				word[w] = DTYPE::store2(value[2 * w], value[2 * w + 1]);
		}
	}
};

// Writes WORDS words of output of which the first `inside` elements lie in the matrix (0 and less:
// none). The address of the first is a multiple of the run's size if the pitch is.
template <int WORDS>
__device__ __forceinline__ void store_words(output::memory *to, const u32 *word, int inside)
{
	static_assert(WORDS == 0 || output_bytes >= 2, "single elements have 16 or 32 bits");
	constexpr int per_word = 4 / output_bytes;
	if (C_ALIGN >= 4 && inside >= WORDS * per_word) {
		constexpr int widest = WORDS % 4 == 0 && C_ALIGN >= 16  ? 4
				       : WORDS % 2 == 0 && C_ALIGN >= 8 ? 2
									: 1;
#pragma unroll
		for (int w = 0; w < WORDS; w += widest) {
			if constexpr (widest == 4)
				*(vec16 *)(to + w * per_word) =
					vec16{{word[w], word[w + 1], word[w + 2], word[w + 3]}};
			else if constexpr (widest == 2)
				*(vec8 *)(to + w * per_word) = vec8{{word[w], word[w + 1]}};
			else
				*(u32 *)(to + w * per_word) = word[w];
		}
		return;
	}
#pragma unroll
	for (int e = 0; e < WORDS * per_word; e++)
		if (e < inside) {
			if constexpr (output_bytes == 4)
				((u32 *)to)[e] = word[e];
			else
				((u16 *)to)[e] = (u16)(word[e / 2] >> 16 * (e % 2));
		}
}

// Writes COUNT neighbouring sums (activation already applied).
template <int COUNT>
__device__ __forceinline__ void store_run(
	output::memory *to, const float (&value)[COUNT], int inside)
{
	output_run<COUNT> run(value);
	store_words<output_run<COUNT>::words>(to, run.word, inside);
}
