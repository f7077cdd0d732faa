#include "kernel.h"

int main(void)
{
	print_kernel(FAMILY, ENTRY, GRID, BLOCK, SMEM);
	return 0;
}
