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

enum {
	LEAP_LIMIT_S = 300, /* a limit for what may hang */
};

void leap_begin(const char *mark);
void leap_end(void);

#endif
