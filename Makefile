# tiletune: a GPU tile-size autotuner. `make help` lists the targets.
#
# Objects live in $(BUILD)/<variant>/, one folder per set of flags, so that a change of flags never
# mixes objects. $(BUILD)/tiletune is always the release binary.

CC      := gcc
BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
SAN     ?=
V       ?=
PYTHON  ?= /usr/bin/python3

.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
Q := $(if $(V),,@)
# all cores, also where nobody asked for them with -j (clean and what follows it are not made at once)
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS))$(filter clean,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

comma := ,
VARIANT := $(if $(SAN),san-$(subst $(comma),-,$(SAN)),release)$(if $(filter gcc,$(CC)),,-$(notdir $(CC)))
OUT := $(BUILD)/$(VARIANT)

# ---- the CUDA toolkit: headers only; CUDA_HOME, CUDA_PATH, then the usual places, then what
# tests/cuda.sh takes from PyPI where there is none ----
CUDA_CANDIDATES := $(CUDA_HOME) $(CUDA_PATH) /usr/local/cuda $(sort $(wildcard /usr/local/cuda-*)) /opt/cuda $(BUILD)/cuda
CUDA_INCLUDE := $(firstword $(foreach d,$(CUDA_CANDIDATES),$(dir $(firstword $(wildcard \
	$(d)/include/cuda_occupancy.h $(d)/targets/*/include/cuda_occupancy.h)))))
CUDA_INCLUDE := $(or $(CUDA_INCLUDE),$(dir $(wildcard /usr/include/cuda_occupancy.h)),$(BUILD)/cuda/include/)

# ---- flags ----
WARNINGS := -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 \
	-Wwrite-strings -Wpointer-arith -Wconversion -Wundef -Werror
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
CFLAGS   ?= -O2 -g
VERSION  := 0.1.0
COMMIT   := $(shell git rev-parse --short=12 HEAD 2>/dev/null)$(shell \
	git diff --quiet HEAD -- src templates configs 2>/dev/null || echo +)
ALL_CFLAGS = -std=gnu11 $(CFLAGS) $(WARNINGS) $(SANFLAGS) -Isrc -isystem $(CUDA_INCLUDE) -D_GNU_SOURCE
ALL_LDFLAGS = $(LDFLAGS) $(SANFLAGS)
LIBS := -lcjson -lz -ldl -lm -lpthread

# ---- sources: one static library per layer, in the order of src/layers.txt ----
LAYERS := $(shell grep -v '^\#' src/layers.txt)
layer_sources = $(filter-out src/cli/main.c,$(sort $(wildcard src/$(1)/*.c)))
layer_objects = $(patsubst src/%.c,$(OUT)/obj/%.o,$(call layer_sources,$(1))) $(if $(filter spec,$(1)),$(OUT)/gen/default_device.o)$(if $(filter figure,$(1)),$(OUT)/gen/report_assets.o)$(if $(filter cli,$(1)),$(OUT)/gen/version.o)
reverse = $(if $(1),$(call reverse,$(wordlist 2,$(words $(1)),$(1))) $(firstword $(1)))
upto = $(if $(1),$(firstword $(1)) $(if $(filter $(2),$(firstword $(1))),,$(call upto,$(wordlist 2,$(words $(1)),$(1)),$(2))))
layer_libs = $(patsubst %,$(OUT)/lib%.a,$(call reverse,$(call upto,$(LAYERS),$(1))))

## all: build the release binary (the default)
.PHONY: all
all: $(BUILD)/tiletune $(OUT)/include/tiletune_launch.h

define layer_rules
$(OUT)/lib$(1).a: $(call layer_objects,$(1))
	@mkdir -p $$(@D) && rm -f $$@ && ar rcs $$@ $$^
.PHONY: lib-$(1)
lib-$(1): $(call layer_libs,$(1))
endef
$(foreach l,$(LAYERS),$(eval $(call layer_rules,$(l))))

$(OUT)/obj/%.o: src/%.c | packages
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CC   $<")
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MT $@ -c -o $@ $<

# version and commit change often: only one object sees them
$(OUT)/gen/version.c: FORCE
	@mkdir -p $(@D); printf 'extern const char tiletune_version[], tiletune_commit[];\nconst char tiletune_version[] = "%s";\nconst char tiletune_commit[] = "%s";\n' '$(VERSION)' '$(COMMIT)' >$@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
.PHONY: FORCE
FORCE:

# files that are built in
ASSETS := $(wildcard src/figure/assets/*)
$(OUT)/gen/default_device.c: configs/devices/h200-sxm.json $(wildcard configs/devices/defaults/*.json)
$(OUT)/gen/default_device.c: EMBED = spec/sheet.h device_spec_default_json=configs/devices/h200-sxm.json \
	'device_spec_architecture_json[]=configs/devices/defaults/*.json'
$(OUT)/gen/report_assets.c: $(ASSETS)
$(OUT)/gen/report_assets.c: EMBED = figure/canvas.h $(foreach f,$(ASSETS),asset_$(subst .,_,$(notdir $(f)))=$(f))
$(OUT)/gen/default_device.c $(OUT)/gen/report_assets.c: src/embed.sh
	@mkdir -p $(@D)
	$(Q)sh src/embed.sh $(EMBED) > $@
$(OUT)/gen/%.o: $(OUT)/gen/%.c
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(OUT)/tiletune: $(OUT)/obj/cli/main.o $(call layer_libs,cli)
	@$(if $(V),,echo "  LINK $@")
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) -Wl,-rpath,'$$ORIGIN/lib'

# build/tiletune: the release binary, whatever else is being built
ifeq ($(VARIANT),release)
$(BUILD)/tiletune: $(OUT)/tiletune
	@ln -sf release/tiletune $@
else
$(BUILD)/tiletune: FORCE
	@$(MAKE) --no-print-directory SAN= CC=gcc $@
endif

# ---- the launcher: what installed programs include, one file of src/launch's ----
$(OUT)/include/tiletune_launch.h: $(wildcard src/launch/*.h)
	@mkdir -p $(@D)
	$(Q)awk 'function put(file, line) { while ((getline line < file) > 0) if (line !~ /^#include "/) \
		print line; else if (split(line, part, "\"") && !seen[part[2]]++) put("src/launch/" part[2]) } \
		BEGIN { seen["tiletune_launch.h"] = 1; put("src/launch/tiletune_launch.h") }' >$@

include tests/tests.mk

## run: install what is missing, build, tune one GEMM: on the GPU, or without one on the device model
.PHONY: run
run: all
	@mkdir -p $(BUILD)/run
	TILETUNE_PATH=. $(BUILD)/tiletune tune gemm -p M=4096,N=4096,K=4096,dtype=bf16 \
		--cache-dir $(BUILD)/run/cache -o $(BUILD)/run/tuned.json

## install: binary, header, templates, configs, man page and completion under $(DESTDIR)$(PREFIX)
SHARE = $(DESTDIR)$(PREFIX)/share
.PHONY: install
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include $(SHARE)/tiletune $(SHARE)/man/man1 \
		$(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions
	install -m 755 $(OUT)/tiletune $(DESTDIR)$(PREFIX)/bin/tiletune
	install -m 644 $(OUT)/include/tiletune_launch.h $(DESTDIR)$(PREFIX)/include/
	rm -rf $(SHARE)/tiletune/templates $(SHARE)/tiletune/configs
	cp -R templates configs $(SHARE)/tiletune/
	$(OUT)/tiletune help --format man > $(SHARE)/man/man1/tiletune.1
	$(OUT)/tiletune help --format bash > $(SHARE)/bash-completion/completions/tiletune
	$(OUT)/tiletune help --format zsh > $(SHARE)/zsh/site-functions/_tiletune

## dist: a folder that runs on another Linux machine without these packages (TESTS=1 adds GPU tests)
DIST := $(BUILD)/dist
.PHONY: dist
dist: all $(if $(TESTS),gpu-programs $(patsubst %,$(OUT)/tests/%,$(bench_names)))
	rm -rf $(DIST)
	mkdir -p $(DIST)/lib
	install -m 755 $(OUT)/tiletune $(DIST)/tiletune
	ldd $(OUT)/tiletune | awk '$$1 ~ /^lib(cjson|z)\./ { print $$3 }' | while read file; do \
		cp -L "$$file" $(DIST)/lib/; done
	cp -R templates configs README.md LICENSE $(OUT)/include $(DIST)/
	$(if $(TESTS),cp -R tests src results Makefile $(DIST)/)
	$(if $(TESTS),mkdir -p $(DIST)/gpu && install -m 755 $(gpu_programs) $(DIST)/gpu/)
	$(if $(TESTS),install -m 755 $(patsubst %,$(OUT)/tests/%,$(bench_names)) $(DIST)/gpu/)
	@echo "$(DIST) runs on its own: $$(du -sh $(DIST) | cut -f1)"

## clean: remove everything that was built
.PHONY: clean
clean:
	rm -rf $(BUILD)

## help: this list
.PHONY: help
help:
	@sed -n 's/^## //p' Makefile tests/tests.mk

-include $(wildcard $(OUT)/obj/*/*.d $(OUT)/tests/*.d)
