/* SPDX-License-Identifier: MIT
 *
 * What the name of an entry of the cache is made of.
 */
#include "unit/unit.h"
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "compile/cache_entry.h"

/* Everything that decides what the compiler makes is part of the key, by itself. */
TEST(test_key)
{
	struct {
		const char *arch, *compiler, *source, *options[2];
		size_t option_count;
		const char *entries[2];
		size_t entry_count;
	} cases[] = {
		{"sm_90a", "V1", "source", {"-DA=1", "-DB=2"}, 2, {"k", "l"}, 1},
		{"sm_90", "V1", "source", {"-DA=1", "-DB=2"}, 2, {"k", "l"}, 1},
		{"sm_90a", "V2", "source", {"-DA=1", "-DB=2"}, 2, {"k", "l"}, 1},
		{"sm_90a", "V1", "sourcf", {"-DA=1", "-DB=2"}, 2, {"k", "l"}, 1},
		{"sm_90a", "V1", "source", {"-DA=2", "-DB=2"}, 2, {"k", "l"}, 1},
		{"sm_90a", "V1", "source", {"-DA=1", "-DB=1"}, 2, {"k", "l"}, 1},
		{"sm_90a", "V1", "source", {"-DA=1", "-DB=2"}, 1, {"k", "l"}, 1},
		{"sm_90a", "V1", "source", {"-DA=1", "-DB=2"}, 2, {"m", "l"}, 1},
		{"sm_90a", "V1", "source", {"-DA=1", "-DB=2"}, 2, {"k", "l"}, 2},
		{"sm_90a", "V1", "source", {"-DA=1", "-DB=2"}, 2, {"k", "m"}, 2},
		/* an entry is no option, nor is one text two */
		{"sm_90a", "V1", "source", {"-DA=1", NULL}, 1, {"-DB=2", "k"}, 2},
		{"sm_90a", "V1", "source-DA=1", {"-DB=2", NULL}, 1, {"k", "l"}, 1},
	};
	char keys[ARRAY_COUNT(cases)][HASH_SIZE], again[HASH_SIZE];

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct build_unit unit = {.source = string_copy(cases[i].source),
			.options = (char **)(uintptr_t)cases[i].options,
			.option_count = cases[i].option_count,
			.entries = (char **)(uintptr_t)cases[i].entries,
			.entry_count = cases[i].entry_count};

		cache_key(&unit, cases[i].arch, cases[i].compiler, "", keys[i]);
		cache_key(&unit, cases[i].arch, cases[i].compiler, "", again);
		assert_string_equal(keys[i], again);
		cache_key(&unit, cases[i].arch, cases[i].compiler, "a toolkit", again);
		assert_string_not_equal(keys[i], again);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(keys[i], keys[j]);
		free(unit.source);
	}
}

/* The bodies that tests/fuzz starts from reach the reader of the record. */
TEST(test_corpus_of_the_fuzzer)
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
