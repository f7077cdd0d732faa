/* SPDX-License-Identifier: MIT
 *
 * Replaces host code of an expanded source by blanks, because NVRTC compiles only device code:
 * functions, variables and bodies of member functions without a device qualifier or a macro for
 * one.
 */
#ifndef SOURCE_HOST_CODE_H
#define SOURCE_HOST_CODE_H

#include "base/text.h"

void host_code_blank(struct text *source);
/* Returns a copy without host code, which the caller frees. */
char *host_code_removed(const char *source);

#endif
