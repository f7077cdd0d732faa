# The report for a terminal, and files for a browser.
try "$TILETUNE" report "$ROOT/tests/data/report/small.json" "$ROOT/tests/data/report/slower.json" --path "$ROOT/."
try "$TILETUNE" report "$ROOT/tests/data/report/small.json" --path "$ROOT/." -o small.html --svg figures
grep -c '<svg' small.html
ls figures
try "$TILETUNE" report nothing.json
try "$TILETUNE" report
# numbers that no GPU gives: refused with their place, or drawn, never looped over
number() {
	sed -E "0,/\"$1\":/s/\"$1\":[ 	]*[^,}]*/\"$1\": $2/" "$ROOT/tests/data/report/sizes.json" >odd.json
	echo "# $1 $2"
	"$TILETUNE" report odd.json --path "$ROOT/." -o odd.html 2>&1 >/dev/null
	echo "exit $?"
	[ ! -e odd.html ] || grep -cE "(nan|inf)[ \"]" odd.html
	rm -f odd.html
}
number median -1
number median 0
number median 1e308
number tflops 1e308
number tflops -1
number arithmetic_intensity 1e308
number predicted_tflops -1
number waves 1e308
number waves 1e-308
number waves_exact 1e308
number predicted_time_us 1e999
