#!/usr/bin/env python3
"""Checks the JSON files that people write against configs/schemas; run from the top folder."""
import copy, glob, json, sys
import jsonschema

FILES = {
	"device": glob.glob("configs/devices/*.json") + glob.glob("tests/toy/configs/devices/*.json"),
	"device_defaults": glob.glob("configs/devices/defaults/*.json"),
	"operation": glob.glob("templates/*/operation.json") + glob.glob("tests/*/templates/*/operation.json")
		+ glob.glob("tests/data/*/templates/*/operation.json"),
	"family": [f for pattern in ("templates/*/*.json", "tests/toy/templates/*/*.json", "tests/data/kernel/templates/*/*.json")
		for f in glob.glob(pattern) if not f.endswith("/operation.json")],
}
# file, JSON path of what is changed, new value (None: left out)
BROKEN = [
	("device", "tests/toy/configs/devices/toy.json", ["figures", "sm_count", "value"], 4.5),
	("device", "tests/toy/configs/devices/toy.json", ["figures", "sm_count", "source"], None),
	("device", "tests/toy/configs/devices/toy.json", ["figures", "clock_hz"], None),
	("device", "tests/toy/configs/devices/toy.json", ["figures", "clocks"], {"value": 1, "source": "x"}),
	("device", "tests/toy/configs/devices/toy.json", ["rates", "tensor", ], {}),
	("device", "tests/toy/configs/devices/toy.json", ["max_clusters", "3"], {"value": 1, "source": "x"}),
	("device_defaults", "configs/devices/defaults/sm_80.json", ["arch"], "80"),
	("operation", "tests/data/kernel/templates/widget/operation.json", ["keys", "M", "type"], "float"),
	("operation", "tests/data/kernel/templates/widget/operation.json", ["keys", "layout", "as"], "argument"),
	("operation", "tests/data/kernel/templates/widget/operation.json", ["tensors", "X", "role"], "both"),
	("operation", "tests/data/kernel/templates/widget/operation.json", ["rules", 0, "expression"], None),
	("operation", "tests/data/kernel/templates/widget/operation.json", ["summary"], None),
	("family", "tests/data/kernel/templates/widget/full.json", ["launches", 0, "grid"], ["1", "1", "1", "1"]),
	("family", "tests/data/kernel/templates/widget/full.json", ["launches", 0, "model", "per_step", "flop"], 1),
	("family", "tests/data/kernel/templates/widget/full.json", ["launches", 0, "entry"], None),
	("family", "tests/data/kernel/templates/widget/full.json", ["constraints", 0, "why"], None),
	("family", "tests/data/kernel/templates/widget/full.json", ["parameters", "2BM"], [1]),
	("family", "tests/data/kernel/templates/widget/full.json", ["launches"], None),
	("family", "tests/data/kernel/templates/widget/pair.json", ["source"], "x.cu"),
	("family", "tests/data/kernel/templates/widget/pair.json", ["steps"], []),
]


def load(path):
	with open(path) as file:
		return json.load(file)


def change(document, path, value):
	document = copy.deepcopy(document)
	place = document
	for key in path[:-1]:
		place = place[key]
	if value is None:
		del place[path[-1]]
	else:
		place[path[-1]] = value
	return document


bad = 0
validators = {}
for name, files in FILES.items():
	schema = load(f"configs/schemas/{name}.schema.json")
	jsonschema.Draft7Validator.check_schema(schema)
	validators[name] = jsonschema.Draft7Validator(schema)
	if not files:
		print(f"{name}: expected files to check, found none")
		bad = 1
	for path in sorted(files):
		for error in validators[name].iter_errors(load(path)):
			print(f"{path}: {error.json_path}: {error.message[:200]}")
			bad = 1
for name, path, where, value in BROKEN:
	if validators[name].is_valid(change(load(path), where, value)):
		print(f"{name} schema: accepts {path} with {where} = {value!r}")
		bad = 1
sys.exit(bad)
