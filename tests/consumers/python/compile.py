"""Compiles the output of `export --format source` with NVRTC only, and compares it with the exported cubin.

    compile.py LIBNVRTC KERNEL.cu.json KERNEL.cubin.json"""
import ctypes
import json
import os
import sys


def compile_source(nvrtc, source, options):
    program = ctypes.c_void_p()
    size = ctypes.c_size_t()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None) == 0
    if nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)):
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        sys.exit(log.value.decode()[:2000])
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, cubin)
    return cubin.raw


library = ctypes.CDLL(sys.argv[1])
source, cubin = (json.load(open(path, encoding="utf-8")) for path in sys.argv[2:4])
assert source["plan"] == cubin["plan"] and source["kernel_hash"] == cubin["kernel_hash"]
for ours, theirs in zip(source["units"], cubin["units"], strict=True):
    with open(os.path.join(os.path.dirname(sys.argv[2]), ours["file"]), "rb") as file:
        text = file.read()
    with open(os.path.join(os.path.dirname(sys.argv[3]), theirs["file"]), "rb") as file:
        expected = file.read()
    # the source contains the -D list
    options = ["--gpu-architecture=" + source["arch"]] + [o for o in ours["options"] if not o.startswith("-D")]
    if compile_source(library, text, [option.encode() for option in options]) != expected:
        sys.exit(f"{ours['file']} compiles into something else than {theirs['file']}")
