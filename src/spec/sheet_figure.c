/* SPDX-License-Identifier: MIT
 *
 * Figures and rates of a sheet.
 */
#include <math.h>
#include <string.h>

#include "spec/sheet.h"

static const char *const figure_keys[] = {"value", "source", "estimated", NULL};

enum status sheet_figure(
	const struct json_at *at, double *value, bool *estimated, struct error *err)
{
	struct json_at member;
	const char *source;

	if (json_expect_keys(at, figure_keys, err) != STATUS_OK ||
		json_member_string(at, "source", &source, err) != STATUS_OK ||
		json_member(at, "value", &member, err) != STATUS_OK ||
		json_get_double(&member, value, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (!isfinite(*value) || *value < 0)
		return json_error(&member, err, "a number that is not negative");
	if (json_find(at, "source", &member) && !*source)
		return json_error(&member, err, "where the figure is from");
	if (json_find(at, "estimated", &member))
		return json_get_bool(&member, estimated, err);
	return STATUS_OK;
}

enum status sheet_count(const struct json_at *at, int64_t *value, struct error *err)
{
	struct json_at member;
	bool estimated;
	double number;

	if (sheet_figure(at, &number, &estimated, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	json_find(at, "value", &member);
	return json_get_int(&member, value, err);
}

/* The pipe whose name is `name` and a unit: "tensor_mma" for "tensor_mma_flop". -1 if there is
 * none. */
static int rate_pipe_find(const char *name)
{
	static const char *const units[PIPE_COUNT] = {
#define PIPE(id, name, unit, summary) [PIPE_##id] = unit,
#include "spec/pipe.def"
#undef PIPE
	};
	size_t length = strlen(name);

	for (int pipe = 0; pipe < PIPE_COUNT; pipe++) {
		const char *full = pipe_name((enum pipe)pipe);

		if (strncmp(full, name, length) == 0 && full[length] == '_' &&
			strcmp(full + length + 1, units[pipe]) == 0)
			return pipe;
	}
	return -1;
}

enum status sheet_rates(
	const struct json_at *at, double rate[PIPE_COUNT][DTYPE_COUNT], struct error *err)
{
	if (json_expect(at, JSON_OBJECT, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	for (size_t i = 0; i < json_count(at); i++) {
		struct json_at pipe_at = json_item(at, i);
		int pipe = rate_pipe_find(pipe_at.key);

		if (pipe < 0)
			return json_error(&pipe_at, err,
				"a pipe: tensor_mma, tensor_wgmma, fp32 or mufu as the key");
		if (json_expect(&pipe_at, JSON_OBJECT, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		for (size_t k = 0; k < json_count(&pipe_at); k++) {
			struct json_at figure = json_item(&pipe_at, k);
			int dtype = dtype_find(figure.key);
			bool estimated = false;

			if (dtype < 0)
				return json_error(&figure, err, "an element type as the key");
			if (sheet_figure(&figure, &rate[pipe][dtype], &estimated, err) != STATUS_OK)
				return STATUS_BAD_INPUT;
		}
	}
	return STATUS_OK;
}

void sheet_derive_rates(struct device_spec *spec)
{
	double sms = spec->sm_count > 0 ? (double)spec->sm_count : 1;

	spec->rate[PIPE_INSTRUCTIONS][DTYPE_FP32] = spec->instructions_per_clock_sm;
	spec->rate[PIPE_SMEM_READ][DTYPE_FP32] = spec->smem_bytes_per_clock_sm;
	spec->rate[PIPE_SMEM_WRITE][DTYPE_FP32] = spec->smem_bytes_per_clock_sm;
	spec->rate[PIPE_L2_READ][DTYPE_FP32] = spec->l2_bytes_per_clock / sms;
	spec->rate[PIPE_L2_WRITE][DTYPE_FP32] = spec->l2_bytes_per_clock / sms;
	spec->rate[PIPE_BARRIERS][DTYPE_FP32] =
		spec->sync_us > 0 ? 1e6 / (spec->sync_us * spec->clock_hz) : 0;
}
