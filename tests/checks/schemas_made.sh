#!/bin/sh
# The schemas that follow from the code's records are what is committed.
set -eu
out=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$out/tests/schemas" "$folder"
bad=0
for made in "$folder"/*.schema.json; do
	if ! diff -u "configs/schemas/$(basename "$made")" "$made"; then
		echo "configs/schemas/$(basename "$made"): expected what \`make schemas\` writes"
		bad=1
	fi
done
exit $bad
