/* SPDX-License-Identifier: MIT
 *
 * How many compilers this machine can run at once.
 */
#ifndef PROCESS_HOST_LIMITS_H
#define PROCESS_HOST_LIMITS_H

/* One for each core that this process may use, as far as memory is free for it; at least 1. In a
 * container the limits of its control group (version 2) count. root: "/"; tests give a folder. */
unsigned host_workers(const char *root);

#endif
