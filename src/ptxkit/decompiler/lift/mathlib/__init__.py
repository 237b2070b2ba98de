"""Functions of the math library that a compiler put inline, made calls again.

Nothing is known here about any function but its name: what a compiler makes of ``sinf`` is
found out by compiling it (:mod:`miner`). A function that is lifted and a template are both
brought to one form, in which it does not matter how instructions are ordered and which
branches led to a value (:mod:`terms`). Where a value of the function is an instance of a
template (:mod:`matcher`) it becomes a call, and what only served to compute it goes
(:mod:`calls`, :mod:`dead`).
"""
