# Wheels: the program compiled by zig's cc for glibc 2.28, with cJSON, zlib and xxHash linked in.
# tests/checks/wheel.py builds this machine's wheel, installs it and runs it.

WHEEL := $(abspath $(BUILD))/wheel
WHEEL_GLIBC := 2.28
WHEEL_LICENCES := $(foreach l,cjson zlib xxhash,$(l)=$(WHEEL)/sources/$(l)/LICENSE)
WHEEL_ZLIB := $(foreach n,adler32 compress crc32 deflate gzclose gzlib gzread gzwrite inffast inflate inftrees trees uncompr zutil,zlib/$(n).c)

$(WHEEL)/tools/made: src/python/wheel/requirements.txt
	$(Q)rm -rf $(@D) && $(PYTHON) -m venv $(@D) && $(@D)/bin/pip install --quiet --disable-pip-version-check --only-binary :all: -r $<
	@touch $@
$(WHEEL)/sources/made: src/python/wheel/sources.sh
	$(Q)sh $< $(@D)
	@touch $@

# ARCH/cc, a compiler of one word for make; ARCH/linked.a, what is linked in
$(WHEEL)/%/cc: $(WHEEL)/tools/made
	@mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nZIG_GLOBAL_CACHE_DIR=$(WHEEL)/zig-cache exec $(WHEEL)/tools/bin/python -m ziglang cc -target $*-linux-gnu.$(WHEEL_GLIBC) "$$@"\n' >$@ && chmod +x $@
$(WHEEL)/%/linked.a: $(WHEEL)/%/cc $(WHEEL)/sources/made
	$(Q)rm -rf $(@D)/linked && mkdir $(@D)/linked && cd $(@D)/linked && ../cc -O2 -DHAVE_UNISTD_H -c \
		$(addprefix $(WHEEL)/sources/,cjson/cJSON.c $(WHEEL_ZLIB)) && ar rcs $@ *.o

# gcc reports warnings. Only this compiler detects a missing header of a function that a newer glibc declares
# by accident.
WHEEL_WARNINGS := -Wno-everything -Werror=implicit-function-declaration -Werror=implicit-int
wheel-%: $(WHEEL)/%/linked.a packages
	$(Q)$(MAKE) --no-print-directory -o packages CC=$(WHEEL)/$*/cc OUT=$(WHEEL)/$* WARNINGS='$(WHEEL_WARNINGS)' LDFLAGS=-s CFLAGS='-O2 -isystem $(WHEEL)/sources/include' \
		LIBS='$(WHEEL)/$*/linked.a -ldl -lm -lpthread' $(WHEEL)/$*/tiletune $(WHEEL)/$*/libtiletune_launch.so
	$(Q)rm -f $(WHEEL)/*_$*.whl; wheel=$$($(PYTHON) src/python/wheel/pack.py wheel $(WHEEL)/$* manylinux_$(subst .,_,$(WHEEL_GLIBC))_$* \
		$(WHEEL_LICENCES) -o $(WHEEL)) && found=$$($(WHEEL)/tools/bin/auditwheel show $$wheel) && \
	minor=$$(echo "$$found" | sed -n 's/.*platform tag: "manylinux_2_\([0-9]*\)_$*".*/\1/p') && \
	if [ "$${minor:-99}" -gt $(lastword $(subst ., ,$(WHEEL_GLIBC))) ]; then \
		rm $$wheel; echo "$$wheel: expected that auditwheel confirms glibc $(WHEEL_GLIBC) or older, found: $$found" >&2; exit 1; \
	else echo "$$wheel: auditwheel finds manylinux_2_$${minor}_$*"; fi

## wheel: wheels for Linux on x86_64 and aarch64, and the source distribution, in build/wheel
.PHONY: wheel
wheel: wheel-x86_64 wheel-aarch64 packages
	$(Q)rm -f $(WHEEL)/*.tar.gz; $(PYTHON) src/python/wheel/pack.py sdist -o $(WHEEL)
