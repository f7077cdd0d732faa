"""Compares the formats of services that track benchmarks with the tuned file that they were exported from: Bencher Metric Format (schema
https://bencher.dev/bmf.json) and github-action-benchmark's list.

	benchmarks.py TUNED.json BENCHER.json GITHUB.json"""
import json
import sys

import jsonschema

NUMBER = {"type": "number"}
BENCHER = {"type": "object", "minProperties": 1, "additionalProperties": {"type": "object", "additionalProperties": {
    "type": "object", "properties": {"value": NUMBER, "lower_value": NUMBER, "upper_value": NUMBER},
    "required": ["value"], "additionalProperties": False}}}
STRING = {"type": "string", "minLength": 1}
GITHUB = {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["name", "unit", "value"],
    "properties": {"name": STRING, "unit": STRING, "value": NUMBER, "range": STRING, "extra": STRING},
    "additionalProperties": False}}

tuned, bencher, github = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
jsonschema.validate(bencher, BENCHER)
jsonschema.validate(github, GITHUB)
assert len(bencher) == len(github) == len(tuned["entries"]), (len(bencher), len(github))
listed = {item["name"]: item for item in github}
for entry in tuned["entries"]:
    name = entry["operation"] + " " + ",".join(f"{key}={value}" for key, value in entry["problem"].items())
    name += f" (best {entry['objective']})" if "objective" in entry else ""
    time = entry["winner"]["time_us"]
    assert len(name) <= 1024, name
    if entry["timing"] == "predicted":  # no latency and no interval
        assert list(bencher[name]) == ["predicted-latency"] and list(bencher[name]["predicted-latency"]) == ["value"], bencher[name]
        assert abs(bencher[name]["predicted-latency"]["value"] - 1000 * time["median"]) <= 1e-6 * 1000 * time["median"], name
        assert "range" not in listed[name + " (predicted)"], name
        continue
    metric = bencher[name]["latency"]
    for key, member in (("median", "value"), ("ci95_low", "lower_value"), ("ci95_high", "upper_value")):
        assert abs(metric[member] - 1000 * time[key]) <= 1e-6 * metric[member], (name, member)
    assert metric["lower_value"] <= metric["value"] <= metric["upper_value"], name
    item = listed[name]
    assert item["unit"] == "us" and abs(item["value"] - time["median"]) <= 1e-9 * item["value"], item
    assert abs(float(item["range"].removeprefix("± ")) - (time["ci95_high"] - time["ci95_low"]) / 2) <= 1e-3 * item["value"], item
    assert item["extra"].startswith(entry["winner"]["family"] + " {"), item
