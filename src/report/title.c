/* SPDX-License-Identifier: MIT
 *
 * Short names of problems and of tiles.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/report.h"

static char *shortened(const struct report *report, struct report_entry *entry)
{
	CLEANUP(problem_list_release) struct problem_list list = {0};
	const struct operation *operation;

	if (catalogue_operation(&report->catalogue, entry->operation, &operation, NULL) !=
			STATUS_OK ||
		problem_parse(operation, entry->problem, &list, NULL) != STATUS_OK ||
		list.count != 1)
		return string_copy(entry->problem);
	free(entry->problem);
	entry->problem = string_copy(list.items[0]->text);
	return string_copy(list.items[0]->title);
}

char *report_title(const struct report *report, struct report_entry *entry)
{
	char *title = shortened(report, entry), *whole;

	if (!entry->tuned || entry->tuned->objective == OBJECTIVE_TIME)
		return title;
	whole = string_format("%s (best %s)", title, objective_names[entry->tuned->objective]);
	free(title);
	return whole;
}

struct format_text report_tile(const char *configuration)
{
	static const char *const names[] = {"BM", "BN", "BK"};
	struct format_text tile = {0};
	size_t length = 0;
	struct pair pair;

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (!strchr(configuration, '{') && pair_find(configuration, names[i], &pair) &&
			length + (size_t)pair.value_length + 2 < sizeof(tile.text))
			length += (size_t)snprintf(tile.text + length, sizeof(tile.text) - length,
				"%s%.*s", length ? "x" : "", pair.value_length, pair.value);
	return tile;
}
