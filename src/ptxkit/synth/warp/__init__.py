"""Kernels for NVIDIA Warp: a typed grammar, Warp's own views of them, and their verification."""
