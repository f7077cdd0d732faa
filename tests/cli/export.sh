# Kernels on their own, and what cannot be exported.
toy="$ROOT/tests/toy"
"$TILETUNE" tune row_softmax -p rows=256,2048,cols=512 --path "$toy" --device model:toy \
	--effort estimate --budget 10m --evaluations 8 -o tuned.json >talk.txt 2>&1 || cat talk.txt
export_() { "$TILETUNE" export "$@" --path "$toy"; }
try export_ tuned.json
try export_ tuned.json --format pdf | sed 's/one of .*, found/one of FORMATS, found/'
try export_ tuned.json --format cubin
try export_ tuned.json row_softmax -p rows=257,cols=512 --format ptx
try export_ tuned.journal.jsonl --format make
export_ tuned.json row_softmax -p rows=256,cols=512 --format csv | wc -l | tr -d ' '
export_ tuned.journal.jsonl --format csv | cut -d, -f1 | sort | uniq -c | tr -s ' '
export_ tuned.json row_softmax -p cols=512 --format csv | wc -l | tr -d ' ' # both, by a key alone
try export_ tuned.json row_softmax -p cols=513 --format csv
try export_ tuned.json row_softmax -p colz=512 --format csv
for format in bencher github-benchmark; do
	export_ tuned.json row_softmax -p rows=256,cols=512 --format $format | sed -E "s/[0-9]+\\.?[0-9e+]*,?$/NUMBER/; s/TURNS=[0-9]*,?//; s/\{.*\}/{...}/"
done
for format in cubin ptx source; do
	try export_ tuned.json row_softmax -p rows=256,cols=512 --format $format -o kernel.$format
done
ls kernel*
# bundles: of all entries, with another architecture, with a size that was not tuned
try export_ tuned.json --format csv --arch sm_80
try export_ tuned.json --format bundle --arch h100 -o none.bundle
try export_ tuned.json --format bundle --arch sm_80 -o all.bundle
try export_ tuned.json row_softmax -p rows=256,1000,cols=512 --format bundle -o two.bundle
head -c 8 all.bundle | od -An -c | tr -d ' '
for text in row_softmax/online ROW_THREADS= rows NVRTC; do grep -q -a "$text" two.bundle || echo "no $text"; done
export_ tuned.json --format bundle-c | sed -n 1,3p | cut -c1-40
ls *.bundle
# the kernel is not the tuned one any more
sed 's/"kernel_hash":.*/"kernel_hash": "00000000000000000000000000000000",/' tuned.json >old.json
try export_ old.json row_softmax -p rows=256,cols=512 --format source -o old
try export_ old.json row_softmax -p rows=256,cols=512 --format bundle -o old.bundle
# tables that builds read are of today's sources: an older list of arguments is made anew, a parameter's value that is gone
# has no kernel
sed -E '/"args":/s/\[.*\]/["x"]/; s/"ROW_THREADS":\t*[0-9]+/"ROW_THREADS": 7/2' old.json >older.json
export_ tuned.json --format c-header | grep -F '{"row_softmax/' >now.txt
try export_ older.json --format c-header -o older.h
grep -F '{"row_softmax/' older.h | diff - now.txt
"$TILETUNE" lookup older.json row_softmax -p rows=256,cols=512 --path "$toy" --json | grep -o '"why":.*\|"args":.*'
sed -E 's/"ROW_THREADS":.*/"ROW_THREADS": 7,/' old.json >gone.json
try export_ gone.json --format make
"$TILETUNE" validate kernel.*.json
grep -o '"file":.*' kernel.cubin.json
head -c 4 kernel.cubin | od -An -c | tr -d ' '
export_ tuned.json row_softmax -p rows=256,cols=512 --format ptx | grep -c '^.target'
export_ tuned.json row_softmax -p rows=256,cols=512 --format source | grep -c '^#define ROW_THREADS'
# 16000 entries: what takes time in proportion to them takes a second
awk 'BEGIN {
	printf "{\"format\":\"tiletune.tuned/1\",\"device\":{\"name\":\"NVIDIA H200\",\"sheet\":\"h200-sxm\","
	printf "\"compute_capability\":90,\"sm_count\":132},\"runs\":[],\"entries\":["
	for (i = 0; i < 16000; i++)
		printf "%s{\"operation\":\"tile\",\"problem\":{\"M\":%d,\"N\":1000,\"K\":512,\"dtype\":\"bf16\"}," \
			"\"timing\":\"measured\",\"run\":\"r\",\"winner\":{\"family\":\"tile/direct\",\"configuration\":" \
			"{\"BM\":64},\"time_us\":{\"median\":7,\"ci95_low\":7,\"ci95_high\":7,\"samples\":1}," \
			"\"kernel_hash\":\"\"},\"tied\":[],\"families\":[]}", i ? "," : "", 1000 + i
	print "]}"
}' >many.json
for format in bencher csv make; do
	(ulimit -t 15 && "$TILETUNE" export many.json tile -p M=1000:16999,N=1000,K=512 --format $format \
		--path "$ROOT/tests/data/replay") | grep -c 'M=16999'
done
