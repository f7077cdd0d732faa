/* SPDX-License-Identifier: MIT */
#include "engine/strategy_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "process/worker.h"
#include "record/record_read.h"

enum {
	REFUSALS_MAX = 20 /* in a row */
};
static const double answer_seconds = 60, slice_seconds = 0.2;

struct proposal {
	int64_t id;
	char *family; /* NULL: the only one */
	struct named_values configuration;
	bool waits, is_done;
};

struct outside {
	struct worker process;
	const struct candidates *pool;
	volatile sig_atomic_t *interrupted;
	bool *taken; /* by candidate: asked for, or known */
	int64_t id;  /* of the last question */
	double until_s;
	size_t refusals;
	char *why; /* it asks for nothing more; NULL: it goes on */
};

static const struct record_member proposal_members[] = {
	RECORD_VALUE(struct proposal, id, "id"),
	RECORD_VALUE(struct proposal, family, "family", .flags = RECORD_OPTIONAL),
	RECORD_NAMED_VALUES(
		struct proposal, configuration, "configuration", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct proposal, waits, "wait", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct proposal, is_done, "done", .flags = RECORD_OPTIONAL),
};
static RECORD_DEFINE(struct proposal, proposal_record, proposal_members, .name = "proposal");

static void end(struct outside *outside)
{
	struct text how = {0};

	worker_end(&outside->process, &how);
	if (!outside->why)
		outside->why = string_format("the strategy's program %s", text_string(&how));
	text_release(&how);
}

/* Takes the line. */
static void say(struct outside *outside, const char *what, struct json *line)
{
	CLEANUP(text_release) struct text text = {0};

	json_put_string(line, "request", what);
	json_append(line, false, &text);
	json_free(line);
	if (!outside->why)
		worker_post(&outside->process, &text);
}

/* ---- the space ---- */
static struct json *family_json(
	const struct candidates *pool, const struct family_candidates *family)
{
	const struct space *space = family->bound->space;
	struct json *json = json_new_object(), *parameters = json_new_object();
	struct json *all = json_new_array(), *predicted = json_new_array();

	json_put_string(json, "name", family->bound->family->name);
	for (size_t i = 0; i < space->parameter_count; i++) {
		const struct value_list *values = &space->parameters[i].values;
		struct json *list = json_new_array();

		for (size_t k = 0; k < values->count; k++)
			json_push(list, named_value_custom.write(&values->items[k]));
		json_put(parameters, space_parameter_name(space, i), list);
	}
	for (size_t c = 0; c < family->count; c++) {
		const choice *choices = family->configurations + c * family->parameter_count;
		struct json *one = json_new_array();

		for (size_t i = 0; i < family->parameter_count; i++)
			json_push(one, named_value_custom.write(
					       &space->parameters[i].values.items[choices[i]]));
		json_push(all, one);
		json_push(predicted, json_new_double(pool->predicted_us[family->first + c]));
	}
	json_put(json, "parameters", parameters);
	json_put(json, "configurations", all);
	json_put(json, "predicted_us", predicted);
	return json;
}

static struct json *space_json(const struct candidates *pool)
{
	struct json *json = json_new_object(), *families = json_new_array();
	struct named_values problem = problem_named_values(pool->problem);

	json_put_string(json, "protocol", "tiletune.strategy/1");
	json_put_string(json, "operation", pool->problem->operation->name);
	json_put(json, "problem", named_values_to_json(&problem));
	named_values_release(&problem);
	json_put_int(json, "seed", (int64_t)pool->view.seed);
	if (pool->view.budget != SIZE_MAX)
		json_put_int(json, "budget", (int64_t)pool->view.budget);
	for (size_t f = 0; f < pool->family_count; f++)
		json_push(families, family_json(pool, &pool->families[f]));
	json_put(json, "families", families);
	return json;
}

enum status strategy_program_open(const char *command, const char *worker_path,
	const struct candidates *pool, volatile sig_atomic_t *interrupted, void **state,
	struct error *err)
{
	CLEANUP(memory_free) char *words = string_copy(command);
	CLEANUP(memory_free)
	const char **arguments = memory_zeroed(strlen(command) + 1, sizeof(*arguments));
	struct outside *outside;
	struct worker process;
	char *rest = NULL;
	size_t count = 0;

	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		arguments[count++] = word;
	if (!count)
		return error_set(err, STATUS_BAD_INPUT,
			"--strategy: expected a command after program:, found nothing");
	TRY(worker_start_program(
		&process, worker_path, arguments, NULL, worker_program_log(), err));
	*state = outside = memory_zeroed(1, sizeof(*outside));
	*outside = (struct outside){.process = process,
		.pool = pool,
		.interrupted = interrupted,
		.until_s = INFINITY,
		.taken = memory_zeroed(pool->count + 1, sizeof(bool))};
	say(outside, "space", space_json(pool));
	return STATUS_OK;
}

/* ---- proposals ---- */
/* False: there is none of this answer; *why says what it was instead. */
static bool find(const struct outside *outside, const struct proposal *proposal, size_t *candidate,
	struct text *why)
{
	const struct candidates *pool = outside->pool;
	const char *family = proposal->family          ? proposal->family
			     : pool->family_count == 1 ? pool->families[0].bound->family->name
						       : "";
	const ptrdiff_t found = candidates_find_named(pool, family, &proposal->configuration);

	if (found < 0)
		text_append(why, "expected a configuration of the space, found another one");
	else if (outside->taken[found])
		text_append(why, "expected a configuration that was not asked for before");
	else if (!isfinite(pool->predicted_us[found]))
		text_append(why, "expected a configuration that can run, whose prediction is a "
				 "number");
	*candidate = (size_t)found;
	return !why->length;
}

/* A line's answer to the last question. False: it is late, and another one is waited for. */
static bool read_line(const struct outside *outside, const struct text *line,
	struct proposal *proposal, struct text *why)
{
	CLEANUP(json_release) struct json *root = NULL;
	struct error err = {0};
	struct json_at at;
	bool is_read =
		json_parse(text_string(line), line->length, "line", &root, &err) == STATUS_OK;

	if (is_read) {
		at = json_root(root, "line");
		is_read =
			record_from_json(&proposal_record, &at, proposal, NULL, &err) == STATUS_OK;
	}
	if (!is_read)
		text_append(why, err.message);
	else if (proposal->id != outside->id)
		text_appendf(why, "expected an answer to %lld, found one to %lld%s",
			(long long)outside->id, (long long)proposal->id,
			proposal->id < outside->id ? ": it is late" : "");
	return !is_read || proposal->id >= outside->id;
}

static void refuse(struct outside *outside, const char *why)
{
	struct json *line = json_new_object();

	json_put_int(line, "id", outside->id);
	json_put_string(line, "error", why);
	say(outside, "error", line);
	if (++outside->refusals < REFUSALS_MAX || outside->why)
		return;
	outside->why = string_format("the strategy's program made %d proposals in a row that "
				     "could not be taken; the last: %s",
		(int)REFUSALS_MAX, why);
	worker_end(&outside->process, NULL);
}

/* Waits for the answer to the last question; why: what is wrong with it. */
static void hear(struct outside *outside, struct proposal *proposal, struct text *why)
{
	const double until_s = fmin(clock_seconds() + answer_seconds, outside->until_s);

	while (!outside->why && !*outside->interrupted) {
		CLEANUP(text_release) struct text line = {0};

		switch (line_receive(
			outside->process.from_fd, &outside->process.pending, 0, &line)) {
		case MESSAGE_CLOSED:
			end(outside);
			return;
		case MESSAGE_NONE:
			if (clock_seconds() < until_s) {
				worker_wait(&outside->process, slice_seconds);
				continue;
			}
			if (clock_seconds() >= outside->until_s)
				outside->why = string_copy("the strategy's program gave no answer "
							   "before the budget was spent");
			else
				text_appendf(why, "expected an answer within %g s", answer_seconds);
			return;
		case MESSAGE_READY:
			break;
		}
		record_release(&proposal_record, proposal);
		if (read_line(outside, &line, proposal, why))
			return;
		refuse(outside, why->data);
		text_clear(why);
	}
}

static enum ask_result program_ask(void *state, size_t *candidate)
{
	struct outside *outside = state;

	while (!outside->why && !*outside->interrupted) {
		CLEANUP(text_release) struct text why = {0};
		struct proposal proposal = {0};
		struct json *question = json_new_object();
		bool found;

		json_put_int(question, "id", ++outside->id);
		say(outside, "next", question);
		hear(outside, &proposal, &why);
		const bool waits = proposal.waits, is_done = proposal.is_done,
			   asks = proposal.configuration.count > 0;

		found = !why.length && asks && find(outside, &proposal, candidate, &why);
		record_release(&proposal_record, &proposal);
		if (outside->why || *outside->interrupted)
			break;
		if (found) {
			outside->refusals = 0;
			outside->taken[*candidate] = true;
			return ASK_CANDIDATE;
		}
		if (!why.length && is_done)
			outside->why =
				string_copy("the strategy's program has nothing more to try");
		else if (!why.length && waits)
			return ASK_WAIT;
		else
			refuse(outside,
				why.length ? why.data
					   : "expected \"configuration\", \"wait\" or \"done\"");
	}
	return *outside->interrupted ? ASK_WAIT : ASK_DONE;
}

static void program_tell(void *state, size_t candidate, double time_us)
{
	struct outside *outside = state;
	const struct candidates *pool = outside->pool;
	const struct bound_family *bound = candidates_family_of(pool, candidate)->bound;
	struct named_values configuration =
		configuration_named_values(bound, candidates_configuration(pool, candidate));
	struct json *line = json_new_object();

	outside->taken[candidate] = true;
	json_put_string(line, "family", bound->family->name);
	json_put(line, "configuration", named_values_to_json(&configuration));
	named_values_release(&configuration);
	json_put_double(line, "time_us", time_us);
	say(outside, "result", line);
}

static void program_close(void *state)
{
	struct outside *outside = state;

	worker_end(&outside->process, NULL);
	free(outside->taken);
	free(outside->why);
	free(outside);
}

void strategy_program_until(void *state, double until_s)
{
	((struct outside *)state)->until_s = until_s;
}

const char *strategy_program_why(const void *state)
{
	return ((const struct outside *)state)->why;
}

const struct strategy strategy_program = {.name = "program",
	.summary = "a program that gets the space and each result, and names the next candidate",
	.ask = program_ask,
	.tell = program_tell,
	.close = program_close};
