/* SPDX-License-Identifier: MIT
 *
 * A record is a table that describes the members of a struct. The table drives reading of JSON
 * (record/record_read.h), writing of JSON (record/record_write.h), release, copy and comparison.
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
 * if only one file uses the record. The kind of a value follows from its C type. A type without a
 * kind, or a nested record of another struct, does not compile. Designated initializers for other
 * members of struct record_member may follow the JSON name.
 *
 * Members are read and written in the order of the table.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include "base/json.h"
#include "base/memory.h"

enum record_kind {
	RECORD_KIND_BOOL,
	RECORD_KIND_INT,
	RECORD_KIND_UINT,
	RECORD_KIND_REAL,     /* null in JSON if it is not finite */
	RECORD_KIND_STRING,   /* char *: owned */
	RECORD_KIND_BORROWED, /* const char * into the JSON tree */
	RECORD_KIND_TEXT,     /* char[n] */
	RECORD_KIND_BYTES,    /* any bytes; in JSON a string in base64 */
	RECORD_KIND_JSON,     /* struct json *: any JSON, owned */
	RECORD_KIND_ENUM,     /* an enum, or a bool with two names */
	RECORD_KIND_FLAGS,    /* bits; in JSON a list of names */
	RECORD_KIND_RECORD,
	RECORD_KIND_CUSTOM,
	RECORD_KIND_CONSTANT, /* exists only in JSON */
	RECORD_KIND_COMMENT,  /* only in JSON, accepted and discarded */
};

enum record_shape {
	RECORD_ONE,
	RECORD_OWNED, /* NULL if absent */
	/* never NULL after reading; a zeroed item follows the last one */
	RECORD_LIST,
	RECORD_FIXED,     /* an inline array, always full */
	RECORD_FILLED,    /* an inline array and a count */
	RECORD_MAPPED,    /* an object in JSON; the items' first members are its keys */
	RECORD_BY_NAME,   /* an object in JSON, with the names in `keys` */
	RECORD_FLATTENED, /* its members belong to the parent's JSON object */
};

enum {
	RECORD_OPTIONAL = 1 << 0, /* the member may be missing; not written if absent */
	/* null means absent, and is written; for a real with a numeric default null means NaN */
	RECORD_NULLABLE = 1 << 1,
	RECORD_KEPT = 1 << 2,           /* with RECORD_OPTIONAL: written even when absent */
	RECORD_SCALAR_OR_LIST = 1 << 3, /* a single item may be written without brackets */
	RECORD_WHOLE = 1 << 4,          /* a real that JSON states as an integer */
	RECORD_NOT_JSON = 1 << 5,       /* the member is only copied and released */
	RECORD_OTHERS = 1 << 6,         /* holds JSON members that the table does not name */
	RECORD_ROUNDED = 1 << 7,        /* fractions are written with seven significant digits */
};

struct record;

/* For a member that no kind fits. `field` points to the member, or with RECORD_DERIVED to the
 * struct. It is copied by its `record` if set, else as JSON. Functions may be NULL. */
struct record_custom {
	enum status (*read)(
		const struct json_at *at, void *field, void *context, struct error *err);
	struct json *(*write)(const void *field); /* returns NULL to leave the member out */
	void (*release)(void *field);
};

struct record_rule {
	const char *expected;              /* "32 hexadecimal digits" */
	bool (*accepts)(const char *text); /* NULL accepts any string except "" */
};

struct record_member {
	const char *name; /* "" in a map's item means the item's value */
	enum record_kind kind;
	enum record_shape shape;
	unsigned flags;
	size_t offset;
	size_t size;   /* bytes of one item */
	size_t length; /* number of items of an inline array */
	/* offset and size of the count; if size is 0, the list ends with NULL */
	size_t count_offset, count_size;
	/* 1 + offset of the bool that says whether the member is present, or 0 */
	size_t present;
	const char *const *names; /* names of values of an enum or flags; NULL-terminated */
	const char *const *keys;  /* RECORD_BY_NAME: names of the items, NULL-terminated */
	const struct record *record;
	const struct record_custom *custom;
	const struct record_rule *rule;
	const char *constant;
	/* describes a valid number in messages; NULL selects the range */
	const char *expected;
	double absent;               /* value of a missing number, enum or bool */
	double low, high;            /* range of a number; if both are 0, that of its type */
	size_t count_min, count_max; /* range of a list's length; 0 means no limit */
	/* If 0, JSON must state the value. Otherwise an expression may give it (record_computed),
	 * with the names of scope context `computed` - 1. */
	int computed;
};

struct record {
	const char *name;
	size_t size;
	const struct record_member *members;
	size_t member_count;
	/* Drops members that the table does not name, or stores them by RECORD_UNKNOWN(). */
	bool open;
	/* JSON that is no object is the value of this member. If NULL, such JSON is an error. */
	const char *short_form;
	/* Runs after reading: checks members against each other and computes derived members. */
	enum status (*check)(
		void *value, const struct json_at *at, void *context, struct error *err);
};

enum {
	RECORD_MEMBERS_MAX = 96 /* most members of a JSON object */
};

/* Zeroes the members of the table. */
void record_release(const struct record *record, void *value);
/* The caller zeroes `to`. Borrowed strings stay borrowed. */
void record_copy(const struct record *record, const void *from, void *to);

/* ---- walking a struct by its table, for record/record_*.c ---- */
/* The members of a JSON object, including those of flattened records. */
struct record_field {
	const struct record *record;
	const struct record_member *member;
	size_t base;
};

struct record_fields {
	struct record_field items[RECORD_MEMBERS_MAX];
	size_t count;
};

void record_fields_fill(const struct record *record, struct record_fields *fields);

/* Returns SIZE_MAX if there is none. `from` is the likely index. */
size_t record_field_find(const struct record_fields *fields, const char *name, size_t from);
bool record_is_counted(const struct record_member *member);

struct record_span {
	char *data;
	size_t count;
};

struct record_span record_span(const struct record_member *member, const void *base);
/* Allocates `count` zeroed items. Returns NULL if the member does not allow that many. */
char *record_reserve(
	const struct record *record, const struct record_member *member, void *base, size_t count);
bool record_is_absent(const struct record_member *member, const void *base);
bool record_item_is_absent(const struct record_member *member, const void *item);
void record_set_absent(const struct record_member *member, void *base);
void record_set_present(const struct record_member *member, void *base);

/* Returns an integer, enum or bool as 64 bits. */
int64_t record_load(const struct record_member *member, const void *item);
void record_store(const struct record_member *member, void *item, int64_t value);
/* Copies the string, unless the member borrows strings. */
void record_store_string(const struct record_member *member, void *item, const char *string);
double record_load_real(const void *item);

size_t record_name_count(const char *const *names);
bool record_has_range(const struct record_member *member);
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
/* an object of unknown members, or NULL */
#define RECORD_UNKNOWN(type, field)                                                                \
	RECORD_VALUE(type, field, "", .flags = RECORD_NOT_JSON | RECORD_OTHERS)
#define RECORD_CUSTOM(type, field, functions, key, ...)                                            \
	RECORD_MEMBER(type, field, key, RECORD_MADE(type, field, functions), ##__VA_ARGS__)
/* A member that its functions compute from the whole struct. */
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

/* ---- lists ---- */
#define RECORD_VALUES(type, field, count, key, ...)                                                \
	RECORD_MEMBER(type, field, key, .shape = RECORD_LIST, RECORD_PLAIN(type, field[0]),        \
		RECORD_COUNTED(type, count), ##__VA_ARGS__)
/* A list of strings that ends with NULL. */
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
/* The first member of an item is its key in JSON. If the only other one is named "", it is the
 * value; otherwise the value is an object. */
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
/* An object with one item per name; items may be absent. */
#define RECORD_NAMED(type, field, key_list, key, ...)                                              \
	RECORD_MEMBER(type, field, key, .shape = RECORD_BY_NAME, RECORD_INLINE(type, field),       \
		RECORD_PLAIN(type, field[0]), .keys = (key_list), ##__VA_ARGS__)
#define RECORD_NAMED_CUSTOM(type, field, key_list, functions, key, ...)                            \
	RECORD_MEMBER(type, field, key, .shape = RECORD_BY_NAME, RECORD_INLINE(type, field),       \
		RECORD_MADE(type, field[0], functions), .keys = (key_list), ##__VA_ARGS__)
/* The member is present while the bool `flag` is true. */
#define RECORD_PRESENT(type, flag) (offsetof(type, flag) + RECORD_SAME(bool, ((type *)0)->flag))

/* ---- parts of the macros above ---- */
#define RECORD_MEMBER(type, field, key, ...)                                                       \
	{                                                                                          \
		.name = (key), .offset = offsetof(type, field), __VA_ARGS__                        \
	}
/* Gives 1 if the expression has the type; otherwise compilation fails. */
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
	.count_offset = offsetof(type, count),                                                     \
	.count_size = RECORD_SAME(size_t, ((type *)0)->count) * sizeof(size_t)
#define RECORD_ENUM_SIZE(expression)                                                               \
	_Generic((expression), bool : sizeof(bool), int : sizeof(int), unsigned : sizeof(int))
#define RECORD_STRING_SIZE(expression)                                                             \
	_Generic((expression), char * : sizeof(char *), const char * : sizeof(char *))
#define RECORD_KIND_OF(type, field)                                                                \
	_Generic(((type *)0)->field, bool                                                          \
		 : RECORD_KIND_BOOL, int32_t                                                       \
		 : RECORD_KIND_INT, int64_t                                                        \
		 : RECORD_KIND_INT, uint32_t                                                       \
		 : RECORD_KIND_UINT, uint64_t                                                      \
		 : RECORD_KIND_UINT, double                                                        \
		 : RECORD_KIND_REAL, char *                                                        \
		 : RECORD_KIND_STRING, const char *                                                \
		 : RECORD_KIND_BORROWED, struct text                                               \
		 : RECORD_KIND_BYTES, struct json *                                                \
		 : RECORD_KIND_JSON)

#endif
