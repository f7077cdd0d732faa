# The test half of the Makefile. A new test is a new file:
#   tests/unit/test_NAME.c     cmocka, TEST(name) { ... }; one program has them all (tests/unit/unit.c)
#   tests/fuzz/fuzz_NAME.c     LLVMFuzzerTestOneInput; corpus in tests/fuzz/corpus/NAME/
#   tests/bench/bench_NAME.c   prints promises, exit 1 if one is missed
#   tests/cli/NAME.session     commands, each with what it prints below it
#   tests/checks/NAME          any script; exit 0 is a pass, 77 (with "skipped: REASON") is said aloud

unit_names  := $(patsubst tests/unit/%.c,%,$(sort $(wildcard tests/unit/test_*.c)))
fuzz_names  := $(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
bench_names := $(patsubst tests/bench/%.c,%,$(sort $(wildcard tests/bench/bench_*.c)))

TEST_CFLAGS = -Itests -DTEST_DATA='"tests/data"' -DTEST_BUILD='"$(OUT)"' -DTEST_SCRATCH='"$(abspath $(BUILD))/tmp"' -DTEST_BINARY='"$(OUT)/tiletune"'

# tests are compiled once and run once: to optimize them takes longer than it spares
# name, source, extra object, extra libraries
define program_rules
$(OUT)/tests/$(1).o: $(2) | packages-test
	@mkdir -p $$(@D)
	@$$(PROGRESS) 'CC   $(2)'
	$(Q)$$(CC) $$(ALL_CFLAGS) $$(TEST_CFLAGS) $(if $(filter bench_%,$(1)),,-O0) -MMD -MP -MT $$@ -c -o $$@ $(2)
$(OUT)/tests/$(1): $(OUT)/tests/$(1).o $(3) $(LIBRARY) | $(OUT)/gen/version.o
	@mkdir -p $(BUILD)/tmp
	$(Q)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ $(OUT)/gen/version.o $(4) $$(LIBS)
endef
unit_objects := $(patsubst %,$(OUT)/tests/%.o,$(filter-out unit,$(unit_names))) $(OUT)/tests/leap.o
$(unit_objects): $(OUT)/tests/%.o: tests/unit/%.c | packages-test
	@mkdir -p $(@D)
	@$(PROGRESS) 'CC   $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(TEST_CFLAGS) -O0 -MMD -MP -MT $@ -c -o $@ $<
$(eval $(call program_rules,unit,tests/unit/unit.c,$$(unit_objects),-lcmocka))
# one program of all tests/rules/*.c
rule_objects := $(patsubst tests/rules/%.c,$(OUT)/tests/%.o,$(filter-out %/rules.c,$(sort $(wildcard tests/rules/*.c))))
$(rule_objects): $(OUT)/tests/%.o: tests/rules/%.c
	@mkdir -p $(@D)
	@$(PROGRESS) 'CC   $<'
	$(Q)$(CC) $(ALL_CFLAGS) -Itests -O0 -MMD -MP -MT $@ -c -o $@ $<
$(eval $(call program_rules,rules,tests/rules/rules.c,$$(rule_objects),))
$(foreach n,$(fuzz_names),$(eval $(call program_rules,$(n),tests/fuzz/$(n).c,$(OUT)/tests/fuzz_replay.o,)))
$(foreach n,$(bench_names),$(eval $(call program_rules,$(n),tests/bench/$(n).c,,)))
$(OUT)/tests/fuzz_replay.o: tests/fuzz/replay.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

define unit_rules
.PHONY: unit-$(1)
unit-$(1): $(OUT)/tests/unit $(FAULT_LIBRARIES)
	TILETUNE_LEARNED=none $(OUT)/tests/unit $(1)
endef
FAULT_LIBRARIES := $(OUT)/faults/libcuda.so.1 $(OUT)/faults/libnvrtc.so.13 $(OUT)/faults/libnvrtc-builtins.so.13.0
$(foreach n,$(unit_names),$(eval $(call unit_rules,$(patsubst test_%,%,$(n)))))

# ---- stand-ins for NVIDIA's libraries (tests/faults) ----
fault_driver_sources := $(filter-out %/fake_nvrtc.c,$(sort $(wildcard tests/faults/*.c)))
fault_headers := $(wildcard tests/faults/*.h src/spec/*.def $(foreach f,base expr family plan measure record spec,src/$(f)/*.h))
$(OUT)/faults/helper_kernels.h: tests/host/helper_kernels.py tests/checks/kernels.py templates/common/helpers.cu $(wildcard templates/common/*.cuh)
	@mkdir -p $(@D)
	$(Q)python3 $< $@
$(OUT)/faults/fake_helpers.o: tests/faults/fake_helpers.cc $(OUT)/faults/helper_kernels.h $(wildcard tests/host/*.h)
	$(Q)$(CXX) -std=c++17 -O2 -ffp-contract=off -fno-strict-aliasing -w -fPIC -Itests -I$(@D) -c -o $@ $<
$(OUT)/faults/fake_bad_kernels.o: tests/faults/fake_bad_kernels.cc tests/gpu/bad_kernels.cu
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -fno-strict-aliasing -w -fPIC -Itests -c -o $@ $<
$(OUT)/faults/libcuda.so.1: $(fault_driver_sources) $(OUT)/faults/fake_helpers.o $(OUT)/faults/fake_bad_kernels.o $(fault_headers) | packages
	@mkdir -p $(@D)
	$(Q)if [ -n "$(fault_driver_sources)" ]; then \
		$(CC) $(filter-out -Wmissing-prototypes,$(ALL_CFLAGS)) -Itests -fPIC -shared -Wl,-soname,libcuda.so.1 -o $@ $(fault_driver_sources) $(OUT)/faults/fake_helpers.o $(OUT)/faults/fake_bad_kernels.o -lstdc++ -lm -lpthread; \
	else touch $@; fi
$(OUT)/faults/libnvrtc.so.13: $(wildcard tests/faults/fake_nvrtc.c) $(fault_headers) | packages
	@mkdir -p $(@D)
	$(Q)if [ -n "$(filter %.c,$^)" ]; then \
		$(CC) $(filter-out -Wmissing-prototypes,$(ALL_CFLAGS)) -Itests -fPIC -shared -Wl,-soname,libnvrtc.so.13 -o $@ $(filter %.c,$^); \
	else touch $@; fi

# only has its name
$(OUT)/faults/libnvrtc-builtins.so.13.0: | packages
	@mkdir -p $(@D)
	$(Q)echo 'extern int nothing; int nothing;' | $(CC) -fPIC -shared -Wl,-soname,libnvrtc-builtins.so.13.0 -x c -o $@ -

.PHONY: packages packages-test
packages:
	@[ -e $(BUILD)/.packages-build ] || { CC=$(CC) sh tests/packages.sh build $(BUILD)/cuda $(CUDA_INCLUDE) && mkdir -p $(BUILD) && touch $(BUILD)/.packages-build; }
	@sh tests/cuda.sh fetch $(BUILD)/cuda $(CUDA_INCLUDE)
packages-test: packages
	@[ -e $(BUILD)/.packages-test ] || { CC=$(CC) sh tests/packages.sh test && mkdir -p $(BUILD) && touch $(BUILD)/.packages-test; }

# ---- suites ----
unit_programs := $(OUT)/tests/unit
fuzz_programs := $(patsubst %,$(OUT)/tests/%,$(fuzz_names))
TEST_PREREQUISITES = packages-test $(BUILD)/tiletune $(OUT)/tiletune $(unit_programs) $(fuzz_programs) $(FAULT_LIBRARIES) $(OUT)/tests/sample_families $(OUT)/tests/kernel_text $(OUT)/tests/intervals $(OUT)/tests/rules $(OUT)/libtiletune_launch.so
ifeq ($(SAN),thread)
TEST_PREREQUISITES = packages-test $(BUILD)/tiletune $(OUT)/tiletune $(unit_programs) $(FAULT_LIBRARIES)
endif

# sample_families, kernel_text, ...
$(OUT)/tests/%: tests/tools/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(OUT)/tests/intervals: results/tools/intervals.c $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

## test: install what is missing, build, run every test that needs no GPU (T=cli/merge: that one)
.PHONY: test
test: $(TEST_PREREQUISITES)
	@CUDA_INCLUDE=$(CUDA_INCLUDE) /usr/bin/python3 tests/run.py $(OUT) $(BUILD) quick $(T)

## figures: whether the pages of results say what their files say, and the programs that make them run
.PHONY: figures
figures: $(OUT)/tiletune $(OUT)/tests/intervals $(FAULT_LIBRARIES)
	@/usr/bin/python3 tests/run.py $(OUT) $(BUILD) quick 'figures/*'

## learned: what is shipped for the H200, from the journals of results (a quarter of an hour; numpy as pinned)
.PHONY: learned
LEARNED_FROM = $(filter-out %_before.journal.jsonl.gz,$(sort $(wildcard results/nvidia-h200/*.journal.jsonl.gz)))
LEARNED_VENV = $(BUILD)/learned-venv
$(LEARNED_VENV)/made: src/python/requirements.txt
	$(Q)rm -rf $(@D) && python3 -m venv $(@D) && $(@D)/bin/pip install --quiet --disable-pip-version-check --only-binary :all: -r $<
	@touch $@
learned: $(OUT)/tiletune $(LEARNED_VENV)/made
	TILETUNE=$(OUT)/tiletune TILETUNE_PATH=. PYTHONPATH=src/python $(LEARNED_VENV)/bin/python -m tiletune.learn \
		$(LEARNED_FROM) -o configs/learned/h200-sxm.json

## test-full: the same with all device sheets and larger samples of every family (half an hour and more)
.PHONY: test-full
test-full: $(TEST_PREREQUISITES)
	@CUDA_INCLUDE=$(CUDA_INCLUDE) TEST_TIMEOUT=7200 /usr/bin/python3 tests/run.py $(OUT) $(BUILD) full $(T)

## mutants: mistakes put into the code on purpose, and whether the fast tests see them (20 minutes)
.PHONY: mutants
mutants: $(TEST_PREREQUISITES)
	@/usr/bin/python3 tests/mutants/run.py

include tests/gpu/gpu.mk

## test-gpu: on a machine with a GPU (gcc and a driver are enough): kernels, faults, timing
.PHONY: test-gpu
test-gpu: $(BUILD)/tiletune gpu-programs
	@sh tests/gpu/run.sh $(BUILD)

## bench: what we promise of speed, as ratios; on a GPU also the kernels against cuBLASLt and others
.PHONY: bench
bench: $(BUILD)/tiletune $(patsubst %,$(OUT)/tests/%,$(bench_names)) gpu-programs
	@sh tests/bench/run.sh $(OUT) $(BUILD) $(bench_names)

## lint: layers, formatting, file sizes, headers on their own, shell scripts
.PHONY: lint
lint: packages-test
	@for check in tests/checks/*.sh; do echo "$$check"; CC=$(CC) CUDA_INCLUDE=$(CUDA_INCLUDE) sh $$check $(OUT) || [ $$? = 77 ] || exit 1; done
