/* torch/extension.h torch/torch.h torch/types.h torch/all.h torch/library.h torch/python.h torch/script.h
   torch/serialize/tensor.h ATen/ATen.h ATen/AccumulateType.h ATen/ceil_div.h ATen/CUDAGeneratorImpl.h ATen/Dispatch.h
   ATen/NumericUtils.h ATen/OpMathType.h ATen/TensorUtils.h ATen/core/Tensor.h ATen/core/TensorAccessor.h
   ATen/cuda/Atomic.cuh ATen/cuda/CUDAApplyUtils.cuh ATen/cuda/CUDABlas.h ATen/cuda/CUDAContext.h
   ATen/cuda/CUDAGeneratorImpl.h ATen/cuda/DeviceUtils.cuh ATen/cuda/Exceptions.h ATen/cuda/detail/IndexUtils.cuh
   ATen/cuda/detail/KernelUtils.h ATen/cuda/detail/TensorInfo.cuh ATen/native/cuda/KernelUtils.cuh
   ATen/native/cuda/Loops.cuh THC/THC.h THC/THCAtomics.cuh THC/THCDeviceUtils.cuh THC/THCGeneral.h
   THC/THCNumerics.cuh c10/core/ScalarType.h c10/cuda/CUDAException.h c10/cuda/CUDAFunctions.h c10/cuda/CUDAGuard.h
   c10/cuda/CUDAMathCompat.h c10/cuda/CUDAStream.h c10/macros/Export.h c10/macros/Macros.h c10/util/BFloat16.h
   c10/util/Exception.h c10/util/Half.h c10/util/Optional.h */
#ifndef TILETUNE_TORCH_H
#define TILETUNE_TORCH_H
#if __has_include(<cuda_bf16.h>)
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_ALWAYS_INLINE __forceinline__
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads, blocks)
#define C10_WARP_SIZE 32
#define CUDA_KERNEL_ASSERT(condition) ((void)0)
#define CUDA_KERNEL_LOOP_TYPE(i, n, type) \
for (type i = (type)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (type)blockDim.x * gridDim.x)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)
#define TILETUNE_TORCH_OPERATOR(T, op) \
__device__ inline T operator op(T a, T b) { return (float)a op (float)b; } \
__device__ inline float operator op(T a, float b) { return (float)a op b; } \
__device__ inline float operator op(float a, T b) { return a op(float) b; } \
__device__ inline double operator op(T a, double b) { return (double)(float)a op b; } \
__device__ inline double operator op(double a, T b) { return a op(double)(float) b; } \
__device__ inline T operator op(T a, int b) { return (float)a op(float) b; } \
__device__ inline T operator op(int a, T b) { return (float)a op(float) b; } \
__device__ inline T operator op(T a, long long b) { return (float)a op(float) b; } \
__device__ inline T operator op(long long a, T b) { return (float)a op(float) b; } \
__device__ inline T &operator op##=(T &a, T b) { return a = (float)a op(float) b; }
#define TILETUNE_TORCH_COMPARISON(T, op) \
__device__ inline bool operator op(T a, T b) { return (float)a op(float) b; }
/* a type of 16 bits that computes as float */
#define TILETUNE_TORCH_TYPE(T, native, from_float, to_float) \
struct alignas(2) T { \
unsigned short x; \
T() = default; \
struct from_bits_t {}; \
static constexpr __device__ from_bits_t from_bits() { return from_bits_t(); } \
constexpr __device__ T(unsigned short bits, from_bits_t) : x(bits) {} \
__device__ T(float value) { *this = T(from_float(value)); } \
__device__ T(const native &value) : x(reinterpret_cast<const unsigned short &>(value)) {} \
__device__ operator float() const { return to_float(reinterpret_cast<const native &>(x)); } \
__device__ operator native() const { return reinterpret_cast<const native &>(x); } \
}; \
__device__ inline T operator-(T a) { return -(float)a; } \
__device__ inline T __ldg(const T *p) { return T(::__ldg(reinterpret_cast<const unsigned short *>(p)), T::from_bits()); } \
TILETUNE_TORCH_OPERATOR(T, +) \
TILETUNE_TORCH_OPERATOR(T, -) \
TILETUNE_TORCH_OPERATOR(T, *) \
TILETUNE_TORCH_OPERATOR(T, /) \
TILETUNE_TORCH_COMPARISON(T, ==) \
TILETUNE_TORCH_COMPARISON(T, !=) \
TILETUNE_TORCH_COMPARISON(T, <) \
TILETUNE_TORCH_COMPARISON(T, >) \
TILETUNE_TORCH_COMPARISON(T, <=) \
TILETUNE_TORCH_COMPARISON(T, >=)
namespace c10 {
TILETUNE_TORCH_TYPE(Half, __half, __float2half_rn, __half2float)
TILETUNE_TORCH_TYPE(BFloat16, __nv_bfloat16, __float2bfloat16_rn, __bfloat162float)
struct Scalar {};
template <class> struct optional {};
template <class> struct ArrayRef {};
}
#undef TILETUNE_TORCH_TYPE
#undef TILETUNE_TORCH_OPERATOR
#undef TILETUNE_TORCH_COMPARISON
namespace at {
using namespace c10;
struct Tensor {};
struct TensorOptions {};
template <class T> struct OpMathType { using type = T; };
template <> struct OpMathType<Half> { using type = float; };
template <> struct OpMathType<BFloat16> { using type = float; };
template <class T> using opmath_type = typename OpMathType<T>::type;
template <class T, bool is_cuda> using acc_type = opmath_type<T>;
template <class T, class U = T> C10_HOST_DEVICE constexpr T ceil_div(T a, U b) { return (a + b - 1) / b; }
template <class T> struct DefaultPtrTraits { using PtrType = T *; };
template <class T> struct RestrictPtrTraits { using PtrType = T *__restrict__; };
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class I = long long>
struct TensorAccessor {
typename Traits<T>::PtrType data_;
const I *sizes_, *strides_;
__device__ I size(I i) const { return sizes_[i]; }
__device__ I stride(I i) const { return strides_[i]; }
__device__ T *data() const { return data_; }
__device__ decltype(auto) operator[](I i) const
{
if constexpr (N == 1)
return data_[strides_[0] * i];
else
return TensorAccessor<T, N - 1, Traits, I>{data_ + strides_[0] * i, sizes_ + 1, strides_ + 1};
}
};
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class I = long long>
struct GenericPackedTensorAccessor {
typename Traits<T>::PtrType data_;
I sizes_[N], strides_[N];
__device__ I size(I i) const { return sizes_[i]; }
__device__ I stride(I i) const { return strides_[i]; }
__device__ T *data() const { return data_; }
__device__ decltype(auto) operator[](I i) const
{
return TensorAccessor<T, N, Traits, I>{data_, sizes_, strides_}[i];
}
};
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, long long>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor = PackedTensorAccessor64<T, N, Traits>;
namespace cuda {
namespace detail {
template <class T, class I> struct TensorInfo {
T *data;
I sizes[25], strides[25];
int dims;
};
}
}
}
namespace torch {
using namespace at;
}
template <class T> __device__ inline T gpuAtomicAdd(T *p, T value) { return atomicAdd(p, value); }
__device__ inline c10::Half gpuAtomicAdd(c10::Half *p, c10::Half value)
{
return atomicAdd(reinterpret_cast<__half *>(p), (__half)value);
}
__device__ inline c10::BFloat16 gpuAtomicAdd(c10::BFloat16 *p, c10::BFloat16 value)
{
return atomicAdd(reinterpret_cast<__nv_bfloat16 *>(p), (__nv_bfloat16)value);
}
template <class T> __device__ inline void gpuAtomicAddNoReturn(T *p, T value) { gpuAtomicAdd(p, value); }
__device__ inline c10::Half atomicAdd(c10::Half *p, c10::Half value) { return gpuAtomicAdd(p, value); }
__device__ inline c10::BFloat16 atomicAdd(c10::BFloat16 *p, c10::BFloat16 value) { return gpuAtomicAdd(p, value); }
template <class T> __device__ inline T WARP_SHFL(T value, int lane, int width = 32, unsigned mask = 0xffffffff)
{
return __shfl_sync(mask, value, lane, width);
}
template <class T> __device__ inline T WARP_SHFL_XOR(T value, int bits, int width = 32, unsigned mask = 0xffffffff)
{
return __shfl_xor_sync(mask, value, bits, width);
}
template <class T> __device__ inline T WARP_SHFL_UP(T value, unsigned n, int width = 32, unsigned mask = 0xffffffff)
{
return __shfl_up_sync(mask, value, n, width);
}
template <class T> __device__ inline T WARP_SHFL_DOWN(T value, unsigned n, int width = 32, unsigned mask = 0xffffffff)
{
return __shfl_down_sync(mask, value, n, width);
}
__device__ inline unsigned WARP_BALLOT(int predicate, unsigned mask = 0xffffffff)
{
return __ballot_sync(mask, predicate);
}
#endif
#endif
