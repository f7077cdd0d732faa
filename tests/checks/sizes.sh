#!/bin/sh
# No file of code over 500 lines, no folder of src with more than 30 files, README at most 9 KiB,
# results at most 15 MiB.
set -u
bad=0
for file in $(find src tests templates -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.py' -o -name '*.sh'); do
	lines=$(wc -l <"$file")
	if [ "$lines" -gt 500 ]; then
		echo "$file: $lines lines; expected at most 500"
		bad=1
	fi
done
for folder in src/*/; do
	files=$(find "$folder" -maxdepth 1 -type f | wc -l)
	if [ "$files" -gt 30 ]; then
		echo "$folder: $files files; expected at most 30"
		bad=1
	fi
done
at_most() { # what, bytes, limit
	[ "$2" -le "$3" ] && return
	echo "$1: $2 bytes; expected at most $3"
	bad=1
}
at_most README.md "$(wc -c <README.md)" 9216
at_most results "$(find results -type f -exec cat {} + | wc -c)" 15728640
exit $bad
