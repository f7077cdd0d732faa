"""A family's JSON as the program reads it, with the members inherited from the family that it extends (templates/README.md)."""
import json
import os

# for lists: the member that names an item; with True, inherited items are merged
LISTS = {"constraints": ("why", False), "prune": ("why", False), "workspaces": ("name", True), "tensor_maps": ("name", True), "launches": ("entry", True)}


def complete(base, own):
	"""Returns an item with the members that it omits; for a launch also those of its model."""
	return {**base, **own, **({"model": {**base["model"], **own["model"]}} if "model" in base and "model" in own else {})}


def join_lists(base, own, key, is_completed):
	like = {item[key]: item for item in reversed(base)}
	names = {item[key] for item in own}
	return [complete(like.get(item[key], {}), item) if is_completed else item for item in own] + [item for item in base if item[key] not in names]


def load(path):
	with open(path, encoding="utf-8") as file:
		own = json.load(file)
	if "extends" not in own:
		return own
	base = load(os.path.join(os.path.dirname(path), own.pop("extends") + ".json"))
	whole = {name: value for name, value in base.items() if name not in ("format", "operation", "name", "summary", "help", "examples")}
	for name, value in own.items():
		if name in whole and name in LISTS:
			value = join_lists(whole[name], value, *LISTS[name])
		elif name == "parameters" and name in whole:
			value = {**{key: each for key, each in value.items() if key not in whole[name]}, **whole[name], **value}
		elif name in ("defaults", "constants", "symbols") and name in whole:
			value = {**whole[name], **value}
		whole[name] = value
	return whole
