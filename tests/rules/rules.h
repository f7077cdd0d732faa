/* SPDX-License-Identifier: MIT
 *
 * A rule is a pure function of the program that answers cases in JSON (tests/rules/README.md):
 *
 *	RULE(quantile)
 *	{
 *		const struct rule_numbers samples = rule_numbers(in, "samples");
 *
 *		return json_new_double(statistics_quantile(...));
 *	}
 *
 * Rules never free the memory of a case, because the program ends soon.
 */
#ifndef TESTS_RULES_H
#define TESTS_RULES_H

#include "base/json.h"
#include "record/record_read.h"
#include "record/record_write.h"

struct rule {
	const char *name;
	struct json *(*answer)(const struct json_at *in);
	struct rule *next;
};
void rule_register(struct rule *rule);

#define RULE(id)                                                                                   \
	static struct json *id##_answer(const struct json_at *in);                                 \
	__attribute__((constructor)) static void id##_register(void)                               \
	{                                                                                          \
		static struct rule rule = {.name = #id, .answer = id##_answer};                    \
                                                                                                   \
		rule_register(&rule);                                                              \
	}                                                                                          \
	static struct json *id##_answer(const struct json_at *in)

/* Ends the program with the message, because a case that cannot be read is a mistake of the test.
 */
void rule_expect(enum status status, const struct error *err);

/* Members of a case. An absent number is 0; "inf" and null are infinity and NaN. */
double rule_number(const struct json_at *in, const char *key);
size_t rule_size(const struct json_at *in, const char *key);
bool rule_flag(const struct json_at *in, const char *key);
const char *rule_string(const struct json_at *in, const char *key); /* NULL if absent */
struct json_at rule_member(const struct json_at *in, const char *key);
struct rule_numbers {
	double *items;
	size_t count;
};
struct rule_numbers rule_numbers(const struct json_at *in, const char *key);
/* An array of structs of this record, read from a list. */
void *rule_records(
	const struct json_at *in, const char *key, const struct record *record, size_t *count);

#endif
