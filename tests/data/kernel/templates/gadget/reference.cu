extern "C" __global__ void gadget_reference() {}
