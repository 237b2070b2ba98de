"""Put stubs of PTX into compiled CUDA kernels.

>>> from ptxkit.inject import Template
>>> template = Template.from_cuda('''
... extern "C" __global__ void k(float *x) {
...     float y = x[threadIdx.x], z;
...     /* PTX_INJECT func
...         in  f32 y
...         out f32 z
...     */
...     x[threadIdx.x] = z;
... }
... ''', arch="sm_90")
>>> y, z = template.sites["func"].args.values()
>>> ptx = template.render({"func": f"add.f32 {z.register}, {y.register}, {y.register};"})
>>> import numpy as np, ptxkit
>>> x = np.arange(3, dtype=np.float32)
>>> _ = ptxkit.load(ptx, device="cpu")["k"][1, 3](x)
>>> x
array([0., 2., 4.], dtype=float32)
"""

from ptxkit.inject.errors import AnnotationError, InjectError, StubError
from ptxkit.inject.header import include_dir
from ptxkit.inject.site import Occurrence, Operand, Site, UnknownSiteError
from ptxkit.inject.template import Template
from ptxkit.inject.types import TYPES, Type
from ptxkit.inject.variants import Variant

__all__ = [
    "TYPES",
    "AnnotationError",
    "InjectError",
    "Occurrence",
    "Operand",
    "Site",
    "StubError",
    "Template",
    "Type",
    "UnknownSiteError",
    "Variant",
    "include_dir",
]
