/* SPDX-License-Identifier: MIT
 *
 * src/launch with broken bundles that a fuzzer rarely produces: every number that is an offset.
 * tests/checks/launch.py tests launching.
 */
#include <stdarg.h>
#include <stddef.h>

#include "unit/unit.h"
#include "base/file.h"
#include "base/memory.h"
#define TTL_IMPLEMENTATION
#define TTL_DYNAMIC
#include "launch/tiletune_launch.h"

static const char corpus[] = "tests/fuzz/corpus/bundle/four_kernels";
static const char whole[] = "tests/fuzz/corpus/bundle/whole";

TEST(every_changed_byte_changes_the_checksum)
{
	unsigned char bytes[64];
	uint64_t sum;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(37 * i * i + i);
	sum = ttl_checksum(bytes, sizeof(bytes));
	assert_int_not_equal(sum, ttl_checksum(bytes, sizeof(bytes) - 8));
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] ^= 0x80;
		assert_int_not_equal(sum, ttl_checksum(bytes, sizeof(bytes)));
		bytes[i] ^= 0x80;
	}
}

static struct text read_bundle(const char *path)
{
	struct text text = {0};
	struct error err;

	assert_int_equal(file_read(path, &text, &err), STATUS_OK);
	return text;
}

/* Opens the bundle after correcting its checksum. */
static enum ttl_status open_signed(struct text *text, struct ttl_error *err)
{
	struct ttl_header *header = (void *)text->data;
	const size_t summed = offsetof(struct ttl_header, tables);
	struct ttl_bundle *bundle;
	enum ttl_status status;

	header->checksum = ttl_checksum(text->data + summed, text->length - summed);
	status = ttl_open_memory(text->data, text->length, &bundle, err);
	assert_true((status == TTL_OK) == (bundle != NULL));
	ttl_close(bundle);
	return status;
}

/* Returns the validated field of a table's last item. */
#define FIELD(table, member)                                                                       \
	{                                                                                          \
		TTL_TABLE_##table, offsetof(TYPE, member), sizeof(TYPE), #table "." #member        \
	}
static const struct field {
	enum ttl_table table;
	size_t offset, item_bytes;
	const char *name;
} fields[] = {
#define TYPE struct ttl_operation
	FIELD(operations, name),
	FIELD(operations, keys.first),
	FIELD(operations, keys.count),
	FIELD(operations, entries.first),
	FIELD(operations, entries.count),
#undef TYPE
#define TYPE struct ttl_key
	FIELD(keys, name),
#undef TYPE
#define TYPE struct ttl_entry
	FIELD(entries, family),
	FIELD(entries, configuration),
	FIELD(entries, kernel_hash),
	FIELD(entries, tensor_count),
	FIELD(entries, sizes.first),
	FIELD(entries, sizes.count),
	FIELD(entries, buffers.first),
	FIELD(entries, buffers.count),
	FIELD(entries, maps.first),
	FIELD(entries, maps.count),
	FIELD(entries, symbols.first),
	FIELD(entries, symbols.count),
	FIELD(entries, steps.first),
	FIELD(entries, steps.count),
	FIELD(entries, images.first),
	FIELD(entries, images.count),
#undef TYPE
#define TYPE struct ttl_buffer
	FIELD(buffers, name),
	FIELD(buffers, dtype),
#undef TYPE
#define TYPE struct ttl_map
	FIELD(maps, name),
	FIELD(maps, buffer),
	FIELD(maps, rank),
#undef TYPE
#define TYPE struct ttl_symbol
	FIELD(symbols, name),
	FIELD(symbols, unit),
	FIELD(symbols, buffer),
#undef TYPE
#define TYPE struct ttl_step
	FIELD(steps, entry),
	FIELD(steps, unit),
	FIELD(steps, arguments.first),
	FIELD(steps, arguments.count),
#undef TYPE
#define TYPE struct ttl_argument
	FIELD(arguments, name),
	FIELD(arguments, kind),
#undef TYPE
#define TYPE struct ttl_image
	FIELD(images, offset),
	FIELD(images, bytes),
#undef TYPE
};

TEST(damaged_headers_are_refused)
{
	for (size_t i = 0; i < ARRAY_COUNT(fields); i++) {
		struct text text = read_bundle(corpus);
		const struct ttl_header *header = (const void *)text.data;
		struct ttl_error err;
		char *items = text.data + header->tables[fields[i].table].offset;
		const size_t last = header->tables[fields[i].table].count - 1;
		const uint32_t far = 0x7ffffff0;

		assert_int_equal(open_signed(&text, &err), TTL_OK);
		memcpy(items + last * fields[i].item_bytes + fields[i].offset, &far, sizeof(far));
		if (open_signed(&text, &err) != TTL_BAD_BUNDLE)
			fail_msg("%s may lie anywhere", fields[i].name);
		assert_non_null(strstr(err.text, "damaged"));
		text_release(&text);
	}
	for (size_t i = 0; i < TTL_TABLE_COUNT; i++)
		for (size_t k = 0; k < 3; k++) {
			struct text text = read_bundle(corpus);
			struct ttl_header *header = (void *)text.data;
			struct ttl_error err;

			if (k == 0)
				header->tables[i].offset += 4;
			else if (k == 1)
				header->tables[i].offset = text.length + 8;
			else
				header->tables[i].count = text.length;
			assert_int_equal(open_signed(&text, &err), TTL_BAD_BUNDLE);
			text_release(&text);
		}
}

/* Tests two keys whose text has no end, and an image with too large a length. */
TEST(texts_without_end_and_long_images_are_refused)
{
	struct text text = read_bundle(whole);
	const struct ttl_header *header = (const void *)text.data;
	struct ttl_image image;
	struct ttl_error err;
	unsigned char *elf;

	assert_int_equal(open_signed(&text, &err), TTL_OK);
	memcpy(&image, text.data + header->tables[TTL_TABLE_images].offset, sizeof(image));
	elf = (unsigned char *)text.data + header->tables[TTL_TABLE_code].offset + image.offset;
	assert_true(ttl_is_elf(elf, image.bytes));
	for (uint64_t bytes = 0; bytes < image.bytes; bytes += 1 + image.bytes / 100)
		assert_false(ttl_is_elf(elf, bytes));
	text.data[header->tables[TTL_TABLE_texts].offset + header->tables[TTL_TABLE_texts].count -
		  1] = 'x';
	assert_int_equal(open_signed(&text, &err), TTL_BAD_BUNDLE);
	text_release(&text);
}
