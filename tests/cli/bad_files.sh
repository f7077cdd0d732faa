# Broken operations, families and device sheets: the file and the place in it, exit code 2, whichever
# command reads it.
unset TILETUNE_PATH
mkdir -p root/templates/tile root/configs/devices
fresh() {
	cp "$ROOT"/tests/data/replay/templates/tile/* root/templates/tile/
	cp "$ROOT"/configs/devices/a100-sxm4.json root/configs/devices/
	sed -i 's/"name": "a100-sxm4"/"name": "mine"/' root/configs/devices/a100-sxm4.json
	mv root/configs/devices/a100-sxm4.json root/configs/devices/mine.json
}
# damage FILE WHAT WITH: then every command that reads it
damage() {
	fresh
	sed -i "s|$2|$3|" "root/$1"
	cmp -s "root/$1" "$ROOT/tests/data/replay/$1" && echo "nothing was damaged"
	echo "# $1: $2 -> $3"
}
dry() { try "$TILETUNE" tune tile -p M=64,N=64,K=64 -n --path root -d "${1:-model:h200-sxm}" | grep -v "^[$]"; }
f=templates/tile/direct.json
fresh
dry | tail -n 1
damage $f '"parameters": {' '"parameters": ['; dry
damage $f '"source": "tile.cu"' '"source": "nowhere.cu"'; dry
damage $f '"source": "tile.cu"' '"sorce": "tile.cu"'; dry
damage $f '"operation": "tile"' '"operation": "gemm"'; dry
damage $f 'tiletune.family/1' 'tiletune.family/2'; dry
damage $f 'BM\*BN <= 32768' 'BM*BN <= '; dry
damage $f 'BM\*BN <= 32768' 'BM*BX <= 32768'; dry
damage $f '"values": "\[32, 64, 96, 128, 192, 256\]"' '"values": "32"'; dry
damage $f '"block": \["256", "1", "1"\]' '"block": []'; dry
damage $f '"args": \["A", "B"' '"args": ["A", "Q"'; dry
damage $f '"steps": ' '"stepps": '; dry
damage $f '"regs_estimate": "40' '"regs_estimate": "40 / 0'; TILETUNE_NVRTC=/nonexistent try "$TILETUNE" explain tile -p M=64,N=64,K=64 --path root -d model:h200-sxm -f direct
o=templates/tile/operation.json
damage $o '"min": 1' '"min": "one"'; dry
damage $o '"role": "out"' '"role": "in"'; dry
damage $o '"flop": "2\*M\*N\*K"' '"flop": 7.5, "flop": 8'; dry
damage $o 'tile_reference' ''; dry
d=configs/devices/mine.json
damage $d '"sm_count"' '"sm_cuont"'; dry model:mine
damage $d '"compute_capability": 80' '"compute_capability": "8.0"'; dry model:mine
damage $d '{' '['; dry model:mine

echo "# unreadable"
fresh
rm root/$f && mkdir root/$f
dry
rmdir root/$f
printf '\377\376{' >root/$f
dry
: >root/$f
dry

echo "# more than is read: refused before memory is taken for it"
head -c 1048576 /dev/zero | gzip -9 >part
for i in 1 2 3 4 5 6 7 8 9 10; do cat part part >more; mv more part; done
try "$TILETUNE" validate part
rm part
{ head -c 201 /dev/zero | tr '\0' '['; echo; } >deep.json
try "$TILETUNE" validate deep.json
{ head -c 200 /dev/zero | tr '\0' '['; head -c 200 /dev/zero | tr '\0' ']'; } >deep.json
try "$TILETUNE" validate deep.json
{ printf '[0'; head -c 33554432 /dev/zero | sed 's/\x00\x00/,0/g'; echo ']'; } >many.json
try "$TILETUNE" validate many.json
try "$TILETUNE" report many.json

echo "# names that would steer a terminal"
"$TILETUNE" report "$(printf 'a\033[31m\377\302\233b')" 2>&1
echo "exit $?"

echo "# numbers of a sheet and of a grid at their limits, and beyond: no overflow, nothing negative"
cp -R "$ROOT/tests/toy" hostile
sheet=hostile/configs/devices/toy.json family=hostile/templates/row_softmax/online.json
numbers() { # FIGURE GRID REPEAT: of all figures of the sheet, of the kernel's launches
	sed -E 's/("value": )[0-9.e+]+/\1'"$1/" "$ROOT/tests/toy/configs/devices/toy.json" >$sheet
	sed -E 's/"grid": \[[^]]*\]/"grid": ["'"$2"'", "65535", "65535"], "repeat": '"$3/" \
		"$ROOT/tests/toy/templates/row_softmax/online.json" >$family
	TILETUNE_NVRTC=/none "$TILETUNE" explain row_softmax -p rows=64,cols=64 --path hostile -d model:toy --json >numbers.json 2>talk.txt
	echo "[exit $?] $(grep -cE '": *-|nan|runtime error' numbers.json) negative; $(grep -o 'expected.*' talk.txt | tail -n 1)"
}
numbers 4611686018427387904 2147483647 1
numbers 9007199254740992 2147483647 1048576
numbers 9007199254740992 2147483648 1
numbers 9007199254740992 'rows*4611686018427387904' 1
numbers 65536 2147483647 1048576
"$TILETUNE" validate numbers.json
