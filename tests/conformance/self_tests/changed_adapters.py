"""Makes a copy of ../adapters/ with some text of one file replaced, for tests that plant mistakes."""
import os
import shutil

from kit import ADAPTERS


def changed_copy(folder, file, edits):
    """Makes the folder. edits: {text that occurs once in the file: its replacement}."""
    shutil.copytree(ADAPTERS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    path = os.path.join(folder, file)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for there, instead in edits.items():
        if text.count(there) != 1:
            raise ValueError(f"{path}: {there} occurs {text.count(there)} times, not once")
        text = text.replace(there, instead)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
