"""PTX back into readable CUDA C++."""
