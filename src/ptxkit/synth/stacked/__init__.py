"""The source `ptx`: programs of the stack machine."""
