"""What more than one test needs. Strictly typed, like the package itself."""

import subprocess
import sys


def run_python(*arguments: str, timeout: float = 60) -> "subprocess.CompletedProcess[str]":
    """Run a fresh interpreter and catch what it prints."""
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=timeout, check=False
    )


def run_cli(*arguments: str, timeout: float = 60) -> "subprocess.CompletedProcess[str]":
    """Run the command line in a process of its own."""
    return run_python("-m", "ptxkit", *arguments, timeout=timeout)
