#!/usr/bin/env python3
"""Writes the files made from the functions: the rules of calls in vectors/schema.json and the pages vectors/functions/*.md."""
import os
import sys

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(HERE, os.pardir, os.pardir, "vectors")
if __name__ == "__main__":
    sys.path[0] = os.path.dirname(HERE)

from functions import pages, schema


def read(name):
    try:
        with open(os.path.join(VECTORS, name), encoding="ascii") as f:
            return f.read()
    except FileNotFoundError:
        return None


def files():
    """{file in vectors: text}"""
    return {"schema.json": schema.text(read("schema.json")), **pages.pages()}


def main():
    for name, text in files().items():
        if read(name) != text:
            with open(os.path.join(VECTORS, name), "w", encoding="ascii", newline="\n") as f:
                f.write(text)
            print(f"{name}: written")


if __name__ == "__main__":
    main()
