#!/bin/sh
# For machines without a CUDA toolkit: installs its headers and NVRTC from pinned wheels of PyPI into
# DEST/include and DEST/lib, where the Makefile and the binary look for them.
#
# tests/cuda.sh missing DEST HEADERS   exit 0 if wheels are needed (HEADERS: as found by make)
#	tests/cuda.sh pip                    exit 0 if pip is installed
#	tests/cuda.sh fetch DEST HEADERS     installs the wheels if they are needed, with a message
#	tests/cuda.sh wheels DEST            stores the wheels that tiletune's wheel requires, for CUDA 13, in DEST
#	tests/cuda.sh tile DEST              installs the compilers of CUDA Tile C++ into DEST/bin, DEST/lib and DEST/include
set -u

# requirements for pip: one file each for x86_64 and for aarch64; pip refuses any other file
requirements() {
	if [ "${1:-}" != all ] && [ "$(driver_major)" = 12 ]; then
		cat <<'LIST'
nvidia-cuda-nvrtc-cu12==12.9.86 \
  --hash=sha256:210cf05005a447e29214e9ce50851e83fc5f4358df8b453155d5e1918094dcb4 \
  --hash=sha256:096d4de6bda726415dfaf3198d4f5c522b8e70139c97feef5cd2ca6d4cd9cead
nvidia-cuda-runtime-cu12==12.9.79 \
  --hash=sha256:25bba2dfb01d48a9b59ca474a1ac43c6ebf7011f1b0b8cc44f54eb6ac48a96c3 \
  --hash=sha256:83469a846206f2a733db0c42e223589ab62fd2fabac4432d2f8802de4bded0a4
nvidia-cuda-cccl-cu12==12.9.27 \
  --hash=sha256:d7898b38aa68beaa234d48f0868273702342a196d6e2e9d0ef058dca2390ebea \
  --hash=sha256:37869e17ce2e1ecec6eddf1927cca0f8c34e64fd848d40453df559091e2d7117
LIST
	else
		cat <<'LIST'
nvidia-cuda-nvrtc==13.0.88 \
  --hash=sha256:ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575 \
  --hash=sha256:d27f20a0ca67a4bb34268a5e951033496c5b74870b868bacd046b1b8e0c3267b
nvidia-cuda-runtime==13.0.96 \
  --hash=sha256:7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548 \
  --hash=sha256:ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55
nvidia-cuda-cccl==13.0.85 \
  --hash=sha256:e0da7ad981f3a8aff08241b5bfc1af868742a63e2762f53a5171c492ef242649 \
  --hash=sha256:6f0203e29fed809ee2b7fe9b1344df66ecab990c37d6a2e0e189b26d6c97ed7c
nvidia-cuda-crt==13.0.88 \
  --hash=sha256:2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4 \
  --hash=sha256:ee2ea2a97073e02ee62bb27841f437332be2c248e3eac013df07997ada39c003
LIST
	fi
}

# What compiles CUDA Tile C++: 225 MB to download, 600 MB on the disk.
tile_requirements() {
	cat <<'LIST'
nvidia-cuda-nvrtc==13.5.37 \
  --hash=sha256:86b4d68058807988b7d9af5b44917a0601e9c337f35ccd657bfb3c759ff8d8bc \
  --hash=sha256:36e4fa2a8ada293f5693d308e531c196ab6f91cf7a0ff479bf96a537d43a6096
nvidia-cuda-tileiras==13.5.37 \
  --hash=sha256:d1657aa03ef05bba0ae22baa34728d955fa11524ef3be5a4f6401ef589dba5b5 \
  --hash=sha256:095bc8ab525f5c551a1fff55f00e684d7c3ef6303513307e60d28924f5fb02bc
nvidia-nvvm==13.5.37 \
  --hash=sha256:c41bfa362e407405163f103c2229f0765f8cc2ed7d148b754dc77f228bf7e070 \
  --hash=sha256:b659bd3115b7ac7ec8931e67d0e2c0dd09cd35b08a6a7372df6f8f22c67da80a
nvidia-cuda-nvcc==13.5.37 \
  --hash=sha256:f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7 \
  --hash=sha256:588eda18eb5076ae859fe272844b526459228af22df0b117f54eec3aa82bc9c8
nvidia-cuda-crt==13.5.37 \
  --hash=sha256:e898b7f73d3035fa89915a3f7bf3b54a73e90249746111aed295822c4729bb29 \
  --hash=sha256:9ed2c565fdf3244fa6719769a80a466b85bfd4b1467ea339353bc91c971d09e0
nvidia-cuda-runtime==13.5.37 \
  --hash=sha256:df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d \
  --hash=sha256:de2dc5a7367974228b0a69588a9acc9340d3768bef1bf38bf0801eb08497cd2d
LIST
}

driver_major() { # of the newest CUDA that the GPU's driver loads; nothing without one
	nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: *\([0-9]*\).*/\1/p' | head -n 1
}

any() { # of these files, one exists
	for file; do
		[ -e "$file" ] && return
	done
	return 1
}

have_nvrtc() { # where src/compile/README.md says that it is looked for
	any "${TILETUNE_NVRTC:-/nonexistent}" && return
	# the loader's cache may name files that are gone
	# shellcheck disable=SC2046
	any $(ldconfig -p 2>/dev/null | sed -n 's/.*libnvrtc\.so\.1[1-9].* => //p') && return
	for place in "${CUDA_HOME:-}" "${CUDA_PATH:-}" "${VIRTUAL_ENV:-}" "${CONDA_PREFIX:-}" \
		/usr/local/cuda* "$dest"; do
		[ -n "$place" ] && any "$place"/lib/libnvrtc.so.* "$place"/lib64/libnvrtc.so.* \
			"$place"/targets/*/lib/libnvrtc.so.* \
			"$place"/lib/python3*/*-packages/nvidia/cu*/lib/libnvrtc.so.* && return
	done
	return 1
}

missing() {
	! { [ -e "$headers/cuda_occupancy.h" ] && have_nvrtc; }
}

find_python() { # one with pip
	for python in python3 /usr/bin/python3; do
		"$python" -m pip --version >/dev/null 2>&1 && return
	done
	return 1
}

fail() {
	echo "No CUDA toolkit was found (CUDA_HOME, CUDA_PATH, /usr/local/cuda*, ...), and $1:" >&2
	requirements | sed -n 's/^\(nvidia.*\) .*/  \1/p' >&2
	echo "They hold the headers and NVRTC. Install a CUDA toolkit (12 or 13), or pip (python3-pip) where PyPI can be reached." >&2
	rm -rf "$new"
	exit 1
}

fetch() {
	echo "no CUDA toolkit: fetching its headers and NVRTC from PyPI"
	find_python || fail "without pip these packages cannot be fetched"
	rm -rf "$new"
	mkdir -p "$new/lib" || exit 1
	requirements >"$new/list"
	if ! "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
		--require-hashes -r "$new/list" -d "$new" >"$new/log" 2>&1; then
		tail -n 5 "$new/log" >&2
		fail "pip could not fetch these packages"
	fi
	for wheel in "$new"/*.whl; do
		"$python" -m zipfile -e "$wheel" "$new/files" || fail "these packages could not be unpacked"
	done
	for folder in "$new"/files/nvidia/*/include; do
		cp -R "$folder" "$new/"
	done
	# dist-info: versions and licences
	if ! mv "$new"/files/nvidia/*/lib/libnvrtc.so.* "$new"/files/nvidia/*/lib/libnvrtc-builtins.so.* "$new/lib/" ||
		! mv "$new"/files/*.dist-info "$new/" || [ ! -e "$new/include/cuda_occupancy.h" ]; then
		fail "these packages do not hold what was expected"
	fi
	rm -rf "$new/files" "$new"/*.whl "$new/list" "$new/log" "$dest"
	mv "$new" "$dest"
}

wheels() { # into DEST, whole or not at all
	[ -e "$dest/complete" ] && return
	find_python || { echo "no pip" >&2; exit 1; }
	mkdir -p "$dest" || exit 1
	requirements all >"$dest/list"
	"$python" -m pip download --quiet --disable-pip-version-check --retries 1 --timeout 15 --no-deps --only-binary :all: \
		--require-hashes -r "$dest/list" -d "$dest" >"$dest/log" 2>&1 || { tail -n 2 "$dest/log" >&2; exit 1; }
	touch "$dest/complete"
}

tile() { # into DEST: the folder that src/compile/tile.h describes, whole or not at all
	[ -e "$dest/bin/tileiras" ] && return
	echo "fetching the compiler of CUDA Tile C++ from PyPI (225 MB)"
	find_python || { echo "skipped: no pip" >&2; exit 1; }
	rm -rf "$new"
	mkdir -p "$new" || exit 1
	tile_requirements >"$new/list"
	"$python" -m pip download --quiet --disable-pip-version-check --retries 1 --timeout 30 --no-deps --only-binary :all: \
		--require-hashes -r "$new/list" -d "$new" >"$new/log" 2>&1 || { tail -n 2 "$new/log" >&2; exit 1; }
	for wheel in "$new"/*.whl; do
		"$python" -m zipfile -e "$wheel" "$new/files" || exit 1
	done
	chmod +x "$new"/files/nvidia/cu13/bin/* "$new"/files/nvidia/cu13/nvvm/bin/*
	rm -rf "$dest"
	mv "$new/files/nvidia/cu13" "$dest"
	rm -rf "$new"
}

dest=${2:-} headers=${3:-}
new=$dest.new
case ${1:-} in
missing) missing ;;
pip) find_python ;;
fetch) if missing; then fetch; fi ;;
wheels) wheels ;;
tile) tile ;;
*) exit 2 ;;
esac
