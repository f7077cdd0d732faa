#!/bin/sh
# clang-format agrees; no trailing blanks, and a newline at the end of each file.
set -u
bad=0
files=$(find src tests -path tests/data -prune -o -path src/compile/headers -prune -o -name '*.[ch]' -print | sort)
# shellcheck disable=SC2086
said=$(clang-format --dry-run -Werror $files 2>&1) || {
	printf '%s\n' "$said" | head -n 20
	bad=1
}
for file in $(find src templates configs tests Makefile README.md .ci -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.sh' -o -name '*.md' -o -name '*.mk' -o -name 'Makefile' -o -name '*.py' \) | sort); do
	if grep -n '[[:blank:]]$' "$file" >/dev/null; then
		echo "$file: trailing blanks: line $(grep -n '[[:blank:]]$' "$file" | head -n 1 | cut -d: -f1)"
		bad=1
	fi
	if [ -s "$file" ] && [ -n "$(tail -c 1 "$file")" ]; then
		echo "$file: no newline at the end"
		bad=1
	fi
done
exit $bad
