/* SPDX-License-Identifier: MIT
 *
 * The measuring worker, a process for each GPU. A kernel that crashes, corrupts the context or
 * hangs affects only this process.
 */
#ifndef MEASURE_WORKER_H
#define MEASURE_WORKER_H

int measure_worker_main(void);

#endif
