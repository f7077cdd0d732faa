# SPDX-License-Identifier: MIT
"""The tiletune program from Python: tuned files, bundles of kernels, suites, other tools' formats.

load(...).lookup(...); tune, check, report; Bundle(...).op(...); record(); see src/python/README.md.
The standard library is enough; numpy (learn) and torch (record, operators of torch.library) are used where they are there.
Modules that are commands, `python3 -m tiletune.NAME`: learn, t1, t4, recorded, rules, suites, formats.
"""

from typing import Any

from .bundle import Bundle, Operator
from .command import Check, check, report, tune
from .decorator import autotune
from .errors import Error
from .tuned import Answer, Tuned, load


def record(path: str) -> Any:
    """See suites.record(). That module is a command as well, so that it is imported where it is used."""
    from .suites import record as recorder  # pylint: disable=import-outside-toplevel
    return recorder(path)


__all__ = ["Answer", "Bundle", "Check", "Error", "Operator", "Tuned", "autotune", "check", "load", "record", "report", "tune"]


def __getattr__(name: str) -> Any:
    """__version__: that of the package, in a checkout that of the program."""
    if name != "__version__":
        raise AttributeError(f"module tiletune: expected one of {', '.join(__all__)}, found {name}")
    from importlib import metadata  # 30 ms, for few
    from .command import run
    try:
        return metadata.version("tiletune")
    except metadata.PackageNotFoundError:
        return run("--version")[1].split()[1]
