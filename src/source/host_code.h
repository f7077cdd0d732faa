/* SPDX-License-Identifier: MIT
 *
 * Replaces host code of an expanded source by blanks, because NVRTC compiles only device code:
 * functions, variables and bodies of member functions that no keyword or macro of the source marks
 * for the device.
 */
#ifndef SOURCE_HOST_CODE_H
#define SOURCE_HOST_CODE_H

#include "base/text.h"

void host_code_blank(struct text *source);
/* The caller frees the copy. */
char *host_code_removed(const char *source);

#endif
