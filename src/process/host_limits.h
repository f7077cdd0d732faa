/* SPDX-License-Identifier: MIT */
#ifndef PROCESS_HOST_LIMITS_H
#define PROCESS_HOST_LIMITS_H

/* Returns how many compilers this machine can run: one per usable core, limited by free memory and
 * a container's control group (version 2); at least 1. root is "/", except in tests. */
unsigned host_workers(const char *root);

#endif
