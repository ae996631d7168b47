"""The examples of docs/python.md and of the package's README run."""

import re
import unittest

from .goldens import ROOT


class Docs(unittest.TestCase):
    def test_examples(self):
        ran = 0
        for page in ("docs/python.md", "python/README.md"):
            for code in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S):
                if "# needs " in code.partition("\n")[0]:
                    continue  # a package of others: test_adapters.py
                with self.subTest(page=page, code=code[:80]):
                    exec(compile(code, page, "exec"), {})
                ran += 1
        self.assertGreaterEqual(ran, 6)
