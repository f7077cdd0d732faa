/* SPDX-License-Identifier: MIT
 *
 * Tuned files: merging two, adding an entry to one, and exporting tables.
 */
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "export/export.h"
#include "format/merge.h"
#include "rules/rules.h"

static void tuned_of(const struct json_at *in, const char *key, struct tuned *tuned)
{
	const struct json_at at = rule_member(in, key);
	struct text text = {0};
	struct error err = {0};

	json_append(at.node, false, &text);
	rule_expect(tuned_parse(&text, key, tuned, &err), &err);
}

static struct json *tuned_json(const struct tuned *tuned)
{
	return record_to_json(&tuned_record, tuned);
}

RULE(merge)
{
	struct tuned into, from;
	struct merge_summary summary = {0};
	struct json *out = json_new_object();
	struct error err = {0};

	tuned_of(in, "into", &into);
	tuned_of(in, "from", &from);
	if (tuned_merge(&into, &from, rule_string(in, "run"), &summary, &err) != STATUS_OK)
		json_put_string(out, "refused", err.message);
	json_put(out, "tuned", tuned_json(&into));
	json_put_int(out, "added", (int64_t)summary.added);
	json_put_int(out, "equal", (int64_t)summary.equal);
	json_put_int(out, "outranked", (int64_t)summary.outranked);
	json_put_int(out, "conflicts", (int64_t)summary.conflicts);
	return out;
}

/* Saves `from` over a file that holds `into`. Returns the file's new text, or {"refused":
 * message}. */
RULE(save)
{
	const char *folder = getenv("TMPDIR");
	CLEANUP(memory_free)
	char *path = string_format("%s/rules-%d.json", folder ? folder : "/tmp", (int)getpid());
	struct tuned into, from;
	struct text text = {0};
	struct json *out = json_new_object();
	struct error err = {0};

	tuned_of(in, "into", &into);
	tuned_of(in, "from", &from);
	rule_expect(tuned_replace(&into, path, &err), &err);
	if (tuned_save(&from, path, rule_string(in, "run"), &err) != STATUS_OK)
		json_put_string(out, "refused", err.message);
	rule_expect(file_read(path, &text, &err), &err);
	unlink(path);
	json_put_string(out, "text", text_string(&text));
	return out;
}

static bool answer(const struct tuned_row *row, void *context)
{
	(void)row;
	return *(bool *)context;
}

/* Merges the entries of `from` into `into`. */
RULE(put_entries)
{
	struct tuned into, from;
	struct json *out = json_new_object(), *said = json_new_array();
	bool is_valid = rule_flag(in, "is_valid");
	const struct tuned_judge judge = {answer, &is_valid};

	tuned_of(in, "into", &into);
	tuned_of(in, "from", &from);
	for (size_t i = 0; i < from.run_count; i++)
		tuned_copy_run(&into, &from, from.runs[i].id);
	for (size_t i = 0; i < from.entry_count; i++) {
		struct tuned_entry entry = tuned_entry_copy(&from.entries[i]);
		const char *kept;

		tuned_put_entry(&into, &entry, rule_flag(in, "has_judge") ? &judge : NULL, &kept);
		json_push(said, json_new_string(kept));
	}
	json_put(out, "tuned", tuned_json(&into));
	json_put(out, "kept", said);
	return out;
}

/* Exports all entries in a format. Returns {"text": ...} or {"refused": message}, or {"invalid":
 * message} if the input is not a tuned file. */
RULE(export)
{
	const struct json_at at = rule_member(in, "tuned");
	struct export_source source = {.name = string_copy("drawn.json")};
	struct text read = {0}, text = {0};
	struct json *out = json_new_object();
	struct tuned tuned;
	struct error err = {0};

	json_append(at.node, false, &read);
	if (tuned_parse(&read, "tuned", &tuned, &err) != STATUS_OK) {
		json_put_string(out, "invalid", err.message);
		return out;
	}
	source.tuned = &tuned;
	source.entries = memory_zeroed(tuned.entry_count + 1, sizeof(*source.entries));
	for (; source.entry_count < tuned.entry_count; source.entry_count++)
		source.entries[source.entry_count] = &tuned.entries[source.entry_count];
	if (export_format_find(rule_string(in, "format"))->write(&source, &text, &err) != STATUS_OK)
		json_put_string(out, "refused", err.message);
	else
		json_put_string(out, "text", text_string(&text));
	return out;
}
