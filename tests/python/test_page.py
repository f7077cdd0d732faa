"""The examples of src/python/README.md in their order, with torch's tensors if it is installed, otherwise with fakes."""
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT
from test_bundle import Fake, torch  # noqa: F401  pylint: disable=unused-import

with open(os.path.join(ROOT, "src/python/README.md"), encoding="utf-8") as page:
	EXAMPLES = re.findall(r"^```python( torch| triton)?\n(.*?)^```", page.read(), re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tuned, bundle, tmp_path, monkeypatch):
	shutil.copy(tuned, tmp_path / "tuned.json")
	shutil.copy(bundle, tmp_path / "kernels.bundle")
	monkeypatch.chdir(tmp_path)


def run(names, needs_torch):
	for kind, text in EXAMPLES:
		if not kind or (needs_torch and kind == " torch"):
			exec(compile(text, "README.md", "exec"), names)  # pylint: disable=exec-used


@pytest.mark.filterwarnings("ignore:.*was tuned on")
def test_examples(folder, monkeypatch, capsys):
	"""Without torch the caller passes the outputs."""
	assert len(EXAMPLES) == 6
	names = {"a": Fake(256, 64), "b": Fake(64, 64), "c": Fake(256, 64)}
	monkeypatch.setattr("tiletune.bundle.Operator.__call__", with_output(names["c"]))
	run(names, False)
	said = capsys.readouterr().out
	assert re.search(r"gemm/mma 64 \[\d+, 1, 1\] \S+ nearest by model", said) and "False {'same': 2" in said and "2 none.json: " in said
	assert os.path.exists("report.html")


def with_output(c):
	from tiletune.bundle import Operator
	original = Operator.__call__
	return lambda self, *tensors, **named: original(self, *tensors[:2], c, **named)


@pytest.mark.filterwarnings("ignore:.*was tuned on")
def test_examples_with_torch(folder, torch, capsys):  # noqa: F811
	half = {"dtype": torch.float16}
	run({"torch": torch, "a": torch.zeros(256, 64, **half), "b": torch.zeros(64, 64, **half)}, True)
	assert "['layers.json'] Counter()" in capsys.readouterr().out


def test_the_triton_example(torch, tmp_path, monkeypatch):  # noqa: F811
	"""Triton's interpreter tunes the kernel on the CPU once, and later runs read the result from the file."""
	pytest.importorskip("triton", reason="triton is not installed")
	script = tmp_path / "add.py"
	script.write_text(next(text for kind, text in EXAMPLES if kind == " triton"))
	monkeypatch.setenv("TRITON_INTERPRET", "1")
	monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
	said = [subprocess.run([sys.executable, str(script)], cwd=tmp_path, check=True, capture_output=True, text=True).stdout for _ in range(2)]
	assert said[0] == said[1] and "BLOCK: " in said[0]
	with open(tmp_path / "tuned.journal.jsonl", encoding="utf-8") as file:
		assert file.read().count('"event":"run"') == 1
