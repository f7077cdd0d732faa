/* cub/device/device_adjacent_difference.cuh cub/device/device_copy.cuh cub/device/device_for.cuh
   cub/device/device_histogram.cuh cub/device/device_memcpy.cuh cub/device/device_merge.cuh
   cub/device/device_merge_sort.cuh cub/device/device_partition.cuh cub/device/device_radix_sort.cuh
   cub/device/device_reduce.cuh cub/device/device_run_length_encode.cuh cub/device/device_scan.cuh
   cub/device/device_segmented_radix_sort.cuh cub/device/device_segmented_reduce.cuh
   cub/device/device_segmented_sort.cuh cub/device/device_select.cuh cub/device/device_transform.cuh
   cub/util_allocator.cuh thrust/adjacent_difference.h thrust/allocate_unique.h thrust/binary_search.h thrust/copy.h
   thrust/count.h thrust/device_allocator.h thrust/device_delete.h thrust/device_free.h thrust/device_make_unique.h
   thrust/device_malloc.h thrust/device_malloc_allocator.h thrust/device_new.h thrust/device_new_allocator.h
   thrust/device_ptr.h thrust/device_reference.h thrust/device_vector.h thrust/equal.h thrust/execution_policy.h
   thrust/extrema.h thrust/fill.h thrust/find.h thrust/for_each.h thrust/gather.h thrust/generate.h
   thrust/host_vector.h thrust/inner_product.h thrust/iterator/retag.h thrust/logical.h thrust/memory.h
   thrust/merge.h thrust/mismatch.h thrust/partition.h thrust/reduce.h thrust/remove.h thrust/replace.h
   thrust/reverse.h thrust/scan.h thrust/scatter.h thrust/sequence.h thrust/set_operations.h thrust/shuffle.h
   thrust/sort.h thrust/system_error.h thrust/tabulate.h thrust/transform.h thrust/transform_reduce.h
   thrust/transform_scan.h thrust/uninitialized_copy.h thrust/unique.h thrust/universal_allocator.h
   thrust/universal_ptr.h thrust/universal_vector.h */
#ifndef TILETUNE_CCCL_H
#define TILETUNE_CCCL_H
namespace thrust {
template <class...> struct device_allocator;
template <class...> struct device_ptr {};
template <class...> struct device_vector {};
template <class...> struct host_vector {};
}
#endif
