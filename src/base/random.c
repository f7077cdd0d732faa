/* SPDX-License-Identifier: MIT */
#include "base/random.h"

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

void random_seed(struct random_state *state, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		state->words[i] = splitmix(&seed);
}

static uint64_t random_next(struct random_state *state)
{
	uint64_t *s = state->words;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

uint64_t random_below(struct random_state *state, uint64_t bound)
{
	/* the bias is at most bound / 2^64 */
	return (uint64_t)(((unsigned __int128)random_next(state) * bound) >> 64);
}

double random_unit(struct random_state *state)
{
	return (double)(random_next(state) >> 11) * 0x1p-53;
}

void random_shuffle(struct random_state *state, size_t *items, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t j = (size_t)random_below(state, i);
		size_t item = items[i - 1];

		items[i - 1] = items[j];
		items[j] = item;
	}
}
