/* cuda.h cuda_profiler_api.h cudaProfiler.h cuda_occupancy.h channel_descriptor.h cuda_gl_interop.h cublas.h
   cublas_v2.h cublasLt.h cublasXt.h cudnn.h cufft.h cufftXt.h ?curand.h cusparse.h cusolverDn.h cusolverSp.h nccl.h
   nvToolsExt.h nvtx3/nvToolsExt.h nvml.h nvrtc.h omp.h mpi.h
   pybind11/pybind11.h Python.h
   stdio.h stdlib.h string.h strings.h stddef.h stdbool.h stdarg.h stdalign.h errno.h time.h ctype.h signal.h malloc.h
   memory.h locale.h setjmp.h fenv.h wchar.h wctype.h alloca.h
   unistd.h getopt.h fcntl.h dirent.h dlfcn.h libgen.h poll.h pthread.h sched.h semaphore.h sys/time.h sys/types.h
   sys/stat.h sys/resource.h sys/mman.h sys/ioctl.h sys/socket.h sys/sysinfo.h sys/wait.h
   immintrin.h x86intrin.h xmmintrin.h emmintrin.h
   cstdio cstdlib cstring cstddef cstdarg cerrno ctime cctype csignal clocale csetjmp cfenv cwchar cwctype
   algorithm any atomic barrier bitset charconv chrono codecvt compare condition_variable coroutine deque exception
   execution filesystem format forward_list fstream future iomanip ios iosfwd iostream istream latch list locale map
   memory memory_resource mutex new numeric ostream print queue random ranges regex scoped_allocator semaphore set
   shared_mutex source_location sstream stack stdexcept stop_token streambuf string string_view strstream syncstream
   system_error thread typeindex typeinfo unordered_map unordered_set valarray vector version */
#ifndef TILETUNE_HOST_H
#define TILETUNE_HOST_H
typedef struct _IO_FILE FILE;
struct timeval {
long tv_sec, tv_usec;
};
/* handles of libraries */
typedef struct tiletune_handle *cublasHandle_t, *cublasLtHandle_t, *cublasLtMatmulDesc_t, *cublasLtMatmulPreference_t,
*cublasLtMatrixLayout_t, *cudnnHandle_t, *cudnnConvolutionDescriptor_t, *cudnnFilterDescriptor_t,
*cudnnTensorDescriptor_t, *cusolverDnHandle_t, *cusparseHandle_t, *cusparseDnMatDescr_t, *cusparseDnVecDescr_t,
*cusparseMatDescr_t, *cusparseSpMatDescr_t, *ncclComm_t;
typedef int cublasStatus_t, cublasOperation_t, cublasComputeType_t, cublasGemmAlgo_t, cudnnStatus_t, cufftHandle,
cufftResult, cusolverStatus_t, cusparseStatus_t, ncclDataType_t, ncclResult_t;
namespace std {
template <class...> struct basic_istream {};
template <class...> struct basic_ostream {};
typedef basic_istream<char> istream;
typedef basic_ostream<char> ostream;
struct string {};
struct string_view {};
struct ifstream : istream {};
struct ofstream : ostream {};
struct ostringstream : ostream {};
struct stringstream : ostream {};
struct exception {};
struct logic_error : exception {};
struct runtime_error : exception {};
struct mutex {};
struct thread {};
template <class...> struct char_traits {};
template <class...> struct deque {};
template <class...> struct function;
template <class...> struct future {};
template <class...> struct list {};
template <class...> struct map {};
template <class...> struct queue {};
template <class...> struct set {};
template <class...> struct shared_ptr {};
template <class...> struct unique_ptr {};
template <class...> struct unordered_map {};
template <class...> struct unordered_set {};
template <class...> struct vector {};
}
#endif
