"""Checks of the oracle by axis: each compares a number with another computation of it. GROUPS of a module lists its functions, which take
check(what, ok)."""
import importlib
import os

MODULES = [importlib.import_module("checks." + name[:-3]) for name in sorted(os.listdir(os.path.dirname(__file__)))
           if name.endswith(".py") and name != "__init__.py"]
GROUPS = [group for module in MODULES for group in getattr(module, "GROUPS", ())]
