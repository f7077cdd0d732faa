/* SPDX-License-Identifier: MIT
 *
 * Version and commit, from the Makefile.
 */
#include "cli/common.h"

const char tiletune_version[] = TILETUNE_VERSION;
const char tiletune_commit[] = TILETUNE_COMMIT;
