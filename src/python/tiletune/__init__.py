# SPDX-License-Identifier: MIT
"""The tiletune program from Python: tuned files, bundles of kernels, suites, other tools' formats.

load(...).lookup(...); tune, check, report; Bundle(...).op(...); record(); see src/python/README.md.
The standard library is enough; numpy (learn) and torch (record, operators of torch.library) are used where they are there.
Modules that are commands, `python3 -m tiletune.NAME`: learn, t1, t4, rules, suites, formats.
"""

from .bundle import Bundle, Operator
from .command import Check, check, report, tune
from .errors import Error
from .suites import record
from .tuned import Answer, Tuned, load

__all__ = ["Answer", "Bundle", "Check", "Error", "Operator", "Tuned", "check", "load", "record", "report", "tune"]
