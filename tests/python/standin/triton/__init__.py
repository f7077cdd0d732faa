"""The parts of triton that @tiletune.autotune uses, for machines without it: a kernel is a function of numpy arrays, which runs once."""
import inspect
import os

from .runtime.autotuner import Autotuner, Config, Heuristics

__version__ = "0.0"
if "STANDIN_IMPORTS" in os.environ:
	with open(os.environ["STANDIN_IMPORTS"], "a", encoding="utf-8") as imports:
		imports.write(f"{os.getpid()}\n")


class Kernel:
	def __init__(self, fn):
		self.fn, self.__name__ = fn, fn.__name__
		self.arg_names = list(inspect.signature(fn).parameters)

	def __getitem__(self, grid):
		return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)

	def run(self, *args, grid, warmup, **kwargs):
		del warmup
		known = {name: value for name, value in kwargs.items() if name in self.arg_names}
		sizes = grid({**dict(zip(self.arg_names, args)), **kwargs}) if callable(grid) else grid
		self.fn.__globals__["GRID"] = sizes
		return self.fn(*args, **known)


def jit(fn):
	return Kernel(fn)


def heuristics(values):
	return lambda fn: Heuristics(fn, fn.arg_names, values)


def autotune(configs, key, **options):
	return lambda fn: Autotuner(fn, fn.arg_names, configs, key, options.pop("reset_to_zero", None), options.pop("restore_value", None), **options)
