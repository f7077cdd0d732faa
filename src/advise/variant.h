/* SPDX-License-Identifier: MIT
 *
 * Problems near an asked one, by the operation's "advise" (family/operation.h): sizes rounded up or
 * down to multiples, pitches rounded up.
 */
#ifndef ADVISE_VARIANT_H
#define ADVISE_VARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "family/catalogue.h"

enum variant_kind {
	VARIANT_PAD,    /* filled up with zeros; holds the asked result */
	VARIANT_PITCH,  /* the same work, rows further apart */
	VARIANT_CHOOSE, /* another, larger problem: if the model's size is free */
	VARIANT_SHRINK, /* another, smaller problem */
	VARIANT_KIND_COUNT
};
extern const char *const variant_kind_names[];

enum {
	VARIANT_CHANGES_MAX = 8
};

/* One name of the problem's text: a key, or a part of its alias ("seq" where M = batch*seq). */
struct variant_change {
	const char *name; /* borrowed from the operation */
	int64_t from, to;
};

struct variant {
	enum variant_kind kind;
	struct variant_change changes[VARIANT_CHANGES_MAX];
	size_t change_count;
	struct problem *problem; /* owned */
};

struct variant_list {
	struct variant *items;
	size_t count, capacity;
};

/* text: how the problem was asked for, one value per key ("batch=16,seq=1024,N=1793,..."): what is
 * left out follows the changes (a packed pitch grows with its row), what stands there stays.
 * Errors: a text of several problems; an operation without "advise". */
enum status variants_make(const struct operation *operation, const char *text,
	struct variant_list *list, struct error *err);
void variant_list_release(struct variant_list *list);

/* "N 1793 -> 1800, ldb 1793 -> 1800" */
void variant_describe(const struct variant *variant, struct text *text);

/* ---- A problem's text as a list of NAME=VALUE, so that single names can be changed ---- */
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
