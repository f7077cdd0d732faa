extern "C" __global__ void f(float *out) { out[a_name_that_is_longer_than_what_follows_it] = 1; }
