# SPDX-License-Identifier: MIT
"""The build backend of the source distribution, which pack.py names. If no wheel fits, pip calls it and gets the reason."""

from __future__ import annotations

import platform
import sys
from typing import Any, NoReturn


def refuse(*_: Any, **__: Any) -> NoReturn:
    found = " ".join(filter(None, [platform.system(), platform.machine(), *platform.libc_ver()]))
    sys.exit(f"""tiletune: expected a wheel for this machine, and there is none
  expected: Linux on x86_64 or aarch64 with glibc 2.28 or newer (not musl), CPython or PyPy 3.9 or newer, and pip 20.3 or newer
  found: {found}, Python {platform.python_version()}
  Windows and macOS: the program needs Linux's processes and NVIDIA's driver for Linux; WSL 2 is Linux.
  hint: on another Linux, `make install` in the unpacked source distribution builds the program (README.md); pip does not""")


# all hooks of PEP 517 that pip may call first
get_requires_for_build_wheel = prepare_metadata_for_build_wheel = build_wheel = refuse
get_requires_for_build_editable = build_editable = get_requires_for_build_sdist = build_sdist = refuse
