/* SPDX-License-Identifier: MIT */
#include "format/removed.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* A row is looked up only where nothing of its name exists. tests/unit/test_removed.c runs all. */
const struct removed removed_table[] = {
	/* commands */
	{"cache", "the cache is kept below a size by the program itself; `tiletune devices` says "
		  "where it is, and its files may be deleted at any time"},
	{"learn", "`python3 -m tiletune.learn JOURNAL... -o FILE` trains, `tiletune tune --learned "
		  "FILE` uses the result"},
	/* options */
	{"--worker", "the environment variable TILETUNE_WORKER names the program of the workers"},
	{"advise --sweep", "a range of sizes is a problem: `tiletune advise gemm -p "
			   "M=N=K=1700:1900:1`"},
	{"advise --csv", "`tiletune advise ... -o FILE` writes a tuned file, and `tiletune export "
			 "FILE --format csv` its table"},
	{"check --confidence", "verdicts have a confidence of 99%"},
	{"check --retune",
		"`tiletune tune` searches again, and `tiletune report OLD.json NEW.json` "
		"shows the difference"},
	{"help --format", "`make install` writes the man page and the completion of bash"},
	{"merge --on-conflict",
		"of two entries of one problem that of the later run stays; the order "
		"of the files decides nothing"},
	{"merge --update", "`tiletune merge FILE... -o all.json` makes one file, which `tiletune "
			   "tune --known all.json` reads"},
	{"tune --strategy rule", "tests/tools/rules_of_thumb.py says what a rule of thumb would "
				 "have chosen, compared with "
				 "the best that a journal holds"},
	{"new --nvrtc", "`tiletune new` reads the source alone and calls no compiler"},
	{"report --svg", "each figure of the page has a button that saves it as SVG"},
	/* arguments */
	{"lookup FOLDER", "`tiletune merge FOLDER/*.json -o all.json` makes one file to look into"},
	{"tune --known FOLDER", "--known takes files: `tiletune merge FOLDER/*.json -o all.json` "
				"makes one of many"},
	/* keys of problems */
	{"gemm -p batch=B,seq=S",
		"M is B*S, the rows of all sequences; `batch` is of products that "
		"are apart"},
	{"gemm_chain -p batch=B,seq=S", "m is B*S, the rows of all sequences"},
	{"gemm_grouped -p spread=FILE",
		"`skew` sets the exponent of the law that the sizes follow; "
		"a kernel of your own reads sizes from a file "
		"(templates/README.md: \"contents\")"},
	/* formats of export */
	{"export --format bencher", "`jq -f configs/ci/bencher.jq TUNED.json` writes it"},
	{"export --format bundle-c",
		"a program includes the bundle itself by .incbin (src/launch/README.md)"},
	{"export --format github-benchmark",
		"`jq -f configs/ci/github-benchmark.jq TUNED.json` writes it"},
	{"export --format journal", "`tiletune report JOURNAL -o FILE` shows a journal"},
	{"export --format t4", "`python3 -m tiletune.t4 FILE -o FILE.t4.json` writes it"},
	/* formats of files */
	{"tiletune.advise/1", "`tiletune advise --json` answers in tiletune.tuned/1"},
	{"tiletune.explain/1", "`tiletune explain --json` answers in tiletune.tuned/1"},
	{"tiletune.lookup/1", "`tiletune lookup --json` answers in tiletune.tuned/1"},
	{"tiletune.sweep/1", "`tiletune advise --json` answers in tiletune.tuned/1"},
	{NULL, NULL},
};

/* Whether text has the last key of the row's example, with a file's name where that has FILE. */
static bool has_key(const char *text, const char *example)
{
	const char *key = strrchr(example, ',') ? strrchr(example, ',') + 1 : example;
	const size_t length = strcspn(key, "=") + 1;
	const bool is_file = strcmp(key + length, "FILE") == 0;

	for (const char *piece = text; piece; piece = strchr(piece, ',')) {
		piece += *piece == ',';
		if (strncmp(piece, key, length) == 0)
			return !is_file || strcspn(piece, "./") < strcspn(piece, ",");
	}
	return false;
}

enum status removed_key_hint(const char *operation, const char *problem, struct error *err)
{
	for (const struct removed *row = removed_table; row->what; row++) {
		const char *example = strstr(row->what, " -p ");

		if (example && strlen(operation) == (size_t)(example - row->what) &&
			string_starts_with(row->what, operation) &&
			has_key(problem, example + strlen(" -p ")))
			error_hint(err, "%s was removed: %s", row->what, row->instead);
	}
	return STATUS_BAD_INPUT;
}

/* A row is "COMMAND --OPTION VALUE" or, of several commands, "--OPTION VALUE". */
enum status removed_expect_not(
	const char *command, const char *option, const char *value, struct error *err)
{
	CLEANUP(memory_free)
	char *of_several = string_format("%s%s%s%s", option ? "--" : "", option ? option : "",
		value ? " " : "", value ? value : "");
	CLEANUP(memory_free)
	char *what = string_format("%s%s%s", command, option ? " " : "", of_several);

	for (const struct removed *row = removed_table; row->what; row++)
		if (strcmp(row->what, what) == 0 || strcmp(row->what, of_several) == 0)
			return error_set(err, STATUS_BAD_INPUT, "%s was removed: %s", row->what,
				row->instead);
	return STATUS_OK;
}
