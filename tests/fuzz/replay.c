/* SPDX-License-Identifier: MIT
 *
 * Replays corpora through a fuzz target, so that every past finding is a test without a fuzzer:
 * each file of each folder on the command line, then deterministic mutations of it.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	FILE_SIZE_MAX = 1 << 20,
	MUTATIONS = 200, /* number of mutations per file */
};

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Copies input to the heap at its exact size, so that a sanitizer detects every read past the end.
 * Returns what the target returns, which is -1 for input that it refuses. */
static int run_copy(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	int accepted;

	if (!copy)
		abort();
	memcpy(copy, data, size);
	accepted = LLVMFuzzerTestOneInput(copy, size) == 0;
	free(copy);
	return accepted;
}

static size_t mutate(uint8_t *data, size_t size, uint32_t *state)
{
	unsigned edits = 1 + next_random(state) % 4;

	for (unsigned i = 0; i < edits && size; i++) {
		size_t at = next_random(state) % size;

		switch (next_random(state) % 4) {
		case 0:
			data[at] = (uint8_t)next_random(state);
			break;
		case 1:
			data[at] ^= (uint8_t)(1u << next_random(state) % 8);
			break;
		case 2:
			size = at;
			break;
		default:
			memmove(data + at, data + size / 2, size - (at > size / 2 ? at : size / 2));
			break;
		}
	}
	return size;
}

static int replay_file(const char *path, int *accepted)
{
	static uint8_t data[FILE_SIZE_MAX], work[FILE_SIZE_MAX];
	uint32_t state = 0x9e3779b9u;
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file) {
		perror(path);
		return 1;
	}
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	*accepted += run_copy(data, size);
	for (int i = 0; i < MUTATIONS; i++) {
		memcpy(work, data, size);
		run_copy(work, mutate(work, size, &state));
	}
	return 0;
}

int main(int count, char **arguments)
{
	int files = 0, accepted = 0, failed = 0;

	for (int i = 1; i < count; i++) {
		struct dirent *entry;
		DIR *folder = opendir(arguments[i]);

		if (!folder) {
			perror(arguments[i]);
			return 1;
		}
		while ((entry = readdir(folder)) != NULL) {
			char path[4096];

			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof(path), "%s/%s", arguments[i], entry->d_name);
			failed |= replay_file(path, &accepted);
			files++;
		}
		closedir(folder);
	}
	printf("%d corpus files replayed, %d inputs each; %d files are accepted as they are\n",
		files, 1 + MUTATIONS, accepted);
	/* a refused corpus never reaches the code behind the reader */
	return failed || 4 * accepted < files || !accepted;
}
