# SPDX-License-Identifier: MIT
"""Packs the wheel, or the source distribution, of tiletune: PyPA's formats (wheel 1.0, metadata 2.4), using only the standard library.

    pack.py wheel FOLDER TAG [LICENCE...] -o DEST    FOLDER: tiletune, libtiletune_launch.so, include/ as built by make
    pack.py sdist -o DEST                            committed files without results/; pip gets the reason why it cannot build them

Run it at the top of a checkout. TAG: linux_x86_64, manylinux_2_28_aarch64, ... LICENCE: NAME=FILE, of a library that is linked in.
The same files give bitwise the same archive. Prints its path."""

from __future__ import annotations

import argparse
import base64
import glob
import gzip
import hashlib
import io
import os
import re
import subprocess
import tarfile
import zipfile
from typing import Optional

EPOCH = 315532800  # 1980 is the first year of zip
# the compilers of CUDA Tile C++, as tests/cuda.sh pins them: all of one release
TILE = ["cuda-nvrtc", "cuda-tileiras", "nvvm", "cuda-nvcc", "cuda-crt", "cuda-runtime"]
TILE_VERSION = "13.5.37"
# headers and NVRTC; the program takes CUDA 12's where the driver loads no newer ones
REQUIRED = {"": ["nvrtc", "runtime", "cccl", "crt"], "cu12": ["nvrtc", "runtime", "cccl"]}


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def version() -> str:
    """Returns the version, which the Makefile defines."""
    found = re.search(r"^VERSION *:= *(\S+)$", read("Makefile").decode(), re.M)
    if not found:
        raise SystemExit("Makefile: expected a line VERSION := N.N.N, found none")
    return found[1]


def description() -> str:
    """Returns README without links to other files of the tree."""
    text = re.sub(r"^!\[.*\n+(\*.*\n+)?", "", read("README.md").decode(), flags=re.M)
    return re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text)


def metadata(licences: list[str]) -> bytes:
    required = [f"Requires-Dist: nvidia-cuda-{name}>=13,<14" for name in REQUIRED[""]]
    required += [f'Requires-Dist: nvidia-cuda-{name}-cu12>=12,<13; extra == "cu12"' for name in REQUIRED["cu12"]]
    required += [f'Requires-Dist: nvidia-{name}=={TILE_VERSION}; extra == "tile"' for name in TILE]
    return "\n".join(["Metadata-Version: 2.4", "Name: tiletune", f"Version: {version()}",
        "Summary: Finds the fastest tile shapes of GPU kernels on your GPU, and writes them to JSON",
        "Keywords: autotuner,cuda,gpu,gemm,attention", "Author: The tiletune maintainers",
        f"License-Expression: {'MIT AND BSD-2-Clause AND Zlib' if len(licences) > 1 else 'MIT'}", *(f"License-File: {name}" for name in licences),
        "Classifier: Environment :: Console", "Classifier: Environment :: GPU :: NVIDIA CUDA", "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Programming Language :: C", "Requires-Python: >=3.9", "Provides-Extra: cu12", "Provides-Extra: tile", *required,
        "Description-Content-Type: text/markdown", "", description()]).encode()


def record(name: str, content: Optional[bytes]) -> str:
    if content is None:
        return f"{name},,\n"
    return f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}\n"


def wheel(folder: str, tag: str, licences: dict[str, str], destination: str) -> str:
    """Returns the wheel's files: bin/tiletune is the program itself; templates, configs and the header are in the places of `make
    install`."""
    stem = f"tiletune-{version()}"
    texts = {"LICENSE": "LICENSE", **{f"LICENSE.{name}": path for name, path in licences.items()}}
    files = {f"tiletune/{os.path.basename(path)}": path for path in glob.glob("src/python/tiletune/*.py")}
    files |= {"tiletune/py.typed": "src/python/tiletune/py.typed", "tiletune/libtiletune_launch.so": f"{folder}/libtiletune_launch.so",
        f"{stem}.data/scripts/tiletune": f"{folder}/tiletune",
        f"{stem}.data/data/include/tiletune_launch.h": f"{folder}/include/tiletune_launch.h"}
    data = subprocess.run(["git", "ls-files", "templates", "configs"], check=True, capture_output=True, text=True).stdout.split("\n")
    files |= {f"{stem}.data/data/share/tiletune/{path}": path for path in data if path}
    info = f"{stem}.dist-info"
    contents = {name: read(path) for name, path in sorted(files.items())}
    contents[f"{info}/METADATA"] = metadata(list(texts))
    contents[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tiletune\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n".encode()
    contents |= {f"{info}/licenses/{name}": read(path) for name, path in texts.items()}
    lines = "".join(record(name, content) for name, content in contents.items())
    contents[f"{info}/RECORD"] = (lines + record(f"{info}/RECORD", None)).encode()
    path = f"{destination}/{stem}-py3-none-{tag}.whl"
    with zipfile.ZipFile(path + ".new", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in name or name.endswith(".so") else 0o100644) << 16
            archive.writestr(entry, content)
    os.replace(path + ".new", path)
    return path


def sdist(destination: str) -> str:
    stem = f"tiletune-{version()}"
    names = subprocess.run(["git", "ls-files", "--", ".", ":!results", ":!.ci", ":!.git*"], check=True, capture_output=True, text=True).stdout.split("\n")
    contents = {name: (read(name), os.access(name, os.X_OK)) for name in names if name and not os.path.islink(name)}
    contents["PKG-INFO"] = metadata(["LICENSE"]), False
    contents["pyproject.toml"] = b'[build-system]\nrequires = []\nbuild-backend = "no_build"\nbackend-path = ["src/python/wheel"]\n', False
    path = f"{destination}/{stem}.tar.gz"
    with open(path + ".new", "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=EPOCH) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, (content, is_program) in sorted(contents.items()):
            entry = tarfile.TarInfo(f"{stem}/{name}")
            entry.size, entry.mtime, entry.mode = len(content), EPOCH, 0o755 if is_program else 0o644
            archive.addfile(entry, io.BytesIO(content))
    os.replace(path + ".new", path)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("kind", choices=["wheel", "sdist"])
    parser.add_argument("words", nargs="*", metavar="FOLDER TAG [NAME=FILE...]")
    parser.add_argument("-o", "--output", required=True, metavar="DEST")
    options = parser.parse_args()
    os.makedirs(options.output, exist_ok=True)
    if options.kind == "sdist":
        print(sdist(options.output))
        return
    folder, tag, *licences = options.words
    print(wheel(folder, tag, dict(word.split("=", 1) for word in licences), options.output))


if __name__ == "__main__":
    main()
