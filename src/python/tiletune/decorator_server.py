# SPDX-License-Identifier: MIT
"""Imports torch and triton once for all processes that run a kernel with @tiletune.autotune.

    python3 -m tiletune.decorator_server DESCRIPTOR

The process that tunes starts this server, which ends with it, or when it was not used for some minutes. tiletune starts
decorator_program.py, which passes its arguments, environment and standard streams to the server. The server forks a process that does the
work, and decorator_program.py ends as that process does. The server never calls CUDA, because CUDA does not work in a process whose
parent used it before the fork. TILETUNE_AUTOTUNE_SERVER=none: every process imports torch for itself.
"""
from __future__ import annotations

import contextlib
import importlib
import json
import os
import secrets
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping

SERVER = "TILETUNE_AUTOTUNE_SERVER"  # names the abstract socket for processes that tiletune starts
ACCEPT_SECONDS = 60.0  # a server that has not accepted within this time is not used
IDLE_SECONDS = 180.0
PRELOADED = ("numpy", "torch", "triton", "triton.language", "triton.runtime.autotuner", "tiletune.decorator_kernel")


# ---- the process that tunes ----
class Started:
    """Represents the server of this process."""
    name = ""
    process: subprocess.Popen[bytes] | None = None


def start(environment: Mapping[str, str]) -> str:
    """Starts the server unless it runs. Returns the value of SERVER for its clients."""
    if os.environ.get(SERVER) == "none":
        return "none"
    if Started.process is None or Started.process.poll() is not None:
        Started.name = "tiletune-" + secrets.token_hex(16)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind("\0" + Started.name)
            listener.listen(64)
            Started.process = subprocess.Popen([sys.executable, "-m", "tiletune.decorator_server", str(listener.fileno())], env=environment,  # pylint: disable=consider-using-with
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[listener.fileno()], start_new_session=True)
    return Started.name


# ---- the process that tiletune starts ----
def run_in_server() -> None:
    """Lets the server run this process's program, and exits like that program. Returns if there is no server."""
    name = os.environ.pop(SERVER, "none")
    if name == "none":
        return
    request = json.dumps({"argv": sys.argv, "folder": os.getcwd(), "environment": dict(os.environ)}).encode()
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(ACCEPT_SECONDS)
        connection.connect("\0" + name)
        socket.send_fds(connection, [struct.pack("I", len(request))], [0, 1, 2])
        connection.sendall(request)
        if not connection.recv(1):
            return
        connection.settimeout(None)
        status = connection.recv(4)
        code = struct.unpack("i", status)[0] if len(status) == 4 else 1
        if code < 0:  # tiletune sees the same signal
            signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        os._exit(code)  # pylint: disable=protected-access


# ---- the server ----
def received(connection: socket.socket, count: int) -> bytes:
    text = b""
    while len(text) < count:
        more = connection.recv(count - len(text))
        if not more:
            raise OSError("the process has ended")
        text += more
    return text


def become(text: bytes, streams: list[int]) -> None:
    """Runs the program as if tiletune had started this process."""
    request = json.loads(text)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[:] = request["argv"]
    sys.path[:] = dict.fromkeys([*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), *sys.path])
    from .decorator_program import main  # pylint: disable=import-outside-toplevel
    main()


def serve_one(connection: socket.socket) -> None:
    """Starts a process for a connection, reports how it ends, and ends it when the connection is closed."""
    head, streams, _, _ = socket.recv_fds(connection, 4, 3)
    text = received(connection, struct.unpack("I", head)[0])
    connection.sendall(b"!")
    number = os.fork()
    if number == 0:
        connection.close()
        os.setpgid(0, 0)
        code: object = 1
        try:
            become(text, streams)
            code = 0
        except SystemExit as end:
            code = end.code or 0
        except BaseException:  # pylint: disable=broad-exception-caught
            traceback.print_exc()
        os._exit(code if isinstance(code, int) else 1)  # pylint: disable=protected-access
    for stream in streams:
        os.close(stream)

    def end_with_the_connection() -> None:
        with contextlib.suppress(ConnectionResetError):  # the server closed the connection
            connection.recv(1)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(number, signal.SIGKILL)

    with contextlib.suppress(PermissionError):  # the process runs another program
        os.setpgid(number, number)
    threading.Thread(target=end_with_the_connection, daemon=True).start()
    status = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
    with contextlib.suppress(OSError):  # the connection is closed
        connection.sendall(struct.pack("i", status))


def is_of_this_user(connection: socket.socket) -> bool:
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return bool(user == os.getuid())


def main() -> None:
    listener = socket.socket(fileno=int(sys.argv[1]))
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the processes of connections
    while select.select([0, listener], [], [], IDLE_SECONDS)[0] == [listener]:
        connection, _ = listener.accept()
        if is_of_this_user(connection) and os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            try:
                serve_one(connection)
            finally:  # also if the client has ended
                os._exit(0)  # pylint: disable=protected-access
        connection.close()


if __name__ == "__main__":
    main()
