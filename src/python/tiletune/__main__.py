# SPDX-License-Identifier: MIT
"""python3 -m tiletune WORD... runs the program tiletune with the same arguments."""

import os
import sys

from .command import find_program
from .errors import Error

try:
    program = find_program()
except Error as error:
    sys.exit(f"tiletune: {error.message}\n  hint: {error.hint}")
os.execv(program, [program, *sys.argv[1:]])
