/* What the consumers compile with the tuned -D list: it says what it was given. */
#include <stdio.h>

static void print_kernel(const char *family, const char *entry, const char *grid, const char *block,
	const char *smem)
{
	printf("%s {ROW_THREADS=%d,ROWS=%d,UNROLL=%d} %s grid %s block %s smem %s\n", family,
		ROW_THREADS, ROWS, UNROLL, entry, grid, block, smem);
}
