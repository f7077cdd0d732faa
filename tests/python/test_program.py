"""tiletune.program: inputs that distinguish outputs, comparison of outputs, kernels that change their inputs. All on the CPU, with
numpy."""
import json
import types

import pytest

numpy = pytest.importorskip("numpy")
import tiletune  # noqa: E402  pylint: disable=wrong-import-position
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
    ("float16", [INF, 1], [70000.0, 1], 0),  # the value overflows in the output's type
    ("float16", [3, 1], [70000.0, 1], 1),
    ("float32", [0.0] * 63 + [-1e9], MASKED, 63),  # a mask does not hide the other elements
    ("float32", MASKED, MASKED, 0),
    ("int64", [2**62, 1], [2**62 + 1, 1], 1),  # the comparison must not round integers to doubles
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


def test_configurations_with_the_same_code_share_their_time():
    """Otherwise noise would decide between a configuration and its copy, for example one whose num_stages has no effect."""
    from tiletune import decorator_kernel, program  # pylint: disable=import-outside-toplevel
    kernels = decorator_kernel.KernelProgram.__new__(decorator_kernel.KernelProgram)
    config = types.SimpleNamespace(kwargs={"BLOCK": 64, "runtime": 1}, pre_hook=None)
    kernels.kernel = types.SimpleNamespace(space=types.SimpleNamespace(config=lambda _: config), heuristics={}, user_defined_pre_hook=False,
        user_defined_post_hook=False, base_jit=types.SimpleNamespace(params=[types.SimpleNamespace(name="BLOCK", is_constexpr=True)]))

    def code(cubin=b"code", grid=(4,), passed=1, warps=4):
        config.kwargs["runtime"] = passed
        compiled = types.SimpleNamespace(asm={"cubin": cubin}, metadata=types.SimpleNamespace(num_warps=warps, num_ctas=1, shared=0, name="k"))
        return kernels.code_of(compiled, {"grid": {"reads": [], "rows": [[[], list(grid)]]}}, {})

    assert code() == code() and len({code(), code(b"other"), code(grid=(5,)), code(passed=2), code(warps=8)}) == 5
    config.pre_hook = print
    assert code() is None

    times = iter(range(1, 100))
    shared, other = (types.SimpleNamespace(sample_us=lambda: float(next(times))) for _ in range(2))
    user = program.Program(None, None, None, None)
    jobs, said = iter([shared, other, shared]), []
    user.job, user.say = lambda _: next(jobs), lambda **members: said.append(members)
    user.measure({"jobs": [{"configuration": i} for i in range(3)], "verify": False, "rounds": 2, "seconds": 0, "give_up_us": 0})
    assert [members["samples_us"] for members in said if "samples_us" in members] == [[1, 3], [2, 4], [1, 3]]


NOISY = """
import json, os, random, sys
times = [60, 60, 52.4, 52.4, 51.45, 51.45, 51.2, 51.25, 51.4, 51.4, 60, 60]  # of a layer norm, by number of warps and stages
noise = random.Random(int(sys.argv[1]))
here = [time * (1 + noise.gauss(0, 0.002)) for time in times]  # of this process
for line in sys.stdin:
    request = json.loads(line)
    for index, job in enumerate(request.get("jobs", [])):
        samples = [here[job["configuration"]["I"]] * (1 + noise.gauss(0, 0.008) + (noise.random() < 0.03) * noise.random() * 0.1) for _ in range(request["rounds"])]
        check = {"verification": {"points": 1, "violations": 0, "max_abs_error": 0, "max_rel_error": 0}} if request["verify"] else {}
        print(json.dumps({"id": request["id"], "job": index, "outcome": "ok", "samples_us": samples, **check}), flush=True)
    if request["request"] == "hello":
        print(json.dumps({"id": request["id"], "protocol": "tiletune.program/1", "versions": {}, "device": {"name": "noisy"}, "abilities": []}), flush=True)
"""


def test_five_runs_give_the_same_answer(tmp_path, monkeypatch):
    """Among configurations within the noise the order of the list decides, although another one is the fastest in each run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "noisy.py").write_text(NOISY)
    fastest = set()
    for seed in range(5):
        (tmp_path / "noisy.json").write_text(json.dumps({"format": "tiletune.own_kernel/1", "name": "noisy", "summary": "", "keys": {"n": {}},
            "program": ["python3", "noisy.py", str(seed)], "parameters": {"I": list(range(12))}}))
        entry = tiletune.tune("noisy.json", n=1, output=f"{seed}.json").entries[0]
        assert entry["winner"]["configuration"] == {"I": 4}, seed
        rows = [entry["winner"], *entry["tied"]]
        fastest.add(min(rows, key=lambda row: row["time_us"]["median"])["configuration"]["I"])
    assert len(fastest) > 1, "the fastest is the same in each run, so that this tests nothing"
