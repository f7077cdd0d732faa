#!/usr/bin/python3
"""A program for an own kernel's JSON, whose behaviour for each configuration is set by its arguments.

	answering_program.py [prepare] [KEY=WHAT...]	KEY: "BM/BN"; WHAT: a name of the table below

Times depend only on the configuration: 10 + |BM - 48| + |BN - 80| / 2 microseconds. Each request, and a line for each started
process, is appended to the file that $ASKED names."""
import json
import os
import signal
import subprocess
import sys
import time

ABILITIES = [word for word in sys.argv[1:] if word == "prepare"]
WHATS = dict(word.split("=") for word in sys.argv[1:] if "=" in word)


def note(text):
	if "ASKED" in os.environ:
		with open(os.environ["ASKED"], "a", encoding="ascii") as file:
			file.write(text + "\n")


def raw(text):
	sys.stdout.write(text + "\n")
	sys.stdout.flush()


def hang():
	"""Answers nothing, with a child process that is silent, too."""
	child = subprocess.Popen(["sleep", "10000"])  # pylint: disable=consider-using-with
	note(f"child {child.pid}")
	while True:
		time.sleep(1)


def answer(request, job, configuration):
	def say(**members):
		raw(json.dumps({"id": request["id"], **members}))

	at = f"{configuration['BM']}/{configuration['BN']}"
	what = WHATS.get(at, "ok")
	time_us = 10 + abs(configuration["BM"] - 48) + abs(configuration["BN"] - 80) / 2
	samples = [time_us, time_us * 1.001, time_us * 0.999, time_us]
	right = {"points": 4, "violations": 0, "max_abs_error": 0, "max_rel_error": 0}
	good = {"job": job, "outcome": "ok", "samples_us": samples, "verification": right}
	say(progress=job, **({"allow_s": 0.2} if what == "hang" else {}))
	if what in ("hang", "forever"):
		hang()
	elif what == "killed" and len(request["jobs"]) > 1 and not os.path.exists(mark := f"killed.{at.replace('/', '-')}"):
		with open(mark, "w", encoding="ascii"):  # kill only once, in a request with other configurations
			os.kill(os.getpid(), signal.SIGKILL)
	elif what == "repeats":
		while True:
			say(progress=job)
			time.sleep(0.05)
	elif what == "floods":
		note(f"child {os.getpid()}")
		os.execvp("yes", ["yes", json.dumps({"id": request["id"], "progress": job})])
	elif what == "leaves":
		subprocess.Popen(["sleep", "10000"])  # pylint: disable=consider-using-with
		os._exit(3)
	elif what == "exit":
		print("a last word", file=sys.stderr, flush=True)
		os._exit(3)
	elif what == "long":
		raw("x" * (1 << 25))
		hang()
	elif what == "no_json":
		raw("it took 12 us")
	elif what == "another_id":
		raw(json.dumps({"id": request["id"] + 7, **good}))
	elif what == "another_job":
		say(**{**good, "job": 5})
	elif what == "no_points":
		say(**{**good, "verification": {**right, "points": 0}})
	elif what == "unverified":
		del good["verification"]
		say(**good)
	else:
		changes = {"nan": {"samples_us": [time_us, float("nan")]}, "negative": {"samples_us": [time_us, -time_us]}, "zero": {"samples_us": [0]},
			"none": {"samples_us": []}, "infinite": {"samples_us": [float("inf")]}, "unknown": {"outcome": "fine"}, "extra": {"time": 3},
			"wrong": {"verification": {**right, "violations": 2, "max_abs_error": 1}}, "refused": {"outcome": "compile_failed", "detail": "no such tile"}}
		say(**good, **{}) if what in ("ok", "twice", "killed") else say(**{**good, **changes[what]})
		if what == "twice":
			say(**good)


note(f"started {os.getcwd()}")
for line in sys.stdin:
	asked = json.loads(line)
	note(line.strip())
	if asked["request"] == "hello":
		raw(json.dumps({"id": asked["id"], "protocol": "tiletune.program/1", "versions": {"python": "3"}, "device": {"name": "a processor"},
			"abilities": ABILITIES}))
	elif asked["request"] == "prepare":
		one = asked["jobs"][0]["configuration"]
		if WHATS.get(f"{one['BM']}/{one['BN']}") == "prepare_exit":
			os._exit(4)
		raw(json.dumps({"id": asked["id"], "outcome": "ok"}))
	else:
		for index, each in enumerate(asked["jobs"]):
			answer(asked, index, each["configuration"])
