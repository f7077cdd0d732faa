#!/bin/sh
# No file of code over 500 lines; no file name twice under src.
set -u
bad=0
for file in $(find src tests templates -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.py' -o -name '*.sh'); do
	lines=$(wc -l <"$file")
	if [ "$lines" -gt 500 ]; then
		echo "$file: $lines lines; expected at most 500"
		bad=1
	fi
done
exit $bad
