/* SPDX-License-Identifier: MIT
 *
 * Reproducible random numbers: xoshiro256** seeded by splitmix64 (D. Blackman and S. Vigna,
 * https://prng.di.unimi.it). Not for secrets.
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random_state {
	uint64_t words[4];
};

void random_seed(struct random_state *state, uint64_t seed);
uint64_t random_below(struct random_state *state, uint64_t bound); /* 0 .. bound-1; bound > 0 */
double random_unit(struct random_state *state);                    /* [0, 1) */
void random_shuffle(struct random_state *state, size_t *items, size_t count);

#endif
