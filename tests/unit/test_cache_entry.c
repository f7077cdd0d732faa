/* SPDX-License-Identifier: MIT
 *
 * Entries of the cache of kernels.
 */
#include "unit/unit.h"
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "compile/cache_entry.h"

/* The bodies that tests/fuzz starts from reach the reader of the record. */
TEST(the_corpus_of_the_fuzzer_reaches_the_reader)
{
	static const struct {
		const char *name;
		bool is_entry;
	} cases[] = {{"ptx", true}, {"cubin", true}, {"failed", true}, {"no_base64", false},
		{"other_architecture", false}, {"other_outcome", false}};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		char *path = string_format("tests/fuzz/corpus/kernel_cache/%s", cases[i].name);
		struct text body = {0}, sealed = {0};
		struct cache_entry entry;
		struct error err = {0};

		assert_ok(file_read(path, &body, &err));
		cache_entry_seal("0123456789abcdef0123456789abcdef", &body, &sealed);
		assert_int_equal(
			cache_entry_unpack(&sealed, "0123456789abcdef0123456789abcdef", &entry),
			cases[i].is_entry);
		cache_entry_release(&entry);
		text_release(&body);
		text_release(&sealed);
		free(path);
	}
}
