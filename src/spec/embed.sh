#!/bin/sh
# Writes to stdout the C source of the sheets that are built into the binary:
#   embed.sh FOLDER    FOLDER/h200-sxm.json (the default device) and FOLDER/defaults/*.json
# It defines what src/spec/embedded.h declares.
set -eu
LC_ALL=C
export LC_ALL

folder=$1

# A JSON file as lines of C string literals.
string_literals() {
	[ -s "$1" ] || { echo "$0: $1: expected a device sheet, found nothing" >&2; exit 1; }
	sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^[[:space:]]*//' -e 's/^/	"/' -e 's/$/\\n"/' "$1"
}

echo '/* Made by src/spec/embed.sh from configs/devices: do not edit. */'
echo '#include "spec/embedded.h"'
echo
echo 'const char device_spec_default_json[] ='
string_literals "$folder/h200-sxm.json"
echo '	;'
echo 'const size_t device_spec_default_json_size = sizeof(device_spec_default_json) - 1;'
echo
echo 'const char *const device_spec_architecture_json[] = {'
for file in "$folder"/defaults/*.json; do
	string_literals "$file"
	echo '	,'
done
echo '	NULL};'
