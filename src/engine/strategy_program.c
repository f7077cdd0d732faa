/* SPDX-License-Identifier: MIT */
#include "engine/strategy_program.h"

#include <math.h>

#include "base/clock.h"

enum {
	REFUSALS_MAX = 20 /* invalid proposals in a row */
};
static const double answer_seconds = 60, slice_seconds = 0.2;

struct proposal {
	int64_t id;
	char *family; /* NULL if there is a single family */
	struct named_values configuration;
	bool waits, is_done;
};

struct outside {
	struct pool processes; /* one process, never restarted, because it would not know the
				  earlier results */
	struct pool_task question;
	const char *worker_path;
	char *words;
	const char **arguments;
	bool was_started, is_answered;
	struct proposal proposal;
	struct text invalid; /* why the proposal is invalid; empty if it is valid */
	const struct candidates *pool;
	volatile sig_atomic_t *interrupted;
	bool *taken; /* per candidate: proposed, or known */
	int64_t id;  /* id of the last question */
	double until_s;
	size_t refusals;
	char *why; /* why the search ends, or NULL */
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

/* Sends a request and frees the line. */
static void say(struct worker *worker, const char *what, struct json *line)
{
	CLEANUP(text_release) struct text text = {0};

	json_put_string(line, "request", what);
	json_append(line, false, &text);
	json_free(line);
	if (worker->pid)
		worker_post(worker, &text);
}

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

/* ---- proposals ---- */
/* Returns false and appends the reason to *why if the proposal is not a candidate. */
static bool find(const struct outside *outside, const struct proposal *proposal, size_t *candidate,
	struct text *why)
{
	const struct candidates *pool = outside->pool;
	const char *family = proposal->family          ? proposal->family
			     : pool->family_count == 1 ? pool->families[0].bound->family->name
						       : "";
	const ptrdiff_t found = candidates_find_named(pool, family, &proposal->configuration);

	if (found < 0)
		text_append(why, "the configuration is not in the search space");
	else if (outside->taken[found])
		text_append(why, "the configuration was proposed before");
	else if (!isfinite(pool->predicted_us[found]))
		text_append(
			why, "the configuration cannot run, or its predicted time is not a number");
	*candidate = (size_t)found;
	return !why->length;
}

/* Returns false if the line answers an earlier question. */
static bool strategy_program_read_line(const struct outside *outside, const struct text *line,
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
		text_appendf(why, "the answer is to question %lld, not to %lld%s",
			(long long)proposal->id, (long long)outside->id,
			proposal->id < outside->id ? "; it is late" : "");
	return !is_read || proposal->id >= outside->id;
}

static void strategy_program_refuse(struct outside *outside, struct worker *worker, const char *why)
{
	struct json *line = json_new_object();

	json_put_int(line, "id", outside->id);
	json_put_string(line, "error", why);
	say(worker, "error", line);
	if (++outside->refusals == REFUSALS_MAX)
		outside->why = string_format(
			"the strategy program made %d invalid proposals in a row; the last: %s",
			(int)REFUSALS_MAX, why);
}

static enum status strategy_program_start(
	struct pool *pool, struct worker *worker, struct error *err)
{
	struct outside *outside = pool->context;
	int log;

	if (outside->was_started)
		return error_set(err, STATUS_FAILED, "%s", pool->last_end);
	outside->was_started = true;
	TRY(worker_program_log(&log, err));
	TRY(worker_start_program(worker, outside->worker_path, outside->arguments, NULL, log, err));
	say(worker, "space", space_json(outside->pool));
	return STATUS_OK;
}

static bool send_question(void *context, struct worker *worker, struct pool_task *task)
{
	struct outside *outside = context;
	struct json *question = json_new_object();

	(void)task;
	json_put_int(question, "id", ++outside->id);
	say(worker, "next", question);
	return true;
}

static enum pool_event take_line(void *context, struct worker *worker, bool handshake,
	struct pool_task *task, const struct text *line, struct text *why)
{
	struct outside *outside = context;

	(void)handshake, (void)why;
	if (!task)
		return POOL_WORKS;
	record_release(&proposal_record, &outside->proposal);
	text_clear(&outside->invalid);
	outside->is_answered =
		strategy_program_read_line(outside, line, &outside->proposal, &outside->invalid);
	if (outside->is_answered)
		return POOL_DONE;
	strategy_program_refuse(outside, worker, outside->invalid.data);
	return POOL_WORKS;
}

static void strategy_program_fail(
	void *context, struct pool_task *task, enum pool_end end, const char *how)
{
	struct outside *outside = context;
	const bool is_late = end == POOL_TIMED_OUT && clock_seconds() >= task->until_s;

	if (!outside->why)
		outside->why = string_copy(is_late ? "the strategy's program gave no answer before "
						     "the budget was spent"
						   : how);
}

static const struct pool_kind strategy_pool = {.name = "the strategy's program",
	.start = strategy_program_start,
	.send = send_question,
	.on_line = take_line,
	.fail = strategy_program_fail};

/* Returns the worker, whose pid is 0 if it is not running. */
static struct worker *worker_of(struct outside *outside)
{
	return &outside->processes.members[0].worker;
}

static void ask(struct outside *outside)
{
	struct pool *const pool = &outside->processes;

	outside->is_answered = false;
	outside->question =
		(struct pool_task){.timeout_s = answer_seconds, .until_s = outside->until_s};
	pool_add(pool, &outside->question);
	for (pool_work(pool); !outside->is_answered && !outside->why && !*outside->interrupted;
		pool_work(pool))
		pool_wait(&pool, 1, slice_seconds);
}

enum status strategy_program_open(const char *command, const char *worker_path,
	const struct candidates *pool, volatile sig_atomic_t *interrupted, void **state,
	struct error *err)
{
	CLEANUP(memory_free) char *words = string_copy(command);
	CLEANUP(memory_free)
	const char **arguments = memory_zeroed(strlen(command) + 1, sizeof(*arguments));
	struct outside *outside;
	struct worker worker;
	char *rest = NULL;
	size_t count = 0;

	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		arguments[count++] = word;
	if (!count)
		return error_set(
			err, STATUS_BAD_INPUT, "--strategy: a command must follow program:");
	*state = outside = memory_zeroed(1, sizeof(*outside));
	*outside = (struct outside){.worker_path = worker_path,
		.words = words,
		.arguments = arguments,
		.pool = pool,
		.interrupted = interrupted,
		.until_s = INFINITY,
		.taken = memory_zeroed(pool->count + 1, sizeof(bool))};
	words = NULL;
	arguments = NULL;
	pool_open(&outside->processes, &strategy_pool, outside, 1, 1);
	TRY(strategy_program_start(&outside->processes, &worker, err));
	pool_adopt(&outside->processes, &worker);
	return STATUS_OK;
}

static enum ask_result program_ask(void *state, size_t *candidate)
{
	struct outside *outside = state;
	const struct proposal *proposal = &outside->proposal;
	struct text *invalid = &outside->invalid;

	while (!outside->why && !*outside->interrupted) {
		ask(outside);
		if (!outside->is_answered)
			break;
		if (!invalid->length && proposal->configuration.count &&
			find(outside, proposal, candidate, invalid)) {
			outside->refusals = 0;
			outside->taken[*candidate] = true;
			return ASK_CANDIDATE;
		}
		if (!invalid->length && proposal->is_done)
			outside->why =
				string_copy("the strategy's program has nothing more to try");
		else if (!invalid->length && proposal->waits)
			return ASK_WAIT;
		else
			strategy_program_refuse(outside, worker_of(outside),
				invalid->length ? invalid->data
						: "the answer has none of \"configuration\", "
						  "\"wait\" and \"done\"");
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
	say(worker_of(outside), "result", line);
}

static void program_close(void *state)
{
	struct outside *outside = state;

	pool_close(&outside->processes);
	record_release(&proposal_record, &outside->proposal);
	text_release(&outside->invalid);
	free(outside->words);
	free(outside->arguments);
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
	.summary = "a program that reads the space and each result, and names the next candidate",
	.ask = program_ask,
	.tell = program_tell,
	.close = program_close};
