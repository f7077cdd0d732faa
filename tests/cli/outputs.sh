# Outputs that cannot be written are found before anything is read or measured, whatever the command.
export TILETUNE_PATH="$ROOT:$ROOT/tests/data/replay"
tuned=$ROOT/tests/data/report/small.json
long=$(printf '%0300d' 0)
mkdir folder
short() { sed "s/$long/LONG/g"; }
for output in "" folder missing/x "$long"; do
	try "$TILETUNE" tune tile -p M=1000,N=1000,K=512 -d replay:nothing -o "$output" | short
	try "$TILETUNE" export nothing.json --format csv -o "$output" | short
	try "$TILETUNE" merge nothing.json -o "$output" | short
	try "$TILETUNE" report nothing.json -o "$output" | short
	try "$TILETUNE" advise tile -p M=1 --sweep M=1:2:1 -d replay:nothing -o "$output" | short
	try "$TILETUNE" check nothing.json --junit "$output" | short
done
echo "# packed"
try "$TILETUNE" tune tile -p M=1000,N=1000,K=512 -d replay:nothing -o x.json.gz
echo "# figures"
try "$TILETUNE" report nothing.json --svg /proc/figures
echo text >file
try "$TILETUNE" report nothing.json --svg file
rm file
echo "# what killed writers left is swept, what is being written or is another's is not"
touch -d '2 minutes ago' x.json.tmp-abcdef x.json.tmp-ghijkl y.json.tmp-abcdef x.json.tmp-more-abcdef
touch x.json.tmp-mnopqr
flock x.json.tmp-ghijkl "$TILETUNE" export nothing.json --format csv -o x.json 2>/dev/null
echo *tmp-*
rm ./*tmp-*
echo "# behind a link: a folder that takes no files"
ln -s /proc/version link.json
try "$TILETUNE" export nothing.json --format csv -o link.json
echo "# one file for both"
try "$TILETUNE" tune tile -p M=1000,N=1000,K=512 -d replay:nothing -o x.json --journal x.json
echo '{"event":"run"}' >y.json
ln -s y.json z.json
try "$TILETUNE" tune tile -p M=1000,N=1000,K=512 -d replay:nothing -o y.json --journal z.json
rm z.json
for command in "tune y.json -o" "export y.json --format csv -o" "report y.json -o" "learn y.json -o" "check y.json --junit" "check y.json --markdown" \
	"new y.json -o" "advise y.json --sweep M=1:2:1 -o" "advise y.json --sweep M=1:2:1 --csv"; do
	# shellcheck disable=SC2086
	try "$TILETUNE" $command ../"${PWD##*/}"/y.json | sed "s,../${PWD##*/}/,../HERE/,"
done
cat y.json
echo "# numbers"
try "$TILETUNE" tune tile -p M=1 -d model:h200-sxm --workers 4294967295
try "$TILETUNE" devices --workers 4294967295
try "$TILETUNE" tune tile -p M=1 -d model:h200-sxm --evaluations 0
try "$TILETUNE" tune tile -p M=1 -d model:h200-sxm --budget 0s
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
mkdir root
cp -r "$ROOT/tests/data/replay/templates" root/
for kernel in direct split add; do echo "//fake: kernel tile_$kernel 40 0 1 0 0"; done >>root/templates/tile/tile.cu
for number in 1 2 3; do
	TILETUNE_NVRTC="$out/faults/libnvrtc.so.13" "$TILETUNE" tune tile -p M=1000,N=1000,K=512 --path root \
		-d model:h200-sxm -e estimate --no-cache --no-journal --evaluations $number -o one$number.json |
		grep -o '[0-9]* of [0-9]* evaluated'
done
echo "# a stream gets one tuned file, whatever is tuned"
TILETUNE_NVRTC="$out/faults/libnvrtc.so.13" "$TILETUNE" tune tile -p M=1000,N=1000,1001,K=512 --path root -d model:h200-sxm -e estimate \
	--no-cache --no-journal --evaluations 1 -o /dev/stderr 2>&1 >talk.txt | grep -c tiletune.tuned
rm -r root one?.json talk.txt
ls
