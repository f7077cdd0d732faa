/* SPDX-License-Identifier: MIT */
#include "cli/show.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cli/common.h"
#include "tune/bits.h"
#include "tune/shortlist.h"

static const double draw_every_seconds = 0.1;

static void clear_line(const struct show *show)
{
	if (show->progress)
		fputs("\r\033[K", stderr);
}

/* Prints "[3/12] " or "[part 2/4: 3/12] ". */
static void put_number(const struct show *show, FILE *out, size_t problem, size_t count)
{
	if (show->shard)
		common_print(out, "[part %s: %zu/%zu] ", show->shard, problem + 1, count);
	else if (count > 1)
		common_print(out, "[%zu/%zu] ", problem + 1, count);
}

static void heading(
	const struct show *show, const struct candidates *pool, size_t problem, size_t count)
{
	size_t left_out = 0;

	put_number(show, show->out, problem, count);
	common_print(show->out, "%s %s on %s\n", pool->problem->operation->name,
		pool->problem->title, pool->device->title);
	for (size_t f = 0; f < pool->family_count; f++)
		common_print(show->out, "  %-14s %10.0f configurations, %zu legal\n",
			pool->families[f].bound->family->name, pool->families[f].product,
			pool->families[f].count);
	for (const char *line = pool->left_out; line && *line; line = strchr(line, '\n') + 1) {
		left_out++;
		if (show->verbose)
			common_print(show->out, "  %.*s\n", (int)strcspn(line, "\n"), line);
	}
	if (left_out && !show->verbose)
		common_print(show->out, "  %zu famil%s (--verbose gives the reasons)\n", left_out,
			left_out == 1 ? "y is left out" : "ies are left out");
}

static void begin(void *context, const struct candidates *pool, size_t problem, size_t count)
{
	struct show *show = context;

	clear_line(show);
	common_notices(show->context);
	if (!show->shard)
		heading(show, pool, problem, count);
	fflush(show->out);
}

static void progress(void *context, const struct tune_progress *now)
{
	struct show *show = context;
	double clock = clock_seconds();
	char left[32] = "";
	char best[160] = "";

	if (!show->progress || (clock - show->last_drawn < draw_every_seconds && !now->remeasuring))
		return;
	show->last_drawn = clock;
	if (isfinite(now->seconds_left) && now->seconds_left > 0)
		clock_format_duration(now->seconds_left, left, sizeof(left));
	else if (now->evaluated && now->total > now->evaluated)
		clock_format_duration(now->seconds / (double)now->evaluated *
					      (double)(now->total - now->evaluated),
			left, sizeof(left));
	if (isfinite(now->best_us))
		snprintf(best, sizeof(best), ", best %.2f us %s{%.60s}", now->best_us,
			now->best_family, now->best_configuration);
	fputs("\r\033[K", stderr);
	if (show->shard)
		put_number(show, stderr, now->problem, now->problem_count);
	common_print(stderr, "%s%zu of at most %zu, %.0f/s, %zu compiling%s%s%s",
		now->remeasuring ? "re-measuring: " : "", now->evaluated, now->total,
		now->seconds > 0 ? (double)now->evaluated / now->seconds : 0, now->compiling,
		left[0] ? ", at most " : "", left, left[0] ? " left" : "");
	common_print(stderr, "%.80s", best);
	fflush(stderr);
}

/* A problem with fewer FLOP per byte than this is bound by memory on every GPU, no matter what
 * limits a candidate. */
static const double flop_per_byte_least = 10;

static bool is_bound_by_memory(const struct score *score, double flop, double bytes)
{
	enum bound_kind bound =
		score->launch_count ? score->launches[score->longest].bound : BOUND_TENSOR;

	return bytes > 0 &&
	       (flop < flop_per_byte_least * bytes || bound == BOUND_DRAM || bound == BOUND_L2);
}

void show_speed(FILE *out, int width, const struct problem *problem, const struct score *score,
	double time_us)
{
	double flop = 0, bytes = 0;

	problem_flop(problem, &flop, NULL);
	problem_min_bytes(problem, &bytes, NULL);
	if (flop > 0)
		common_print(out, "%*.1f TFLOP/s", width, flop / time_us * 1e-6);
	if (is_bound_by_memory(score, flop, bytes))
		common_print(out, "%s%.0f GB/s", flop > 0 ? ", " : "", bytes / time_us * 1e-3);
}

/* Prints the three lines of one launch, beginning with "512 tiles on 132 slots: ...". */
static void show_launch(FILE *out, const struct device_spec *device,
	const struct launch_score *launch, bool estimated, bool has_time, const char *indent)
{
	const double idle = (double)device->sm_count - launch->slots_per_wave;

	if (!launch->blocks_per_sm) {
		common_print(out,
			"no block fits on an SM: %d registers per thread, %.1f KiB shared "
			"memory\n",
			launch->regs_per_thread, (double)launch->smem_bytes / 1024);
		return;
	}
	common_print(out,
		"%.0f tiles on %.0f slots: %.2f waves, wave efficiency %.0f%%, "
		"tile efficiency %.1f%%",
		launch->tiles, launch->slots_per_wave, launch->waves_exact,
		100 * launch->wave_efficiency_ratio, 100 * launch->tile_efficiency_ratio);
	if (idle > 0)
		common_print(out, ", %.0f of %lld SMs idle", idle, (long long)device->sm_count);
	common_print(out,
		"\n%s%d block%s per SM (occupancy %.0f%%, limited by %s), %d registers, %.1f KiB "
		"shared memory%s",
		indent, launch->blocks_per_sm, launch->blocks_per_sm == 1 ? "" : "s",
		100 * launch->occupancy_ratio, occupancy_limiter_names[launch->occupancy_limiter],
		launch->regs_per_thread, (double)launch->smem_bytes / 1024,
		estimated ? " (both are estimates, because nothing was compiled)" : "");
	if (launch->stack_bytes)
		common_print(out, ", %d bytes of local memory per thread", launch->stack_bytes);
	common_print(out, "\n%sbound by %s", indent, bound_kind_names[launch->bound]);
	if (has_time)
		common_print(out, ", %.2f us by physics", launch->predicted_time_us);
	if (launch->bank_conflict_ratio > 1.005)
		common_print(out, "; bank conflicts x%.2f", launch->bank_conflict_ratio);
	if (launch->lines_per_row_ratio > 1.005)
		common_print(out, "; unaligned rows touch %.0f%% more cache lines",
			100 * (launch->lines_per_row_ratio - 1));
	fputc('\n', out);
}

void show_why(FILE *out, const struct device_spec *device, const struct problem *problem,
	const struct score *score, const char *indent, double predicted_us, const char *kind)
{
	const bool several = score->launch_count > 1;

	for (size_t i = 0; i < score->launch_count; i++) {
		fputs(indent, out);
		if (several)
			common_print(out, "launch %zu of %zu: ", i + 1, score->launch_count);
		show_launch(
			out, device, &score->launches[i], score->regs_estimated, several, indent);
	}
	if (!score->launch_count || !(predicted_us > 0 && isfinite(predicted_us)))
		return;
	common_print(out, "%spredicted %.2f us (%s), ", indent, predicted_us,
		score->without_model ? "from FLOP, bytes and waves only, because there is no model"
				     : kind);
	show_speed(out, 0, problem, score, predicted_us);
	fputc('\n', out);
}

static const char winner_indent[] = "             ";

/* Prints what the outputs were compared with, unless with a reference kernel, and what was measured
 * in addition to the time. */
static void show_measured(FILE *out, const struct result *tried)
{
	const struct measured *measured = &tried->measured;
	CLEANUP(memory_free) char *words = verified_words(tried->verified, tried->by_program);

	if (!tried->predicted && words)
		common_print(out, "%s%s%s\n", winner_indent, words,
			tried->verified == VERIFIED_SELF ? "; give the operation a \"reference\" "
							   "to compare with correct values"
							 : "");
	if (measured->energy_j > 0)
		common_print(out, "%s%.4g mJ per run, %.0f W (+-%.1f%%)\n", winner_indent,
			measured->energy_j * 1e3, measured->power_w,
			100 * measured->energy_resolution_ratio);
	if (measured->clock_hz > 0)
		common_print(out, "%skept busy, the GPU runs at %.2f GHz%s\n", winner_indent,
			measured->clock_hz * 1e-9,
			measured->power_cap_ratio > 0.5 ? ", held down by its power limit" : "");
}

static void show_row(FILE *out, const char *label, const struct problem *problem,
	const struct evaluated *evaluated)
{
	const struct result *tried = &evaluated->result;
	double spread = 50 * (tried->time.ci95_high - tried->time.ci95_low) / tried->time.median;

	common_print(out, "  %-10s %10.2f us", label, tried->time.median);
	if (!tried->predicted)
		common_print(out, " +-%.1f%%", spread);
	fputc(' ', out);
	show_speed(out, 8, problem, &tried->score, tried->time.median);
	common_print(out, "  %s {%s}\n", tried->family, tried->configuration);
}

/* Prints in one line why the runner-up lost. */
static void show_lost(FILE *out, const struct tuned_entry *entry)
{
	static const char *const rules[] = {
		[REJECT_SLOWER] = "",
		[REJECT_UNTIED] = "; tied with the winner, but not with the fastest candidate",
		[REJECT_EARLIER] = "; tied in an earlier round, but not timed in the last",
		[REJECT_INCUMBENT] = "; tied, so the winner in the file stays",
		[REJECT_PREDICTION] = "; tied, so the better prediction wins",
		[REJECT_PLANNED] = "; tied, so the candidate that every run tries wins",
		[REJECT_SMEM] = "; tied, so shared memory decides",
		[REJECT_REGISTERS] = "; tied, so the one with fewer registers wins",
		[REJECT_ORDER] = "; tied, so the first in the search space wins",
	};
	const double as_fast = 0.0005;
	const struct tuned_rejection *lost = entry->runner_up->lost;
	const bool is_energy = entry->objective == OBJECTIVE_ENERGY;

	if (!lost)
		return;
	if (lost->by != REJECT_SLOWER && fabs(lost->ratio - 1) < as_fast)
		common_print(out, "             as %s", is_energy ? "little energy" : "fast");
	else
		common_print(out, "             %.1f%% %s", 100 * fabs(lost->ratio - 1),
			lost->ratio < 1 ? (is_energy ? "less energy" : "faster")
					: (is_energy ? "more energy" : "slower"));
	if (lost->rounds && lost->ratio > 1 &&
		entry->runner_up->result.time.median < entry->winner.result.time.median)
		common_print(out, " in direct comparison, which decides");
	common_print(out, "%s", rules[lost->by]);
	if (isfinite(lost->value))
		common_print(out, ": %.6g, winner %.6g", lost->value, lost->winner_value);
	fputc('\n', out);
}

/* Prints the best of each other family, and what decided among tied candidates. */
static void show_others(FILE *out, const struct tuned_entry *entry)
{
	for (size_t f = 0; f < entry->family_count; f++) {
		const struct summary *time = &entry->families[f].result.time;

		common_print(out, "  best of %-22s %10.2f us, %.2f times the winner's time\n",
			entry->families[f].result.family, time->median,
			time->median / entry->winner.result.time.median);
	}
	if (entry->tied_count)
		common_print(out,
			"  %zu other candidate%s tied with the winner (within 1%% or the noise); "
			"preferred "
			"are, in this order: the winner in the file, %s shared memory, the fewest "
			"registers, the first in the space\n",
			entry->tied_count, entry->tied_count == 1 ? " is" : "s are",
			entry->predicted ? "the best prediction in steps of 1%, the least"
					 : "the candidates that every run tries, the most");
}

/* Appends to the rank the origin of predictions besides physics, such as " (shipped: 17201
 * timings)". */
static void show_model(FILE *out, const struct problem_result *result)
{
	const size_t winner = result->evaluated->items[result->winner].candidate;
	const struct tuned_model quality = model_quality(result->pool, result->evaluated);
	const struct prediction_basis basis =
		prediction_basis(candidates_family_of(result->pool, winner)->bound);
	CLEANUP(memory_free) char *source = prediction_basis_text(basis);

	common_print(out, "  the model ranked the winner %zu of %zu",
		candidates_rank(result->pool, winner) + 1, result->pool->count);
	if (basis.source != PREDICTION_PHYSICS)
		common_print(out, " (%s)", source);
	if (quality.measured > 2)
		common_print(out,
			"; over %zu measured candidates: rank correlation %.2f, the fastest was "
			"ranked %zu",
			quality.measured, quality.rank_correlation, quality.rank_of_best);
	fputc('\n', out);
}

void show_removed(FILE *out, const struct problem_result *result)
{
	const struct evaluated_list *all = result->evaluated;
	CLEANUP(name_set_release) struct name_set reasons = {0};
	CLEANUP(memory_free) size_t *counts = memory_zeroed(all->count + 1, sizeof(*counts));

	for (size_t i = 0; i < all->count; i++) {
		const char *reason = all->items[i].result.detail;

		if (all->items[i].result.outcome == OUTCOME_PRUNED_BY_MODEL && reason)
			counts[name_set_add(&reasons, reason, strlen(reason))]++;
	}
	for (size_t k = 0; k < reasons.count; k++)
		common_print(out, "  removed %zu: %s\n", counts[k], reasons.items[k]);
}

/* Prints the first message of each kind of failure; of a compiler, its first error. */
static void show_failures(FILE *out, const struct problem_result *result)
{
	bool shown[OUTCOME_COUNT] = {[OUTCOME_OK] = true, [OUTCOME_PRUNED_BY_MODEL] = true};

	for (size_t i = 0; i < result->evaluated->count; i++) {
		const struct result *tried = &result->evaluated->items[i].result;
		const bool compile = tried->outcome == OUTCOME_COMPILE_FAILED;
		CLEANUP(memory_free) char *line = NULL;
		const char *first = tried->detail, *from;

		if (shown[tried->outcome] || !first)
			continue;
		from = compile ? strstr(first, "error") : NULL;
		for (from = from ? from : first; from > first && from[-1] != '\n'; from--)
			;
		line = string_copy_bytes(from, strcspn(from, compile ? "\n" : ""));
		common_print(out, "  %s: %s: ", outcome_name(tried->outcome), tried->configuration);
		common_print_lines(out, line);
		fputc('\n', out);
		shown[tried->outcome] = true;
	}
}

static void show_outcomes(FILE *out, const struct problem_result *result)
{
	char took[32];

	clock_format_duration(result->seconds, took, sizeof(took));
	common_print(out, "  %zu of %zu evaluated in %s", result->evaluated->count,
		result->pool->count, took);
	if (result->resumed)
		common_print(out, " (%zu from an earlier run)", result->resumed);
	fputs(": ", out);
	for (int i = 0, shown = 0; i < OUTCOME_COUNT; i++)
		if (result->outcomes[i])
			common_print(out, "%s%zu %s", shown++ ? ", " : "", result->outcomes[i],
				outcome_name((enum outcome)i));
	fputc('\n', out);
	show_removed(out, result);
	show_failures(out, result);
	common_print(out, "  stopped because %s\n",
		result->stopped_because ? result->stopped_because : "it was interrupted");
}

static void show_end(struct show *show, const struct problem_result *result)
{
	FILE *out = show->out;
	const struct evaluated *winner = &result->evaluated->items[result->winner];
	const struct problem *problem = result->pool->problem;
	const bool is_timed =
		!winner->result.predicted && !result->pool->families[0].bound->family->program;
	CLEANUP(memory_free) char *bits = bits_words(result->entry);

	if (result->entry->unfinished)
		common_print(out,
			"no winner: the time budget ended the search after %zu of %zu candidates; "
			"more time: --budget\n",
			result->evaluated->count, result->pool->count);
	common_print(out, "%s\n",
		!winner->result.predicted ? ""
		: winner->result.score.without_model
			? "predicted without a model (FLOP, bytes, waves), "
			  "not measured:"
			: "predicted (physics), not measured:");
	show_row(out, result->entry->unfinished ? "best yet" : "winner", problem, winner);
	show_why(out, result->pool->device, problem, &winner->result.score, winner_indent,
		winner->result.predicted ? 0 : winner->result.score.predicted_time_us, "physics");
	show_measured(out, &winner->result);
	if (is_timed)
		common_print(out, "%stimed in a %s L2\n", winner_indent,
			winner->result.flags & FLAG_MASK(WARM_L2) ? "warm" : "cold");
	if (result->runner_up != SIZE_MAX) {
		const struct tuned_rejection *lost = result->entry->runner_up->lost;

		show_row(out, lost && lost->by != REJECT_SLOWER ? "tied" : "runner-up", problem,
			&result->evaluated->items[result->runner_up]);
		show_lost(out, result->entry);
	}
	show_others(out, result->entry);
	if (is_timed)
		show_model(out, result);
	show_outcomes(out, result);
	if (bits)
		common_print(out, "  --bits %s\n", bits);
	if (result->kept)
		common_print(out, "  the tuned file keeps its entry: %s\n", result->kept);
}

static void end(void *context, const struct problem_result *result)
{
	struct show *show = context;

	clear_line(show);
	if (show->shard)
		heading(show, result->pool, result->number, result->count);
	if (result->undecided) {
		common_print_lines(show->out, result->undecided);
		show_outcomes(show->out, result);
	} else {
		show_end(show, result);
	}
	fflush(show->out);
}

static void taken(void *context, const struct problem *problem, size_t number, size_t count,
	const struct tuned_entry *entry)
{
	struct show *show = context;

	clear_line(show);
	put_number(show, show->out, number, count);
	common_print(show->out, "%s: %s, %.2f us (from an interrupted run)\n", problem->title,
		entry->winner.result.family, entry->winner.result.time.median);
}

static void failed(void *context, const struct problem *problem, const struct error *err)
{
	struct show *show = context;

	clear_line(show);
	common_print(show->out, "  failed: %s: %s\n", problem->title, err->message);
	fflush(show->out);
}

static void notice(void *context, const char *text)
{
	clear_line(context);
	common_notice("%s", text);
}

struct tune_observer show_observer(struct show *show)
{
	return (struct tune_observer){.context = show,
		.begin = begin,
		.progress = progress,
		.end = end,
		.taken = taken,
		.failed = failed,
		.notice = notice};
}
