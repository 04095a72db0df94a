"""Naming and keeping: addresses, blobs on any fsspec URL, arrays as Zarr, and the commits that make them visible."""
