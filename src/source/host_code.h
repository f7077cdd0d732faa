/* SPDX-License-Identifier: MIT
 *
 * Removes host code from an expanded source, because NVRTC compiles device code alone: functions
 * and variables that no word, and no macro of the source, gives to the device become blanks, and so
 * do such members of classes that have a body. Types and constants stay. Line numbers do not
 * change.
 */
#ifndef SOURCE_HOST_CODE_H
#define SOURCE_HOST_CODE_H

#include "base/text.h"

void host_code_blank(struct text *source);

#endif
