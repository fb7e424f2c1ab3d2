"""Stand-ins for modules and names that a framework imports (engines, data sets, the packages' __init__) but that the functions under test
never use."""
import os
import sys
import types


def put(name, module):
    parent, _, last = name.rpartition(".")
    sys.modules[name] = module
    if parent in sys.modules:
        setattr(sys.modules[parent], last, module)


def module_stand_in(name, **attributes):
    """Makes an empty module of this name importable."""
    module = types.ModuleType(name)
    module.__dict__.update(attributes)
    put(name, module)


def without_init(*names):
    """Makes packages importable without running their __init__."""
    for name in names:
        parent, _, last = name.rpartition(".")
        folders = sys.modules[parent].__path__ if parent else sys.path
        module_stand_in(name, __path__=[os.path.join(folder, last) for folder in folders if os.path.isdir(os.path.join(folder, last))])


class Names(types.ModuleType):
    """A module in which every name is an empty class: a base to inherit from, a type to annotate with."""
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def names_stand_in(*names):
    for name in names:
        put(name, Names(name))
