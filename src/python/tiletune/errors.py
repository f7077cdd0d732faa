# SPDX-License-Identifier: MIT
"""What goes wrong, for the caller: every exception of the module is an Error."""

from __future__ import annotations

import json
from typing import Optional


def not_json(path: str, error: json.JSONDecodeError) -> str:
    """Where a file stops to be JSON, what was expected, what was found."""
    return f"{path}:{error.lineno}: expected JSON, found {error.msg} at column {error.colno}"


class Error(Exception):
    """message: where, what was expected, what was found; hint: what to do, or None; code: the exit code of the program
    (1 failed, 2 bad input, 5 no device or no compiler, 130 interrupted), None where it was not started."""

    def __init__(self, message: str, hint: Optional[str] = None, code: Optional[int] = None):
        super().__init__(message, hint, code)
        self.message, self.hint, self.code = message, hint, code

    def __str__(self) -> str:
        return self.message + (f"\nhint: {self.hint}" if self.hint else "")
