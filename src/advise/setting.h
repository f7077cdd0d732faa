/* SPDX-License-Identifier: MIT
 *
 * A problem's text as a list of NAME=VALUE, so that single names can be changed.
 */
#ifndef ADVISE_SETTING_H
#define ADVISE_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One value, or a list or range of them; in "M=N=K=1024" each name has the value. */
struct setting {
	char *name, *value; /* owned */
};

struct setting_list {
	struct setting *items;
	size_t count, capacity;
};

/* Any text; what is no NAME=VALUE goes on with the value before it ("M=1,16"). Keys that move
 * together are taken apart: for texts of one problem. */
void setting_list_parse(const char *text, struct setting_list *list);
void setting_list_copy(const struct setting_list *from, struct setting_list *to);
void setting_list_release(struct setting_list *list);
/* Replaces the value of a name, or adds it. */
void setting_list_set(struct setting_list *list, const char *name, int64_t value);
void setting_list_add(struct setting_list *list, const char *name, const char *value);
bool setting_list_has(const struct setting_list *list, const char *name);
void setting_list_remove(struct setting_list *list, const char *name);
/* False if the name is not there or its value is no single integer. */
bool setting_list_integer(const struct setting_list *list, const char *name, int64_t *value);
char *setting_list_text(const struct setting_list *list); /* caller frees */

#endif
