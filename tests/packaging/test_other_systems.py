"""What Windows has not: every module can be imported without it, and what needs it asks for the system first."""

import sys

import pytest

from tests.support.served import run_script

IMPORT_ALL = """
import asyncio, concurrent.futures.process, importlib, multiprocessing.connection, os, pkgutil, pytest, signal, subprocess
import sys, anyio, starlette.applications, uvicorn.protocols.http.httptools_impl
import image_workflow_emulator

sys.platform = "win32"
sys.modules.update(dict.fromkeys(("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty", "uvloop")))
on_windows = {"SIGINT", "SIGTERM", "SIGABRT", "SIGBREAK", "SIGILL", "SIGFPE", "SIGSEGV", "SIG_IGN", "SIG_DFL"}
for name in [name for name in vars(signal) if name.startswith("SIG") and name not in on_windows]:
    delattr(signal, name)
for name in ("fork", "getpgid", "getpgrp", "getuid", "killpg", "mkfifo", "setpgid", "setsid", "tcsetpgrp", "WNOHANG"):
    delattr(os, name)
del signal.pthread_sigmask
names = [module.name for module in pkgutil.walk_packages(image_workflow_emulator.__path__, "image_workflow_emulator.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there it is so anyway")
def test_every_module_can_be_imported_where_posix_is_not() -> None:
    assert int(run_script(IMPORT_ALL)) > 100
