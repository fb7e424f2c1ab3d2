"""Runs an adapter with one line of its framework changed: `mutated.py ADAPTER MODULE OLD NEW`.

The change is made in memory while Python reads the module; the installed package is not written. OLD must be in the source of MODULE.
"""
import importlib.abc
import importlib.machinery
import os
import runpy
import sys


class Changed(importlib.machinery.SourceFileLoader):
    def __init__(self, name, path, old, new):
        super().__init__(name, path)
        self.old, self.new = old, new

    def get_code(self, fullname):  # not from a .pyc file of the unchanged module
        text = self.get_data(self.path).decode()
        if self.old not in text:
            raise SystemExit(f"{self.path} has no {self.old!r}")
        return self.source_to_code(text.replace(self.old, self.new).encode(), self.path)


class Finder(importlib.abc.MetaPathFinder):
    def __init__(self, module, old, new):
        self.module, self.old, self.new = module, old, new

    def find_spec(self, name, path, target=None):
        if name != self.module:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        spec.loader = Changed(name, spec.origin, self.old, self.new)
        return spec


if __name__ == "__main__":
    adapter, module, old, new = sys.argv[1:]
    sys.meta_path.insert(0, Finder(module, old, new))
    sys.path.insert(0, os.path.dirname(os.path.abspath(adapter)))
    sys.argv = [adapter]
    runpy.run_path(adapter, run_name="__main__")
