"""tiletune.program: inputs that tell outputs apart, comparison of outputs, kernels that change their inputs. All on the CPU, with numpy."""
import types

import pytest

numpy = pytest.importorskip("numpy")
from tiletune import program_job  # noqa: E402  pylint: disable=wrong-import-position


@pytest.mark.parametrize("dtype, low, high", [("int8", -100, 100), ("uint8", 0, 200), ("int32", -100, 100), ("int64", -100, 100), ("bool", 0, 1), ("float32", -1, 1)])
def test_inputs_of_every_type_are_spread(dtype, low, high):
    made = program_job.filled(((5000,), dtype), numpy.random.default_rng(1))
    assert made.dtype == dtype and low <= made.min() and made.max() <= high
    assert made.astype(float).std() > (high - low) / 5


INF, NAN = float("inf"), float("nan")
MASKED = [1.0] * 63 + [-1e9]


@pytest.mark.parametrize("dtype, found, expected, violations", [
    ("float32", [-INF, 1, NAN], [-INF, 1, NAN], 0),
    ("float32", [INF, 1, 2], [-INF, 1, 2], 1),
    ("float32", [5, 5, 5], [-INF, 1, NAN], 3),
    ("float32", [INF, NAN, 2], [1, 1, 2], 2),
    ("float16", [INF, 1], [70000.0, 1], 0),  # overflows in the output's type
    ("float16", [3, 1], [70000.0, 1], 1),
    ("float32", [0.0] * 63 + [-1e9], MASKED, 63),  # a mask does not hide the other elements
    ("float32", MASKED, MASKED, 0),
    ("int64", [2**62, 1], [2**62 + 1, 1], 1),  # not rounded to a double
])
def test_comparison_of_outputs(dtype, found, expected, violations):
    result = program_job.compared(numpy.array(found, dtype), numpy.array(expected, None if dtype.startswith("float") else dtype))
    assert result["violations"] == violations and result["points"] == len(found)
    assert numpy.isfinite([result["max_abs_error"], result["max_rel_error"]]).all()  # JSON has no infinity


def test_inputs_that_a_run_changes_are_restored():
    runs = []

    def make(_problem, configuration):
        def run(values, sums):
            runs.append(values[0])
            values += 1
            sums[:] = values * configuration["factor"]
        return run, [((100,), "float64")]

    user = types.SimpleNamespace(seed=1, inputs=lambda _: [((100,), "float64")], reference=lambda _, values: values + 1, make=make)
    data = program_job.Data({}, user)
    for factor, violations in ((1, 0), (2, 100), (1, 0)):
        job = program_job.Job({}, {"factor": factor}, user, data)
        job.sample_us()
        assert job.verified()["violations"] == violations
        job.sample_us()
        assert job.verified()["violations"] == violations
    starts = {values[0] for values in [arrays[0] for arrays in data.sets]}
    assert set(runs) <= starts, "a run began with inputs that another run had changed"
