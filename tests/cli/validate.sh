# Files against their schemas and readers.
export TILETUNE_PATH="$ROOT:$ROOT/tests/data/replay"
validate() { try "$TILETUNE" validate "$@"; }
"$TILETUNE" tune tile -p M=1000,N=1000,K=512 -d "replay:$ROOT/tests/data/replay/measured.jsonl.gz" \
	-w "BM == 64" -o tuned.json >/dev/null
cp "$ROOT"/configs/suites/smoke.json "$ROOT"/configs/devices/h200-sxm.json .
gzip -k tuned.journal.jsonl
validate tuned.json tuned.journal.jsonl tuned.journal.jsonl.gz smoke.json h200-sxm.json \
	"$ROOT/tests/data/replay/templates/tile/direct.json" "$ROOT/tests/data/replay/templates/tile/operation.json"
(cd "$ROOT/tests/data/replay/templates/tile" && validate split.json)
head -n 4 tuned.journal.jsonl | head -c -20 >torn.jsonl
validate torn.jsonl

echo "# not what they should be"
sed 's/"median":/"medain":/' tuned.json >bad1.json
sed 's/"timing":\(.*\)"measured"/"timing":\1"guessed"/' tuned.json >bad2.json
sed 's|tiletune.tuned/1|tiletune.tuned/2|' tuned.json >bad3.json
sed 's|tiletune.tuned/1|tiletune.tunde/1|' tuned.json >bad4.json
sed '3s/"outcome":"[a-z_]*"/"outcome":"fine"/' tuned.journal.jsonl >bad5.jsonl
sed '3s/$/x/' tuned.journal.jsonl >bad6.jsonl
sed 's/"effort": "quick"/"effort": "slow"/' smoke.json >bad7.json
sed 's/M=16,N=4096/M=16,X=4096/' smoke.json >bad8.json
sed 's/"operation": "gemm"/"operation": "gemmm"/' smoke.json >bad9.json
echo '{"format": 1}' >bad10.json
echo '[]' >bad11.json
echo '{"a": 1, "a": 2}' >bad12.json
: >empty.json
validate bad1.json bad2.json bad3.json bad4.json bad5.jsonl bad6.jsonl bad7.json bad8.json bad9.json \
	bad10.json bad11.json bad12.json empty.json missing.json . | sed -E 's/one of those in .* \(/one of those in FOLDERS (/; s/^(bad6.*column) [0-9]+/\1 N/'

echo "# of a format that has a schema and no reader"
echo '{"format": "tiletune.compared_rows/1"}' >compared_rows.json
validate compared_rows.json

echo "# a family whose own example is not legal"
mkdir -p mine/templates
cp -R "$ROOT/tests/toy/templates/row_softmax" mine/templates/
/usr/bin/python3 - mine/templates/row_softmax/online.json <<'PYTHON'
import json, sys
path = sys.argv[1]
family = json.load(open(path, encoding="utf-8"))
illegal = {key: family["examples"]["illegal"][0][key] for key in ("problem", "config")}
family["examples"] = {"legal": [illegal]}
json.dump(family, open(path, "w", encoding="utf-8"))
PYTHON
validate --schema-only mine/templates/row_softmax/online.json
validate mine/templates/row_softmax/online.json

echo "# values, defaults and amounts that cannot be meant; a folder's mistake is said once"
cp "$ROOT/tests/toy/templates/row_softmax/online.json" mine/templates/row_softmax/
damage() { # MEMBER VALUE
	sed -E "s/(\"$1\": )(\{\"values\": )?(\"[^\"]*\"|[0-9]+)/\1\2$2/" "$ROOT/tests/toy/templates/row_softmax/online.json" \
		>mine/templates/row_softmax/online.json
	validate mine/templates/row_softmax/online.json
}
damage ROWS '"[]"'
sed 's/"UNROLL": 2,/"UNROLL": 3,/' "$ROOT/tests/toy/templates/row_softmax/online.json" >mine/templates/row_softmax/online.json
validate mine/templates/row_softmax/online.json
damage units 0
validate mine/templates/row_softmax/*.json

validate --json tuned.json bad1.json
validate
cd /
TILETUNE_PATH=/nonexistent try "$TILETUNE" validate "$OLDPWD/tuned.json" | sed 's/ok (.*/ok or/; s/expected configs.*/ok or/' | head -n 2
