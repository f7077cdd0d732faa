#pragma once
// shared by all
#include "common/cycle.cuh"
#define SHARED 1
