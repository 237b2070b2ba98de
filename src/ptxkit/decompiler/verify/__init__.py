"""Certificates: what was proved about a decompiled kernel."""
