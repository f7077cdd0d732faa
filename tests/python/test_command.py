"""The program from Python: its arguments, the handling of its answers, messages and exit codes."""
import json
import os
import stat
import subprocess
import sys
import sysconfig

import pytest

import tiletune
from conftest import CACHE, ROOT
from tiletune import command


def test_tune_check_report(tmp_path, capfd):
	said, path = [], str(tmp_path / "tuned.json")
	options = {"family": ["mma"], "where": "BM == 64 and BN == 64 and SPLIT_K == 1", "device": "model:h200-sxm", "effort": "estimate",
		"evaluations": 1, "fresh": True, "cache_dir": CACHE}
	tuned = tiletune.tune("gemm", {"M": 256, "N": 64, "K": 64, "dtype": "fp16"}, output=path, progress=said.append, **options)
	assert [entry["winner"]["configuration"]["BM"] for entry in tuned.entries] == [64] and os.path.exists(tmp_path / "tuned.journal.jsonl")
	assert any("of at most 1" in line for line in said), said
	assert not any("\r" in line or "\x1b" in line for line in said) and capfd.readouterr() == ("", "")
	checked = tiletune.check(path, device="model:h200-sxm", cache_dir=CACHE)
	assert checked.counts["same"] == 1 and not checked.is_regression and not checked.is_inconclusive
	assert [(row.operation, row.verdict, row.problem["M"], row.now_us) for row in checked.rows] == [("gemm", "same", 256, None)]
	page = tiletune.report(path, output=str(tmp_path / "page.html"))
	with open(page, encoding="utf-8") as file:
		assert file.read(15).lower() == "<!doctype html>"


def test_refused():
	with pytest.raises(tiletune.Error) as error:
		tiletune.tune("gemm", ["M=64,N=64,K=64,dtyp=bf16"], device="model:h200-sxm")
	done = subprocess.run([os.environ["TILETUNE"], "tune", "gemm", "-p", "M=64,N=64,K=64,dtyp=bf16", "--device", "model:h200-sxm"], text=True,
		capture_output=True, check=False)
	assert error.value.code == done.returncode == 2
	assert "tiletune: " + error.value.message == done.stderr.splitlines()[0].replace("--", "")
	hints = [line.strip() for line in done.stderr.splitlines() if "hint:" in line]
	assert hints == ([f"hint: {error.value.hint}"] if error.value.hint else []) and hints


@pytest.fixture
def fake(tmp_path, monkeypatch):
	"""Writes a program that logs its arguments and answers as requested."""
	def make(output="", errors="", code=0):
		path = tmp_path / "fake"
		path.write_text(f"#!{sys.executable}\nimport json, sys\njson.dump(sys.argv[1:], open({str(tmp_path / 'words')!r}, 'w'))\n"
			f"sys.stdout.write({output!r})\nsys.stderr.write({errors!r})\nsys.exit({code})\n")
		path.chmod(path.stat().st_mode | stat.S_IXUSR)
		monkeypatch.setenv("TILETUNE", str(path))
		return lambda: json.loads((tmp_path / "words").read_text())

	return make


def test_exit_codes(fake):
	for code in (3, 4):
		fake(json.dumps({"exit_code": code, "entries": []}), "1 slower\n", code)
		answer = tiletune.check("base.json")
		assert (answer.is_regression, answer.is_inconclusive) == (code == 3, code == 4)
	row = {"operation": "gemm", "problem": {"M": 1}, "verdict": "slower", "reason": "r", "baseline_us": 2.0, "time_us": 3.0}
	fake(json.dumps({"exit_code": 3, "entries": [row]}), "", 3)
	assert [(found.baseline_us, found.now_us) for found in tiletune.check("base.json").rows] == [(2.0, 3.0)]
	for code in (1, 2, 5, 130):
		fake("", "talk before\ntiletune: base.json: expected a file, found none\n  hint: tune first\n", code)
		with pytest.raises(tiletune.Error) as error:
			tiletune.check("base.json")
		assert (error.value.code, error.value.message, error.value.hint) == (code, "base.json: expected a file, found none", "tune first")
		assert str(error.value) == "base.json: expected a file, found none\nhint: tune first"
	for code, verdict, more in ((0, "right", {}), (1, "too fast", {"reason": "0.1 us"}), (3, "right", {"slowdown": {"ratio": 1.5}}), (4, "unstable", {})):
		fake(json.dumps({"exit_code": code, "verdict": verdict, "kernel": {"time_us": {"median": 2.5}}, **more}), "", code)
		judged = tiletune.judge("k.json", "n=1")
		assert (judged.exit_code, judged.verdict, judged.is_accepted, judged.time_us) == (code, verdict, code == 0, 2.5)
		assert (judged.reason, judged.slowdown) == (more.get("reason"), more.get("slowdown", {}).get("ratio"))
	fake("", "tiletune: no space left", 1)
	with pytest.raises(tiletune.Error, match="no space left"):
		tiletune.judge("k.json", "n=1")
	fake("", "", 7)
	with pytest.raises(tiletune.Error) as error:
		tiletune.report("a.json")
	assert error.value.message == "tiletune report ended with exit code 7"


def test_words(fake):
	words = fake()
	command.run("tune", "gemm", problem=[{"M": 1, "dtype": "bf16"}, "M=2"], family=["mma", "simt"], budget="30s", fresh=True, no_cache=False,
		journal=None, evaluations=5)
	assert words() == ["tune", "gemm", "--problem", "M=1,dtype=bf16", "--problem", "M=2", "--family", "mma", "--family", "simt", "--budget", "30s",
		"--fresh", "--evaluations", "5"]
	assert command.problems_of("M=1") == ["M=1"] and command.problems_of(None) == [] and command.problems_of({"M": 1}) == ["M=1"]


HELP = """options:
  -p, --problem PROBLEM         M=4096
  -f, --family NAME             only this family
      --cache-dir DIR           a folder
      --fresh                   start again
      --json                    the answer as JSON
"""


@pytest.mark.parametrize("arguments, named, expected", [
	((), {"M": [1, 16], "N": range(32, 97, 32), "dtype": "bf16", "causal": True, "family": ["mma", "simt"], "cache_dir": "x"},
		["--problem", "M=1,16,N=32:96:32,dtype=bf16,causal=1", "--family", "mma", "--family", "simt", "--cache-dir", "x"]),
	(({"M": [256, 512]},), {"fresh": True}, ["--problem", "M=256,512", "--fresh"]),
	((["M=1", {"M": 2}],), {}, ["--problem", "M=1", "--problem", "M=2"]),
	(({"family": 3},), {"family": "mma"}, ["--problem", "family=3", "--family", "mma"]),
])
def test_keywords_are_keys_or_options(arguments, named, expected, fake):
	words = fake(HELP)
	problems, options = command.split("explain", *(arguments or (None,)), named)
	command.run("explain", "gemm", problem=problems, **options)
	assert words() == ["explain", "gemm", *expected]


def test_unknown_options_beside_a_problem(fake):
	fake(HELP)
	with pytest.raises(tiletune.Error, match="explain: efort: no options of this command") as error:
		command.split("explain", "M=1", {"efort": "quick"})
	assert error.value.hint == "options are cache_dir, family, fresh, json, problem"


@pytest.mark.parametrize("key, hint", [("famly", "did you mean the option family?"), ("columns", None)])
def test_a_misspelt_option_is_an_unknown_key(key, hint, fake):
	fake(HELP, f'tiletune: problem "M=64,{key}=3": unknown key "{key}"; the keys of gemm are M, N', 2)
	command.option_names.cache_clear()
	with pytest.raises(tiletune.Error, match="unknown key") as error:
		tiletune.tune("gemm", M=64, **{key: 3})
	assert error.value.hint == hint


@pytest.mark.parametrize("text, expected", [
	("--cache-dir: expected a folder", "cache_dir: expected a folder"), ("hint: --path or -o FILE", 'hint: path or output="FILE"'),
	("--no-cache and `--device model:NAME`, or -p M=1,N=2.", 'no_cache and `device="model:NAME"`, or problem="M=1,N=2".'), ("M-p --x", "M-p x"), ("1 - 2 -3 -x5", "1 - 2 -3 -x5"), (None, None),
])
def test_messages_name_arguments(text, expected):
	assert command.in_python(text) == expected


def test_explain_advise_export_new_validate(tmp_path, tuned):
	device = {"device": "model:h200-sxm", "cache_dir": CACHE}
	explained = tiletune.explain("gemm", M=256, N=64, K=64, dtype="fp16", family="mma", config="BM=64,BN=64", **device)
	assert [(one.family, one.configuration["BM"], one.is_predicted) for one in explained] == [("gemm/mma", 64, True)] and explained[0].row["score"]["waves_exact"] > 0
	header = tiletune.export(tuned, "c-header", "gemm", M=256, N=64, K=64, dtype="fp16")
	assert "#ifndef" in header and tiletune.export(tuned, "make", output=str(tmp_path / "x.mk")) is None and (tmp_path / "x.mk").exists()
	(tmp_path / "add.cu").write_text('extern "C" __global__ void add(const float *a, float *b, int n) { b[0] = a[n]; }\n')
	draft = tiletune.new(str(tmp_path / "add.cu"), str(tmp_path / "add.json"))
	assert draft["keys"] == {"n": {}} and json.loads((tmp_path / "add.json").read_text()) == draft
	right, wrong = tiletune.validate(tuned, str(tmp_path / "add.json"))
	assert right.is_ok and right.format == "tiletune.tuned/1" and not wrong.is_ok and "?" in wrong.error


def test_advise(fake):
	entry = {"operation": "gemm", "problem": {"M": 64}, "timing": "predicted", "winner": {"family": "gemm/mma", "configuration": {"BM": 64}, "time_us": {"median": 3.5}}}
	fake(HELP + json.dumps({"entries": []}))
	command.option_names.cache_clear()
	fake(json.dumps({"entries": [entry, {**entry, "problem": {"M": 128}}]}))
	assert [(one.problem["M"], one.time_us) for one in tiletune.advise("gemm", "M=60")] == [(64, 3.5), (128, 3.5)]


def test_the_docstrings_stand_on_their_own():
	for name in tiletune.__all__:
		text = getattr(tiletune, name).__doc__ or ""
		assert len(text) > 20 and "README" not in text and "src/" not in text, name


def test_progress(fake, capfd):
	fake(errors="one\r\x1b[Ktwo\n\rthree")
	said = []
	command.run("tune", progress=said.append)
	assert said == ["one", "two", "three"]
	command.run("tune", progress=True)
	assert capfd.readouterr().err == "one\r\x1b[Ktwo\n\rthree"


def test_interrupt(tmp_path, monkeypatch):
	"""An exception of the caller's function ends the program by a signal, so that the program can save its journal."""
	fake = tmp_path / "fake"
	fake.write_text(f"#!{sys.executable}\nimport signal, sys, time\ndef end(*_):\n\topen({str(tmp_path / 'ended')!r}, 'w').close()\n\tsys.exit(130)\n"
		"signal.signal(signal.SIGTERM, end)\nprint('line', file=sys.stderr, flush=True)\ntime.sleep(600)\n")
	fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
	monkeypatch.setenv("TILETUNE", str(fake))

	def stop(_):
		raise KeyboardInterrupt

	with pytest.raises(KeyboardInterrupt):
		command.run("tune", progress=stop)
	assert (tmp_path / "ended").exists()


def test_where_the_program_is(tmp_path, monkeypatch):
	here = os.environ["TILETUNE"]
	assert command.find_program() == here
	monkeypatch.delenv("TILETUNE")
	monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
	(tmp_path / "tiletune").symlink_to(here)
	assert command.find_program() == str(tmp_path / "tiletune")  # the program of the environment
	(tmp_path / "tiletune").unlink()
	assert os.path.samefile(command.find_program(), os.path.join(ROOT, "build/tiletune"))  # the program of the checkout
	monkeypatch.setattr(command, "__file__", str(tmp_path / "a/b/c/d/e/command.py"))
	monkeypatch.setenv("PATH", os.path.dirname(here))
	assert command.find_program() == here
	monkeypatch.setenv("PATH", "")
	with pytest.raises(tiletune.Error, match="PATH"):
		command.find_program()
