/* SPDX-License-Identifier: MIT
 *
 * Device and toolchain: where the numbers are from.
 */
#include <stdlib.h>
#include <string.h>

#include "html/html.h"
#include "report/format.h"

static void leaf(struct text *page, const char *name, const struct json_at *value)
{
	char *printed = json_type(value) == JSON_STRING ? NULL : json_print(value->node, false);
	const char *string = printed;
	double number = 0;

	if (!printed)
		json_get_string(value, &string, NULL);
	text_append(page, "<tr><th scope=\"row\">");
	html_text(page, name);
	text_append(page, "</th><td>");
	html_text(page, string);
	if (string_ends_with(name, "_bytes") && json_type(value) == JSON_NUMBER) {
		json_get_double(value, &number, NULL);
		text_append(page, " <span class=\"muted\">(");
		format_bytes(page, number);
		text_append(page, ")</span>");
	}
	text_append(page, "</td></tr>\n");
	free(printed);
}

/* Members one by one; those of objects as "clocks.sm_mhz". */
static void members(struct text *page, const struct json_at *object, const char *prefix)
{
	static const char *const left_out[] = {"event", "format", "signature", "device", NULL};

	for (size_t i = 0; i < json_count(object); i++) {
		struct json_at member = json_item(object, i);
		char *name = string_format("%s%s%s", prefix, *prefix ? "." : "", member.key);
		bool skip = json_type(&member) == JSON_NULL;

		for (size_t k = 0; left_out[k] && !*prefix; k++)
			skip |= strcmp(left_out[k], member.key) == 0;
		if (!skip && json_type(&member) == JSON_OBJECT)
			members(page, &member, name);
		else if (!skip)
			leaf(page, name, &member);
		free(name);
	}
}

static void table(struct text *page, const char *title, const struct json_at *object)
{
	text_append(page, "<div class=\"card scroll\" tabindex=\"0\"><h3>");
	html_text(page, title);
	text_append(page, "</h3><table class=\"facts\"><tbody>\n");
	members(page, object, "");
	text_append(page, "</tbody></table></div>\n");
}

void html_device(const struct report *report, struct text *page)
{
	text_append(page,
		"<section id=\"device\"><h2>Device and toolchain</h2><div class=\"figures\">\n");
	for (size_t i = 0; i < report->entry_count; i++) {
		const struct report_entry *entry = &report->entries[i];
		bool new_device = entry->device.node != NULL, new_run = entry->run.node != NULL;

		for (size_t k = 0; k < i; k++) {
			new_device &= strcmp(html_device_name(&report->entries[k]),
					      html_device_name(entry)) != 0;
			new_run &= report->entries[k].run.node != entry->run.node;
		}
		if (new_device)
			table(page, html_device_name(entry), &entry->device);
		if (new_run) {
			char *title = string_format("Run of %s", entry->label);

			table(page, title, &entry->run);
			free(title);
		}
	}
	text_append(page, "</div></section>\n");
}
