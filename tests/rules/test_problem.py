"""Tests problems: lists, ranges and defaults of their texts, and their work (family/problem.h, templates/README.md)."""
import itertools

from hypothesis import given, strategies as draw

from oracle import ask, close

BYTES = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8_e4m3": 1}
sizes = draw.sampled_from([1, 2, 7, 16, 127, 128, 129, 4096])


def parse(text, operation="gemm", place="templates"):
	return ask("problems", place=place, operation=operation, text=text)


def members(text):
	return dict(item.split("=") for item in text.split(","))


@draw.composite
def value_list(pick, low=1):
	"""Draws (text, values) of numbers and of ranges, which include their end."""
	texts, values = [], []
	for _ in range(pick(draw.integers(1, 3))):
		start, length, step = pick(draw.integers(low, 9)), pick(draw.integers(0, 7)), pick(draw.sampled_from([None, 1, 2, 3, 8]))
		is_range = pick(draw.booleans())
		texts.append(f"{start}:{start + length}" + (f":{step}" if step else "") if is_range else str(start))
		values += range(start, start + length + 1, step or 1) if is_range else [start]
	return ",".join(texts), values


@given(value_list(), value_list(), draw.lists(draw.sampled_from(["fp16", "bf16", "fp32"]), min_size=1, max_size=2), draw.permutations([0, 1, 2]), draw.booleans(),
	draw.sampled_from(["", " "]))
def test_lists_and_ranges_are_multiplied_in_the_order_of_the_text(rows, columns, dtypes, order, is_group, blank):
	"""The last key of the text varies fastest."""
	named = [("M=N" if is_group else "M", rows), ("N", columns), ("dtype", (",".join(dtypes), dtypes))]
	used = [named[i] for i in order if not (is_group and i == 1)]
	text = ",".join(f"{name}{blank}={blank}{words}" for name, (words, _) in used) + ",K=8"
	expected = []
	for values in itertools.product(*(values for _, (_, values) in used)):
		by_name = {each: value for (name, _), value in zip(used, values) for each in name.split("=")}
		expected.append((str(by_name["M"]), str(by_name["N"]), by_name["dtype"]))
	got = parse(text)["problems"]
	assert [tuple(members(each["text"])[name] for name in ("M", "N", "dtype")) for each in got] == expected


@given(draw.data())
def test_texts_and_titles_name_the_same_problem(data):
	given_keys = {"M": data.draw(sizes), "N": data.draw(sizes), "K": data.draw(sizes), "dtype": data.draw(draw.sampled_from(["fp16", "bf16", "fp32", "tf32"]))}
	defaults = {"b_layout": "nk", "act": "none", "beta": "0", "alpha": "1", "bias": "none", "residual": "0"}
	choices = {"b_layout": ["nk", "kn"], "act": ["none", "silu"], "beta": ["0", "0.5", "1.0"], "alpha": ["1", "2e0"], "bias": ["none", "row"], "residual": ["0", "1"]}
	named = {key: data.draw(draw.sampled_from(values)) for key, values in choices.items() if data.draw(draw.booleans())}
	order = data.draw(draw.permutations([*given_keys.items(), *named.items()]))
	[got] = parse(",".join(f"{key}={value}" for key, value in order))["problems"]
	values = members(got["text"])
	expected = {**defaults, **{key: str(value) for key, value in given_keys.items()}, **named}
	expected.update({key: {"1.0": "1", "2e0": "2"}.get(expected[key], expected[key]) for key in ("alpha", "beta")})
	assert {key: values[key] for key in expected} == expected
	assert values["lda"] == values["K"] and values["ldb"] == (values["K"] if values["b_layout"] == "nk" else values["N"]) and values["ldc"] == values["N"]
	assert values["out_dtype"] == (values["dtype"] if values["dtype"] in ("fp16", "bf16") else "fp32")
	title = members(got["title"])
	assert set(title) == {"M", "N", "K", "dtype"} | {key for key in defaults if expected[key] != defaults[key]}
	assert parse(got["title"])["problems"] == parse(got["text"])["problems"] == [got]


@given(draw.sampled_from(["M=0", "M=-1", "M=2147483648", "M=1.5", "M=x", "M=", "M", "M=4:1", "M=1:4:0", "M=1:200000", "MM=4", "dtype=fp17", "act=relu,", "lda=7", "K=4,K=4", "=4", ",",
	"b_layout=kn,dtype=fp8_e4m3", "residual=2", "alpha=inf", "alpha=nan", "beta=1e999"]))
def test_what_is_no_problem_is_refused(words):
	base = {"M": "4", "N": "4", "K": "8", "dtype": "fp16"}
	given_keys = {item.split("=")[0] for item in words.split(",")}
	got = parse(",".join([f"{key}={value}" for key, value in base.items() if key not in given_keys] + [words]))
	assert got["refused"] and not got["problems"]


@given(draw.data())
def test_a_gemm_reads_and_writes_each_element_once(data):
	"""Rows may have unused padding, and products may share a matrix."""
	m, n, k, batch, pad = (data.draw(each) for each in (sizes, sizes, sizes, draw.sampled_from([1, 3]), draw.sampled_from([0, 8])))
	dtype, layout = data.draw(draw.sampled_from(["fp16", "bf16", "fp32", "tf32"])), data.draw(draw.sampled_from(["nk", "kn"]))
	out = data.draw(draw.sampled_from(["fp32", {"tf32": "fp32"}.get(dtype, dtype)]))
	shared_a, shared_b, beta, residual = (data.draw(draw.booleans()) for _ in range(4))
	text = f"M={m},N={n},K={k},dtype={dtype},out_dtype={out},b_layout={layout},batch={batch},lda={k + pad},ldb={(k if layout == 'nk' else n) + pad},ldc={n + pad}"
	text += (",rows_a=0" if shared_a else f",rows_a={m + pad}") + (",rows_b=0" if shared_b else "") + (",beta=0.5" if beta else "") + f",residual={int(residual)}"
	[got] = parse(text)["problems"]
	assert close(got["flop"], 2 * batch * m * n * k)
	a, b, c = m * k * (1 if shared_a else batch), n * k * (1 if shared_b else batch), batch * m * n * (1 + beta + residual)
	assert close(got["bytes"], (a + b) * BYTES[dtype] + c * BYTES[out])


@given(sizes, sizes, draw.sampled_from([0, 1, 5]), draw.booleans())
def test_tensors_of_ones_own_count_without_gaps(m, n, gap, wide):
	"""A tensor that is both read and written counts once, and an unused tensor does not count."""
	[got] = parse(f"m={m},n={n},pitch={n + gap},wide={int(wide)}", "pitched", "tests/data/rules/pitched.json")["problems"]
	assert close(got["bytes"], m * n * 4 + m * n * (4 if wide else 2) + (4 * m if wide else 0) + 2 * n)


@given(draw.data())
def test_other_operations_count_each_tensor_once(data):
	m, k, n, p = (data.draw(sizes) for _ in range(4))
	[got] = parse(f"m={m},k={k},n={n},p={p},dtype=bf16", "gemm_chain")["problems"]
	assert close(got["flop"], 2 * m * k * n + 2 * m * n * p) and close(got["bytes"], 2 * (m * k + k * n + n * p + m * p))
	batch, kv, groups, q, keys = (data.draw(draw.sampled_from(each)) for each in ([1, 3], [1, 2], [1, 4], [1, 7, 64], [64, 129]))
	head, value = data.draw(draw.sampled_from([(64, 64), (128, 64)]))
	[got] = parse(f"batch={batch},heads={kv * groups},kv_heads={kv},seq_q={q},seq_k={keys},head_dim={head},head_dim_v={value},dtype=bf16", "attention")["problems"]
	assert close(got["flop"], 2 * batch * kv * groups * q * keys * (head + value))
	assert close(got["bytes"], 2 * batch * (kv * groups * q * (head + value) + kv * keys * (head + value)))


@given(sizes, sizes, draw.sampled_from(["nk", "kn"]), draw.booleans(), draw.sampled_from(["M", "N", "K"]))
def test_problems_that_differ_in_one_key_also_differ_in_its_defaults(a, b, layout, other, key):
	base = {"M": 16, "N": 32, "K": 64, "dtype": "bf16", "b_layout": layout}
	first, second = {**base, key: a}, {**base, key: b, **({"act": "relu"} if other else {})}
	got = ask("differs_in", place="templates", operation="gemm", key=key, **{name: ",".join(f"{k}={v}" for k, v in each.items()) for name, each in (("a", first), ("b", second))})
	assert got == (not other)


def shard(words, text="M=1,64,4096,N=64,8192,K=64,4096,dtype=bf16,fp32"):
	return ask("shard", place="templates", operation="gemm", text=text, shard=words)


@given(draw.integers(1, 9), draw.integers(1, 4))
def test_shards_are_the_whole_list_once(count, inner):
	whole = shard("1/1")
	parts = [shard(f"{i + 1}/{count}") for i in range(count)]
	assert len(whole) == 24 and sorted(sum(parts, [])) == sorted(whole)
	for part in parts:
		assert part == [each for each in whole if each in part]  # shards preserve the order
	nested = [shard(f"{count}/{count},{i + 1}/{inner}") for i in range(inner)]
	assert sorted(sum(nested, [])) == sorted(parts[-1])
	assert all(each == [one for one in whole if one in each] for each in nested)


@given(draw.sampled_from(["", "1", "0/2", "3/2", "1/0", "1/2,", "1/2,1/2,1/2", "a/2", "1/2x", "-1/2", "1/100001", " 1/2", "+1/2"]))
def test_what_is_no_shard_is_refused(words):
	assert "expected I/N" in shard(words)
