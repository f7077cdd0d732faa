# The kernels on disk: listed, checked, trimmed by age and by size.
toy="$ROOT/tests/toy"
tune() { "$TILETUNE" tune row_softmax -p rows=256,cols=512 --path "$toy" --device model:toy \
	--effort estimate --budget 10m --evaluations 4 --cache-dir store --fresh -o tuned.json >talk.txt 2>&1 || cat talk.txt; }
# sizes, keys and compilers vary with NVRTC, ages with the clock
plain() { sed -E 's/[0-9a-f]{12}  row/KEY  row/; s/NVRTC.*[0-9]+ B .*/NVRTC SIZE AGE/; s/, [0-9.]+ (B|KiB|MiB)([,;]| in)/, SIZE\2/g; s/(max-size )[0-9]{3,}/\1TWO/; s/  +/  /g'; }
cache() { try "$TILETUNE" cache "$@" --cache-dir store | plain; }
try "$TILETUNE" cache --cache-dir store
tune
cache
cache list | tail -n 1
"$TILETUNE" cache list --cache-dir store --json | grep -c '"failed":	false'
kernel() { find store/kernels -type f | LC_ALL=C sort | sed -n "$1p"; }
# one loses its end, another one bit; both are found, and compiled again when needed
head -c 300 "$(kernel 1)" >half && cp half "$(kernel 1)"
last=$(wc -c <"$(kernel 2)")
printf '\377' | dd of="$(kernel 2)" bs=1 seek=$((last - 9)) conv=notrunc 2>/dev/null
touch "$(kernel 1).new-abcdef" -d '2 days ago'
cache list | tail -n 1
cache check
cache check
tune
cache list | tail -n 1
# by age, then by size: the longest unused go first
touch -d '40 days ago' "$(kernel 1)"
touch -d '20 days ago' "$(kernel 2)"
cache trim --max-age 30d
two=$(find store/kernels -type f -newermt '10 days ago' -printf '%s\n' | awk '{ s += $1 } END { print s }')
cache trim --max-size "$two"
find store/kernels -type f -not -newermt '10 days ago' | wc -l | tr -d ' '
"$TILETUNE" cache trim --max-size 0 --json --cache-dir store | grep -E '"(removed|kept)_count"'
cache trim
cache trim --max-size much
cache trim --max-age old
cache prune
# a cache that cannot be written to is said, once; the run goes on
mkdir -p full/kernels && (cd full/kernels && for i in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
	for k in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do : >$i$k; done; done)
"$TILETUNE" tune row_softmax -p rows=256,cols=512 --path "$toy" --device model:toy --effort estimate \
	--budget 10m --evaluations 4 --cache-dir full --fresh -o kept.json 2>&1 >/dev/null |
	sed -nE 's/kernels\/[0-9a-f]{2}:.*/kernels\/KEY/; /^notice/p'
