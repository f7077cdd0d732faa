"""Finds which test runs which function, by running the fast tests once on a build with --coverage.

Reads the files of gcc 12 (gcov-io.h: notes with the functions' lines, data with their counters)."""
import os
import struct

FUNCTION, ARCS = 0x01000000, 0x01A10000


def words(data, at, count):
	return struct.unpack_from(f"<{count}I", data, at)


def notes(path):
	"""Returns the identifier and name of each function of an object."""
	with open(path, "rb") as file:
		data = file.read()
	functions, at = {}, 16
	at += 4 + words(data, at, 1)[0] + 4  # skips the name of the folder, and the flag for unexecuted blocks
	while at + 8 <= len(data):
		tag, length = words(data, at, 2)
		if tag == FUNCTION:
			ident = words(data, at + 8, 1)[0]
			size = words(data, at + 20, 1)[0]
			functions[ident] = data[at + 24 : at + 24 + size].rstrip(b"\0").decode()
		if tag == 0 and length == 0:
			break
		at += 8 + length
	return functions


def ran(path):
	"""Returns the identifiers of the functions with an executed arc."""
	with open(path, "rb") as file:
		data = file.read()
	found, ident, at = set(), None, 16
	while at + 8 <= len(data):
		tag, length = words(data, at, 2)
		at += 8
		if tag == FUNCTION and length:
			ident = words(data, at, 1)[0]
		elif tag == ARCS and length < 0x80000000 and any(data[at : at + length]):
			found.add(ident)
		elif tag == 0:
			break
		at += length if length < 0x80000000 else 0
	return found


def collect(prefix, build, known):
	"""Functions that a test ran: {"src/base/text.c:text_append"}. prefix: the folder of its data; known: notes by object."""
	found = set()
	for folder, _, names in os.walk(prefix):
		for name in names:
			path = os.path.join(folder, name)
			object_path = os.path.relpath(path, prefix)
			marker = os.path.join(build, "obj") + os.sep
			if not name.endswith(".gcda") or marker not in "/" + object_path:
				continue
			unit = object_path.split(marker.lstrip("/"), 1)[-1] if marker.lstrip("/") in object_path else object_path
			source = "src/" + unit[: -len(".gcda")] + ".c"
			if source not in known:
				known[source] = notes("/" + object_path[: -len(".gcda")] + ".gcno")
			found |= {f"{source}:{known[source][ident]}" for ident in ran(path) if ident in known[source]}
	return found
