"""Programs with a bug put in on purpose, to see whether the verifier lets one through."""
