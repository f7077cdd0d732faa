#!/bin/sh
# Writes to stdout the C source of what the report's page is made of:
#   embed.sh FOLDER    FOLDER/NAME.css and NAME.svg one by one, FOLDER/*.js together
# It defines what src/figure/canvas.h declares.
set -eu
LC_ALL=C
export LC_ALL

folder=$1

# Text as lines of C string literals; what only helps people who read the source is left out.
string_literals() {
	sed -e 's/^[[:space:]]*//' -e '/^\/\//d' -e '/^$/d' -e 's/\\/\\\\/g' -e 's/"/\\"/g' \
		-e 's/^/	"/' -e 's/$/\\n"/'
}

echo '/* Made by src/figure/embed.sh from src/figure/assets: do not edit. */'
echo '#include "figure/canvas.h"'
for file in "$folder"/*.css "$folder"/*.svg; do
	name=$(basename "$file" | tr . _)
	echo
	echo "const char asset_$name[] ="
	string_literals <"$file"
	echo '	;'
done
echo
echo 'const char asset_script_js[] ='
cat "$folder"/*.js | string_literals
echo '	;'
