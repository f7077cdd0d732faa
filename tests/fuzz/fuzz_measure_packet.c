/* layer: measure */
/* SPDX-License-Identifier: MIT
 *
 * Whatever arrives on a pipe between tuner and worker: every reader of measure/protocol.h.
 */
#include <stdlib.h>

#include "measure/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const struct packet *packet)
{
	struct measure_open open;
	struct measure_sample sample;
	struct measure_result result;
	struct measure_gpu gpu;
	struct reference_plan reference = {0};
	struct plan plan = {0};
	struct error err;
	char *title = NULL;
	uint32_t number;

	measure_open_unpack(packet, &open, &err);
	measure_handle_unpack(packet, &number, &err);
	measure_gpu_from_json(&packet->root, &gpu, &err);
	measure_error_unpack(packet, &err);
	if (measure_sample_unpack(packet, &sample, &err) == STATUS_OK)
		measure_sample_release(&sample);
	if (measure_result_unpack(packet, &result, &err) == STATUS_OK)
		measure_result_release(&result);
	if (measure_load_unpack(packet, &number, &number, &plan, &err) == STATUS_OK)
		plan_release(&plan);
	if (measure_problem_unpack(packet, &number, &title, &reference, &err) == STATUS_OK)
		reference_plan_release(&reference);
	free(title);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text payload = {0};
	struct packet packet;
	struct error err;

	text_append_bytes(&payload, data, size);
	if (packet_unpack(&payload, "fuzz", &packet, &err) == STATUS_OK) {
		read_all(&packet);
		packet_release(&packet);
	}
	text_release(&payload);
	return 0;
}
