/* SPDX-License-Identifier: MIT */
#include "score/bank_conflict.h"

#include <stdbool.h>
#include <stddef.h>

static unsigned words_per_lane(unsigned width_bytes)
{
	return width_bytes > BANK_WORD_BYTES ? width_bytes / BANK_WORD_BYTES : 1;
}

static bool lanes_pair(const uint32_t address[BANK_LANES], unsigned distance)
{
	for (unsigned lane = 0; lane < BANK_LANES; lane++)
		if (address[lane] != address[lane ^ distance])
			return false;
	return true;
}

/* Distinct things that a group of lanes asks for. A thing is a word, or what a lane reads at once
 * if that is wider: it is aligned to its size, so it always fills the same banks. */
struct demand {
	unsigned worst; /* things that want the same banks: wavefronts */
	unsigned all;
};

static struct demand lanes_demand(const uint32_t *address, unsigned lanes, unsigned words)
{
	const unsigned places = BANK_COUNT / words;
	const int shift = __builtin_ctz(words * BANK_WORD_BYTES);
	uint32_t seen[BANK_COUNT][BANK_LANES];
	unsigned char count[BANK_COUNT] = {0};
	struct demand demand = {0};

	for (unsigned lane = 0; lane < lanes; lane++) {
		const uint32_t thing = address[lane] >> shift;
		const unsigned place = thing & (places - 1);
		unsigned known = 0;

		while (known < count[place] && seen[place][known] != thing)
			known++;
		if (known < count[place])
			continue;
		seen[place][known] = thing;
		count[place]++;
		demand.all++;
		if (count[place] > demand.worst)
			demand.worst = count[place];
	}
	return demand;
}

unsigned bank_wavefronts(const uint32_t address[BANK_LANES], unsigned width_bytes)
{
	const unsigned words = words_per_lane(width_bytes);
	unsigned lanes = BANK_LANES / words;
	unsigned wavefronts = 0;

	if (words > 1 && (lanes_pair(address, 1) || lanes_pair(address, 2)))
		lanes *= 2;
	for (unsigned first = 0; first < BANK_LANES; first += lanes)
		wavefronts += lanes_demand(address + first, lanes, words).worst;
	return wavefronts;
}

unsigned bank_wavefronts_nominal(unsigned width_bytes)
{
	return words_per_lane(width_bytes);
}

unsigned bank_wavefronts_least(const uint32_t address[BANK_LANES], unsigned width_bytes)
{
	const unsigned words = words_per_lane(width_bytes);
	const struct demand demand = lanes_demand(address, BANK_LANES, words);

	return (demand.all * words + BANK_COUNT - 1) / BANK_COUNT;
}
