/* SPDX-License-Identifier: MIT
 *
 * How many compilers this machine can run.
 */
#ifndef PROCESS_HOST_LIMITS_H
#define PROCESS_HOST_LIMITS_H

/* One per usable core, limited by free memory and a container's control group (version 2); at least
 * 1. root is "/", except in tests. */
unsigned host_workers(const char *root);

#endif
