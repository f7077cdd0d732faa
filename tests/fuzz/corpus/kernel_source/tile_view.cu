__tile_global__ void twice(float *x, int n)
{
    auto tiles = ct::partition_view(ct::tensor_span(x, ct::extents(n)), ct::shape<TILE>());
    tiles.store_masked(2.0f * tiles.load_masked(ct::bid().x), ct::bid().x);
}
