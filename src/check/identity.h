/* SPDX-License-Identifier: MIT
 *
 * What else is not as it was when the baseline was made: the GPU, its partition, the driver, the
 * compiler, the kernels. Reported first; what is not allowed to differ makes entries not
 * comparable.
 */
#ifndef CHECK_IDENTITY_H
#define CHECK_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "format/tuned.h"
#include "engine/context.h"

enum check_trait {
	TRAIT_GPU,
	TRAIT_SM_COUNT,
	TRAIT_MIG,
	TRAIT_UUID,
	TRAIT_DRIVER,
	TRAIT_NVRTC,
	TRAIT_KERNEL,
	TRAIT_COUNT
};
extern const char *const check_trait_names[TRAIT_COUNT + 1]; /* "sm_count"; NULL-terminated */
#define CHECK_DIFFERS(trait) (1u << TRAIT_##trait)
/* What a check is there to look at may differ without being asked for. */
#define CHECK_ALLOWED_DEFAULT                                                                      \
	(CHECK_DIFFERS(UUID) | CHECK_DIFFERS(DRIVER) | CHECK_DIFFERS(NVRTC) | CHECK_DIFFERS(KERNEL))

struct check_trait_difference {
	enum check_trait trait;
	char *baseline, *now;
};

struct check_identity {
	struct check_trait_difference *items;
	size_t count, capacity;
};

/* "driver,nvrtc", "all" or "none". Errors: an unknown name, nearest offered. */
enum status check_allowed_parse(const char *text, uint32_t *allowed, struct error *err);

/* Adds what is different of the device as a whole. Returns the traits. */
uint32_t check_identity_device(const struct tuned *baseline, const struct context *context,
	struct check_identity *identity);
/* Adds what is different from the run that an entry is of (MIG, UUID, driver, NVRTC), each pair
 * once. Returns the traits. On a device model only NVRTC is known. */
uint32_t check_identity_run(const struct tuned *baseline, const struct tuned_entry *entry,
	const struct context *context, struct check_identity *identity);
/* Each pair is listed once. */
void check_identity_add(struct check_identity *identity, enum check_trait trait,
	const char *baseline, const char *now);
void check_identity_release(struct check_identity *identity);

#endif
