# An operation, a family and a device that no C code knows: tuned on the device model.
"$TILETUNE" tune row_softmax -p rows=4096,cols=1000,dtype=bf16 --path "$ROOT/tests/toy" \
	--device model:toy --effort estimate -o toy.json >talk.txt 2>&1 || cat talk.txt
grep -o '"format":.*"' toy.json | tr -d '\t'
grep -c '"timing":	"predicted"' toy.json
grep -m 1 -o '"family":.*"' toy.json | tr -d '\t'
grep -c '"event":"evaluation"' toy.journal.jsonl
