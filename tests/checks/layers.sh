#!/bin/sh
# Includes go one way, as in src/layers.txt; only base/json*.c includes cJSON.
set -u
bad=0
rank() { # the line of a layer in layers.txt, comments aside
	grep -v '^#' src/layers.txt | awk -v want="$1" '{ for (i = 1; i <= NF; i++) if ($i == want) print NR }'
}
for file in src/*/*.[ch]; do
	own=$(basename "$(dirname "$file")")
	own_rank=$(rank "$own")
	[ -n "$own_rank" ] || { echo "$file: folder $own is not in src/layers.txt"; bad=1; continue; }
	for included in $(sed -n 's/^#include "\([a-z_]*\)\/.*/\1/p' "$file" | sort -u); do
		[ "$included" = "$own" ] && continue
		included_rank=$(rank "$included")
		if [ -z "$included_rank" ] || [ "$included_rank" -ge "$own_rank" ]; then
			echo "$file: includes $included/, which is not below $own"
			bad=1
		fi
	done
done
for file in $(grep -l 'cJSON.h' -r src --include='*.[ch]' | grep -v '^src/base/json'); do
	echo "$file: includes cJSON; only base/json*.c may"
	bad=1
done
exit $bad
