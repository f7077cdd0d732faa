#!/bin/sh
# Writes to stdout the C source of what the report's page is made of: FOLDER/NAME.css, .svg and .js are
# asset_NAME_css, ... as src/figure/canvas.h declares them.
#   embed.sh FOLDER
set -eu
LC_ALL=C
export LC_ALL

echo '/* Made by src/figure/embed.sh from src/figure/assets: do not edit. */'
echo '#include "figure/canvas.h"'
for file in "$1"/*.css "$1"/*.svg "$1"/*.js; do
	echo
	echo "const char asset_$(basename "$file" | tr . _)[] ="
	# as lines of C string literals, without what only helps people who read the source
	sed -e 's/^[[:space:]]*//' -e '/^\/\//d' -e '/^$/d' -e 's/\\/\\\\/g' -e 's/"/\\"/g' \
		-e 's/^/	"/' -e 's/$/\\n"/' <"$file"
	echo '	;'
done
