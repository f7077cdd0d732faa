/* SPDX-License-Identifier: MIT
 *
 * tiletune cache: the compiled kernels on disk.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/record_write.h"
#include "cli/common.h"
#include "compile/cache.h"
#include "report/format.h"

struct cache_options {
	struct common_options common;
	const char *folder, *max_size, *max_age;
};

#define AT(member) offsetof(struct cache_options, member)

static const struct option cache_option_table[] = {
	OPTION("cache-dir", 0, STRING, folder, "DIR", "the cache; default: the user's"),
	OPTION("max-size", 0, STRING, max_size, "SIZE",
		"trim: keep at most so much, the last used (500M, 2G)"),
	OPTION("max-age", 0, STRING, max_age, "TIME",
		"trim: remove what was not used for so long (30d, 90m)"),
	COMMON_OPTIONS,
	{0},
};

static enum status parse_size(const char *text, uint64_t *bytes, struct error *err)
{
	static const char units[] = "KMGT";
	char *end;
	double size = strtod(text, &end);
	const char *unit = *end ? strchr(units, *end) : NULL;

	for (const char *at = units; unit && at <= unit; at++)
		size *= 1024;
	if (end == text || !isfinite(size) || size < 0 || size > 1e18 ||
		(*end && (!unit || (end[1] && strcmp(end + 1, "B") != 0))))
		return error_set(err, STATUS_BAD_INPUT,
			"--max-size: expected a size as 500M or 2G, found \"%s\"", text);
	*bytes = (uint64_t)size;
	return STATUS_OK;
}

static enum status parse_age(const char *text, double *age_s, struct error *err)
{
	const double day_s = 86400;
	char *end;
	double days = strtod(text, &end);

	if (end != text && strcmp(end, "d") == 0 && days >= 0) {
		*age_s = days * day_s;
		return STATUS_OK;
	}
	if (text_parse_duration(text, age_s, NULL) == STATUS_OK)
		return STATUS_OK;
	return error_set(err, STATUS_BAD_INPUT,
		"--max-age: expected a time such as 30d or 90m, found \"%s\"", text);
}

static const struct record_member item_members[] = {
	RECORD_TEXT(struct cache_item, key, "key", "that it is found by"),
	RECORD_VALUE(struct cache_item, label.unit, "unit", "what was compiled"),
	RECORD_VALUE(struct cache_item, label.arch, "arch", "for what"),
	RECORD_VALUE(struct cache_item, label.compiler, "compiler", "by what"),
	RECORD_VALUE(struct cache_item, size_bytes, "size_bytes", "of the file"),
	RECORD_VALUE(struct cache_item, age_s, "age_s", "since it was last used"),
	RECORD_VALUE(struct cache_item, failed, "failed", "the compiler refused it"),
};
static RECORD_DEFINE(struct cache_item, item_record, item_members, .name = "item");

/* What check and trim did. */
struct upkeep {
	const char *folder;
	struct cache_summary summary;
};

static const struct record_member upkeep_members[] = {
	RECORD_VALUE(struct upkeep, folder, "folder", "of the cache"),
	RECORD_VALUE(struct upkeep, summary.removed_count, "removed_count", "files"),
	RECORD_VALUE(struct upkeep, summary.removed_bytes, "removed_bytes", "of these"),
	RECORD_VALUE(struct upkeep, summary.kept_count, "kept_count", "kernels"),
	RECORD_VALUE(struct upkeep, summary.kept_bytes, "kept_bytes", "of these"),
};
static RECORD_DEFINE(struct upkeep, upkeep_record, upkeep_members, .name = "upkeep");

struct listing {
	struct json *items; /* NULL: print */
	uint64_t count, bytes;
};

static void list_item(const struct cache_item *item, void *context)
{
	struct listing *listing = context;
	char age[32];

	listing->count++;
	listing->bytes += item->size_bytes;
	if (listing->items) {
		json_push(listing->items, record_to_json(&item_record, item));
		return;
	}
	clock_format_duration(item->age_s, age, sizeof(age));
	printf("%.12s  %-28s %-8s %-24s %9" PRIu64 " B  %s ago%s\n", item->key, item->label.unit,
		item->label.arch, item->label.compiler, item->size_bytes, age,
		item->failed ? "  (failed)" : "");
}

static enum status list(const struct cache_options *options, struct cache *cache, struct error *err)
{
	CLEANUP(json_release) struct json *items = options->common.json ? json_new_array() : NULL;
	struct listing listing = {.items = items};

	TRY(cache_list(cache, list_item, &listing, err));
	if (items)
		return common_write_json("-", items, err);
	printf("%" PRIu64 " kernels, %s in %s\n", listing.count,
		format_bytes((double)listing.bytes).text, cache_folder(cache));
	return STATUS_OK;
}

/* what: names the files that were removed */
static enum status report(const struct cache_options *options, const char *what,
	const struct cache *cache, const struct cache_summary *summary, struct error *err)
{
	if (options->common.json)
		return common_write_record(
			&upkeep_record, &(struct upkeep){cache_folder(cache), *summary}, err);
	printf("removed %" PRIu64 " %s%s, %s; %" PRIu64 " kernels, %s, are left in %s\n",
		summary->removed_count, what, summary->removed_count == 1 ? "" : "s",
		format_bytes((double)summary->removed_bytes).text, summary->kept_count,
		format_bytes((double)summary->kept_bytes).text, cache_folder(cache));
	return STATUS_OK;
}

static enum status trim(const struct cache_options *options, struct cache *cache, struct error *err)
{
	struct cache_summary summary = {0};
	uint64_t max_bytes = UINT64_MAX;
	double max_age_s = -1;

	if (!options->max_size && !options->max_age)
		return error_set(err, STATUS_BAD_INPUT,
			"cache trim: expected --max-size or --max-age, found neither");
	if (options->max_size)
		TRY(parse_size(options->max_size, &max_bytes, err));
	if (options->max_age)
		TRY(parse_age(options->max_age, &max_age_s, err));
	TRY(cache_trim(cache, max_bytes, max_age_s, &summary, err));
	return report(options, "file", cache, &summary, err);
}

static enum status check(
	const struct cache_options *options, struct cache *cache, struct error *err)
{
	struct cache_summary summary = {0};

	TRY(cache_check(cache, &summary, err));
	return report(options, "damaged file", cache, &summary, err);
}

/* A folder that was named is there: a typing error creates no cache. */
static enum status open_folder(const struct cache_options *options, const char *folder,
	struct cache **cache, struct error *err)
{
	CLEANUP(memory_free) char *kernels = path_join(folder, "kernels");

	if (options->folder && !directory_exists(kernels))
		return error_set(err, STATUS_BAD_INPUT,
			"--cache-dir: expected a cache, with a folder kernels, found none in %s",
			folder);
	return cache_open(folder, cache, err);
}

static const struct {
	const char *name;
	enum status (*run)(
		const struct cache_options *options, struct cache *cache, struct error *err);
} actions[] = {{"list", list}, {"check", check}, {"trim", trim}};

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct cache_options *options = options_;
	const char *name = positional->count ? positional->items[0] : "list";
	CLEANUP(memory_free) char *folder = NULL;
	struct cache *cache = NULL;
	enum status status;

	for (size_t i = 0; i < ARRAY_COUNT(actions); i++) {
		if (strcmp(actions[i].name, name) != 0)
			continue;
		TRY(path_cache_folder(options->folder, &folder, err));
		TRY(open_folder(options, folder, &cache, err));
		status = actions[i].run(options, cache, err);
		cache_close(cache);
		return status;
	}
	return error_set(
		err, STATUS_BAD_INPUT, "cache: expected list, check or trim, found \"%s\"", name);
}

const struct command command_cache = {
	.name = "cache",
	.summary = "List, check or trim the compiled kernels that are kept on disk",
	.arguments = "[list|check|trim]",
	.description =
		"list (the default) shows every kernel. check reads everything and removes what\n"
		"is damaged. trim removes what was not used for --max-age, then the longest\n"
		"unused down to --max-size. The cache may always be deleted: what is missing is\n"
		"compiled again.",
	.examples = "  tiletune cache trim --max-size 2G --max-age 30d",
	.options = cache_option_table,
	.options_size = sizeof(struct cache_options),
	.positional_max = 1,
	.run = run,
};
