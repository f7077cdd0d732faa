/* cuda_runtime.h cuda_runtime_api.h cuda_device_runtime_api.h device_launch_parameters.h math.h cmath
   limits.h climits float.h cfloat stdint.h cstdint inttypes.h cinttypes */
#ifndef CHAR_BIT
/* also functions of the host are compiled for the device */
#undef __host__
#define __host__
#define __extension__
#define CUDA_VERSION CUDART_VERSION
typedef signed char int8_t, int_fast8_t, int_least8_t;
typedef unsigned char uint8_t, uint_fast8_t, uint_least8_t;
typedef short int16_t, int_fast16_t, int_least16_t;
typedef unsigned short uint16_t, uint_fast16_t, uint_least16_t;
typedef int int32_t, int_fast32_t, int_least32_t;
typedef unsigned int uint32_t, uint_fast32_t, uint_least32_t;
typedef long long int64_t, int_fast64_t, int_least64_t;
typedef unsigned long long uint64_t, uint_fast64_t, uint_least64_t;
typedef long long intptr_t, intmax_t;
typedef unsigned long long uintptr_t, uintmax_t;
typedef long ssize_t;
#if !defined uint && !defined ushort && !defined ulong
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
#endif
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-SHRT_MAX - 1)
#define SHRT_MAX 0x7fff
#define USHRT_MAX 0xffff
#define INT_MIN (-INT_MAX - 1)
#define INT_MAX 0x7fffffff
#define UINT_MAX 0xffffffff
#define LONG_MIN (-LONG_MAX - 1)
#define LONG_MAX LLONG_MAX
#define ULONG_MAX ULLONG_MAX
#define LLONG_MIN (-LLONG_MAX - 1)
#define LLONG_MAX 0x7fffffffffffffffLL
#define ULLONG_MAX 0xffffffffffffffffUL
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define INT8_MIN SCHAR_MIN
#define INT8_MAX SCHAR_MAX
#define UINT8_MAX UCHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define UINT16_MAX USHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MIN LLONG_MIN
#define INT64_MAX LLONG_MAX
#define UINT64_MAX ULLONG_MAX
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define PTRDIFF_MAX INT64_MAX
#define SIZE_MAX UINT64_MAX
#define INT8_C(x) ((::int_least8_t)(x))
#define INT16_C(x) ((::int_least16_t)(x))
#define INT32_C(x) ((::int_least32_t)(x))
#define INT64_C(x) ((::int_least64_t)(x))
#define UINT8_C(x) ((::uint_least8_t)(x))
#define UINT16_C(x) ((::uint_least16_t)(x))
#define UINT32_C(x) ((::uint_least32_t)(x))
#define UINT64_C(x) ((::uint_least64_t)(x))
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define FLT_TRUE_MIN 1.401298464e-45F
#define FLT_RADIX 2
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MAX_10_EXP 38
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_TRUE_MIN 4.9406564584124654e-324
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MIN_10_EXP (-307)
#define DBL_MAX_10_EXP 308
#define LDBL_EPSILON 1.08420217248550443401e-19L
#define LDBL_DIG 18
#define LDBL_MANT_DIG 64
#define DECIMAL_DIG 21
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VALF INFINITY
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
static __device__ inline void cudaGridDependencySynchronize() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
static __device__ inline void cudaTriggerProgrammaticLaunchCompletion()
{
asm volatile("griddepcontrol.launch_dependents;");
}
namespace std {
using ::abs; using ::acos; using ::acosf; using ::acosh; using ::asin; using ::asinf; using ::asinh; using ::atan;
using ::atan2; using ::atan2f; using ::atanf; using ::atanh; using ::cbrt; using ::cbrtf; using ::ceil; using ::ceilf;
using ::copysign; using ::copysignf; using ::cos; using ::cosf; using ::cosh; using ::coshf; using ::erf; using ::erfc;
using ::erfcf; using ::erff; using ::exp; using ::exp2; using ::exp2f; using ::expf; using ::expm1; using ::expm1f;
using ::fabs; using ::fabsf; using ::fdim; using ::floor; using ::floorf; using ::fma; using ::fmaf; using ::fmax;
using ::fmaxf; using ::fmin; using ::fminf; using ::fmod; using ::fmodf; using ::free; using ::frexp; using ::hypot;
using ::hypotf; using ::ilogb; using ::isfinite; using ::isinf; using ::isnan; using ::ldexp; using ::lgamma;
using ::lgammaf; using ::llrint; using ::llround; using ::log; using ::log10; using ::log10f; using ::log1p;
using ::log1pf; using ::log2; using ::log2f; using ::logf; using ::lrint; using ::lround; using ::malloc;
using ::memcpy; using ::memset; using ::modf; using ::nan; using ::nearbyint; using ::nextafter; using ::pow;
using ::powf; using ::printf; using ::ptrdiff_t; using ::remainder; using ::rint; using ::rintf; using ::round;
using ::roundf; using ::scalbn; using ::signbit; using ::sin; using ::sinf; using ::sinh; using ::sinhf;
using ::size_t; using ::sqrt; using ::sqrtf; using ::tan; using ::tanf; using ::tanh; using ::tanhf; using ::tgamma;
using ::tgammaf; using ::trunc; using ::truncf;
using ::int8_t; using ::uint8_t; using ::int_fast8_t; using ::uint_fast8_t; using ::int_least8_t;
using ::uint_least8_t;
using ::int16_t; using ::uint16_t; using ::int_fast16_t; using ::uint_fast16_t; using ::int_least16_t;
using ::uint_least16_t;
using ::int32_t; using ::uint32_t; using ::int_fast32_t; using ::uint_fast32_t; using ::int_least32_t;
using ::uint_least32_t;
using ::int64_t; using ::uint64_t; using ::int_fast64_t; using ::uint_fast64_t; using ::int_least64_t;
using ::uint_least64_t;
using ::intmax_t; using ::intptr_t; using ::uintmax_t; using ::uintptr_t;
template <class T> __device__ constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T> __device__ constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> __device__ inline void swap(T &a, T &b)
{
T c = a;
a = b;
b = c;
}
}
#endif
