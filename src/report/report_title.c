/* SPDX-License-Identifier: MIT
 *
 * Short names of entries: a problem without the keys that follow from the others, and file names.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/report.h"

/* text without its member-th "key=value" */
static char *without(const char *problem, size_t member)
{
	struct text text = {0};
	size_t index = 0;

	for (const char *at = problem; *at; index++) {
		size_t length = strcspn(at, ",");

		if (index != member) {
			text_append(&text, text.length ? "," : "");
			text_append_bytes(&text, at, length);
		}
		at += length + (at[length] == ',');
	}
	return text_detach(&text);
}

static size_t member_count(const char *problem)
{
	size_t count = *problem != '\0';

	for (const char *at = problem; *at; at++)
		count += *at == ',';
	return count;
}

/* A key may go if the problem without it is the same problem. */
static char *shortened(const struct report *report, const struct report_entry *entry)
{
	char *title = string_copy(entry->problem);
	const struct operation *operation;
	struct error ignored = {0};

	if (!report->has_catalogue || catalogue_operation(&report->catalogue, entry->operation,
					      &operation, &ignored) != STATUS_OK)
		return title;
	for (size_t i = member_count(title); i-- > 0;) {
		char *shorter = without(title, i);
		struct problem_list list = {0};

		if (problem_parse(operation, shorter, &list, &ignored) == STATUS_OK &&
			list.count == 1 && strcmp(list.items[0]->text, entry->problem) == 0) {
			char *longer = title;

			title = shorter;
			shorter = longer;
		}
		problem_list_release(&list);
		free(shorter);
	}
	return title;
}

static char *slug_of(const struct report_entry *entry)
{
	struct text text = {0};

	text_appendf(&text, "%s-", entry->operation);
	for (const char *at = entry->title; *at; at++) {
		if (isalnum((unsigned char)*at))
			text_append_char(&text, *at);
		else if (*at == ',')
			text_append_char(&text, '-');
		else if (*at != '=' || !isdigit((unsigned char)at[1]))
			text_append_char(&text, '_'); /* "M4096", but "dtype_bf16" */
	}
	return text_detach(&text);
}

void report_titles(struct report *report)
{
	for (size_t i = 0; i < report->entry_count; i++) {
		struct report_entry *entry = &report->entries[i];
		size_t same = 0;

		entry->title = shortened(report, entry);
		entry->slug = slug_of(entry);
		for (size_t k = 0; k < i; k++)
			same += strcmp(report->entries[k].operation, entry->operation) == 0 &&
				strcmp(report->entries[k].title, entry->title) == 0;
		if (same) {
			char *plain = entry->slug;

			entry->slug = string_format("%s-%zu", plain, same + 1);
			free(plain);
		}
	}
}
