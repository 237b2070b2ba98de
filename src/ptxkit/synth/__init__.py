"""Verified datasets of kernels."""
