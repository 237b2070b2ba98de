"""Sources of kernels that are written in Python: one grammar, several languages."""
