"""Measurements against the peers: ``python -m benchmarks [names] [--json] [--out FILE]``."""
