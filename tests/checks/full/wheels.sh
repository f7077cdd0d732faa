#!/bin/sh
# The output of `make wheel`: both wheels for glibc 2.28, of which aarch64's starts under qemu-user
# (tests/checks/wheel.py tests this machine's); the source distribution, which pip refuses with the reason and
# which `make` builds.
set -u
out=$1 build=$(realpath "${TEST_BUILD:-build}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "wheels: $*"; exit 1; }
unset TILETUNE_PATH MAKEFLAGS MFLAGS MAKELEVEL
missing=

case $out in *san-*) echo "skipped: wheels are of the release build"; exit 77 ;; esac
make -s "$build/wheel/tools/made" "$build/wheel/sources/made" BUILD="$build" ||
	{ echo "skipped: the compiler for wheels or the sources of what is linked in are not to be had here"; exit 77; }
# other tests use the current build, so the wheels have their own folders
make -s -o packages wheel BUILD="$build" || fail "make wheel"
ls "$build"/wheel/*-py3-none-manylinux_2_28_x86_64.whl || fail "no wheel for x86_64"
aarch64=$(ls "$build"/wheel/*-py3-none-manylinux_2_28_aarch64.whl)
[ "$(wc -c <"$aarch64")" -le 2000000 ] || fail "$aarch64: expected at most 2 MB, found $(wc -c <"$aarch64") bytes"

# ---- aarch64: as pip lays the files out ----
libraries=/usr/aarch64-linux-gnu
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
if [ -n "$qemu" ] && [ -e $libraries/lib/libc.so.6 ]; then
	/usr/bin/python3 -m zipfile -e "$aarch64" "$scratch/files"
	mv "$scratch"/files/*.data/data "$scratch/prefix"
	mv "$scratch"/files/*.data/scripts "$scratch/prefix/bin" || fail "$aarch64: expected the folders data and scripts"
	chmod +x "$scratch/prefix/bin/tiletune"
	printf '#!/bin/sh\nexec %s -L %s %s "$@"\n' "$qemu" $libraries "$scratch/prefix/bin/tiletune" >"$scratch/tiletune"
	chmod +x "$scratch/tiletune"
	arm() { (cd "$scratch" && TILETUNE_WORKER=$scratch/tiletune TILETUNE_NVRTC=$scratch/none ./tiletune "$@"); }
	arm --version | grep "^tiletune $(sed -n 's/^VERSION *:= *//p' Makefile) " || fail "aarch64: --version"
	arm devices >"$scratch/devices" || fail "aarch64: devices"
	grep -q 'model:h200-sxm' "$scratch/devices" || fail "aarch64: devices lists no sheets: $(cat "$scratch/devices")"
	arm tune gemm -p M=256,N=256,K=256,dtype=bf16 --device model:h200-sxm --dry-run --no-journal -o none.json >"$scratch/dry" || fail "aarch64: tune"
	grep '^  legal  *[1-9]' "$scratch/dry" | tail -n 1 | grep . || fail "aarch64: tune --dry-run: $(cat "$scratch/dry")"
else
	missing="$missing${missing:+, }qemu-user-static and libc6-arm64-cross (the program for aarch64 was not started)"
fi

# ---- the source distribution ----
sdist=$(ls "$build"/wheel/tiletune-*.tar.gz)
/usr/bin/python3 -m venv "$scratch/env" || fail "venv"
"$scratch/env/bin/pip" install --no-index "$sdist" >"$scratch/refusal" 2>&1 && fail "pip: expected that it builds nothing, it did"
grep -q 'tiletune: expected a wheel for this machine, and there is none' "$scratch/refusal" || fail "pip's reason: $(cat "$scratch/refusal")"
tar -xzf "$sdist" -C "$scratch"
make -s -C "$scratch"/tiletune-*/ -o packages BUILD="$scratch/build" all ||
	fail "the source distribution does not build"
"$scratch/build/tiletune" --version | grep "^tiletune " || fail "the source distribution's program"
[ -z "$missing" ] || echo "skipped: $missing: not here"
