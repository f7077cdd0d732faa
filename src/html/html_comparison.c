/* SPDX-License-Identifier: MIT
 *
 * Two runs, or two GPUs, beside each other.
 */
#include <string.h>

#include "report/comparison.h"
#include "html/html.h"

static void row(const struct comparison_row *pair, struct text *page)
{
	text_append(page, "<tr><th scope=\"row\" class=\"breaks\">");
	html_text(page, pair->second->operation);
	text_append_char(page, ' ');
	html_list(page, pair->second->title);
	text_append(page, "</th>");
	html_cell(page, NULL, "%s", pair->first->label);
	html_time_cell(page, pair->first->winner.time_us);
	html_cell(page, NULL, "%s", pair->first->winner.family);
	html_cell(page, NULL, "%s", pair->second->label);
	html_time_cell(page, pair->second->winner.time_us);
	html_cell(page, NULL, "%s", pair->second->winner.family);
	html_cell(page, "n", "%.3f", pair->ratio);
	html_cell(page,
		strcmp(pair->verdict, "slower") == 0   ? "bad"
		: strcmp(pair->verdict, "faster") == 0 ? "good"
						       : NULL,
		"%s", pair->verdict);
	text_append(page, "</tr>\n");
}

void html_comparison(const struct report *report, struct text *page)
{
	struct comparison comparison;

	comparison_make(report, &comparison);
	if (comparison.count) {
		text_append(page, "<div class=\"figures\">");
		html_figure(&figure_comparison, report, NULL, page);
		text_append(page,
			"</div><div class=\"card scroll\" tabindex=\"0\"><table "
			"class=\"sortable\"><thead><tr>"
			"<th scope=\"col\">Problem</th><th scope=\"col\">First</th>"
			"<th scope=\"col\">Time</th><th scope=\"col\">Family</th>"
			"<th scope=\"col\">Second</th><th scope=\"col\">Time</th>"
			"<th scope=\"col\">Family</th><th scope=\"col\">Second / first</th>"
			"<th scope=\"col\">The second is</th></tr></thead><tbody>\n");
		for (size_t i = 0; i < comparison.count; i++)
			row(&comparison.rows[i], page);
		text_append(page, "</tbody></table></div>\n");
	}
	comparison_release(&comparison);
}
