/* SPDX-License-Identifier: MIT
 *
 * Makes tests of hanging processes fast. When a kernel or compiler of the stand-ins (tests/faults)
 * hangs, it creates the file that TILETUNE_HANGS names. Once this program (not its workers) has
 * read all earlier output and waits, its clock jumps ahead by more than any limit. Limits can
 * therefore be long, so that slow processes never reach them, and no test has to wait.
 *
 * The clock of the workers advances by a fixed step at each reading, so that time-limited work such
 * as warming up is the same on every machine.
 */
#ifndef UNIT_LEAP_H
#define UNIT_LEAP_H

enum {
	LEAP_LIMIT_S = 300, /* time limit for processes that may hang */
};

void leap_begin(const char *mark);
void leap_end(void);

#endif
