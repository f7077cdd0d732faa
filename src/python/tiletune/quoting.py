# SPDX-License-Identifier: MIT
"""Quotes texts of files inside generated C, C++ and Python: names that must be identifiers, strings, comments."""

from __future__ import annotations

import keyword
import re

from .errors import Error

C_WORDS = frozenset("""alignas alignof auto bool break case char class const constexpr continue default delete do double else enum explicit extern false float
for friend goto if inline int long mutable namespace new nullptr operator private protected public register restrict return short signed sizeof static struct
switch template this throw true try typedef typename union unsigned using virtual void volatile while""".split())


def identifier(name: str, where: str) -> str:
    """Returns the name if it is a valid name of an argument or function in C, C++ and Python."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name in C_WORDS or keyword.iskeyword(name):
        raise Error(f"{where}: {name!r} cannot be a name in C and Python")
    return name


def c_string(text: str) -> str:
    """Returns a string literal of C, without trigraphs, line breaks, or bytes outside ASCII."""
    plain = "".join(chr(byte) if 0x20 <= byte < 0x7f and chr(byte) not in '\\"?' else f"\\{byte:03o}" for byte in text.encode())
    return f'"{plain}"'


def comment(text: str) -> str:
    """Returns one line inside a comment of C or a docstring; characters that could end either become _."""
    return re.sub(r'[^ !#-)+->@-\[\]-~]', "_", text)
