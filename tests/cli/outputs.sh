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
echo "# behind a link: a folder that takes no files"
ln -s /proc/version link.json
try "$TILETUNE" export nothing.json --format csv -o link.json
echo "# one file for both"
try "$TILETUNE" tune tile -p M=1000,N=1000,K=512 -d replay:nothing -o x.json --journal x.json
echo '{"event":"run"}' >y.json
ln -s y.json z.json
try "$TILETUNE" tune tile -p M=1000,N=1000,K=512 -d replay:nothing -o y.json --journal z.json
echo "# numbers"
try "$TILETUNE" tune tile -p M=1 -d model:h200-sxm --workers 4294967295
try "$TILETUNE" devices --workers 4294967295
try "$TILETUNE" tune tile -p M=1 -d model:h200-sxm --evaluations 0
try "$TILETUNE" tune tile -p M=1 -d model:h200-sxm --budget 0s
ls
