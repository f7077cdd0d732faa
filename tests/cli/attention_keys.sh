# Keys that came later: left out, they have their defaults, in files written before, too; which families
# take which values; what a wrong one is told.
device=model:h200-sxm
try "$TILETUNE" explain attention -p batch=2,heads=8,kv_heads=2,seq_q=1,seq_k=500,head_dim=64,dtype=bf16,page=17 --device $device
try "$TILETUNE" explain attention -p batch=2,heads=8,kv_heads=2,seq_q=1,seq_k=500,head_dim=64,dtype=bf16,head_dim_v=20 --device $device
try "$TILETUNE" explain attention -p batch=2,heads=8,kv_heads=2,seq_q=500,seq_k=500,head_dim=64,dtype=bf16,page=16 --device $device
# no compiler: nothing is compiled
for keys in page=16 head_dim_v=128 page=64,head_dim_v=40; do
	TILETUNE_NVRTC=/nonexistent "$TILETUNE" explain attention -p batch=2,heads=8,kv_heads=2,seq_q=2,seq_k=500,head_dim=64,dtype=bf16,$keys \
		--device $device --json 2>/dev/null | grep -oE '"family":[[:space:]]*"[^"]*"|"page":[^,]*|"head_dim_v":[^,]*' |
		tr -s '\n\t ' ' '
	echo
done
problem=batch=2,heads=8,kv_heads=2,seq_q=1,seq_k=500,head_dim=64,dtype=bf16
"$TILETUNE" tune attention -p $problem -f decode --device $device --evaluations 2 --budget 10m --no-journal -o new.json >talk.txt 2>&1 ||
	cat talk.txt
grep -cE '"(page|head_dim_v)":' new.json
sed -Ez 's/,[[:space:]]*"page":[[:space:]]*0,[[:space:]]*"head_dim_v":[[:space:]]*64//g' new.json >old.json
grep -cE '"(page|head_dim_v)":' old.json
for keys in '' ,page=0 ,head_dim_v=64,page=0; do
	"$TILETUNE" lookup old.json attention -p $problem$keys --device $device >"found$keys" 2>&1 || cat "found$keys"
	cmp found "found$keys"
done
"$TILETUNE" lookup new.json attention -p $problem --device $device 2>&1 | cmp - found
cut -c1-120 found | head -n 2
# tuned again, it is the same entry; exported, it is found
"$TILETUNE" tune attention -p $problem -f decode --device $device --evaluations 2 --budget 10m --no-journal -o old.json >talk.txt 2>&1 ||
	cat talk.txt
grep -c '"timing":' old.json
