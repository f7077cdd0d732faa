#!/bin/sh
# Writes to stdout the C source of files that are built into the binary:
#   embed.sh HEADER NAME=FILES...      const char NAME[], the files one after the other
#                   'NAME[]=FILES'...  const char *const NAME[], one string per file; NULL-ended
# HEADER declares the names; FILES may be a pattern. Blank lines, indentation and lines of // are
# left out.
set -eu
LC_ALL=C
export LC_ALL

string_literals() {
	[ -s "$1" ] || { echo "$0: $1: expected a file with text, found none" >&2; exit 1; }
	sed -e 's/^[[:space:]]*//' -e '/^\/\//d' -e '/^$/d' -e 's/\\/\\\\/g' -e 's/"/\\"/g' \
		-e 's/^/	"/' -e 's/$/\\n"/' "$1"
}

echo '/* Made by src/embed.sh: do not edit. */'
echo "#include \"$1\""
shift
for argument; do
	name=${argument%%=*} separator=
	case $name in
	*'[]') printf '\nconst char *const %s = {\n' "$name" && separator=, ;;
	*) printf '\nconst char %s[] =\n' "$name" ;;
	esac
	for file in ${argument#*=}; do
		string_literals "$file"
		echo "	$separator"
	done
	echo "${separator:+	NULL\}};"
done
