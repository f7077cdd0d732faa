#!/bin/sh
# Corrections belong to the model as it is: with them, it is better at what they were fitted to. (That
# they help elsewhere was measured, templates/gemm/README.md; this finds a model that was changed
# and corrections that were not fitted again.)
out=$1
failed=0
for journal in drawn_fourth llm; do
	for option in "" -c; do
		# shellcheck disable=SC2086
		"$out/tests/model_quality" $option . model:h200-sxm "results/nvidia-h200/$journal.journal.jsonl.gz" |
			sed -n 's/.*correlation \([-0-9.]*\), .*16: \([0-9.]*\) \([0-9.]*\) \([0-9.]*\) .*/\1 \2 \4/p'
	done | paste -sd' ' - | {
		# rank correlation, first kernel, first 8: of the model, then corrected
		read -r rank first eight corrected_rank corrected_first corrected_eight
		echo "$journal: rank correlation $rank, corrected $corrected_rank; first kernel behind by $first, $corrected_first%; first 8 by $eight, $corrected_eight%"
		awk -v r="$rank" -v f="$first" -v e="$eight" -v cr="$corrected_rank" -v cf="$corrected_first" \
			-v ce="$corrected_eight" 'BEGIN { exit !(ce != "" && cr > r + 0.1 && 2 * cf < f && ce < e) }'
	} || {
		echo "$journal: expected corrections that halve what the model's first kernel loses; fit them anew (configs/corrections/README.md)"
		failed=1
	}
done
exit $failed
