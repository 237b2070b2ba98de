"""The open corpus: recipes that rebuild a large, varied set of real PTX files.

Nothing here is PTX. `python -m corpus build` fetches public wheels and compiles our own
Triton and CUDA C++ kernels, and leaves the PTX and a `manifest.json` in an ignored folder.
"""
