/* SPDX-License-Identifier: MIT
 *
 * How many compilers this machine can run at once.
 */
#ifndef PROCESS_HOST_LIMITS_H
#define PROCESS_HOST_LIMITS_H

/* Returns one compiler for each core that this process may use, limited by free memory; at least 1.
 * Respects the limits of the control group (version 2) of a container. root is "/", or a folder in
 * tests. */
unsigned host_workers(const char *root);

#endif
