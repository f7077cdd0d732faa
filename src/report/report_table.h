/* SPDX-License-Identifier: MIT
 *
 * The report for a terminal: a few lines per problem.
 */
#ifndef REPORT_REPORT_TABLE_H
#define REPORT_REPORT_TABLE_H

#include "report/report.h"

void report_table(const struct report *report, struct text *table);

#endif
