/* SPDX-License-Identifier: MIT
 *
 * What the operation's selection rules would have picked, as the tuned file has it.
 */
#include <math.h>
#include <stdlib.h>

#include "html/html.h"

/* A time that is null was not reached. */
static double finite_number(const struct json_at *rule, const char *key)
{
	struct json_at member;

	return report_find(rule, key, &member) && json_type(&member) == JSON_NUMBER
		       ? report_number(rule, key)
		       : INFINITY;
}

static void string_cell(const struct json_at *rule, const char *key, struct text *page)
{
	const char *value = report_string(rule, key);

	html_cell(page, NULL, "%s", value ? value : "");
}

static void configuration_cell(const struct json_at *rule, struct text *page)
{
	struct json_at configuration;
	char *members = report_find(rule, "configuration", &configuration)
				? report_members(&configuration)
				: string_copy("");

	html_cell(page, "mono", "%s", members);
	free(members);
}

void html_rules(const struct report_entry *entry, struct text *page)
{
	struct json_at rules;

	if (!entry->json.node || !json_find(&entry->json, "rules", &rules) || !json_count(&rules))
		return;
	text_append(page,
		"<div class=\"card wide\"><h3>What selection rules would have picked</h3>"
		"<div class=\"scroll\" tabindex=\"0\"><table class=\"sortable\"><thead><tr>"
		"<th scope=\"col\">Rule</th><th scope=\"col\">Time</th><th scope=\"col\">Lost</th>"
		"<th scope=\"col\">Timing</th><th scope=\"col\">Family</th>"
		"<th scope=\"col\">Configuration</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < json_count(&rules); i++) {
		struct json_at rule = json_item(&rules, i);
		double time_us = finite_number(&rule, "time_us"),
		       lost = finite_number(&rule, "regret_ratio");

		text_append(page, "<tr>");
		string_cell(&rule, "name", page);
		html_time_cell(page, time_us);
		if (isfinite(lost))
			html_cell(page, "n", "%.1f%%", 100 * lost);
		else
			string_cell(&rule, "outcome", page);
		string_cell(&rule, "timing", page);
		string_cell(&rule, "family", page);
		configuration_cell(&rule, page);
		text_append(page, "</tr>\n");
	}
	text_append(page, "</tbody></table></div></div>\n");
}
