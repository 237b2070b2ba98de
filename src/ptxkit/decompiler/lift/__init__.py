"""The symbolic lifter, one file per step."""
