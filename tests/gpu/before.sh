#!/bin/sh
# A folder with the kernels of an older commit and the JSON of today, for tests/gpu/before_after.py and
# kernels.sh. In a checkout:
#
#	tests/gpu/before.sh COMMIT FOLDER
set -eu
rm -rf "$2"
mkdir -p "$2"
cp -R templates configs "$2/"
git archive "$1" templates | tar -x -C "$2" --wildcards '*.cu' '*.cuh'
