/* Finds the tuned configuration of a problem at run time; valid C and C++. */
#include <stdio.h>

#include "tuned.h"

int main(int argc, char **argv)
{
	const struct tiletune_entry *entry =
		tiletune_find(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
	const struct tiletune_launch *launch;

	if (!entry) {
		puts("not found");
		return 1;
	}
	launch = &entry->launches[0];
	printf("%s {%s} %s grid %u %u %u block %u %u %u smem %u\n", entry->family,
		entry->configuration, launch->entry, launch->grid[0], launch->grid[1],
		launch->grid[2], launch->block[0], launch->block[1], launch->block[2],
		launch->smem_dynamic_bytes);
	return 0;
}
