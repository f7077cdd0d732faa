/* SPDX-License-Identifier: MIT */
#include "score/features.h"

#include <math.h>

#include "base/hash.h"
#include "base/memory.h"
#include "expr/dtype.h"

/* Features in addition to the numbers of the longest launch. */
static const char *const others[] = {
	"dram_rate", "l2_rate", "tile_rate", "flop_rate", "launch_count", "total_us"};

static const char of_score[] = "score."; /* no other name contains a full stop */

static bool is_number(const struct record_member *member)
{
	return member->kind == RECORD_KIND_INT || member->kind == RECORD_KIND_REAL ||
	       member->kind == RECORD_KIND_ENUM;
}

/* Returns the next index of the iteration over keys, parameters and constants. */
static size_t next_index(const struct family *family, size_t index)
{
	return index + 1 == family->scope.device_at ? family->scope.parameter_at : index + 1;
}

static void add(struct name_set *names, const char *prefix, const char *name)
{
	CLEANUP(memory_free) char *whole = string_format("%s%s", prefix, name);

	name_set_add(names, whole, strlen(whole));
}

struct name_set features_names(const struct family *family)
{
	const struct record *launch = &launch_score_record;
	struct name_set names = {0};

	for (size_t index = 0; index < family->scope.all.count; index = next_index(family, index))
		add(&names, "", family->scope.all.names[index]);
	for (size_t i = 0; i < launch->member_count; i++)
		if (is_number(&launch->members[i]))
			add(&names, of_score, launch->members[i].name);
	for (size_t i = 0; i < ARRAY_COUNT(others); i++)
		add(&names, of_score, others[i]);
	return names;
}

/* Converts a string to a number: the size if it is an element type, plus a fraction from its
 * hash. */
static double of_word(const char *word)
{
	const int dtype = dtype_find(word);
	const uint64_t spread = hash_xxh64(word, strlen(word)) % 64;

	return (dtype < 0 ? 0 : (double)dtype_size((enum dtype)dtype)) + (double)spread / 64;
}

static float of_value(struct value value)
{
	double number = 0;

	if (value.type == VALUE_STRING)
		number = of_word(value.string);
	else
		value_as_real(value, &number);
	return isnan(number) ? 0 : (float)number;
}

void features_values(const struct family *family, const struct value *values,
	const struct score *score, float *features)
{
	const struct launch_score *launch = &score->launches[score->longest];
	const double time_us = score->predicted_time_us;
	const double of_others[ARRAY_COUNT(others)] = {launch->dram_bytes / time_us,
		launch->l2_bytes / time_us, launch->tiles / time_us, score->predicted_tflops,
		(double)score->launch_count, time_us};

	for (size_t index = 0; index < family->scope.all.count; index = next_index(family, index))
		*features++ = of_value(values[index]);
	for (size_t i = 0; i < launch_score_record.member_count; i++) {
		const struct record_member *member = &launch_score_record.members[i];
		const char *field = (const char *)launch + member->offset;

		if (member->kind == RECORD_KIND_REAL)
			*features++ = of_value(value_real(record_load_real(field)));
		else if (is_number(member))
			*features++ = (float)record_load(member, field);
	}
	for (size_t i = 0; i < ARRAY_COUNT(others); i++)
		*features++ = of_value(value_real(of_others[i]));
}
