#!/bin/sh
# The top level has only the agreed files, and tracked files contain no path of one machine.
set -u
bad=0
extra=$(git ls-files | cut -d/ -f1 | sort -u | grep -vxE 'Makefile|src|templates|configs|results|tests|README\.md|LICENSE|\.[A-Za-z_-]+')
if [ -n "$extra" ]; then
	echo "outside the agreed top level: $extra"
	bad=1
fi
if git grep -nE '/(home|root|Users)/[a-z]' -- . ':!tests/checks/toplevel.sh'; then
	echo "paths of one machine"
	bad=1
fi
exit $bad
