"""Checks of the oracle by axis, each by another way to the same number: what takes check(what, ok) is in its module's GROUPS."""
import importlib
import os

MODULES = [importlib.import_module("checks." + name[:-3]) for name in sorted(os.listdir(os.path.dirname(__file__)))
           if name.endswith(".py") and name != "__init__.py"]
GROUPS = [group for module in MODULES for group in getattr(module, "GROUPS", ())]
