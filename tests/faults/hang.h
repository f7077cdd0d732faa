/* SPDX-License-Identifier: MIT */
#ifndef FAULTS_HANG_H
#define FAULTS_HANG_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Never returns. Creates the file that TILETUNE_HANGS names, which tells waiting tests
 * (unit/leap.h). */
static inline _Noreturn void hang(void)
{
	const char *mark = getenv("TILETUNE_HANGS");

	if (mark)
		close(open(mark, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	for (;;)
		pause();
}

#endif
