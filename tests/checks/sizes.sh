#!/bin/sh
# README has at most 9 KiB, results at most 15 MiB. Large files and folders are printed as advice, because files are cut by
# idea and not by length: files of over 500 lines, folders of src with over 24 files or 4,500 lines of C (without comments and
# blank lines), and more than 0.8 words of comments per line of C.
set -u
bad=0
for file in $(find src tests templates -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.py' -o -name '*.sh'); do
	lines=$(wc -l <"$file")
	if [ "$lines" -gt 500 ]; then
		echo "advice: $file has $lines lines"
	fi
done
folders=0
for folder in src/*/; do
	files=$(find "$folder" -maxdepth 1 -name '*.[ch]' | wc -l)
	lines=$(find "$folder" -maxdepth 1 \( -name '*.[ch]' -o -name '*.def' \) -exec cat {} + | awk '{ sub(/^[ \t]+/, "") }
		inside { if (/\*\//) inside = 0; next } /^$/ || /^\/\// { next } /^\/\*/ { if (!/\*\//) inside = 1; next } { n++ } END { print n + 0 }')
	folders=$((folders + (files > 0)))
	if [ "$files" -gt 24 ] || [ "$lines" -gt 4500 ]; then
		echo "advice: $folder has $files files and $lines lines"
	fi
done
if [ "$folders" -gt 24 ]; then
	echo "advice: src has $folders folders"
fi
python3 tests/tools/sample_text.py --words | awk '$1 == "src:" && $(NF - 3) > 0.8 { print "advice: " $0 "; aim for 0.80" }'
at_most() { # what, bytes, limit
	[ "$2" -le "$3" ] && return
	echo "$1: $2 bytes; expected at most $3"
	bad=1
}
at_most README.md "$(wc -c <README.md)" 9216
at_most results "$(find results -type f -exec cat {} + | wc -c)" 15728640
exit $bad
