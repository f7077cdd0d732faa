/* SPDX-License-Identifier: MIT
 *
 * The measuring worker, a separate process for each GPU. It serves the requests of
 * measure/protocol.h in order until its input closes. A kernel that crashes, corrupts the context
 * or hangs affects only this process, not the one that writes the journal.
 */
#ifndef MEASURE_WORKER_H
#define MEASURE_WORKER_H

/* The hidden command `worker-measure`; returns the process's exit code. */
int measure_worker_main(void);

#endif
