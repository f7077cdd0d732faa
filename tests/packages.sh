#!/bin/sh
# Installs the missing system packages for building and, with "test", for testing. Without apt-get or the
# right to use it, prints their names.
#
#	tests/packages.sh build CUDA HEADERS | test
#
# CUDA, HEADERS: as for tests/cuda.sh, which needs pip where there is no CUDA toolkit.
set -u
missing=
need() { # need PACKAGE COMMAND...: PACKAGE is missing if COMMAND fails
	package=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $package"
}
header() { printf '#include <%s>\n' "$1" | ${CC:-gcc} -E -x c - ; }

command -v "${CC:-gcc}" >/dev/null 2>&1 || missing="$missing gcc libc6-dev"
if [ -z "$missing" ]; then
	need libcjson-dev header cjson/cJSON.h
	need libxxhash-dev header xxhash.h
	need zlib1g-dev header zlib.h
	[ "$1" = test ] && need libcmocka-dev sh -c 'printf "#include <stdarg.h>\n#include <stddef.h>\n#include <setjmp.h>\n#include <stdint.h>\n#include <cmocka.h>\n" | ${CC:-gcc} -E -x c -'
else
	missing="$missing libcjson-dev libxxhash-dev zlib1g-dev"
	[ "$1" = test ] && missing="$missing libcmocka-dev"
fi
if [ "$1" = build ] && sh tests/cuda.sh missing "$2" "$3"; then
	need python3-pip sh tests/cuda.sh pip
fi
if [ "$1" = test ]; then
	need python3 /usr/bin/python3 -c ''
	need python3-jsonschema /usr/bin/python3 -c 'import jsonschema'
	need python3-numpy /usr/bin/python3 -c 'import numpy'
	need python3-yaml /usr/bin/python3 -c 'import yaml'
	need python3-pytest /usr/bin/python3 -c 'import pytest'
	need python3-hypothesis /usr/bin/python3 -c 'import hypothesis'
	need clang-format command -v clang-format
	need cmake command -v cmake
	need g++ command -v g++
	need python3-venv /usr/bin/python3 -c 'import ensurepip, venv'
fi
# Ubuntu has no such package; without a browser the report's test is skipped, with a message
wanted=
if [ "$1" = test ]; then
	command -v groff >/dev/null 2>&1 || wanted="groff-base"
	command -v jq >/dev/null 2>&1 || wanted="$wanted jq"
	command -v help2man >/dev/null 2>&1 || wanted="$wanted help2man"
fi
if [ "$1" = test ] && ! command -v chromium >/dev/null 2>&1 && ! command -v google-chrome >/dev/null 2>&1; then
	wanted="$wanted chromium fonts-dejavu-core"
fi
# a real Slurm for configs/cluster only in CI, because the packages would start its daemons permanently on
# other machines
if [ "$1" = test ] && [ "${CI:-}" ] && ! command -v slurmctld >/dev/null 2>&1; then
	wanted="$wanted slurmctld slurmd slurm-client munge"
fi
[ -z "$missing$wanted" ] && exit 0

names=$(echo $missing)
without_root() { # says how to go on, and ends
	cat >&2 <<TEXT
These packages are missing, and apt-get cannot install them here: $names
Install them as root, or unpack them without root and run make again:
  mkdir -p ~/tiletune-packages && cd ~/tiletune-packages && apt-get download $names && for file in *.deb; do dpkg -x \$file .; done && cd -
  export CPATH=~/tiletune-packages/usr/include LIBRARY_PATH=~/tiletune-packages/usr/lib/$(uname -m)-linux-gnu
TEXT
	exit 1
}
echo "apt-get installs these Debian packages with sudo: $(echo $missing $wanted)"
echo "  where sudo is not allowed, the next message shows how to unpack them without root"
if [ "$(id -u)" = 0 ]; then sudo=; elif command -v sudo >/dev/null 2>&1; then sudo="sudo -n"; else sudo=no; fi
if ! command -v apt-get >/dev/null 2>&1 || [ "$sudo" = no ]; then
	[ -z "$missing" ] && exit 0
	without_root
fi
install() { # install PACKAGE...; none is fine
	[ $# = 0 ] ||
		$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >/dev/null 2>&1
}
if ! install $missing $wanted; then
	$sudo apt-get update >/dev/null 2>&1
	if ! install $missing; then
		without_root
	fi
	for package in $wanted; do
		install "$package" || echo "not to be had here, and not needed: $package"
	done
fi
exit 0
