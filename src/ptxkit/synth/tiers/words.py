"""Names people give to things in kernels, so that sources do not all look alike."""

INPUTS = ("a", "b", "c", "x", "y", "z", "u", "v", "w", "p", "q", "in", "input", "src", "data",
          "values", "lhs", "rhs", "weights", "bias", "mat", "vec", "xs", "ys", "left", "right",
          "signal", "image", "table", "coeffs", "buffer")  # fmt: skip
OUTPUTS = ("out", "o", "result", "res", "dst", "output", "c", "y", "z", "r", "answer", "target")
SIZES = ("n", "N", "size", "count", "len", "length", "num", "total", "limit", "n_elements")
SCALARS = ("alpha", "beta", "scale", "s", "k", "factor", "eps", "shift", "gain", "threshold",
           "gamma", "lambda_", "bound", "offset")  # fmt: skip
INDICES = ("i", "idx", "tid", "gid", "index", "id", "t")
COLUMNS = ("x", "col", "ix", "column", "px")
ROWS = ("y", "row", "iy", "line", "py")
WIDTHS = ("width", "w", "cols", "nx", "stride")
HEIGHTS = ("height", "h", "rows", "ny")
LOOPS = ("k", "j", "m", "step", "it", "l")
LOCALS = ("t", "tmp", "v", "val", "acc", "sum", "s", "d", "e", "f", "g", "h", "u", "w", "x0", "x1",
          "y0", "y1", "t0", "t1", "t2", "r0", "r1", "partial", "delta", "diff", "mean")  # fmt: skip
TILES = ("tile", "smem", "cache", "shared", "buf", "s_data", "sh", "block_data")
KERNELS = ("kernel", "compute", "apply", "map", "transform", "process", "run", "update", "combine",
           "evaluate", "step", "blend", "filter", "fuse", "forward", "elementwise")  # fmt: skip
FUNCTIONS = ("f", "g", "helper", "op", "activation", "mix", "clampf", "poly", "square_add", "inner",
             "term", "weight", "score", "fold")  # fmt: skip
