/* SPDX-License-Identifier: MIT
 *
 * Reads any text as the compiler's log: figures stay in range, and the reader invents no line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compile/ptxas_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char names[2][8] = {"k", "sp"};
	struct compiler_entry entries[2] = {{.symbol = names[0]}, {.symbol = names[1]}};
	char *log = string_copy_bytes((const char *)data, size);
	struct text rest = {0}, useful = {0};

	ptxas_report_read(log, entries, 2, &rest);
	ptxas_report_shorten(log, &useful);
	if (rest.length > strlen(log) + 1)
		abort();
	for (int i = 0; i < 2; i++) {
		const struct kernel_resources *resources = &entries[i].resources;

		if (resources->regs_per_thread < -1 || resources->smem_static_bytes < -1 ||
			resources->spill_store_bytes < 0 || resources->spill_load_bytes < 0 ||
			resources->stack_bytes < -1 || resources->barriers < -1)
			abort();
	}
	text_release(&rest);
	text_release(&useful);
	free(log);
	return 0;
}
