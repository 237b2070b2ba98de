"""CUDA C kernels in ten tiers, from one operator to several functions."""
