/* SPDX-License-Identifier: MIT
 *
 * The worker process: loads one NVRTC, compiles what it is sent, reads logs and cubins (so that
 * whatever is wrong with them stays here).
 */
#ifndef COMPILE_WORKER_H
#define COMPILE_WORKER_H

/* The hidden command `worker-compile`: serves until its input closes. */
int compile_worker_main(void);

#endif
