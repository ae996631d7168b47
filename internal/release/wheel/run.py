"""The commands of this package: each becomes the program of its name, which lies beside this file."""

import os
import subprocess
import sys
from pathlib import Path


def program(name: str) -> str:
    """The path of a program of this package: "bx" or "te"."""
    path = Path(__file__).parent / "bin" / (name + ".exe" if os.name == "nt" else name)
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: this package was installed without its programs; install the wheel of your platform")
    return str(path)


def _become(name: str) -> None:
    command = [program(name), *sys.argv[1:]]
    if os.name == "nt":
        try:
            sys.exit(subprocess.call(command))
        except KeyboardInterrupt:
            sys.exit(130)
    os.execv(command[0], command)


def bx() -> None:
    _become("bx")


def te() -> None:
    _become("te")
