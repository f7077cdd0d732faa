#include "unit/unit.h"
#include "record_fixture.h"

#include "record/record_wire.h"

/* ---- bytes ---- */
TEST(packed_bytes_give_the_same_struct)
{
	struct all all, back = {0}, copy = {0};
	struct text bytes = {0};
	struct json *tree;
	struct error err = {0};

	read_all(&all, &tree);
	text_append_bytes(&all.blob, "\0\1\2", 3);
	all.seed--;
	record_pack(&all_record, &all, &bytes);
	assert_ok(
		record_unpack(&all_record, bytes.data, bytes.length, "worker", &back, NULL, &err));
	assert_true(back.seed == UINT64_MAX - 1 && isnan(back.last.y) && back.has_last);
	assert_true(back.borrowed > bytes.data && back.borrowed < bytes.data + bytes.length);
	assert_string_equal(back.borrowed, "kept");
	assert_int_equal(back.blob.length, 3);
	assert_memory_equal(back.blob.data, "\0\1\2", 3);
	assert_string_equal(back.amounts[0], "12");
	assert_true(record_equal(&all_record, &all, &back));
	back.points[0].x++;
	assert_false(record_equal(&all_record, &all, &back));
	record_copy(&all_record, &all, &copy);
	assert_true(record_equal(&all_record, &all, &copy));
	assert_ptr_equal(copy.borrowed, all.borrowed);
	assert_ptr_not_equal(copy.text, all.text);
	record_release(&all_record, &all);
	assert_string_equal(copy.text, "a \"b\"");
	record_release(&all_record, &copy);
	record_release(&all_record, &back);
	text_release(&bytes);
	json_free(tree);
}

/* No prefix of the bytes is a record, trailing bytes are none either, and no changed byte makes the
 * reader leave its input (the sanitizers watch). */
TEST(hostile_bytes_are_refused)
{
	struct all all, back = {0};
	struct text bytes = {0};
	struct json *tree;
	struct error err = {0};

	read_all(&all, &tree);
	record_pack(&all_record, &all, &bytes);
	for (size_t i = 0; i < bytes.length; i++) {
		char *cut = memory_copy(bytes.data, i ? i : 1);

		assert_fails(record_unpack(&all_record, cut, i, "worker", &back, NULL, &err),
			STATUS_FAILED, "worker: invalid packed record");
		assert_null(back.text);
		free(cut);
	}
	for (size_t i = 0; i < bytes.length; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			char *changed = memory_copy(bytes.data, bytes.length);

			changed[i] = (char)(changed[i] ^ (1 << bit));
			if (record_unpack(&all_record, changed, bytes.length, "worker", &back, NULL,
				    &err) == STATUS_OK)
				record_release(&all_record, &back);
			assert_null(back.points);
			free(changed);
		}
	}
	text_append_char(&bytes, 0);
	assert_fails(
		record_unpack(&all_record, bytes.data, bytes.length, "worker", &back, NULL, &err),
		STATUS_FAILED, "trailing bytes");
	record_release(&all_record, &all);
	text_release(&bytes);
	json_free(tree);
}

static const struct record_member limited_members[] = {
	RECORD_VALUE(struct all, yes, "yes"),
	RECORD_ENUM(struct all, colour, colours, "colour"),
	RECORD_FLAGS(struct all, bits, flags, "flags"),
	RECORD_VALUE(struct all, small, "small", .low = 1, .high = 4),
	RECORD_VALUE(struct all, time_us, "time_us", .low = 0, .high = INFINITY),
};
static RECORD_DEFINE(struct all, limited_record, limited_members, .name = "values");

TEST(impossible_packed_values_are_refused)
{
	struct all all = {.yes = true, .colour = BLUE, .bits = 3, .small = 4, .time_us = 0}, back;
	struct text bytes = {0};
	struct error err = {0};
	const struct {
		size_t at;
		int value;
		const char *member;
	} cases[] = {{0, 2, "yes"}, {1, 3, "colour"}, {5, 4, "flags"}, {9, 5, "small"},
		{20, 0x80, NULL}, {20, 0xff, "time_us"}};

	record_pack(&limited_record, &all, &bytes);
	assert_int_equal(bytes.length, 21);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *changed = memory_copy(bytes.data, bytes.length);

		changed[cases[i].at] = (char)cases[i].value;
		back = (struct all){0};
		if (cases[i].member)
			assert_fails(record_unpack(&limited_record, changed, bytes.length, "worker",
					     &back, NULL, &err),
				STATUS_FAILED, cases[i].member);
		else /* minus zero */
			assert_ok(record_unpack(&limited_record, changed, bytes.length, "worker",
				&back, NULL, &err));
		free(changed);
	}
	text_release(&bytes);
}

TEST(the_layout_tells_tables_apart)
{
	struct text point = {0}, figure = {0}, again = {0};

	record_layout(&point_record, &point);
	record_layout(&point_record, &again);
	record_layout(&figure_record, &figure);
	assert_string_equal(text_string(&point), text_string(&again));
	assert_string_not_equal(text_string(&point), text_string(&figure));
	assert_non_null(strstr(text_string(&point), " x:"));
	text_release(&point);
	text_release(&again);
	text_release(&figure);
}
