"""The names are those of the one file that says how the project is called."""

import json
import re
import unittest

import utp_bx

from .goldens import ROOT


class Names(unittest.TestCase):
    def test_names(self):
        names = ROOT / "internal" / "release" / "names.json"
        if not names.is_file():
            self.skipTest(f"{names} is not here")
        names = json.loads(names.read_text())
        config = (ROOT / "python" / "pyproject.toml").read_text()
        self.assertEqual(re.search(r'^name = "(.*)"', config, re.M)[1], names["pypi"])
        self.assertEqual(utp_bx.__name__, names["python"])
        self.assertIn(f'packages = ["{names["python"]}"]', config)
        self.assertTrue((ROOT / "python" / names["python"] / "py.typed").is_file())

    def test_exports(self):
        for name in utp_bx.__all__:
            self.assertTrue(getattr(utp_bx, name).__doc__, name)
