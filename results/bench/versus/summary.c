/* SPDX-License-Identifier: MIT */
#include "bench/versus/summary.h"

#include <math.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/statistics.h"

static double geometric_mean(const double *values, size_t count)
{
	double logs = 0;

	for (size_t i = 0; i < count; i++)
		logs += log(values[i]);
	return count ? exp(logs / (double)count) : 0;
}

static double tflops(const struct lt_comparison *lt_comparison, double us)
{
	return us > 0 ? lt_comparison->flop / us * 1e-6 : 0;
}

static bool counts(const struct lt_comparison *lt_comparison)
{
	return !lt_comparison->skipped && lt_comparison->agrees;
}

/* Appends keys that differ from their default values, such as " row scales, bias, gelu_tanh". */
static void mode_append(const struct lt_shape *shape, struct text *text)
{
	if (shape->scale != LT_SCALE_NONE)
		text_appendf(text, " %s scales", lt_scale_names[shape->scale]);
	if (shape->has_bias)
		text_append(text, " bias");
	if (shape->act != LT_ACT_NONE)
		text_appendf(text, " %s", lt_act_names[shape->act]);
}

/* Appends "4096x4096x4096 bf16", followed by keys that differ from their default values. */
static void title_of(const struct lt_comparison *lt_comparison, struct text *text)
{
	const struct lt_shape *shape = &lt_comparison->shape;
	int64_t packed_b = shape->b_is_kn ? shape->n : shape->k;

	if (lt_comparison->is_chain) {
		text_append(text, lt_comparison->problem);
		return;
	}
	text_appendf(text, "%" PRId64 "x%" PRId64 "x%" PRId64 " %s", shape->m, shape->n, shape->k,
		dtype_names[shape->in]);
	if (shape->in == DTYPE_FP8_E4M3)
		text_append(text, shape->fast_accumulation ? " fast" : " promoted");
	mode_append(shape, text);
	if (shape->b_is_kn)
		text_append(text, " kn");
	if (shape->out != shape->in && (shape->out == DTYPE_FP32) && shape->in != DTYPE_TF32)
		text_append(text, " to fp32");
	if (shape->lda != shape->k || shape->ldb != packed_b || shape->ldc != shape->n)
		text_append(text, " pitched");
}

void summary_print_head(FILE *out)
{
	fprintf(out, "%-34s %-20s %8s %8s %8s  %s\n", "problem", "ours", "TFLOP/s", "default",
		"best", "ours/best [quartiles]  difference");
}

void summary_print_comparison(FILE *out, const struct lt_comparison *lt_comparison)
{
	struct text title = {0};

	title_of(lt_comparison, &title);
	if (lt_comparison->skipped)
		fprintf(out, "%-34s %-20s not comparable: %s\n", title.data,
			lt_comparison->family ? lt_comparison->family : "-",
			lt_comparison->skipped);
	else
		fprintf(out, "%-34s %-20s %8.1f %8.1f %8.1f  %6.3f [%.3f %.3f]  %.1e%s%s\n",
			title.data, lt_comparison->family,
			tflops(lt_comparison, lt_comparison->ours_us),
			tflops(lt_comparison, lt_comparison->default_us),
			tflops(lt_comparison, lt_comparison->best_us), lt_comparison->ratio,
			lt_comparison->ratio_q25, lt_comparison->ratio_q75,
			lt_comparison->difference, lt_comparison->agrees ? "" : " DIFFERS",
			lt_comparison->kernel_changed ? " (sources changed)" : "");
	fflush(out);
	text_release(&title);
}

/* ---- groups ---- */
static const char *const alignment_names[] = {
	[ALIGNED] = "aligned", [MISALIGNED_C] = "odd N", [MISALIGNED] = "odd K"};

static char *group_name(const struct lt_comparison *lt_comparison)
{
	const struct lt_shape *shape = &lt_comparison->shape;
	struct text text = {0};

	text_append(&text, dtype_names[shape->in]);
	if (lt_comparison->is_chain) {
		text_append(&text, " two products");
		return text_detach(&text);
	}
	if (shape->in == DTYPE_FP8_E4M3)
		text_append(&text, shape->fast_accumulation ? " fast" : " promoted");
	mode_append(shape, &text);
	text_appendf(&text, " %s", alignment_names[lt_comparison_alignment(lt_comparison)]);
	return text_detach(&text);
}

/* Returns the ratios of a group, or of all comparisons if it is NULL; the caller frees the
 * array. */
static double *ratios_of(
	const struct lt_comparison *comparisons, size_t count, const char *group, size_t *found)
{
	double *ratios = memory_zeroed(count + 1, sizeof(*ratios));

	*found = 0;
	for (size_t i = 0; i < count; i++) {
		CLEANUP(memory_free) char *name = group_name(&comparisons[i]);

		if (counts(&comparisons[i]) && (!group || strcmp(group, name) == 0))
			ratios[(*found)++] = comparisons[i].ratio;
	}
	return ratios;
}

typedef void group_visit(const char *name, const double *ratios, size_t count, void *context);

/* Visits the groups in the order of their first entries, then all comparisons together. */
static void visit_groups(
	const struct lt_comparison *comparisons, size_t count, group_visit *visit, void *context)
{
	size_t found;

	for (size_t i = 0; i <= count; i++) {
		CLEANUP(memory_free) char *name = i < count ? group_name(&comparisons[i]) : NULL;
		CLEANUP(memory_free) double *before = NULL;
		CLEANUP(memory_free) double *ratios = NULL;

		before = ratios_of(comparisons, i, name, &found);
		if (name && (found || !counts(&comparisons[i])))
			continue;
		ratios = ratios_of(comparisons, count, name, &found);
		if (found)
			visit(name ? name : "all", ratios, found, context);
	}
}

static double lowest(const double *ratios, size_t count)
{
	return statistics_quantile(ratios, count, 0);
}

static void print_group(const char *name, const double *ratios, size_t count, void *context)
{
	fprintf(context, "%-28s %3zu entries: geometric mean %.3f, lowest %.3f, median %.3f\n",
		name, count, geometric_mean(ratios, count), lowest(ratios, count),
		statistics_quantile(ratios, count, 0.5));
}

void summary_print_groups(FILE *out, const struct lt_comparison *comparisons, size_t count)
{
	visit_groups(comparisons, count, print_group, out);
}

/* ---- expectations of a comparison ---- */
enum figure {
	MEAN, /* geometric mean of the ratios */
	LOWEST,
	WINS,         /* share of ratios above 1 */
	MEAN_OF_WINS, /* geometric mean of the ratios above 1 */
};
static const char *const figure_names[] = {
	[MEAN] = "of cuBLASLt's best pick",
	[LOWEST] = "of cuBLASLt's best pick",
	[WINS] = "are faster than cuBLASLt's best picks",
	[MEAN_OF_WINS] = "of cuBLASLt's best picks where faster,",
};

struct promise {
	const char *name;
	double least;
	enum figure figure;
	enum dtype in;
	int alignment;      /* enum alignment_class, or -1 for any alignment */
	const char *family; /* requested family; NULL selects winners */
	int64_t m, n, k;    /* 0 matches any size */
	int64_t m_most;     /* maximum of m; 0 matches any size */
	enum lt_scale scale;
	bool has_bias, is_chain;
};

static const struct promise promises[] = {
	{"bf16 aligned, geometric mean", 1.00, MEAN, .in = DTYPE_BF16, .alignment = ALIGNED},
	{"bf16 aligned, lowest", 0.90, LOWEST, .in = DTYPE_BF16, .alignment = ALIGNED},
	{"bf16 odd K, geometric mean", 3.00, MEAN, .in = DTYPE_BF16, .alignment = MISALIGNED},
	{"bf16 odd K, lowest", 1.00, LOWEST, .in = DTYPE_BF16, .alignment = MISALIGNED},
	{"bf16 odd N, lowest", 1.00, LOWEST, .in = DTYPE_BF16, .alignment = MISALIGNED_C},
	{"fp8, geometric mean", 0.95, MEAN, .in = DTYPE_FP8_E4M3, .alignment = -1},
	{"fp32 4096 cubed", 0.90, LOWEST, .in = DTYPE_FP32, .alignment = -1, .m = 4096, .n = 4096,
		.k = 4096},
	{"fp32 2048 cubed", 0.85, LOWEST, .in = DTYPE_FP32, .alignment = -1, .m = 2048, .n = 2048,
		.k = 2048},
	{"fp32 8192 cubed", 0.85, LOWEST, .in = DTYPE_FP32, .alignment = -1, .m = 8192, .n = 8192,
		.k = 8192},
	{"gemm/mma bf16 4096 cubed", 0.50, LOWEST, .in = DTYPE_BF16, .alignment = -1,
		.family = "gemm/mma", .m = 4096, .n = 4096, .k = 4096},
	{"gemm/mma bf16 8192 cubed", 0.50, LOWEST, .in = DTYPE_BF16, .alignment = -1,
		.family = "gemm/mma", .m = 8192, .n = 8192, .k = 8192},
	{"gemm/mma bf16 128x4096x7168", 0.70, LOWEST, .in = DTYPE_BF16, .alignment = -1,
		.family = "gemm/mma", .m = 128, .n = 4096, .k = 7168},
	{"fp8 row scales, geometric mean", 1.15, MEAN, .in = DTYPE_FP8_E4M3, .alignment = -1,
		.scale = LT_SCALE_ROW},
	{"fp8 row scales, M <= 128", 1.5, MEAN, .in = DTYPE_FP8_E4M3, .alignment = -1,
		.scale = LT_SCALE_ROW, .m_most = 128},
	{"fp8 row scales, lowest", 0.97, LOWEST, .in = DTYPE_FP8_E4M3, .alignment = -1,
		.scale = LT_SCALE_ROW},
	{"fp8 block scales, geometric mean", 1.15, MEAN, .in = DTYPE_FP8_E4M3, .alignment = -1,
		.scale = LT_SCALE_BLOCK},
	{"fp8 block scales, M <= 128", 1.4, MEAN, .in = DTYPE_FP8_E4M3, .alignment = -1,
		.scale = LT_SCALE_BLOCK, .m_most = 128},
	{"fp8 block scales, lowest", 0.97, LOWEST, .in = DTYPE_FP8_E4M3, .alignment = -1,
		.scale = LT_SCALE_BLOCK},
	{"bf16 with bias, geometric mean", 1.02, MEAN, .in = DTYPE_BF16, .alignment = ALIGNED,
		.has_bias = true},
	{"bf16 with bias, lowest", 0.96, LOWEST, .in = DTYPE_BF16, .alignment = ALIGNED,
		.has_bias = true},
	/* suite chain_map has 187 problems, of which 78 win against two calls */
	{"two products fused, share that wins", 78.0 / 187, WINS, .in = DTYPE_BF16, .alignment = -1,
		.is_chain = true},
	{"two products fused, mean of those that win", 1.55, MEAN_OF_WINS, .in = DTYPE_BF16,
		.alignment = -1, .is_chain = true},
};

static bool concerns(const struct promise *promise, const struct lt_comparison *lt_comparison)
{
	return counts(lt_comparison) && lt_comparison->is_chain == promise->is_chain &&
	       lt_comparison->shape.in == promise->in &&
	       lt_comparison->shape.scale == promise->scale &&
	       lt_comparison->shape.has_bias == promise->has_bias &&
	       (!promise->m_most || lt_comparison->shape.m <= promise->m_most) &&
	       (promise->alignment < 0 ||
		       (int)lt_comparison_alignment(lt_comparison) == promise->alignment) &&
	       (!promise->m || (lt_comparison->shape.m == promise->m &&
				       lt_comparison->shape.n == promise->n &&
				       lt_comparison->shape.k == promise->k));
}

/* Computes the figure over the ratios above 1, which it moves to the front. */
static double of_wins(enum figure figure, double *ratios, size_t count)
{
	size_t wins = 0;

	for (size_t i = 0; i < count; i++)
		if (ratios[i] > 1)
			ratios[wins++] = ratios[i];
	return figure == WINS ? (double)wins / (double)count : geometric_mean(ratios, wins);
}

unsigned summary_print_promises(
	FILE *out, const struct lt_comparison *comparisons, size_t count, const char *family)
{
	double *ratios = memory_zeroed(count + 1, sizeof(*ratios));
	unsigned missed = 0;

	for (size_t p = 0; p < ARRAY_COUNT(promises); p++) {
		const struct promise *promise = &promises[p];
		size_t found = 0;
		double value;

		if (!promise->family != !family || (family && strcmp(family, promise->family) != 0))
			continue;
		for (size_t i = 0; i < count; i++)
			if (concerns(promise, &comparisons[i]))
				ratios[found++] = comparisons[i].ratio;
		if (!found)
			continue;
		value = promise->figure == MEAN     ? geometric_mean(ratios, found)
			: promise->figure == LOWEST ? lowest(ratios, found)
						    : of_wins(promise->figure, ratios, found);
		fprintf(out, "%s: %.3f %s over %zu (promised: %.2f) %s\n", promise->name, value,
			figure_names[promise->figure], found, promise->least,
			value >= promise->least ? "ok" : "MISSED");
		missed += !(value >= promise->least);
	}
	free(ratios);
	return missed;
}

/* ---- JSON ---- */
static struct json *lt_comparison_json(const struct lt_comparison *lt_comparison)
{
	struct json *json = json_new_object(), *ratio;

	json_put_string(json, "problem", lt_comparison->problem);
	json_put_string(json, "family", lt_comparison->family);
	json_put_string(json, "configuration", lt_comparison->configuration);
	json_put_string(json, "not_comparable", lt_comparison->skipped);
	if (lt_comparison->skipped)
		return json;
	ratio = json_new_object();
	json_put_bool(json, "sources_changed", lt_comparison->kernel_changed);
	json_put_double(json, "ours_us", lt_comparison->ours_us);
	json_put_double(json, "cublaslt_default_us", lt_comparison->default_us);
	json_put_double(json, "cublaslt_best_us", lt_comparison->best_us);
	json_put_double(json, "ours_tflops", tflops(lt_comparison, lt_comparison->ours_us));
	json_put_double(
		json, "cublaslt_default_tflops", tflops(lt_comparison, lt_comparison->default_us));
	json_put_double(
		json, "cublaslt_best_tflops", tflops(lt_comparison, lt_comparison->best_us));
	json_put_double(ratio, "median", lt_comparison->ratio);
	json_put_double(ratio, "q25", lt_comparison->ratio_q25);
	json_put_double(ratio, "q75", lt_comparison->ratio_q75);
	json_put_double(ratio, "ci95_low", lt_comparison->ratio_low);
	json_put_double(ratio, "ci95_high", lt_comparison->ratio_high);
	json_put(json, "ratio", ratio);
	json_put_int(json, "rounds", (int64_t)lt_comparison->rounds);
	if (lt_comparison->gap_ours_us > 0) {
		struct json *gaps = json_new_object();

		json_put_double(gaps, "ratio", lt_comparison->gap_ratio);
		json_put_double(gaps, "ours_us", lt_comparison->gap_ours_us);
		json_put_double(gaps, "cublaslt_best_us", lt_comparison->gap_best_us);
		json_put(json, "gaps", gaps);
	}
	if (lt_comparison->first_us < INFINITY)
		json_put_double(json, "cublaslt_first_us", lt_comparison->first_us);
	json_put_int(json, "picks", lt_comparison->pick_count);
	json_put_int(json, "best_pick", lt_comparison->best_pick);
	json_put_string(json, "alignment", alignment_names[lt_comparison_alignment(lt_comparison)]);
	json_put_double(json, "relative_difference", lt_comparison->difference);
	json_put_bool(json, "agrees", lt_comparison->agrees);
	return json;
}

struct json *summary_entries_json(const struct lt_comparison *comparisons, size_t count)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < count; i++)
		json_push(list, lt_comparison_json(&comparisons[i]));
	return list;
}

static void push_group(const char *name, const double *ratios, size_t count, void *context)
{
	struct json *json = json_new_object();

	json_put_string(json, "group", name);
	json_put_int(json, "entries", (int64_t)count);
	json_put_double(json, "geometric_mean", geometric_mean(ratios, count));
	json_put_double(json, "lowest", lowest(ratios, count));
	json_put_double(json, "median", statistics_quantile(ratios, count, 0.5));
	json_push(context, json);
}

struct json *summary_groups_json(const struct lt_comparison *comparisons, size_t count)
{
	struct json *list = json_new_array();

	visit_groups(comparisons, count, push_group, list);
	return list;
}
