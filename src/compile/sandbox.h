/* SPDX-License-Identifier: MIT
 *
 * What files this process may still use, as the kernel enforces it (Landlock, Linux 5.13). A source
 * that a compiler reads cannot make it read another file by any directive.
 */
#ifndef COMPILE_SANDBOX_H
#define COMPILE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

/* readable: files and folders (with what is below) that may still be read; writable: a folder in
 * which all may be done, or NULL. Files that are open stay so. False: the kernel has no Landlock,
 * and nothing changed. */
bool sandbox_enter(char *const *readable, size_t readable_count, const char *writable);

#endif
