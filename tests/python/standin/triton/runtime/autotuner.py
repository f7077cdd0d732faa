"""The classes of triton.runtime.autotuner, with the members that tiletune uses."""
import inspect


class Config:
	def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None):
		self.kwargs, self.num_warps, self.num_stages, self.num_ctas = kwargs, num_warps, num_stages, num_ctas
		self.maxnreg, self.pre_hook, self.ir_override = maxnreg, pre_hook, ir_override

	def all_kwargs(self):
		options = {name: getattr(self, name) for name in ("num_warps", "num_ctas", "num_stages", "maxnreg", "ir_override")}
		return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}


class Launchable:
	def __getitem__(self, grid):
		return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)


class Heuristics(Launchable):
	def __init__(self, fn, arg_names, values):
		self.fn, self.arg_names, self.values = fn, arg_names, values

	def run(self, *args, **kwargs):
		for name, value in self.values.items():
			kwargs[name] = value({**dict(zip(self.arg_names, args)), **kwargs})
		return self.fn.run(*args, **kwargs)


class Autotuner(Launchable):
	def __init__(self, fn, arg_names, configs, key, reset_to_zero, restore_value, pre_hook=None, post_hook=None, prune_configs_by=None, warmup=None,
			rep=None, use_cuda_graph=False, do_bench=None):
		del warmup, rep, use_cuda_graph
		self.fn, self.arg_names, self.configs, self.keys, self.cache = fn, arg_names, configs, key, {}
		self.reset_to_zero, self.restore_value = list(reset_to_zero or []), list(restore_value or [])
		self.pre_hook, self.post_hook = pre_hook or (lambda kwargs, reset_only=False: 0), post_hook or (lambda kwargs, exception: 0)
		self.user_defined_pre_hook, self.user_defined_post_hook = bool(pre_hook), bool(post_hook)
		prune = prune_configs_by or {}
		self.perf_model, self.configs_top_k = prune.get("perf_model"), prune.get("top_k", 1.0)
		self.early_config_prune, self._do_bench = prune.get("early_config_prune"), do_bench
		self.base_fn = fn
		while not inspect.isfunction(self.base_fn):
			self.base_fn = self.base_fn.fn

	def run(self, *args, **kwargs):
		return self.fn.run(*args, **kwargs, **self.configs[0].all_kwargs())

	def prune_configs(self, kwargs):
		configs = self.early_config_prune(self.configs, self.nargs, **kwargs) if self.early_config_prune else self.configs
		if self.perf_model:
			configs = sorted(configs, key=lambda config: self.perf_model(**self.nargs, **kwargs, **config.all_kwargs()))[:self.configs_top_k]
		return configs
