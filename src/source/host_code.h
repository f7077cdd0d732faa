/* SPDX-License-Identifier: MIT
 *
 * What a source says for the host: NVRTC compiles device code alone. Functions that say `__host__`
 * alone, and main, become blanks; those that launch kernels, which others may call, lose their
 * bodies. Lines stay where they are.
 */
#ifndef SOURCE_HOST_CODE_H
#define SOURCE_HOST_CODE_H

#include "base/text.h"

void host_code_blank(struct text *source);

#endif
