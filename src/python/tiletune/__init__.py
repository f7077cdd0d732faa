# SPDX-License-Identifier: MIT
"""tiletune, an autotuner of tile sizes of GPU kernels.

Triton kernels: replace `@triton.autotune` by `@tiletune.autotune`. The results go to a file that can be committed and checked.

    @tiletune.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=4), ...], key=["n"], file="tuned.json")
    @triton.jit
    def kernel(x, y, n, BLOCK: tl.constexpr): ...

The program's commands are functions: tune, check, judge, explain, advise, report, export, new, validate (help(tiletune.command)).

    tuned = tiletune.tune("gemm", M=4096, N=4096, K=4096, dtype="bf16")     # a Tuned file
    tuned.lookup("gemm", M=4000, N=4096, K=4096, dtype="bf16").configuration
    tiletune.check("tuned.json").is_regression

Kernels of a bundle are functions of tensors: Bundle("kernels.bundle").op("gemm")(a, b). The problems that a torch program runs are
recorded by `with record("layers.json")`. Every exception is an Error with message, hint and code.

Modules that are commands, `python3 -m tiletune.NAME --help`: learn, t1, t4, recorded, rules, suites, formats. The standard library is
enough; numpy (learn), torch (record, operators of torch.library) and triton (autotune) are used if they are installed."""

from typing import Any

from .bundle import Bundle, Operator
from .command import Check, CheckRow, Judgement, Validation, advise, check, explain, export, judge, new, report, tune, validate
from .decorator import autotune
from .errors import Error
from .tuned import Answer, Tuned, load


def record(path: str) -> Any:
    """See suites.record(). That module is a command as well and is therefore imported only here."""
    from .suites import record as recorder  # pylint: disable=import-outside-toplevel
    return recorder(path)


__all__ = ["Answer", "Bundle", "Check", "CheckRow", "Error", "Judgement", "Operator", "Tuned", "Validation", "advise", "autotune", "check", "explain", "export",
    "judge", "load", "new", "record", "report", "tune", "validate"]


def __getattr__(name: str) -> Any:
    """__version__ is the version of the package, or in a checkout that of the program."""
    if name != "__version__":
        raise AttributeError(f"module tiletune: expected one of {', '.join(__all__)}, found {name}")
    from importlib import metadata  # takes 30 ms and is rarely needed
    from .command import run
    try:
        return metadata.version("tiletune")
    except metadata.PackageNotFoundError:
        return run("--version")[1].split()[1]
