/* cuda.h cuda_profiler_api.h cublas.h cublas_v2.h cublasLt.h cufft.h curand.h cusparse.h cusolverDn.h nccl.h
   nvToolsExt.h nvtx3/nvToolsExt.h nvml.h nvrtc.h omp.h mpi.h
   torch/extension.h torch/torch.h torch/types.h torch/all.h torch/python.h ATen/ATen.h ATen/cuda/CUDAContext.h
   c10/cuda/CUDAGuard.h c10/cuda/CUDAStream.h c10/cuda/CUDAException.h pybind11/pybind11.h Python.h
   stdio.h stdlib.h string.h strings.h stddef.h stdbool.h stdarg.h errno.h time.h ctype.h signal.h malloc.h memory.h
   unistd.h getopt.h fcntl.h pthread.h sched.h sys/time.h sys/types.h sys/stat.h sys/resource.h sys/mman.h
   cstdio cstdlib cstring cstddef cstdarg cerrno ctime cctype csignal
   algorithm atomic chrono condition_variable deque exception execution filesystem fstream future iomanip ios iosfwd
   iostream istream list locale map memory mutex new numeric ostream queue random regex set sstream stack stdexcept
   string string_view system_error thread typeindex typeinfo unordered_map unordered_set vector */
#ifndef TILETUNE_HOST_H
#define TILETUNE_HOST_H
/* what members of structures may be */
typedef struct _IO_FILE FILE;
struct timeval {
long tv_sec, tv_usec;
};
namespace std {
struct string {};
struct istream {};
struct ostream {};
struct exception {};
struct logic_error : exception {};
struct runtime_error : exception {};
struct mutex {};
struct thread {};
template <class...> struct function;
template <class...> struct list {};
template <class...> struct map {};
template <class...> struct set {};
template <class...> struct shared_ptr {};
template <class...> struct unique_ptr {};
template <class...> struct unordered_map {};
template <class...> struct vector {};
}
#endif
