"""Poisson's equation by finite elements with warp.fem, and the order at which it converges.

    -div grad u = f  on the unit square,  u = 0 on its boundary,

with ``f`` chosen so that ``u = sin(pi x) sin(pi y)`` is the solution. The error in the L2 norm
falls with the power ``degree + 1`` of the size of the cells. Run: python examples/fem_poisson.py
"""

from itertools import pairwise
from math import log2

import warp as wp
import warp.fem as fem
from warp.optim.linear import cg

# Annotations are read by Warp, so they must stay objects: no `from __future__` import here.


@wp.func
def exact(p: wp.vec2):
    return wp.sin(wp.pi * p[0]) * wp.sin(wp.pi * p[1])


@fem.integrand
def stiffness(s: fem.Sample, u: fem.Field, v: fem.Field):
    return wp.dot(fem.grad(u, s), fem.grad(v, s))


@fem.integrand
def load(s: fem.Sample, domain: fem.Domain, v: fem.Field):
    return 2.0 * wp.pi * wp.pi * exact(domain(s)) * v(s)


@fem.integrand
def boundary(s: fem.Sample, u: fem.Field, v: fem.Field):
    return u(s) * v(s)


@fem.integrand
def squared_error(s: fem.Sample, domain: fem.Domain, u: fem.Field):
    difference = u(s) - exact(domain(s))
    return difference * difference


def solve(cells: int, degree: int = 1) -> float:
    """Solve on a grid of so many cells a side; gives the error in the L2 norm."""
    geometry = fem.Grid2D(res=wp.vec2i(cells))
    space = fem.make_polynomial_space(geometry, degree=degree)
    domain = fem.Cells(geometry)
    test, trial = (make(space=space, domain=domain) for make in (fem.make_test, fem.make_trial))
    matrix = fem.integrate(stiffness, fields={"u": trial, "v": test})
    right = fem.integrate(load, fields={"v": test})

    edges = fem.BoundarySides(geometry)
    edge_test, edge_trial = (
        make(space=space, domain=edges) for make in (fem.make_test, fem.make_trial)
    )
    projector = fem.integrate(boundary, fields={"u": edge_trial, "v": edge_test}, assembly="nodal")
    fem.normalize_dirichlet_projector(projector)
    fem.project_linear_system(matrix, right, projector)

    values = wp.zeros_like(right)
    cg(matrix, b=right, x=values, tol=1e-7, maxiter=10 * cells)
    field = space.make_field()
    field.dof_values = values
    # The error is no polynomial: it is integrated with more points than the form needs.
    quadrature = fem.RegularQuadrature(domain, order=2 * degree + 4)
    return float(fem.integrate(squared_error, quadrature=quadrature, fields={"u": field})) ** 0.5


def orders(cells: tuple[int, ...], degree: int = 1) -> list[float]:
    """The order of convergence from each grid to the next one, which has twice the cells."""
    errors = [solve(count, degree) for count in cells]
    return [log2(coarse / fine) for coarse, fine in pairwise(errors)]


def main() -> None:
    """Print errors and orders for linear and quadratic elements."""
    wp.config.log_level = wp.LOG_ERROR
    wp.set_module_options({"enable_backward": False})
    for degree, grids in ((1, (4, 8, 16, 32)), (2, (2, 4, 8, 16))):
        previous = None
        for cells in grids:
            error = solve(cells, degree)
            order = "" if previous is None else f"   order {log2(previous / error):.2f}"
            print(f"degree {degree}, {cells:3d} cells a side: error {error:.3e}{order}")
            previous = error


if __name__ == "__main__":
    main()
