#!/bin/sh
# The output of `make install` works by itself: the binary finds its templates, the header compiles, the man
# page is valid, and completion knows every command and option of --help.
set -u
build=${TEST_BUILD:-build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "install: $*"; exit 1; }
missing=
unset TILETUNE_PATH MAKEFLAGS MFLAGS

root=$scratch/root
mkdir -p "$root/opt/tiletune/share/tiletune/templates/gone"
# the tests have built it, and other tests use it, so it is not built again
make -s -o all install BUILD="$build" DESTDIR="$root" PREFIX=/opt/tiletune || fail "make install"
tiletune=$root/opt/tiletune/bin/tiletune share=$root/opt/tiletune/share
[ -e "$share/tiletune/templates/gone" ] && fail "templates of an older version are still there"

${CC:-gcc} -std=gnu11 -Wall -Wextra -Werror -I "$root/opt/tiletune/include" -isystem "${CUDA_INCLUDE:-/usr/local/cuda/include}" \
	-fsyntax-only tests/consumers/launch/main.c || fail "the header"

cd "$scratch" || exit 1
"$tiletune" families >families || fail "families"
grep -q '^gemm:' families || fail "the installed binary does not find gemm"
"$tiletune" explain gemm -p M=512,N=512,K=512,dtype=bf16 --family mma --device model:h200-sxm \
	--cache-dir cache >explained || fail "explain"
PYTHONPATH=$share/tiletune/python /usr/bin/python3 -B -m tiletune.t1 --help | grep -q 'T1 files' || fail "the Python module"
[ "$("$tiletune" tune --suite fp32 --device model:h200-sxm --dry-run --no-journal -o none.json | grep -c 'fp32')" -gt 0 ] ||
	fail "suites are not found"

# ---- the man page ----
page=$share/man/man1/tiletune.1
"$tiletune" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' >commands
[ "$(wc -l <commands)" -gt 9 ] || fail "help lists $(wc -l <commands) commands"
if ! command -v help2man >/dev/null 2>&1; then
	missing="help2man (the man page)"
else
	while read -r command; do
		grep -q "^\.SH \"TILETUNE $(echo "$command" | tr a-z A-Z)\"" "$page" || fail "the man page lacks $command"
	done <commands
	if command -v groff >/dev/null 2>&1; then
		groff -man -ww -Wbreak -Tutf8 "$page" >formatted 2>complaints || fail "groff"
		[ -s complaints ] && { cat complaints; fail "groff complains"; }
		sed 's/.\x08//g;s/\x1b\[[0-9;]*m//g' formatted | grep -q 'exit codes:' || fail "the formatted page has no exit codes"
	else
		missing="groff (the man page's form)"
	fi
fi

# ---- bash ----
cat >complete.bash <<'BASH'
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_tiletune
printf '%s\n' "${COMPREPLY[@]}"
BASH
complete() { bash complete.bash "$share/bash-completion/completions/tiletune" "$tiletune" "$@" | LC_ALL=C sort; }
options() { "$tiletune" help "$1" | sed -n 's/^  [ -].\{3\} *\(--[a-z-]*\).*/\1/p;s/^  -[a-zA-Z], \(--[a-z-]*\).*/\1/p' | LC_ALL=C sort -u; }
[ "$(complete '' | grep -v '^--')" = "$(LC_ALL=C sort commands)" ] || fail "bash: commands: $(complete '')"
while read -r command; do
	[ "$(complete "$command" --)" = "$(options "$command")" ] ||
		fail "bash: options of $command: $(complete "$command" --); expected $(options "$command")"
done <commands
options tune | grep -qx -- --effort || fail "help tune has no --effort"
expect() { # expect WORDS FOR...
	expected=$1
	shift
	found=$(complete "$@" | tr '\n' ' ')
	[ "$found" = "$expected " ] || fail "bash: $*: expected $expected, found $found"
}
expect "estimate exhaustive quick thorough" tune gemm --effort ''
expect "quick" tune gemm --effort = q
expect "quick" tune -e q
expect "--dry-run" tune gemm --dry
expect "validate" help v
expect "gemm gemm_chain gemm_grouped" tune ge
expect "gemm gemm_chain gemm_grouped" lookup tuned.json ge
# formats are in a table: those that help lists, and at least one for tables and one for kernels
formats=$("$tiletune" help export | sed -n '/--format/,/--output/s/^        \([a-z0-9-]*\)  .*/\1/p' | sort | tr '\n' ' ')
case $formats in *c-header*cubin*) ;; *) fail "formats in the help of export: $formats" ;; esac
expect "${formats% }" export tuned.json --format ''
expect "c-header" export tuned.json -F c-h
expect "" lookup tu # files are readline's
mkdir folder
expect "folder" tune gemm --cache-dir fol

echo "$(wc -l <commands) commands"
[ -z "$missing" ] || echo "skipped: $missing: not here"
