/* SPDX-License-Identifier: MIT
 *
 * Where the files of an exported kernel go.
 */
#ifndef CLI_EXPORT_WRITE_H
#define CLI_EXPORT_WRITE_H

#include "export/export_kernel.h"

/* output "-": the one unit to standard output. Else FILE.cubin (FILE.0.cubin, ... where there are
 * several units) and FILE.cubin.json with what is needed to launch it. */
enum status export_kernel_write(const struct export_kernel *kernel,
	const struct export_image *image, const struct compiler *compiler, const char *output,
	struct error *err);

#endif
