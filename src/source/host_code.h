/* SPDX-License-Identifier: MIT
 *
 * Removes host code from an expanded source, because NVRTC compiles only device code. Functions,
 * variables and member functions with a body become blanks unless a keyword or a macro of the
 * source marks them for the device. Types and constants stay, and line numbers do not change.
 */
#ifndef SOURCE_HOST_CODE_H
#define SOURCE_HOST_CODE_H

#include "base/text.h"

void host_code_blank(struct text *source);
/* Returns a copy without host code, which the caller frees. */
char *host_code_removed(const char *source);

#endif
