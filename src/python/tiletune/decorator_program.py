# SPDX-License-Identifier: MIT
"""The program that `tiletune tune` and `tiletune check` start for a kernel with @tiletune.autotune.

    python3 -m tiletune.decorator_program NAME SOURCE_HASH

The process that tunes describes the device in the environment. The program therefore answers `hello` before it imports the user's module,
and processes that compile start meanwhile. decorator_server.py has imported torch for all of them. The source hash makes results of another
source invalid.
"""
from __future__ import annotations

import itertools
import json
import os
import sys
import threading
import traceback

from .decorator import DEVICE, IMPORT_ERRORS, WORKER
from .decorator_server import run_in_server

IMPORT_SECONDS = 600


def main() -> None:
    answers = os.dup(1)
    os.dup2(2, 1)  # output of the user's module must not mix with the answers
    os.environ[WORKER] = sys.argv[1]
    lines = [sys.stdin.readline()]
    if IMPORT_ERRORS in os.environ and os.path.getsize(os.environ[IMPORT_ERRORS]):
        sys.exit("importing the module has failed in an earlier process")  # exits without an answer, which ends the run

    def answer(request: str, **members: object) -> None:
        os.write(answers, (json.dumps({"id": json.loads(request)["id"], **members}) + "\n").encode())

    def take_request() -> None:
        """Reports progress while this process imports."""
        lines.append(sys.stdin.readline())
        if '"measure"' in lines[1]:
            answer(lines[1], progress=0, allow_s=IMPORT_SECONDS)

    waiter = threading.Thread(target=take_request, daemon=True)
    if lines[0] and DEVICE in os.environ:
        answer(lines[0], protocol="tiletune.program/1", **json.loads(os.environ[DEVICE]))
        waiter.start()
    try:
        from .decorator_kernel import KernelProgram  # pylint: disable=import-outside-toplevel
        program = KernelProgram(sys.argv[1])
    except BaseException:  # pylint: disable=broad-exception-caught  # of the user's module; the waiting thread forbids an ordinary end
        text = traceback.format_exc()
        os.write(2, text.encode())
        if IMPORT_ERRORS in os.environ:
            with open(os.environ[IMPORT_ERRORS], "w", encoding="utf-8") as file:
                file.write(text)
        os._exit(1)  # pylint: disable=protected-access
    if waiter.ident:
        waiter.join()
    os.dup2(answers, 1)
    sys.stdin = itertools.chain(filter(None, lines), sys.stdin)  # type: ignore[assignment]
    program.serve()


if __name__ == "__main__":
    run_in_server()
    main()
