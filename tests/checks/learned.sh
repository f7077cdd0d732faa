#!/bin/sh
# The shipped corrections match the current physics: with them, the first predicted kernel loses half as much
# on the problems that they were fitted to. (tiletune.learn prints their effect on other problems; this check
# finds a changed model without a new `make learned`.)
out=$1
for option in "" -c; do
	# shellcheck disable=SC2086
	/usr/bin/python3 results/tools/model_quality.py $option "$out" results/nvidia-h200/drawn_fourth.journal.jsonl.gz |
		sed -n 's/.*correlation \([-0-9.]*\), .*16: \([0-9.]*\) \([0-9.]*\) \([0-9.]*\) .*/\1 \2 \4/p'
done | paste -sd' ' - | {
	read -r rank first eight learned_rank learned_first learned_eight
	echo "rank correlation $rank, learned $learned_rank; first kernel behind by $first, $learned_first%; first 8 by $eight, $learned_eight%"
	awk -v r="$rank" -v f="$first" -v e="$eight" -v lr="$learned_rank" -v lf="$learned_first" \
		-v le="$learned_eight" 'BEGIN { exit !(le != "" && lr > r + 0.1 && 2 * lf < f && le < e) }' || {
		echo "expected what was learned to halve what the first kernel loses: \`make learned\` fits it again"
		exit 1
	}
}
