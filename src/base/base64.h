/* SPDX-License-Identifier: MIT
 *
 * Bytes as text: base64 with padding (RFC 4648).
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/text.h"

void base64_append(struct text *text, const void *data, size_t size);
/* Returns false if the string is not what base64_append() writes. */
bool base64_decode(const char *string, struct text *bytes);

#endif
