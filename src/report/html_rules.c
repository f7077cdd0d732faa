/* SPDX-License-Identifier: MIT
 *
 * What the operation's selection rules would have picked, as the tuned file has it.
 */
#include <math.h>
#include <stdlib.h>

#include "report/html.h"

static const char *string_of(const struct json_at *object, const char *key)
{
	struct json_at member;
	const char *value = "";

	if (json_find(object, key, &member) && json_type(&member) == JSON_STRING)
		json_get_string(&member, &value, NULL);
	return value;
}

static double number_of(const struct json_at *object, const char *key)
{
	struct json_at member;
	double value = INFINITY;

	if (json_find(object, key, &member) && json_type(&member) == JSON_NUMBER)
		json_get_double(&member, &value, NULL);
	return value;
}

static void configuration_cell(const struct json_at *rule, struct text *page)
{
	struct json_at configuration;
	struct text text = {0};

	if (json_find(rule, "configuration", &configuration))
		for (size_t i = 0; i < json_count(&configuration); i++) {
			struct json_at value = json_item(&configuration, i);
			char *printed = json_print(value.node, false);

			text_appendf(&text, "%s%s=%s", i ? "," : "", value.key, printed);
			free(printed);
		}
	html_cell(page, "mono", "%s", text_string(&text));
	text_release(&text);
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
		double time_us = number_of(&rule, "time_us"),
		       lost = number_of(&rule, "regret_ratio");

		text_append(page, "<tr>");
		html_cell(page, NULL, "%s", string_of(&rule, "name"));
		html_time_cell(page, time_us);
		if (isfinite(lost))
			html_cell(page, "n", "%.1f%%", 100 * lost);
		else
			html_cell(page, NULL, "%s", string_of(&rule, "outcome"));
		html_cell(page, NULL, "%s", string_of(&rule, "timing"));
		html_cell(page, NULL, "%s", string_of(&rule, "family"));
		configuration_cell(&rule, page);
		text_append(page, "</tr>\n");
	}
	text_append(page, "</tbody></table></div></div>\n");
}
