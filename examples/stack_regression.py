"""Find a formula for data by evolution: python examples/stack_regression.py [--plot FILE]

Programs of the stack machine are the formulas. Every generation all of them run on the
data at once; the better ones have children, by crossover and by mutation. With --show a
window is redrawn while it goes on, with --plot the last picture is written to a file;
both need matplotlib.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from ptxkit import stack

INSTRUCTIONS = (
    "add.rn.f32 sub.rn.f32 mul.rn.f32 div.rn.f32 min.f32 max.f32 abs.f32 neg.f32 sqrt.rn.f32 "
    "sin.approx.f32 cos.approx.f32"
).split()


def target(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What is to be found."""
    return np.float32(x * x * 0.5 - np.sin(x) + 1)


def losses(programs: Any, x: Any, y: Any, interface: stack.Interface) -> Any:
    """The mean squared error of every program; infinite where a value is not finite."""
    with np.errstate(all="ignore"):
        found = stack.evaluate_many(programs, {"x": x}, interface)["y"].astype(np.float64)
        error = np.mean((found - y) ** 2, axis=1)
    return np.where(np.isfinite(error), error, np.inf)


def breed(programs: Any, error: Any, source: stack.Source, generator: np.random.Generator) -> Any:
    """The next generation: winners of small tournaments, crossed and mutated."""
    count, length, _ = programs.shape
    rivals = generator.integers(0, count, (2, count, 7))
    one, two = (programs[r[np.arange(count), np.argmin(error[r], axis=1)]] for r in rivals)
    cut = np.sort(generator.integers(0, length + 1, (2, count, 1)), axis=0)
    place = np.arange(length)
    inside = (place >= cut[0]) & (place < cut[1])
    children = np.where(inside[..., None], two, one)
    children = stack.mutate_many(
        children, int(generator.integers(1 << 60)), rate=0.04, source=source
    )
    children[0] = programs[np.argmin(error)]  # the best one stays as it is
    return children


class Picture:
    """The data and the best formula so far."""

    def __init__(self, x: Any, y: Any, *, show: bool) -> None:
        import matplotlib

        if not show:
            matplotlib.use("Agg")
        from matplotlib import pyplot

        self.pyplot, self.show = pyplot, show
        self.figure, axes = pyplot.subplots()
        axes.plot(x, y, ".", label="data")
        (self.line,) = axes.plot(x, y * 0, label="best program")
        self.axes = axes
        axes.legend()
        if show:
            pyplot.ion()

    def update(self, y: Any, title: str) -> None:
        self.line.set_ydata(y)
        self.axes.set_title(title)
        if self.show:
            self.pyplot.pause(0.01)


def main(arguments: list[str] | None = None) -> float:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generations", type=int, default=60)
    parser.add_argument("--population", type=int, default=1500)
    parser.add_argument("--length", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="a window that is redrawn")
    parser.add_argument("--plot", metavar="FILE", help="write the last picture there")
    options = parser.parse_args(arguments)
    generator = np.random.default_rng(options.seed)
    x = np.linspace(-4, 4, 64, dtype=np.float32)
    y = target(x)
    isa = stack.Isa.default().only(INSTRUCTIONS)
    interface = stack.Interface({"x": "f32"}, {"y": "f32"}, isa, missing="zero")
    weights = {"input": 0.3, "constant": 0.12, "instruction": 0.52, "slot": 0, "block": 0}
    source = stack.Source(["x"], isa, weights=weights, guarded=0)
    picture = Picture(x, y, show=options.show) if options.show or options.plot else None
    programs = stack.random_many(options.population, options.length, options.seed, source=source)
    best, winner = np.inf, programs[0]
    for generation in range(options.generations):
        error = losses(programs, x, y, interface)
        leader = int(np.argmin(error))
        if error[leader] < best:
            best, winner = float(error[leader]), programs[leader]
            print(f"generation {generation}: error {best:.3g}")
            if picture is not None:
                found = stack.evaluate(programs[leader], {"x": x}, interface)["y"]
                picture.update(found, f"generation {generation}, error {best:.3g}")
        if best < 1e-9:
            break
        programs = breed(programs, error, source, generator)
    print(stack.Program.from_items(winner, inputs=["x"], isa=isa))
    print(stack.compile(winner, interface))
    if options.plot and picture is not None:
        picture.figure.savefig(options.plot)
    return best


if __name__ == "__main__":
    main()
