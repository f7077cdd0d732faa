# Which sizes near the asked ones are better: reasons and costs.
advise() {
	"$TILETUNE" advise "$@" --json >answer.json || cat answer.json
}
advise gemm -p M=512,N=1025,K=512,dtype=bf16,b_layout=kn --device model:a100-sxm4
"$TILETUNE" validate answer.json
/usr/bin/python3 - <<'PYTHON'
import json
answer = json.load(open("answer.json"))
asked = answer["asked"]["time_us"]
print(answer["timing"], sorted({row["kind"] for row in answer["advice"]}))
rows = {tuple((c["name"], c["to"]) for c in row["changes"]): row for row in answer["advice"]}
pad = max((row for row in answer["advice"] if row["kind"] == "pad"),
          key=lambda row: row["net_gain_ratio"])
print("padding pays:", pad["better"], pad["net_gain_ratio"] > 0.05,
      pad["cost"]["extra_flop_ratio"] > 0, pad["cost"]["extra_bytes"] > 0, pad["cost"]["copy_us"] > 0)
print("only N is changed:", [change["name"] for change in pad["changes"]])
print("gain is the times' ratio:", abs(asked / pad["time_us"] - 1 - pad["net_gain_ratio"]) < 1e-9)
print("strides that matter here:", sorted({why["text"].split()[2] for why in pad["why"]
                                           if why["kind"] == "alignment"}))
def tensors(p):  # of a row-major bf16 GEMM with B as [K, N]: rows, columns, pitch
    return [(p["M"], p["K"], p["lda"]), (p["K"], p["N"], p["ldb"]), (p["M"], p["N"], p["ldc"])]
def size(rows, columns, pitch):
    return 2 * ((rows - 1) * pitch + columns)
copies = {round(row["cost"]["copy_us"] / sum(size(*a) + size(*b) for a, b in zip(tensors(answer["problem"]), tensors(row["problem"])) if a != b) * 1e12)
          for row in answer["advice"] if row["kind"] in ("pad", "pitch")}
print("microseconds that a terabyte of what moves takes:", copies)
for changes in sorted(rows):
    print(*(f"{name}={to}" for name, to in changes))
pitch = [row for row in answer["advice"] if row["kind"] == "pitch" and row["better"]]
print("pitches cost no FLOP:", {row["cost"]["extra_flop_ratio"] for row in pitch})
PYTHON
try "$TILETUNE" advise gemm --device model:a100-sxm4
try "$TILETUNE" advise gemm -p M=1,N=1,K=1,dtype=fp16 --csv x.csv --device model:a100-sxm4
try "$TILETUNE" advise gemm --sweep N --device model:a100-sxm4
sed 's/"timing":.*/"timing": "guessed",/' answer.json >bad.json
try "$TILETUNE" validate bad.json
