"""Show that the install works: the version, and how the native core was built."""

import ptxkit
from ptxkit import _native


def main() -> None:
    print(f"ptxkit {ptxkit.__version__}")
    for name, value in _native.build_info().items():
        print(f"  {name}: {value}")


if __name__ == "__main__":
    main()
