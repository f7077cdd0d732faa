# The report for a terminal, and files for a browser.
try "$TILETUNE" report "$ROOT/tests/data/report/small.json" "$ROOT/tests/data/report/slower.json" --path "$ROOT/."
try "$TILETUNE" report "$ROOT/tests/data/report/small.json" --path "$ROOT/." -o small.html --svg figures
grep -c '<svg' small.html
ls figures
try "$TILETUNE" report nothing.json
try "$TILETUNE" report
