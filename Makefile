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
# a line that is overwritten on a terminal, elsewhere one line for all files; V=1 shows every command
SAY = say() { if [ -t 1 ]; then printf '\r\033[K  %s' "$$1"; else case $$1 in \
	CC*) mkdir -p $(OUT) && mkdir $(OUT)/.compiling 2>/dev/null && echo "  compiling, up to $(words $(SOURCES)) files" || :;; \
	*) rmdir $(OUT)/.compiling 2>/dev/null; echo "  $$1";; esac; fi; }; say
PROGRESS = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),:,$(SAY))
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
VERSION  := 0.3.0
COMMIT   := $(shell commit=$$(git rev-parse --short=12 HEAD 2>/dev/null) && { \
	git diff --quiet HEAD -- src templates configs || commit=$$commit+; echo $$commit; })
ALL_CFLAGS = -std=gnu11 $(CFLAGS) $(WARNINGS) $(SANFLAGS) -Isrc -isystem $(CUDA_INCLUDE) -D_GNU_SOURCE
ALL_LDFLAGS = $(LDFLAGS) $(SANFLAGS)
LIBS := -lcjson -lz -ldl -lm -lpthread

# ---- sources: one static library of all of them but main.c; layers.sh checks who includes whom ----
SOURCES := $(filter-out src/cli/main.c,$(sort $(wildcard src/*/*.c)))
LIBRARY := $(OUT)/libtiletune.a

## all: build the release binary (the default)
.PHONY: all
all: $(BUILD)/tiletune $(OUT)/include/tiletune_launch.h $(OUT)/libtiletune_launch.so

EMBEDDED := command_help default_device report_page export_assets stand_ins
$(LIBRARY): $(patsubst src/%.c,$(OUT)/obj/%.o,$(SOURCES)) $(EMBEDDED:%=$(OUT)/gen/%.o)
	@mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^

$(OUT)/obj/%.o: src/%.c | packages
	@mkdir -p $(@D)
	@$(PROGRESS) 'CC   $<'
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MT $@ -c -o $@ $<

# version and commit change often: one object has them, outside of the library, so that tests are
# not linked again
$(OUT)/gen/version.c: FORCE
	@mkdir -p $(@D); printf 'extern const char tiletune_version[], tiletune_commit[];\nconst char tiletune_version[] = "%s";\nconst char tiletune_commit[] = "%s";\n' '$(VERSION)' '$(COMMIT)' >$@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
.PHONY: FORCE
FORCE:

# files that are built in
PAGE := src/report/page
PAGE_SCRIPT := $(foreach n,data figures tables problem why search main,$(PAGE)/$(n).js)
$(OUT)/gen/default_device.c: configs/devices/h200-sxm.json $(wildcard configs/devices/defaults/*.json)
$(OUT)/gen/default_device.c: EMBED = spec/sheet.h device_spec_default_json=configs/devices/h200-sxm.json \
	'device_spec_architecture_json[]=configs/devices/defaults/*.json'
$(OUT)/gen/command_help.c: src/cli/help.txt
$(OUT)/gen/command_help.c: EMBED = cli/command.h command_help_texts==src/cli/help.txt
$(OUT)/gen/export_assets.c: $(wildcard src/export/assets/*.in)
$(OUT)/gen/export_assets.c: EMBED = export/export.h $(foreach f,h cmake mk,export_$(f)_in==src/export/assets/tuned.$(f).in)
$(OUT)/gen/report_page.c: $(wildcard $(PAGE)/*)
$(OUT)/gen/report_page.c: EMBED = report/page.h page_template_html=$(PAGE)/page.html page_style_css=$(PAGE)/style.css \
	'page_script_js=$(PAGE_SCRIPT)' 'page_style_digest\#=$(PAGE)/style.css' 'page_script_digest\#=$(PAGE_SCRIPT)'
$(OUT)/gen/stand_ins.c: $(wildcard src/compile/headers/*.h)
$(OUT)/gen/stand_ins.c: EMBED = compile/toolkit.h 'toolkit_stand_in_texts[]=src/compile/headers/*.h'
$(EMBEDDED:%=$(OUT)/gen/%.c): src/embed.sh
	@mkdir -p $(@D)
	$(Q)sh src/embed.sh $(EMBED) > $@
$(OUT)/gen/%.o: $(OUT)/gen/%.c
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(OUT)/tiletune: $(OUT)/obj/cli/main.o $(OUT)/gen/version.o $(LIBRARY)
	@$(PROGRESS) 'LINK $@'
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) -Wl,-rpath,'$$ORIGIN/lib'
	@[ ! -t 1 ] || printf '\r\033[K'

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

# for src/python: it finds the driver at run time
$(OUT)/libtiletune_launch.so: $(OUT)/include/tiletune_launch.h
	$(Q)$(CC) $(ALL_CFLAGS) -DTTL_DYNAMIC -DTTL_IMPLEMENTATION -fPIC -shared $(ALL_LDFLAGS) -o $@ -x c $<

include tests/tests.mk
include src/python/wheel/wheel.mk

## run: install what is missing, build, tune one GEMM: on the GPU, or without one on the device model
.PHONY: run
run: all
	@mkdir -p $(BUILD)/run
	TILETUNE_PATH=. $(BUILD)/tiletune tune gemm -p M=4096,N=4096,K=4096,dtype=bf16 \
		--cache-dir $(BUILD)/run/cache -o $(BUILD)/run/tuned.json
	@echo 'next: TILETUNE_PATH=. $(BUILD)/tiletune report $(BUILD)/run/tuned.json $(BUILD)/run/tuned.journal.jsonl -o report.html'

## install: binary, header, templates, configs, man page and completion under $(DESTDIR)$(PREFIX)
SHARE = $(DESTDIR)$(PREFIX)/share
.PHONY: install
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include $(SHARE)/tiletune $(SHARE)/man/man1 \
		$(SHARE)/bash-completion/completions
	install -m 755 $(OUT)/tiletune $(DESTDIR)$(PREFIX)/bin/tiletune
	install -m 644 $(OUT)/include/tiletune_launch.h $(DESTDIR)$(PREFIX)/include/
	rm -rf $(SHARE)/tiletune/templates $(SHARE)/tiletune/configs $(SHARE)/tiletune/python
	cp -R templates configs $(SHARE)/tiletune/
	install -d $(SHARE)/tiletune/python/tiletune
	install -m 644 src/python/tiletune/*.py src/python/tiletune/py.typed $(OUT)/libtiletune_launch.so $(SHARE)/tiletune/python/tiletune/
	install -m 644 src/cli/completion.bash $(SHARE)/bash-completion/completions/tiletune
	if command -v help2man >/dev/null 2>&1; then help2man --no-info --no-discard-stderr --help-option='help all' \
		--name='finds the fastest tile shapes of GPU kernels' -o $(SHARE)/man/man1/tiletune.1 $(OUT)/tiletune; \
	else echo "no man page: help2man is missing"; fi

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
	install -d $(DIST)/python/tiletune
	install -m 644 src/python/tiletune/*.py src/python/tiletune/py.typed $(OUT)/libtiletune_launch.so $(DIST)/python/tiletune/
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
	@sed -n 's/^## //p' Makefile src/python/wheel/wheel.mk tests/tests.mk tests/gpu/gpu.mk

-include $(wildcard $(OUT)/obj/*/*.d $(OUT)/tests/*.d)
