/* SPDX-License-Identifier: MIT
 *
 * Records: a struct described once, by a table of its members. Reading JSON (record/record_read.h)
 * and writing it (record/record_write.h), the workers' bytes (record/record_wire.h), release, copy
 * and comparison follow from the table.
 *
 *	struct launch {
 *		char *entry;
 *		double waves;
 *		enum bound bound;
 *		int32_t *arguments;
 *		size_t argument_count;
 *	};
 *	static const struct record_member launch_members[] = {
 *		RECORD_VALUE(struct launch, entry, "entry"),
 *		RECORD_VALUE(struct launch, waves, "waves", .low = 0, .high = INFINITY),
 *		RECORD_ENUM(struct launch, bound, bound_names, "bound"),
 *		RECORD_VALUES(struct launch, arguments, argument_count, "args",
 *			.flags = RECORD_OPTIONAL),
 *	};
 *	RECORD_DEFINE(struct launch, launch_record, launch_members, .name = "launch");
 *
 * and in the header `RECORD_DECLARE(struct launch, launch_record);`, or `static RECORD_DEFINE(...)`
 * where one file alone knows it. The kind of a value follows from its C type; a type that has no
 * kind, and a nested record of another struct, do not compile. After the name in JSON come further
 * members of struct record_member, by their names. What a member means stands in the schema of its
 * format (configs/schemas), or at the member of the struct.
 *
 * Members are read, packed and written in the order of the table. Units stand in the names.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/memory.h"

enum record_kind {
	RECORD_KIND_BOOL,
	RECORD_KIND_INT,
	RECORD_KIND_UINT,
	RECORD_KIND_REAL,     /* float, double; what is not finite is null in JSON */
	RECORD_KIND_STRING,   /* char *: owned */
	RECORD_KIND_BORROWED, /* const char *: of the JSON tree or of the packed bytes */
	RECORD_KIND_TEXT,     /* char[n] */
	RECORD_KIND_BYTES,    /* struct text: packed only, never JSON */
	RECORD_KIND_JSON,     /* struct json *: any JSON, owned */
	RECORD_KIND_ENUM,     /* an enum, or a bool as one of two names */
	RECORD_KIND_FLAGS,    /* uint32_t: bits; in JSON a list of names */
	RECORD_KIND_RECORD,
	RECORD_KIND_CUSTOM,
	RECORD_KIND_CONSTANT, /* in JSON only: always this string */
	RECORD_KIND_COMMENT,  /* in JSON only: words for people, accepted and not kept */
};

enum record_shape {
	RECORD_ONE,
	RECORD_OWNED,  /* a pointer to one, NULL if absent */
	RECORD_LIST,   /* a pointer and a count; never NULL once read, one zeroed item at the end */
	RECORD_FIXED,  /* an inline array, always full */
	RECORD_FILLED, /* an inline array and a count */
	RECORD_MAPPED, /* a list; in JSON an object, the first member of an item is its key */
	RECORD_BY_NAME,   /* an inline array; in JSON an object with the keys `keys` */
	RECORD_FLATTENED, /* a record whose members stand among its parent's */
};

enum {
	RECORD_OPTIONAL = 1 << 0, /* need not be there; left out when absent */
	/* null is read as absent, absent is written as null; where a real is absent as a number,
	 * null is NaN and what is absent is left out */
	RECORD_NULLABLE = 1 << 1,
	RECORD_KEPT = 1 << 2,     /* with RECORD_OPTIONAL: written even when absent */
	RECORD_LONE = 1 << 3,     /* a list: one item alone may stand for it */
	RECORD_WHOLE = 1 << 4,    /* a real, written and read as a whole number */
	RECORD_NOT_JSON = 1 << 5, /* packed only */
	RECORD_OTHERS = 1 << 6,   /* JSON members that the table does not name */
	RECORD_ROUNDED = 1 << 7,  /* a real: a fraction is written with seven significant digits */
};

struct record;

/* A member that the kinds above do not fit. `field` is the member, or with RECORD_DERIVED the
 * whole struct. Packed by `record` of the member if that is set (a table of the same field for its
 * bytes), else as its JSON. Each function may be NULL if it is never needed. */
struct record_custom {
	enum status (*read)(
		const struct json_at *at, void *field, void *context, struct error *err);
	struct json *(*write)(const void *field); /* NULL: left out */
	void (*release)(void *field);
};

/* What a string must be. */
struct record_rule {
	const char *expected;              /* "32 hexadecimal digits" */
	bool (*accepts)(const char *text); /* NULL: anything but "" */
};

struct record_member {
	const char *name; /* of the JSON member; "" in a map's item: the value itself */
	enum record_kind kind;
	enum record_shape shape;
	unsigned flags;
	size_t offset;
	size_t size;                     /* of one item */
	size_t length;                   /* of an inline array */
	size_t count_offset, count_size; /* of the count; size 0: the list ends with NULL */
	size_t present;                  /* 1 + offset of a bool: whether it is there; 0: none */
	const char *const *names;        /* of an enum, flags: by value, NULL-terminated */
	const char *const *keys;         /* RECORD_BY_NAME: of the items, NULL-terminated */
	const struct record *record;
	const struct record_custom *custom;
	const struct record_rule *rule;
	const char *constant;
	const char *expected;        /* of a number, in messages; NULL: from its range */
	double absent;               /* value of a number, enum or bool that is not there */
	double low, high;            /* range of a number; both 0: that of its type */
	size_t count_min, count_max; /* of a list; 0: any */
	/* 0: JSON states the value; else an expression may give it (record_computed), which reads
	 * names of the context `computed` - 1 */
	int computed;
};

struct record {
	const char *name; /* in messages */
	size_t size;
	const struct record_member *members;
	size_t member_count;
	/* Members that the table does not name, such as a newer program writes, are not an error.
	 * A member RECORD_UNKNOWN() keeps them for the next writing, else they are dropped. */
	bool open;
	/* Checks members against each other, computes others; after reading and unpacking. `at` is
	 * for json_error() in both cases. */
	enum status (*check)(
		void *value, const struct json_at *at, void *context, struct error *err);
};

enum {
	RECORD_MEMBERS_MAX = 96 /* of one JSON object */
};

/* Frees what the struct owns and zeroes the members of the table. */
void record_release(const struct record *record, void *value);
/* `to` is zeroed by the caller. Borrowed strings stay borrowed. */
void record_copy(const struct record *record, const void *from, void *to);
bool record_equal(const struct record *record, const void *a, const void *b);

/* ---- how a struct is walked by its table: for record/record_*.c ---- */
/* The members of one JSON object, with the members of flattened records. */
struct record_field {
	const struct record *record; /* that the member stands in */
	const struct record_member *member;
	size_t base; /* offset of that record's struct */
};

struct record_fields {
	struct record_field items[RECORD_MEMBERS_MAX];
	size_t count;
};

void record_fields_fill(const struct record *record, struct record_fields *fields);

/* The field of a member of JSON, looked for from the from-th field on: members mostly stand in the
 * order of the table. SIZE_MAX: there is none. */
size_t record_field_find(const struct record_fields *fields, const char *name, size_t from);
/* Whether the table does not say how many items there are. */
bool record_is_counted(const struct record_member *member);
/* Whether JSON has the member, by its own name. */
bool record_is_json(const struct record_member *member);

struct record_span {
	char *data;
	size_t count;
};

/* The items of a member in the struct at base. */
struct record_span record_span(const struct record_member *member, const void *base);
/* Makes room for `count` items in a list or behind a pointer, zeroed; NULL if an inline array has
 * another length, or if another list that shares the count has. */
char *record_room(
	const struct record *record, const struct record_member *member, void *base, size_t count);
bool record_is_absent(const struct record_member *member, const void *base);
bool record_item_is_absent(const struct record_member *member, const void *item);
void record_set_absent(const struct record_member *member, void *base);
void record_set_present(const struct record_member *member, void *base);

/* Integers, enums and bools as 64 bits; size: of the item. */
int64_t record_load(const struct record_member *member, const void *item);
void record_store(const struct record_member *member, void *item, int64_t value);
/* Copied into a text or an owned string; else the pointer. */
void record_store_string(const struct record_member *member, void *item, const char *string);
double record_load_real(const struct record_member *member, const void *item);
void record_store_real(const struct record_member *member, void *item, double value);

size_t record_name_count(const char *const *names);
bool record_has_range(const struct record_member *member);
/* Whether the value is one that the member may have. */
bool record_allows(const struct record_member *member, int64_t value);
bool record_allows_real(const struct record_member *member, double value);

/* ---- tables ---- */
#define RECORD_DECLARE(type, id)                                                                   \
	extern const struct record id;                                                             \
	typedef type id##_struct
#define RECORD_DEFINE(type, id, table, ...)                                                        \
	const struct record id = {.size = sizeof(type),                                            \
		.members = (table),                                                                \
		.member_count = ARRAY_COUNT(table),                                                \
		__VA_ARGS__};                                                                      \
	typedef type id##_struct

/* Defines the function that releases a struct by its record. */
#define RECORD_RELEASE(function, id)                                                               \
	void function(id##_struct *value)                                                          \
	{                                                                                          \
		record_release(&(id), value);                                                      \
	}                                                                                          \
	_Static_assert(sizeof(id##_struct), "")

#define RECORD_VALUE(type, field, key, ...)                                                        \
	RECORD_MEMBER(type, field, key, RECORD_PLAIN(type, field), ##__VA_ARGS__)
#define RECORD_TEXT(type, field, key, ...)                                                         \
	RECORD_MEMBER(type, field, key, .kind = RECORD_KIND_TEXT,                                  \
		.size = RECORD_SAME(char, ((type *)0)->field[0]) * sizeof(((type *)0)->field),     \
		##__VA_ARGS__)
#define RECORD_ENUM(type, field, name_list, key, ...)                                              \
	RECORD_MEMBER(type, field, key, .kind = RECORD_KIND_ENUM,                                  \
		.size = RECORD_ENUM_SIZE(((type *)0)->field), .names = (name_list), ##__VA_ARGS__)
#define RECORD_FLAGS(type, field, name_list, key, ...)                                             \
	RECORD_MEMBER(type, field, key, .kind = RECORD_KIND_FLAGS,                                 \
		.size = RECORD_SAME(uint32_t, ((type *)0)->field) * sizeof(uint32_t),              \
		.names = (name_list), ##__VA_ARGS__)
#define RECORD_NESTED(type, field, id, key, ...)                                                   \
	RECORD_MEMBER(type, field, key, RECORD_ITEM(((type *)0)->field, id), ##__VA_ARGS__)
#define RECORD_POINTER(type, field, id, key, ...)                                                  \
	RECORD_MEMBER(type, field, key, .shape = RECORD_OWNED,                                     \
		RECORD_ITEM(*((type *)0)->field, id), ##__VA_ARGS__)
#define RECORD_FLAT(type, field, id)                                                               \
	RECORD_MEMBER(                                                                             \
		type, field, "", .shape = RECORD_FLATTENED, RECORD_ITEM(((type *)0)->field, id))
/* `struct json *field`: an object of the members that the table does not name, or NULL. */
#define RECORD_UNKNOWN(type, field)                                                                \
	RECORD_VALUE(type, field, "", .flags = RECORD_NOT_JSON | RECORD_OTHERS)
#define RECORD_CUSTOM(type, field, functions, key, ...)                                            \
	RECORD_MEMBER(type, field, key, RECORD_MADE(type, field, functions), ##__VA_ARGS__)
/* Read from and written for the whole struct. */
#define RECORD_DERIVED(type, functions, key, ...)                                                  \
	{                                                                                          \
		.name = (key), .kind = RECORD_KIND_CUSTOM, .size = sizeof(type),                   \
		.custom = (functions), ##__VA_ARGS__                                               \
	}
#define RECORD_CONSTANT(key, string)                                                               \
	{                                                                                          \
		.name = (key), .kind = RECORD_KIND_CONSTANT, .constant = (string)                  \
	}
#define RECORD_COMMENT(key)                                                                        \
	{                                                                                          \
		.name = (key), .kind = RECORD_KIND_COMMENT, .flags = RECORD_OPTIONAL               \
	}

/* ---- several of them ---- */
#define RECORD_VALUES(type, field, count, key, ...)                                                \
	RECORD_MEMBER(type, field, key, .shape = RECORD_LIST, RECORD_PLAIN(type, field[0]),        \
		RECORD_COUNTED(type, count), ##__VA_ARGS__)
/* char **, ends with NULL */
#define RECORD_STRINGS(type, field, key, ...)                                                      \
	RECORD_MEMBER(type, field, key, .shape = RECORD_LIST,                                      \
		.kind = RECORD_KIND_OF(type, field[0]),                                            \
		.size = RECORD_STRING_SIZE(((type *)0)->field[0]), ##__VA_ARGS__)
#define RECORD_RECORDS(type, field, count, id, key, ...)                                           \
	RECORD_MEMBER(type, field, key, .shape = RECORD_LIST,                                      \
		RECORD_ITEM(((type *)0)->field[0], id), RECORD_COUNTED(type, count),               \
		##__VA_ARGS__)
#define RECORD_CUSTOMS(type, field, count, functions, key, ...)                                    \
	RECORD_MEMBER(type, field, key, .shape = RECORD_LIST,                                      \
		RECORD_MADE(type, field[0], functions), RECORD_COUNTED(type, count),               \
		##__VA_ARGS__)
/* The first member of an item is its key. With two members, the second named "", that one is the
 * value; else the value is an object of the other members. */
#define RECORD_MAP(type, field, count, id, key, ...)                                               \
	RECORD_MEMBER(type, field, key, .shape = RECORD_MAPPED,                                    \
		RECORD_ITEM(((type *)0)->field[0], id), RECORD_COUNTED(type, count),               \
		##__VA_ARGS__)
#define RECORD_ARRAY(type, field, key, ...)                                                        \
	RECORD_MEMBER(type, field, key, .shape = RECORD_FIXED, RECORD_INLINE(type, field),         \
		RECORD_PLAIN(type, field[0]), ##__VA_ARGS__)
#define RECORD_ARRAY_COUNTED(type, field, count, key, ...)                                         \
	RECORD_MEMBER(type, field, key, .shape = RECORD_FILLED, RECORD_INLINE(type, field),        \
		RECORD_PLAIN(type, field[0]), RECORD_COUNTED(type, count), ##__VA_ARGS__)
/* An inline array with one item per name, each of which may be absent. */
#define RECORD_NAMED(type, field, key_list, key, ...)                                              \
	RECORD_MEMBER(type, field, key, .shape = RECORD_BY_NAME, RECORD_INLINE(type, field),       \
		RECORD_PLAIN(type, field[0]), .keys = (key_list), ##__VA_ARGS__)
#define RECORD_NAMED_CUSTOM(type, field, key_list, functions, key, ...)                            \
	RECORD_MEMBER(type, field, key, .shape = RECORD_BY_NAME, RECORD_INLINE(type, field),       \
		RECORD_MADE(type, field[0], functions), .keys = (key_list), ##__VA_ARGS__)
/* `.present = RECORD_PRESENT(type, flag)`: the member is there while the bool `flag` is set. */
#define RECORD_PRESENT(type, flag) (offsetof(type, flag) + RECORD_SAME(bool, ((type *)0)->flag))

/* ---- parts of the macros above ---- */
#define RECORD_MEMBER(type, field, key, ...)                                                       \
	{                                                                                          \
		.name = (key), .offset = offsetof(type, field), __VA_ARGS__                        \
	}
/* 1 if the expression is of the type; else it does not compile */
#define RECORD_SAME(type, expression)                                                              \
	sizeof(struct {                                                                            \
		_Static_assert(__builtin_types_compatible_p(type, __typeof__(expression)),         \
			"the member is not of type " #type);                                       \
		char one;                                                                          \
	})
#define RECORD_PLAIN(type, field)                                                                  \
	.kind = RECORD_KIND_OF(type, field), .size = sizeof(((type *)0)->field)
#define RECORD_MADE(type, field, functions)                                                        \
	.kind = RECORD_KIND_CUSTOM, .size = sizeof(((type *)0)->field), .custom = (functions)
#define RECORD_ITEM(expression, id)                                                                \
	.kind = RECORD_KIND_RECORD, .record = &(id),                                               \
	.size = RECORD_SAME(id##_struct, expression) * sizeof(expression)
#define RECORD_INLINE(type, field)                                                                 \
	.length = sizeof(((type *)0)->field) / sizeof(((type *)0)->field[0])
#define RECORD_COUNTED(type, count)                                                                \
	.count_offset = offsetof(type, count), .count_size = _Generic(((type *)0)->count, size_t   \
								      : sizeof(size_t), uint32_t   \
								      : sizeof(uint32_t))
#define RECORD_ENUM_SIZE(expression)                                                               \
	_Generic((expression), bool : sizeof(bool), int : sizeof(int), unsigned : sizeof(int))
#define RECORD_STRING_SIZE(expression)                                                             \
	_Generic((expression), char * : sizeof(char *), const char * : sizeof(char *))
#define RECORD_KIND_OF(type, field)                                                                \
	_Generic(((type *)0)->field, bool                                                          \
		 : RECORD_KIND_BOOL, int8_t                                                        \
		 : RECORD_KIND_INT, int16_t                                                        \
		 : RECORD_KIND_INT, int32_t                                                        \
		 : RECORD_KIND_INT, int64_t                                                        \
		 : RECORD_KIND_INT, uint8_t                                                        \
		 : RECORD_KIND_UINT, uint16_t                                                      \
		 : RECORD_KIND_UINT, uint32_t                                                      \
		 : RECORD_KIND_UINT, uint64_t                                                      \
		 : RECORD_KIND_UINT, float                                                         \
		 : RECORD_KIND_REAL, double                                                        \
		 : RECORD_KIND_REAL, char *                                                        \
		 : RECORD_KIND_STRING, const char *                                                \
		 : RECORD_KIND_BORROWED, struct text                                               \
		 : RECORD_KIND_BYTES, struct json *                                                \
		 : RECORD_KIND_JSON)

#endif
