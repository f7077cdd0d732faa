# The regression gate without a GPU: winners are compiled again, resources compared.
toy="$ROOT/tests/toy"
"$TILETUNE" tune row_softmax -p rows=64,cols=64 --path "$toy" --device model:toy \
	--effort estimate --budget 10m -o base.json >talk.txt 2>&1 || cat talk.txt
check() { "$TILETUNE" check "$@" >out.txt 2>err.txt; code=$?; cat out.txt err.txt; echo "[exit $code]"; }
check base.json --path "$toy" --device model:toy
# no GPU here: a check never falls back
LD_LIBRARY_PATH='' check base.json --path "$toy" --device cuda:7 | grep -E 'hint|exit'
# another template: the same with a remark, more shared memory, one that does not compile
variant() { # variant NAME SED-SCRIPT
	mkdir -p "$1" && cp -R "$toy/templates" "$toy/configs" "$1" && sed -i "$2" "$1/templates/row_softmax/online.cu"
}
resources() { grep -E '^(same|slower|failed)|->|fits|exit|compiles|error' | sed -E 's/[0-9]+ -> [0-9]+/N -> M/g; s/: error:.*/: error/'; }
variant remark 's|^// Softmax of rows|// The softmax of rows|'
check base.json --path remark --device model:toy | resources
variant waste 's|__shared__ partial partials.*|&\n\t__shared__ volatile float waste[8192];\n\twaste[threadIdx.x] = 1.0f;|'
check base.json --path waste --device model:toy --junit waste.xml --markdown waste.md | resources
grep -o '<testsuites.*' waste.xml
grep -o '<failure type="slower"' waste.xml
grep -c '^| 🔴 slower |' waste.md
variant broken 's|__shared__ partial partials|#error gone\n&|'
check base.json --path broken --device model:toy --junit broken.xml | resources
grep -o '<error type="failed"' broken.xml
# a family that is gone, or of a folder that was not named: an error of the input
variant gone 's|^//|//|'
mv gone/templates/row_softmax/online.json gone/templates/row_softmax/other.json
check base.json --path gone --device model:toy | sed "s|, [^,]*/templates||g"
# another GPU model is not comparable, unless that is allowed
check base.json --path "$toy" --device model:h200-sxm | grep -E 'differs|^not|allowed|exit|hint'
check base.json --path "$toy" --device model:h200-sxm --allow gpu,sm_count,kernel,nvrtc | grep -E '^same|exit'
# nor are kernels that the other GPU cannot build: they have not failed; the sheet that is named is
# the file's or, where it names none, the one for the GPU's name
h200="$ROOT/results/nvidia-h200/fp16_kn.json"
other() { check "$@" --device model:a100-sxm4 | grep -E '^[0-9]+ |built|exit|hint'; }
grep -c '"family":.*"gemm/wgmma"' "$h200" | sed 's/[1-9][0-9]*/some/'
other "$h200" | sed -E 's/^[0-9]+ /all /'
sed 's/"sheet":.*"h200-sxm",/"sheet": null,/' "$h200" >unnamed.json
other unnamed.json | grep hint
sed 's/"NVIDIA H200"/"NVIDIA X1"/' unnamed.json >unknown.json
other unknown.json | grep hint
other "$h200" --allow gpu,sm_count | grep exit
check base.json --path "$toy" --device model:toy --only gemm
check base.json --path "$toy" --device model:toy --threshold 0
check base.json --path "$toy" --device model:toy --allow drivers
# the machine's answer is of its format; an update is written only if all is well
"$TILETUNE" check base.json --path "$toy" --device model:toy --json >answer.json 2>/dev/null
"$TILETUNE" validate answer.json
cp base.json before.json
check base.json --path waste --device model:toy --update | grep -E 'not changed|wrote|exit'
cmp base.json before.json && echo untouched
check base.json --path remark --device model:toy --update | grep -E 'not changed|wrote|exit'
check base.json --path remark --device model:toy | grep -E 'differs|exit'
"$TILETUNE" validate base.json
# new spills: a kernel that holds many values, then with fewer registers to hold them in
variant holds 's|element \*out = Y + row .*|&\n\t\tfloat held[64];\n#pragma unroll\n\t\tfor (int i = 0; i < 64; i++)\n\t\t\theld[i] = is_row ? element_load(in[(threadIdx.x + i) % cols]) : 0.0f;|
	s|__syncthreads(); // the next turn|for (int i = 0; i < 64; i++)\n\t\t\tif (held[i] == held[63 - i] + 1.0f)\n\t\t\t\tout[0] = element_round(held[i]);\n\t\t&|'
cp -R holds spills
sed -i 's|__launch_bounds__(ROW_THREADS \* ROWS)|__maxnreg__(40)|' spills/templates/row_softmax/online.cu
"$TILETUNE" tune row_softmax -p rows=64,cols=64 --path holds --device model:toy --effort estimate --budget 10m \
	--evaluations 1 -o held.json >talk.txt 2>&1 || cat talk.txt
check held.json --path holds --device model:toy | grep -E '^same|exit'
check held.json --path spills --device model:toy --junit spills.xml >spills.txt
figure() { tr -d ' \n\t' <held.json | sed "s/.*\"winner\":.*\"launches\":\[{[^}]*\"$1\":\([0-9]*\).*/\1/"; }
sed -E "s/registers $(figure regs_per_thread) -> 40/registers AS TUNED -> 40/; s/spills 0 -> [1-9][0-9]* B/spills 0 -> SOME B/; s/occupancy [0-9]+ -> [0-9]+/occupancy N -> M/" spills.txt
grep -o '<failure type="slower" message="[a-z]*' spills.xml
# of all that is different the spills alone are the regression
"$TILETUNE" check held.json --path spills --device model:toy --json 2>/dev/null | tr -d '\n\t' |
	grep -oE '"text":[^,]*,"worse":true' | sed -E 's/[0-9]+ B/SOME B/'
# words of a baseline end no line, cell, attribute or code, and steer no terminal
sed 's/"nvrtc":.*"/"nvrtc": "V1\\n::error::|[x](y) `@all`<b>\&\\u001b[31m\\u009b\\uffff"/' base.json >words.json
check words.json --path "$toy" --device model:toy --allow nvrtc --junit words.xml --markdown words.md >words.txt
for file in words.txt words.xml words.md; do
	grep -a 'nvrtc' $file | grep -a '::error' | sed 's/\(->\|-&gt;\|→\).*/\1 NOW/'
done
