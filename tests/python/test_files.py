"""Files are written as a whole, and never through a link that another user may have created."""
import os
import stat

import pytest

import tiletune
from conftest import ROOT
from tiletune import formats, rules, suites, t1, t4
from tiletune.files import write_file


def test_whole(tmp_path):
	path = tmp_path / "a.json"
	write_file(str(path), "one")
	mask = os.umask(0)
	os.umask(mask)
	assert path.read_text() == "one" and stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
	path.chmod(0o640)
	write_file(str(path), "two")
	assert path.read_text() == "two" and stat.S_IMODE(path.stat().st_mode) == 0o640 and os.listdir(tmp_path) == ["a.json"]
	(tmp_path / "link").symlink_to("a.json")  # the link belongs to the same user, and so does its folder
	write_file(str(tmp_path / "link"), "three")
	assert path.read_text() == "three" and (tmp_path / "link").is_symlink()
	write_file("/dev/null", "nothing")
	with pytest.raises(OSError):
		write_file(str(tmp_path / "none" / "a.json"), "one")


@pytest.fixture
def planted(tmp_path):
	"""Makes a link to the user's file, in a folder that everybody can write to."""
	folder, victim = tmp_path / "shared", tmp_path / "victim"
	folder.mkdir()
	folder.chmod(0o1777)
	victim.write_text("mine")
	(folder / "out").symlink_to(victim)
	(folder / "way").symlink_to(tmp_path)
	yield folder / "out"
	assert victim.read_text() == "mine"


def test_links(planted):
	for path in (planted, planted.parent / "way" / "victim"):
		with pytest.raises(tiletune.Error, match="expected no link"):
			write_file(str(path), "theirs")


def test_writers(planted, tuned, capsys):
	"""Calls every command and function that writes a file named by the user."""
	kernel = os.path.join(ROOT, "tests/own/vector_add.t1.json")
	out = str(planted)
	assert t1.main([kernel, "-o", out]) and t4.main([tuned, "-o", out])
	assert rules.main([os.path.join(ROOT, "results/nvidia-h200/tuned.json"), "gemm", "-p", "dtype=fp8_e4m3,accum=fast", "--format", "py", "-o", out])
	with pytest.raises(tiletune.Error, match="expected no link"):
		suites.write(out, "gemm", [], "")
	with pytest.raises(tiletune.Error, match="expected no link"):
		formats.write_table(os.path.dirname(out), os.path.basename(out), {})
	assert capsys.readouterr().err.count("expected no link") == 3
