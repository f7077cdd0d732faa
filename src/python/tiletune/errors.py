# SPDX-License-Identifier: MIT
"""Errors for the caller: every exception of the module is an Error."""

from __future__ import annotations

import contextlib
import json
import zlib
from typing import Iterator, Optional


def not_json(path: str, error: json.JSONDecodeError) -> str:
    """Returns the place where a file stops being JSON."""
    if not error.doc.strip():
        return f"{path}: the file is empty"
    reason = error.msg.removesuffix(" at")
    return f"{path}:{error.lineno}: not JSON: {reason[0].lower()}{reason[1:]} at column {error.colno}"


class Error(Exception):
    """message: where, and what is wrong; hint: the next step, or None; code: the exit code of the program
        (1 failed, 2 bad input, 5 no device or no compiler, 130 interrupted), or None if it was not started."""

    def __init__(self, message: str, hint: Optional[str] = None, code: Optional[int] = None):
        super().__init__(message, hint, code)
        self.message, self.hint, self.code = message, hint, code

    def __str__(self) -> str:
        return self.message + (f"\nhint: {self.hint}" if self.hint else "")


@contextlib.contextmanager
def reading(path: str, what: str) -> Iterator[None]:
    """Turns exceptions caused by the contents of a file into an Error that names the file. what: "a tuned file", ..."""
    try:
        yield
    except json.JSONDecodeError as error:
        raise Error(not_json(path, error)) from None
    except OSError as error:
        raise Error(f"{path}: {error.strerror or error}") from None
    except KeyError as error:
        raise Error(f"{path}: not {what}, or damaged: no member {error}", f"tiletune validate {path}") from None
    except (ValueError, TypeError, AttributeError, IndexError, ArithmeticError, EOFError, SyntaxError, RecursionError, zlib.error) as error:
        raise Error(f"{path}: not {what}, or damaged: {error}", f"tiletune validate {path}") from None
