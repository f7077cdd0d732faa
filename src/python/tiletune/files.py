# SPDX-License-Identifier: MIT
"""Writes files as a whole, and never through a link that another user may have created."""

from __future__ import annotations

import os
import stat
import tempfile
from typing import Union

from .errors import Error


def link_is_ours(link: str) -> bool:
    """Returns whether only this user and root can have put the link into its folder."""
    folder, ours = os.stat(os.path.dirname(link)), (os.geteuid(), 0)
    if folder.st_mode & stat.S_IWOTH:
        return False
    return os.lstat(link).st_uid in ours or not (folder.st_mode & stat.S_IWGRP or folder.st_uid not in ours)


def target_of(path: str) -> str:
    """Returns the target of the path. Raises Error if a part of it is a link in a folder that others can write to."""
    at = os.path.abspath(path)
    for _ in range(40):
        parts = at.split(os.sep)
        link = next((part for part in (os.sep.join(parts[:i]) for i in range(2, len(parts) + 1)) if os.path.islink(part)), None)
        if link is None:
            break
        to = os.path.join(os.path.dirname(link), os.readlink(link))
        if not link_is_ours(link):
            raise Error(f"{path}: expected no link in a folder that others can write to, found {link}", f"name the file that it leads to: {to}", 2)
        at = os.path.abspath(to + at[len(link):])
    return at


def write_file(path: str, content: Union[str, bytes]) -> None:
    """Replaces the file as a whole; pipes and devices are written through. Errors: Error, OSError."""
    data = content.encode() if isinstance(content, str) else content
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            file.write(data)
        return
    target = target_of(path)
    mode = os.stat(target).st_mode & 0o7777 if os.path.exists(target) else None
    number, temporary = tempfile.mkstemp(prefix=os.path.basename(target) + ".", dir=os.path.dirname(target))
    try:
        with open(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(number)
        if mode is None:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def expect_output(path: str) -> None:
    """Raises an Error before any work if write_file() could not write the file."""
    target = target_of(path)
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        raise Error(f"{path}: a folder, not a file to write", code=2)
    if not os.path.isdir(folder):
        raise Error(f"{path}: there is no folder {folder}", code=2)
    if not os.access(folder if os.path.isfile(target) or not os.path.exists(target) else target, os.W_OK):
        raise Error(f"{path}: no permission to write", code=2)
