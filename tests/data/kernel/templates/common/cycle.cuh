#include "shared.cuh"
/* a comment that speaks of
#include <nothing.h>
and goes on */
#define CYCLE 1
