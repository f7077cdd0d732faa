/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults/standin.h"

static const char *const behaviours[BEHAVIOUR_COUNT] = {
	[BEHAVIOUR_OK] = "ok",
	[BEHAVIOUR_WRONG] = "wrong",
	[BEHAVIOUR_NAN] = "nan",
	[BEHAVIOUR_UNWRITTEN] = "unwritten",
	[BEHAVIOUR_OUT_OF_BOUNDS] = "out_of_bounds",
	[BEHAVIOUR_WORKSPACE_OUT_OF_BOUNDS] = "workspace_out_of_bounds",
	[BEHAVIOUR_INPUT] = "input",
	[BEHAVIOUR_PITCH] = "pitch",
	[BEHAVIOUR_NONDETERMINISTIC] = "nondeterministic",
	[BEHAVIOUR_CRASH] = "crash",
	[BEHAVIOUR_ABORT] = "abort",
	[BEHAVIOUR_KILLED] = "killed",
	[BEHAVIOUR_TERMINATED] = "terminated",
	[BEHAVIOUR_HANG] = "hang",
	[BEHAVIOUR_REFUSE] = "refuse",
	[BEHAVIOUR_REFUSE_LOAD] = "refuse_load",
	[BEHAVIOUR_LOST] = "lost",
};

/* A script with a mistake is refused, because otherwise it would act like one without faults. */
static void complain(const char *line)
{
	fprintf(stderr, "stand-in driver: script line not understood: %s\n", line);
	abort();
}

static void put(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

/* A key and the address of its value. */
enum kind {
	KIND_INT,
	KIND_LONG,
	KIND_BYTES,
	KIND_REAL,
	KIND_PATH,
};
struct key {
	const char *name;
	enum kind kind;
	size_t offset;
};
#define SCRIPT(name, kind)                                                                         \
	{                                                                                          \
#name, kind, offsetof(struct standin_script, name)                                 \
	}
#define RULE(name, kind)                                                                           \
	{                                                                                          \
#name, kind, offsetof(struct standin_rule, name)                                   \
	}
static const struct key script_keys[] = {
	SCRIPT(devices, KIND_INT),
	SCRIPT(sm_count, KIND_INT),
	SCRIPT(compute_capability, KIND_INT),
	SCRIPT(l2_bytes, KIND_INT),
	SCRIPT(driver_version, KIND_INT),
	SCRIPT(init, KIND_INT),
	SCRIPT(context, KIND_INT),
	SCRIPT(energy_step_mj, KIND_INT),
	SCRIPT(power_limit_w, KIND_INT),
	SCRIPT(libraries_max, KIND_INT),
	SCRIPT(mig, KIND_INT),
	SCRIPT(processes, KIND_INT),
	SCRIPT(throttle, KIND_LONG),
	SCRIPT(slow_clock, KIND_LONG),
	SCRIPT(memory_bytes, KIND_BYTES),
	SCRIPT(name, KIND_PATH),
	SCRIPT(lost_while, KIND_PATH),
	SCRIPT(killed_once, KIND_PATH),
	SCRIPT(killed_later, KIND_PATH),
	SCRIPT(log, KIND_PATH),
	{NULL, KIND_INT, 0},
};
static const struct key rule_keys[] = {
	RULE(grid_x, KIND_LONG),
	RULE(block_x, KIND_LONG),
	RULE(skip, KIND_LONG),
	RULE(load, KIND_LONG),
	RULE(far, KIND_LONG),
	RULE(us, KIND_REAL),
	RULE(hot_us, KIND_REAL),
	RULE(empty_us, KIND_REAL),
	RULE(written_us, KIND_REAL),
	RULE(off_by, KIND_REAL),
	RULE(place_us, KIND_REAL),
	RULE(watts, KIND_REAL),
	RULE(noise, KIND_REAL),
	RULE(once, KIND_PATH),
	RULE(until, KIND_PATH),
	{NULL, KIND_INT, 0},
};

/* Returns false for an unknown key or a value that is not a number. */
static bool set_key(const struct key *keys, void *base, const char *name, const char *text)
{
	void *place;
	char *end = NULL;

	while (keys->name && strcmp(keys->name, name) != 0)
		keys++;
	if (!keys->name)
		return false;
	place = (char *)base + keys->offset;
	if (keys->kind == KIND_INT)
		*(int *)place = (int)strtol(text, &end, 10);
	else if (keys->kind == KIND_LONG)
		*(long *)place = strtol(text, &end, 10);
	else if (keys->kind == KIND_BYTES)
		*(uint64_t *)place = strtoull(text, &end, 10);
	else if (keys->kind == KIND_REAL)
		*(double *)place = strtod(text, &end);
	else
		put(place, STANDIN_PATH, text);
	return !end || (end != text && end[strspn(end, " \t")] == '\0');
}

static bool rule_word(struct standin_rule *rule, char *word)
{
	char *value = strchr(word, '=');

	if (value) {
		*value++ = '\0';
		return set_key(rule_keys, rule, word, value);
	}
	for (int i = 0; i < BEHAVIOUR_COUNT; i++)
		if (strcmp(word, behaviours[i]) == 0) {
			rule->behaviour = (enum behaviour)i;
			return true;
		}
	return false;
}

static void parse_rule(struct standin_script *script, char *words, const char *line)
{
	struct standin_rule rule = {.grid_x = -1,
		.block_x = -1,
		.load = -1,
		.us = -1,
		.hot_us = -1,
		.empty_us = -1,
		.written_us = -1};
	char *save = NULL;
	char *word = strtok_r(words, " \t", &save);

	if (!word || script->rule_count == STANDIN_RULES_MAX)
		complain(line);
	put(rule.glob, sizeof(rule.glob), word);
	while ((word = strtok_r(NULL, " \t", &save)) != NULL)
		if (!rule_word(&rule, word))
			complain(line);
	script->rules[script->rule_count++] = rule;
}

/* "on N LINE" is stored until the process selects GPU N; only a name applies before. */
static bool keep_line(struct standin_script *script, const char *line)
{
	struct standin_own *own = &script->own[script->own_count];

	if (sscanf(line, " on %d %599[^\n]", &own->device, own->line) != 2)
		return false;
	if (++script->own_count == STANDIN_OWN_MAX)
		complain(line);
	return true;
}

static void parse_line(struct standin_script *script, char *line)
{
	char key[64] = "", rest[512] = "";
	char whole[600];

	put(whole, sizeof(whole), line);
	if (keep_line(script, line))
		return;
	line[strcspn(line, "#\n")] = '\0';
	if (sscanf(line, " %63s %511[^\n]", key, rest) < 1)
		return;
	if (strcmp(key, "kernel") == 0)
		parse_rule(script, rest, whole);
	else if (strcmp(key, "pace") == 0 && sscanf(rest, "%lf %lf %lf", &script->pace,
						     &script->drift, &script->drift_period_us) >= 1)
		;
	else if (strcmp(key, "missing") == 0 && script->missing_count < 8)
		put(script->missing[script->missing_count++], sizeof(script->missing[0]), rest);
	else if (!set_key(script_keys, script, key, rest))
		complain(whole);
}

struct standin_script *standin_script(void)
{
	static struct standin_script script;
	static bool ready;
	const char *path = getenv("TILETUNE_STANDIN");
	char line[600];
	FILE *file;

	if (ready)
		return &script;
	ready = true;
	script = (struct standin_script){
		.name = "NVIDIA H200",
		.devices = 1,
		.sm_count = 132,
		.energy_step_mj = 10,
		.compute_capability = 90,
		.l2_bytes = 2 << 20,
		.driver_version = CUDA_VERSION,
		.memory_bytes = (uint64_t)1 << 30,
		.pace = 1,
		.drift_period_us = 1,
	};
	if (!path || !path[0])
		return &script;
	file = fopen(path, "r");
	if (!file)
		complain(path);
	while (fgets(line, sizeof(line), file))
		parse_line(&script, line);
	fclose(file);
	return &script;
}

void standin_take_device(int device)
{
	struct standin_script *script = standin_script();
	const struct standin_script all = *script;

	/* the GPU's own rules come first and are added once */
	script->rule_count = 0;
	for (int i = 0; i < all.own_count; i++)
		if (all.own[i].device == device)
			parse_line(script, script->own[i].line);
	script->own_count = 0;
	for (int i = 0; i < all.rule_count && script->rule_count < STANDIN_RULES_MAX; i++)
		script->rules[script->rule_count++] = all.rules[i];
}

const char *standin_name(int device)
{
	const struct standin_script *script = standin_script();

	for (int i = 0; i < script->own_count; i++)
		if (script->own[i].device == device &&
			strncmp(script->own[i].line, "name ", 5) == 0)
			return script->own[i].line + 5;
	return script->name;
}

void standin_killed_once(const char *path)
{
	if (path[0] && open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666) >= 0)
		raise(SIGKILL);
}

bool standin_is_lost(void)
{
	const struct standin_script *script = standin_script();

	return script->lost_while[0] && access(script->lost_while, F_OK) == 0;
}
