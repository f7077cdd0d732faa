#!/bin/sh
# Writes to stdout the C source of files that are built into the binary:
#   embed.sh HEADER NAME=FILES...      const char NAME[], the files one after the other
#                   NAME==FILE         const char NAME[], the file unchanged
#                   'NAME[]=FILES'...  const char *const NAME[], one string per file; NULL-terminated
#                   'NAME#=FILES'...   const char NAME[], "sha256-..." of the text that NAME=FILES would contain
# HEADER declares the names; FILES may be a pattern. Blank lines, indentation and lines of // are
# left out.
set -eu
LC_ALL=C
export LC_ALL

stripped() {
	[ -s "${1#=}" ] || { echo "$0: ${1#=}: expected a file with text, found none" >&2; exit 1; }
	case $1 in
	=*) cat "${1#=}" ;;
	*) sed -e 's/^[[:space:]]*//' -e '/^\/\//d' -e '/^$/d' "$1" ;;
	esac
}
string_literals() {
	stripped "$1" | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/??/?\\?/g' -e 's/^/	"/' -e 's/$/\\n"/'
}
# The form of a script's hash in a Content-Security-Policy: six bits per character.
digest() {
	for file; do stripped "$file"; done | sha256sum | awk '{
		digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		for (i = 1; i <= 64; i += 3) {
			bits = 0
			for (k = i; k < i + 3; k++)
				bits = 16 * bits + (k > 64 ? 0 : index("0123456789abcdef", substr($1, k, 1)) - 1)
			text = text substr(digits, int(bits / 64) + 1, 1) substr(digits, bits % 64 + 1, 1)
		}
		# 256 bits are 43 characters and one of padding
		print substr(text, 1, 43) "="
	}'
}

echo '/* Made by src/embed.sh: do not edit. */'
echo "#include \"$1\""
shift
for argument; do
	name=${argument%%=*} separator=
	case $name in
	*'#')
		printf '\nconst char %s[] = "sha256-%s";\n' "${name%?}" "$(digest ${argument#*=})"
		continue ;;
	*'[]') printf '\nconst char *const %s = {\n' "$name" && separator=, ;;
	*) printf '\nconst char %s[] =\n' "$name" ;;
	esac
	for file in ${argument#*=}; do
		string_literals "$file"
		echo "	$separator"
	done
	echo "${separator:+	NULL\}};"
done
