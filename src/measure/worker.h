/* SPDX-License-Identifier: MIT
 *
 * The measuring worker: a process of its own per GPU, never the one that holds the journal. It
 * serves the requests of measure/protocol.h, in order, until its input closes; a kernel that
 * crashes, corrupts its context or hangs takes nothing else along.
 */
#ifndef MEASURE_WORKER_H
#define MEASURE_WORKER_H

/* The hidden command `worker-measure`; returns the process's exit code. */
int measure_worker_main(void);

#endif
