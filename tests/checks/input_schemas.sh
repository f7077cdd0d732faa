#!/bin/sh
# The schemas of device sheets, operations and families are schemas, accept every file that is here,
# and refuse files that our readers refuse.
exec /usr/bin/python3 -W ignore "$(dirname "$0")/../data/kernel/check_schemas.py"
