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
	[BEHAVIOUR_HANG] = "hang",
	[BEHAVIOUR_REFUSE] = "refuse",
	[BEHAVIOUR_REFUSE_LOAD] = "refuse_load",
	[BEHAVIOUR_LOST] = "lost",
};

/* A script with a mistake must not pass for one without faults. */
static void complain(const char *line)
{
	fprintf(stderr, "stand-in driver: script line not understood: %s\n", line);
	abort();
}

static void put(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static bool rule_word(struct standin_rule *rule, const char *word)
{
	if (sscanf(word, "grid_x=%ld", &rule->grid_x) == 1 ||
		sscanf(word, "block_x=%ld", &rule->block_x) == 1 ||
		sscanf(word, "smem=%ld", &rule->smem) == 1 ||
		sscanf(word, "skip=%ld", &rule->skip) == 1 ||
		sscanf(word, "load=%ld", &rule->load) == 1 ||
		sscanf(word, "us=%lf", &rule->us) == 1 ||
		sscanf(word, "hot_us=%lf", &rule->hot_us) == 1 ||
		sscanf(word, "empty_us=%lf", &rule->empty_us) == 1 ||
		sscanf(word, "argument=%d", &rule->argument) == 1 ||
		sscanf(word, "value_us=%lf", &rule->value_us) == 1 ||
		sscanf(word, "off_by=%f", &rule->off_by) == 1 ||
		sscanf(word, "place_us=%lf", &rule->place_us) == 1 ||
		sscanf(word, "watts=%lf", &rule->watts) == 1 ||
		sscanf(word, "noise=%lf", &rule->noise) == 1)
		return true;
	if (strncmp(word, "once=", 5) == 0) {
		put(rule->once, sizeof(rule->once), word + 5);
		return true;
	}
	if (strncmp(word, "until=", 6) == 0) {
		put(rule->until, sizeof(rule->until), word + 6);
		return true;
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
		.smem = -1,
		.load = -1,
		.us = -1,
		.hot_us = -1,
		.empty_us = -1};
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

/* "on N LINE": kept until the process takes that GPU; its name is told before. */
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
	const struct {
		const char *key;
		int *value;
	} numbers[] = {
		{"devices", &script->devices},
		{"sm_count", &script->sm_count},
		{"compute_capability", &script->compute_capability},
		{"l2_bytes", &script->l2_bytes},
		{"driver_version", &script->driver_version},
		{"init", &script->init},
		{"context", &script->context},
		{"blocks_per_sm", &script->blocks_per_sm},
		{"energy_step_mj", &script->energy_step_mj},
		{"libraries_max", &script->libraries_max},
		{"mig", &script->mig},
		{"processes", &script->processes},
	};
	char key[64] = "", rest[512] = "";
	char whole[600];

	put(whole, sizeof(whole), line);
	if (keep_line(script, line))
		return;
	line[strcspn(line, "#\n")] = '\0';
	if (sscanf(line, " %63s %511[^\n]", key, rest) < 1)
		return;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(key, numbers[i].key) == 0) {
			*numbers[i].value = atoi(rest);
			return;
		}
	if (strcmp(key, "kernel") == 0)
		parse_rule(script, rest, whole);
	else if (strcmp(key, "name") == 0)
		put(script->name, sizeof(script->name), rest);
	else if (strcmp(key, "memory_bytes") == 0)
		script->memory_bytes = strtoull(rest, NULL, 10);
	else if (strcmp(key, "throttle") == 0)
		script->throttle = atol(rest);
	else if (strcmp(key, "slow_clock") == 0)
		script->slow_clock = atol(rest);
	else if (strcmp(key, "pace") == 0 && sscanf(rest, "%lf %lf %lf", &script->pace,
						     &script->drift, &script->drift_period_us) >= 1)
		;
	else if (strcmp(key, "lost_while") == 0)
		put(script->lost_while, sizeof(script->lost_while), rest);
	else if (strcmp(key, "killed_once") == 0)
		put(script->killed_once, sizeof(script->killed_once), rest);
	else if (strcmp(key, "killed_later") == 0)
		put(script->killed_later, sizeof(script->killed_later), rest);
	else if (strcmp(key, "log") == 0)
		put(script->log, sizeof(script->log), rest);
	else if (strcmp(key, "missing") == 0 && script->missing_count < 8)
		put(script->missing[script->missing_count++], sizeof(script->missing[0]), rest);
	else
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

	/* its own rules come first; taken once */
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
