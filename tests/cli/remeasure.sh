# The best timed again: who may follow, who is tried beside them, what is said of the runner-up.
export TILETUNE_PATH="$ROOT:$ROOT/tests/data/replay"
recording=$ROOT/tests/data/replay/measured.jsonl.gz
tune() { "$TILETUNE" tune tile -p M=1000,N=1000,K=512 -f direct --no-journal "$@" 2>&1; }
# searched MANY: the fastest of them, as lines of the search, fastest first
searched() {
	gzip -dc "$recording" | grep '"event":"evaluation","family":"tile/direct"' | grep '"problem":0' |
		grep '"outcome":"ok"' | sed 's/\(.*"samples_us":\[\)\([0-9.]*\)\(.*\)/\2\t&/' | sort -n | head -n "$1" | cut -f 2-
}
echo "# all that would be measured again die: the next best follow"
{
	gzip -dc "$recording" | grep -v '"event":"final"' | grep '}$' # its last line is torn
	searched 60 | sed 's/"event":"evaluation"/"event":"final"/; s/"outcome":"ok"/"outcome":"too_noisy"/; s/,"samples_us":\[[^]]*\]//'
} >dead.jsonl
tune -e exhaustive -d replay:dead.jsonl -o dead.json | grep -E "winner|expected" | sed 's/(.*//'
echo "# neighbours of the winner are tried before it is named"
tune -e quick --evaluations 18 -d "replay:$recording" -o few.json | grep -E "winner|evaluated" | sed 's/ in [0-9.]* m*s//'
echo "# the clock falls after the eighth round, which the runner-up does not see: it is no faster"
rounds() { # COUNT TIME: the clock falls by an eighth after eight rounds
	awk -v count="$1" -v time="$2" 'BEGIN { for (i = 0; i < count; i++)
		printf "%s%.3f", i ? "," : "", time * (1 + i % 3 / 1000) * (i < 8 ? 1 : 1.125) }'
}
{
	gzip -dc "$recording" | grep -v '"event":"final"' | grep '}$' # its last line is torn
	searched 1 | sed 's/"event":"evaluation"/"event":"final"/; s/"samples_us":\[[^]]*\]/"samples_us":['"$(rounds 40 16)"']/'
	searched 20 | sed '1d; s/"event":"evaluation"/"event":"final"/; s/"samples_us":\[[^]]*\]/"samples_us":['"$(rounds 8 16.3)"']/'
} >clock.jsonl
tune -e exhaustive -d replay:clock.jsonl -o clock.json | grep -E "runner-up" -A 1 | tail -n 1
