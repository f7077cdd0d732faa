# Sourced with $out (the build folder) and $work (a folder): creates a fresh folder in which programs find
# stand-ins of the driver and of cuBLASLt, for an H200 with little memory.
libraries=$work/libraries
rm -rf "$work"
mkdir -p "$libraries"
for library in libcuda.so.1 libcublasLt.so.13; do
	ln -s "../../../faults/$library" "$libraries/$library"
done
cat >"$work/script" <<'SCRIPT'
name NVIDIA H200
sm_count 132
compute_capability 90
l2_bytes 2097152
memory_bytes 4000000000
SCRIPT
