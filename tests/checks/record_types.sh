#!/bin/sh
# A member whose type has no kind, or differs from its table line, does not compile.
set -u
bad=0
compiles() {
	printf '#include <math.h>\n#include "record/record.h"\nenum e { A };\nstruct p { double x; };\n
struct s { int i; long double odd; struct p p; unsigned bits; short count; char *name; bool on; };\n
static const struct record_member pm[] = {RECORD_VALUE(struct p, x, "x", "")};\n
static RECORD_DEFINE(struct p, p_record, pm, .name = "p");\n
static const struct record_member m[] = {%s};\nint main(void) { return m[0].size == 0; }\n' "$1" |
		${CC:-gcc} -std=gnu11 -Isrc -fsyntax-only -x c - 2>/dev/null
}
for good in 'RECORD_VALUE(struct s, i, "i", "")' 'RECORD_NESTED(struct s, p, p_record, "p", "")' \
	'RECORD_FLAGS(struct s, bits, NULL, "bits", "")' 'RECORD_ENUM(struct s, on, NULL, "on", "")'; do
	compiles "$good" || { echo "does not compile: $good"; bad=1; }
done
for wrong in 'RECORD_VALUE(struct s, odd, "odd", "")' 'RECORD_VALUE(struct s, p, "p", "")' \
	'RECORD_NESTED(struct s, i, p_record, "i", "")' 'RECORD_POINTER(struct s, p, p_record, "p", "")' \
	'RECORD_FLAGS(struct s, i, NULL, "i", "")' 'RECORD_ENUM(struct s, count, NULL, "count", "")' \
	'RECORD_TEXT(struct s, bits, "bits", "")' 'RECORD_VALUES(struct s, name, count, "n", "")' \
	'RECORD_VALUE(struct s, i, "i", "", .present = RECORD_PRESENT(struct s, i))' \
	'RECORD_STRINGS(struct s, name, "name", "")'; do
	compiles "$wrong" && { echo "compiles, and should not: $wrong"; bad=1; }
done
exit $bad
