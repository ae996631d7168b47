"""The types of the package and of the examples of its pages, under the oldest Python and
a new one, on Linux and on Windows: python -m tests.checks (`make python` installs what it
needs)."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PYTHON = ROOT / "python"
CORE = [str(PYTHON / "utp_bx" / f"{name}.py") for name in ("__init__", "engine", "pipe", "reply", "serving")]
ADAPTERS = [str(PYTHON / "utp_bx" / f"{name}.py") for name in ("langchain", "litellm", "pydantic_ai")]


def examples(folder):
    """The examples that run by themselves, as files."""
    for page in (ROOT / "docs" / "python.md", PYTHON / "README.md"):
        for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
            if "# needs " not in code.partition("\n")[0]:
                file = Path(folder) / f"example{len(list(Path(folder).iterdir()))}.py"
                file.write_text(code)
                yield str(file)


def main():
    good = True
    with tempfile.TemporaryDirectory(dir=PYTHON) as folder:
        pages = list(examples(folder))
        for version, platform in (("3.10", "linux"), ("3.13", "linux"), ("3.13", "win32")):
            command = [sys.executable, "-m", "mypy", "--python-version", version, "--platform", platform]
            good = subprocess.run([*command, *CORE]).returncode == 0 and good
            good = subprocess.run([*command, *pages]).returncode == 0 and good
            names = {"linux": "Linux", "win32": "Windows"}
            command = [sys.executable, "-m", "pyright", "--pythonversion", version, "--pythonplatform", names[platform]]
            good = subprocess.run([*command, *CORE, *pages]).returncode == 0 and good
        good = subprocess.run([sys.executable, "-m", "mypy", *ADAPTERS]).returncode == 0 and good
    sys.exit(not good)


if __name__ == "__main__":
    main()
