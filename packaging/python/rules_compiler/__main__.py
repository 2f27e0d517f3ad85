"""Starts the executable of this package. Old Pythons must be able to parse this file."""

import os
import subprocess
import sys


def program():
    """Return the path of the executable."""
    name = "rules-compiler.exe" if os.name == "nt" else "rules-compiler"
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)


def main():
    """Run the executable with the arguments of this process, and end with its exit code."""
    if sys.version_info < (3, 9):
        sys.exit("Python 3.9 or higher is required")
    words = [program()] + sys.argv[1:]
    if os.name == "nt":
        sys.exit(subprocess.call(words))
    os.execv(words[0], words)


if __name__ == "__main__":
    main()
