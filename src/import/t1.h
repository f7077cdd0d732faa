/* SPDX-License-Identifier: MIT
 *
 * Input files of Kernel Tuner and KTT (T1, github.com/odgaard/TuningSchema), brought into the form
 * of an own kernel (family/own_kernel.h), as JSON. Expressions stay text: the expression language
 * is the part of Python that they use.
 *
 * Two dialects. With ProblemSize (Kernel Tuner) the grid follows from it and GridDivX..Z, a block
 * is block_size_x..z, GlobalSize is passed over, random numbers are normal, and names of parameters
 * in an argument's Size are the lists of their values. Without it (KTT) grid and block are
 * GlobalSize and LocalSize, and random numbers lie between 0 and FillValue. The problem is fixed in
 * both: its keys can have one value. Search, Budget, General and Device are the command line's
 * business.
 */
#ifndef IMPORT_T1_H
#define IMPORT_T1_H

#include "base/json.h"

bool t1_is(const struct json_at *root);
/* The caller frees *own. Errors, with the path in the T1 file: what is missing or of another type;
 * what a CUDA kernel cannot have (another Language, Local memory); a fill that needs Python. */
enum status t1_convert(const struct json_at *root, struct json **own, struct error *err);

#endif
