"""ask(RULE, member=value, ...) returns the answer of the program of tests/rules to a case."""
import functools
import json
import math
import os
import subprocess

import hypothesis

# fixed seeds, no clock and no stored examples give the same result everywhere
hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None, database=None, max_examples=int(os.environ.get("EXAMPLES", "200")),
	suppress_health_check=list(hypothesis.HealthCheck))
hypothesis.settings.load_profile("fixed")


def plain(value):
	"""Replaces infinity and NaN, which JSON lacks."""
	if isinstance(value, dict):
		return {key: plain(each) for key, each in value.items()}
	if isinstance(value, (list, tuple)):
		return [plain(each) for each in value]
	if isinstance(value, float) and not math.isfinite(value):
		return None if math.isnan(value) else "inf"
	return value


class Program:
	def __init__(self):
		self.process = None

	def start(self):
		# the program never frees a case, so leak detection is off
		self.process = subprocess.Popen([os.environ["TEST_OUT"] + "/tests/rules"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
			env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})

	def __call__(self, rule, **case):
		if not self.process or self.process.poll() is not None:
			self.start()
		self.process.stdin.write(json.dumps([rule, plain(case)]) + "\n")
		self.process.stdin.flush()
		answer = self.process.stdout.readline()
		assert answer, f"the program ended with {self.process.wait()} at {rule} {case}"
		return json.loads(answer)


ask = Program()


def close(a, b):
	return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)


def close_interval(got, expected):
	"""The program's quantiles of Student's distribution have four digits."""
	value, low, high = expected
	slack = 2e-4 * (high - low) + 1e-9 * abs(value)
	return all(abs(got[name] - each) <= slack for name, each in zip(("value", "low", "high"), (value, low, high)))


@functools.lru_cache(maxsize=None)
def student(degrees, confidence):
	"""Returns the two-sided quantile of Student's distribution."""
	scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
	steps = 2000

	def inside(t):  # integrand of Simpson's rule, over the angle whose tangent is x / sqrt(degrees)
		angle = math.atan(t / math.sqrt(degrees))
		values = [math.cos(angle * i / steps) ** (degrees - 1) for i in range(steps + 1)]
		total = values[0] + values[-1] + 4 * sum(values[1::2]) + 2 * sum(values[2:-1:2])
		return 2 * scale * math.sqrt(degrees) * angle / steps / 3 * total
	low, high = 0.0, 1000.0
	for _ in range(60):
		middle = (low + high) / 2
		low, high = (middle, high) if inside(middle) < confidence else (low, middle)
	return low
