#!/bin/sh
# The subject of the last commit has at most 72 characters, begins with a capital letter and does not end with a period.
set -u
subject=$(git log -1 --no-merges --format=%s 2>/dev/null)
[ -n "$subject" ] || {
	echo "skipped: no commit is known"
	exit 77
}
if [ "${#subject}" -gt 72 ]; then
	echo "the last commit's subject has ${#subject} characters, expected at most 72: $subject"
	exit 1
fi
case $subject in
*.) echo "the last commit's subject ends with a period: $subject" && exit 1 ;;
[A-Z]*) ;;
*) echo "the last commit's subject does not begin with a capital letter: $subject" && exit 1 ;;
esac
