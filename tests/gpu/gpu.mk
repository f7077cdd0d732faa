# Programs for a machine with a GPU: tests/gpu/test_*.c and the benchmark against cuBLASLt. Built
# here, with gcc and the toolkit's headers; they load the driver and cuBLASLt when they run, from a
# build folder or from the folder that `make dist TESTS=1` makes.
# Includes tests/tests.mk's rules; no cmocka.

gpu_test_names := $(patsubst tests/gpu/%.c,%,$(sort $(wildcard tests/gpu/test_*.c)))
versus_sources := $(sort $(wildcard results/bench/versus/*.c))
versus_objects := $(patsubst results/bench/%.c,$(OUT)/gpu/bench/%.o,$(versus_sources))
gpu_programs := $(patsubst %,$(OUT)/gpu/%,$(gpu_test_names) gemm_vs_cublaslt compare_rows libtiletune_launch.so launch_overhead launch_bundle)

$(OUT)/gpu/obj/%.o: tests/gpu/%.c | packages
	@mkdir -p $(@D)
	@$(PROGRESS) 'CC   $<'
	$(Q)$(CC) $(ALL_CFLAGS) -Itests -MMD -MP -MT $@ -c -o $@ $<
$(OUT)/gpu/bench/%.o: results/bench/%.c | packages
	@mkdir -p $(@D)
	@$(PROGRESS) 'CC   $<'
	$(Q)$(CC) $(ALL_CFLAGS) -Itests -Iresults -MMD -MP -MT $@ -c -o $@ $<

define gpu_program_rule
$(OUT)/gpu/$(1): $(OUT)/gpu/obj/$(1).o $(LIBRARY)
	$(Q)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ $$(LIBS) -Wl,-rpath,'$$$$ORIGIN/../lib'
endef
$(foreach n,$(gpu_test_names),$(eval $(call gpu_program_rule,$(n))))
$(OUT)/gpu/compare_rows: $(OUT)/gpu/bench/compare_rows.o $(OUT)/gen/version.o $(LIBRARY)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) -Wl,-rpath,'$$ORIGIN/../lib'
$(OUT)/gpu/gemm_vs_cublaslt: $(OUT)/gpu/bench/gemm_vs_cublaslt.o $(versus_objects) $(OUT)/gen/version.o $(LIBRARY)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) -Wl,-rpath,'$$ORIGIN/../lib'

# users of src/launch; of the driver only the names are needed to link
$(OUT)/gpu/launch_overhead: tests/bench/launch_overhead.c $(OUT)/include/tiletune_launch.h $(OUT)/faults/libcuda.so.1
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -I$(OUT)/include $(ALL_LDFLAGS) -o $@ $< $(OUT)/faults/libcuda.so.1
$(OUT)/gpu/launch_bundle: tests/consumers/launch/main.c $(OUT)/include/tiletune_launch.h $(OUT)/faults/libcuda.so.1
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -I$(OUT)/include $(ALL_LDFLAGS) -o $@ $< $(OUT)/faults/libcuda.so.1
$(OUT)/gpu/libtiletune_launch.so: $(OUT)/libtiletune_launch.so
	@mkdir -p $(@D)
	$(Q)cp $< $@

.PHONY: gpu-programs
gpu-programs: $(gpu_programs)

## results: README's tables, made on this GPU, into results/<card>; a second call goes on (RESULTS="NAME... --limit SECONDS")
.PHONY: results
results: $(BUILD)/tiletune gpu-programs
	/usr/bin/env python3 results/gpu/results.py $(BUILD)/results --cache $(BUILD)/results/cache --into results $(RESULTS)

# `make test` runs the benchmark over stand-ins (results/checks/versus.sh)
$(OUT)/faults/libcublasLt.so.13: tests/gpu/standin_cublaslt.c | packages
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -Wmissing-prototypes,$(ALL_CFLAGS)) -Itests -Iresults -fPIC -shared \
		-Wl,-soname,libcublasLt.so.13 -o $@ $<
test test-full figures: $(gpu_programs) $(OUT)/faults/libcublasLt.so.13

-include $(wildcard $(OUT)/gpu/obj/*.d $(OUT)/gpu/bench/*.d $(OUT)/gpu/bench/*/*.d)
