/* SPDX-License-Identifier: MIT */
#include "spec/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "record/record_read.h"

/* ---- figures ---- */
struct figure {
	double value;
	int64_t count; /* value of an integer figure */
	const char *source;
	bool estimated;
};

static const struct record_rule source_rule = {.expected = "where the figure is from"};

/* Defines a kind of figure, stored in a member of struct figure. */
#define FIGURE(id, member, ...)                                                                    \
	static const struct record_member id##_members[] = {                                       \
		RECORD_VALUE(struct figure, member, "value", __VA_ARGS__),                         \
		RECORD_VALUE(struct figure, source, "source", .rule = &source_rule),               \
		RECORD_VALUE(struct figure, estimated, "estimated", .flags = RECORD_OPTIONAL),     \
	};                                                                                         \
	static RECORD_DEFINE(struct figure, id##_record, id##_members, .name = #id);               \
	static enum status id##_read(                                                              \
		const struct json_at *at, void *field, void *context, struct error *err)           \
	{                                                                                          \
		struct figure figure = {0};                                                        \
		const enum status status =                                                         \
			record_from_json(&id##_record, at, &figure, context, err);                 \
                                                                                                   \
		memcpy(field, &figure.member, sizeof(figure.member));                              \
		return status;                                                                     \
	}                                                                                          \
	static const struct record_custom id = {id##_read, NULL, NULL}

FIGURE(number, value, .low = 0, .high = INFINITY);
FIGURE(positive_number, value, .low = 1e-300, .high = INFINITY, .expected = "a number above 0");
FIGURE(count, count, .low = 1, .high = INFINITY);
FIGURE(count_or_none, count, .low = 0, .high = INFINITY);

/* ---- rates ---- */
struct rates {
	double rate[PIPE_COUNT][DTYPE_COUNT];
};

#define RATE(pipe, key)                                                                            \
	RECORD_NAMED_CUSTOM(                                                                       \
		struct rates, rate[pipe], dtype_names, &number, key, .flags = RECORD_OPTIONAL)
static const struct record_member rates_members[] = {
	RATE(PIPE_TENSOR_MMA, "tensor_mma"),
	RATE(PIPE_TENSOR_WGMMA, "tensor_wgmma"),
	RATE(PIPE_FP32, "fp32"),
	RATE(PIPE_MUFU, "mufu"),
};
static RECORD_DEFINE(struct rates, rates_record, rates_members, .name = "rates");

/* A record for a part of the same struct. */
#define PART(key, id, at, bytes)                                                                   \
	{                                                                                          \
		.name = (key), .kind = RECORD_KIND_RECORD, .record = &(id), .offset = (at),        \
		.size = (bytes)                                                                    \
	}
#define RATES(type, field) PART("rates", rates_record, offsetof(type, field), sizeof(struct rates))

/* ---- device sheets ---- */
#define NUMBER(name) RECORD_CUSTOM(struct device_spec, name, &positive_number, #name)
#define ROW(name, attribute, kind, least, summary)                                                 \
	RECORD_CUSTOM(struct device_spec, name, &kind, #name),
static const struct record_member figures_members[] = {
	DEVICE_LIMITS(ROW) RECORD_CUSTOM(
		struct device_spec, smem_static_max_bytes, &count, "smem_static_max_bytes"),
	NUMBER(clock_hz),
	NUMBER(tensor_clock_hz),
	NUMBER(dram_bytes_per_s),
	NUMBER(l2_bytes_per_clock),
	RECORD_CUSTOM(struct device_spec, l2_own_bytes_per_clock, &positive_number,
		"l2_own_bytes_per_clock", .flags = RECORD_OPTIONAL),
	NUMBER(smem_bytes_per_clock_sm),
	NUMBER(instructions_per_clock_sm),
	NUMBER(launch_us),
	NUMBER(dram_latency_us),
	NUMBER(l2_latency_us),
	NUMBER(sync_us),
};
#undef ROW
#undef NUMBER
static RECORD_DEFINE(struct device_spec, figures_record, figures_members, .name = "figures");

/* context is the struct device_spec. */
static enum status cluster_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	struct device_spec *spec = context;
	struct figure figure = {0};
	const enum status status = record_from_json(&count_or_none_record, at, &figure, NULL, err);

	memcpy(field, &figure.count, sizeof(figure.count));
	if (figure.estimated)
		spec->max_clusters_measured = false;
	return status;
}

static const struct record_custom cluster = {cluster_read, NULL, NULL};
static const char *const cluster_sizes[] = {"1", "2", "4", "8", "16", NULL};

static bool is_architecture(const char *text)
{
	return string_starts_with(text, "sm_");
}

static const struct record_rule architecture_rule = {
	"an architecture such as sm_90a", is_architecture};

#define ARCHITECTURE(type, spec)                                                                   \
	RECORD_VALUE(type, spec compute_capability, "compute_capability", .low = 50, .high = 999,  \
		.expected = "ten times the compute capability, as 90 for 9.0"),                    \
		RECORD_TEXT(type, spec arch, "arch", .rule = &architecture_rule)

static enum status device_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	(void)at;
	(void)context;
	(void)err;
	sheet_derive_rates(value);
	return STATUS_OK;
}

static const struct record_member device_members[] = {
	RECORD_CONSTANT("format", "tiletune.device/1"),
	RECORD_VALUE(struct device_spec, name, "name"),
	RECORD_VALUE(struct device_spec, title, "title"),
	RECORD_STRINGS(struct device_spec, matches, "matches"),
	ARCHITECTURE(struct device_spec, ),
	PART("figures", figures_record, 0, sizeof(struct device_spec)),
	RATES(struct device_spec, rate),
	RECORD_NAMED_CUSTOM(
		struct device_spec, max_clusters, cluster_sizes, &cluster, "max_clusters"),
};
RECORD_DEFINE(
	struct device_spec, device_record, device_members, .name = "device", .check = device_check);

enum status device_spec_parse(const char *json, size_t size, const char *file,
	struct device_spec **spec, struct error *err)
{
	CLEANUP(json_release) struct json *tree = NULL;
	struct device_spec *made;
	struct json_at root;

	*spec = NULL;
	TRY(json_parse(json, size, file, &tree, err));
	made = memory_zeroed(1, sizeof(*made));
	made->from_sheet = made->max_clusters_measured = true;
	root = json_root(tree, file);
	if (record_from_json(&device_record, &root, made, made, err) != STATUS_OK) {
		free(made);
		return STATUS_BAD_INPUT;
	}
	*spec = made;
	return STATUS_OK;
}

/* Missing rates are the other fp8 type's, or twice the 16-bit rate (as INT8 in NVIDIA's whitepapers
 * since Ampere). */
static void derive_byte_rates(double rate[DTYPE_COUNT])
{
	static const enum dtype bytes[] = {DTYPE_FP8_E5M2, DTYPE_I8, DTYPE_U8};

	for (size_t i = 0; i < ARRAY_COUNT(bytes); i++)
		if (rate[bytes[i]] <= 0)
			rate[bytes[i]] = bytes[i] == DTYPE_FP8_E5M2 ? rate[DTYPE_FP8_E4M3]
								    : 2 * rate[DTYPE_FP16];
}

void sheet_derive_rates(struct device_spec *spec)
{
	double sms = spec->sm_count > 0 ? (double)spec->sm_count : 1;

	derive_byte_rates(spec->rate[PIPE_TENSOR_MMA]);
	derive_byte_rates(spec->rate[PIPE_TENSOR_WGMMA]);

	spec->rate[PIPE_INSTRUCTIONS][DTYPE_FP32] = spec->instructions_per_clock_sm;
	spec->rate[PIPE_SMEM_READ][DTYPE_FP32] = spec->smem_bytes_per_clock_sm;
	spec->rate[PIPE_SMEM_WRITE][DTYPE_FP32] = spec->smem_bytes_per_clock_sm;
	spec->rate[PIPE_L2_READ][DTYPE_FP32] = spec->l2_bytes_per_clock / sms;
	spec->rate[PIPE_L2_WRITE][DTYPE_FP32] = spec->l2_bytes_per_clock / sms;
	spec->rate[PIPE_BARRIERS][DTYPE_FP32] =
		spec->sync_us > 0 ? 1e6 / (spec->sync_us * spec->clock_hz) : 0;
}

/* ---- default rates of an architecture ---- */
#define TYPICAL(name, kind) RECORD_CUSTOM(struct sheet_defaults, typical.name, &kind, #name)
#define FIELD(name, kind)   RECORD_CUSTOM(struct sheet_defaults, name, &kind, #name)
static const struct record_member typical_members[] = {
	TYPICAL(smem_static_max_bytes, count_or_none),
	TYPICAL(smem_reserved_bytes, count_or_none),
	FIELD(cluster_blocks_max, count_or_none),
	FIELD(l2_bytes_per_clock_sm, number),
	TYPICAL(smem_bytes_per_clock_sm, number),
	TYPICAL(instructions_per_clock_sm, number),
	FIELD(dram_efficiency_ratio, number),
	FIELD(tensor_clock_ratio, number),
	TYPICAL(launch_us, number),
	TYPICAL(dram_latency_us, number),
	TYPICAL(l2_latency_us, number),
	TYPICAL(sync_us, number),
};
#undef TYPICAL
#undef FIELD
static RECORD_DEFINE(
	struct sheet_defaults, typical_record, typical_members, .name = "default_figures");

static const struct record_member defaults_members[] = {
	RECORD_CONSTANT("format", "tiletune.device_defaults/1"),
	ARCHITECTURE(struct sheet_defaults, typical.),
	PART("figures", typical_record, 0, sizeof(struct sheet_defaults)),
	RATES(struct sheet_defaults, typical.rate),
};
RECORD_DEFINE(
	struct sheet_defaults, device_defaults_record, defaults_members, .name = "device_defaults");

/* Prefers architectures that are not newer than compute_capability, and as new as possible. */
static bool is_nearer(int a, int b, int compute_capability)
{
	if ((a <= compute_capability) != (b <= compute_capability))
		return a <= compute_capability;
	return a <= compute_capability ? a > b : a < b;
}

enum status sheet_defaults_find(
	int compute_capability, struct sheet_defaults *defaults, struct error *err)
{
	static const char file[] = "built-in default rates";
	bool found = false;

	for (size_t i = 0; device_spec_architecture_json[i]; i++) {
		const char *json = device_spec_architecture_json[i];
		struct sheet_defaults one = {0};
		CLEANUP(json_release) struct json *tree = NULL;
		struct json_at root;

		TRY(json_parse(json, strlen(json), file, &tree, err));
		root = json_root(tree, file);
		TRY(record_from_json(&device_defaults_record, &root, &one, NULL, err));
		if (!found || is_nearer(one.typical.compute_capability,
				      defaults->typical.compute_capability, compute_capability))
			*defaults = one;
		found = true;
	}
	if (!found)
		BUG("no default rates are built in");
	return STATUS_OK;
}
