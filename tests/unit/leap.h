/* SPDX-License-Identifier: MIT
 *
 * Time for what hangs. When a kernel or a compiler of the stand-ins (tests/faults) hangs, it makes
 * the file that TILETUNE_HANGS names; once this program, not its workers, has read all that came
 * before and waits, its clock goes ahead by more than any limit. So limits can be long: nothing
 * that is only slow meets them, and nobody waits.
 *
 * The clock of its workers goes on by a step each time it is read: what they do for so many
 * seconds, as warming up, is as much on every machine.
 */
#ifndef UNIT_LEAP_H
#define UNIT_LEAP_H

#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	LEAP_LIMIT_S = 300, /* a limit for what may hang */
	LEAP_S = 1000,
	LEAP_TICKS_PER_S = 20000,
};

static struct {
	pid_t owner; /* whose clock it is */
	time_t ahead_s;
	long ticks; /* a worker's */
} leap;

static inline bool leap_is_worker(void)
{
	return leap.owner != getpid() && getenv("TILETUNE_HANGS");
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	const int result = (int)syscall(SYS_clock_gettime, clock, now);

	if (clock == CLOCK_MONOTONIC && leap_is_worker()) {
		leap.ticks++;
		*now = (struct timespec){leap.ticks / LEAP_TICKS_PER_S,
			leap.ticks % LEAP_TICKS_PER_S * (1000000000 / LEAP_TICKS_PER_S)};
	}
	now->tv_sec += leap.ahead_s;
	return result;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	if (leap_is_worker())
		leap.ticks += wanted->tv_sec * LEAP_TICKS_PER_S +
			      wanted->tv_nsec / (1000000000 / LEAP_TICKS_PER_S);
	return (int)syscall(SYS_nanosleep, wanted, left);
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	int ready = (int)syscall(SYS_poll, fds, count, timeout_ms);

	if (ready == 0 && leap.owner == getpid() && access(getenv("TILETUNE_HANGS"), F_OK) == 0) {
		ready = (int)syscall(SYS_poll, fds, count, 0);
		if (ready == 0 && unlink(getenv("TILETUNE_HANGS")) == 0)
			leap.ahead_s += LEAP_S;
	}
	return ready;
}

static inline void leap_begin(const char *mark)
{
	setenv("TILETUNE_HANGS", mark, 1);
	leap.owner = getpid();
}

static inline void leap_end(void)
{
	leap.owner = 0;
	unsetenv("TILETUNE_HANGS");
}

#endif
