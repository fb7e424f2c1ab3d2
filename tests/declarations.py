#!/usr/bin/env python3
"""Generates extra/grpo_declarations.h: the headers' declarations in plain C without macros, for programs that read them (cffi, bindgen).

    tests/declarations.py            rewrites it from the output of `cc -E`
    tests/declarations.py --check    prints the differences
"""
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
PLACE = TOP / 'extra' / 'grpo_declarations.h'
INTERNAL = ('grpo_shared.h', 'grpo_shared_logits.h', 'grpo_shared_loops.h', 'grpo_shared_mixture.h', 'grpo_shared_text.h')
HEADERS = ['gspo.h'] + sorted(f'extra/{p.name}' for p in (TOP / 'extra').glob('*.h') if p.name not in INTERNAL + (PLACE.name,))
CONSTANTS = ['GRPO_VERSION_NUMBER', 'GRPO_MESSAGE_SIZE', 'GRPO_MAX_REWARDS']
HEAD = '''/* grpo_declarations.h - what grpo.h, gspo.h and the headers of extra/ declare, in plain C without a directive, for programs that
 * read declarations.  Written by tests/declarations.py; what it all means stands in the headers.  Nothing includes it beside them.
 *
 *     ffi.cdef(open("extra/grpo_declarations.h").read())                             # Python, cffi
 *     bindgen extra/grpo_declarations.h -- -include stdint.h -include stddef.h       # Rust
 *
 * Names that end with _f64 are those of a library compiled with -DGRPO_DOUBLE.  Before its first call a program compares
 * GRPO_VERSION_NUMBER with what grpo_version() returns. */
'''


def preprocess(element):
    """The preprocessed text of the headers with option `element`, as a list of declarations and definitions; the values of CONSTANTS."""
    source = ''.join(f'#include "{h}"\n' for h in HEADERS) + ''.join(f'constant "{c}" {c}\n' for c in CONSTANTS)
    text = subprocess.run(['cc', '-std=c99', '-E', '-I', TOP, element, '-x', 'c', '-'],
                          input=source, stdout=subprocess.PIPE, check=True, text=True).stdout
    ours, lines = False, []
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = marker[1].startswith((str(TOP), '<stdin>')) or not marker[1].startswith(('/', '<'))
        elif ours:
            lines.append(line)
    values = dict(line.replace('"', '').split()[1:] for line in lines if line.startswith('constant '))
    return items(' '.join(line for line in lines if line and not line.startswith('constant '))), values


def items(text):
    """Splits text at each ; or } at depth 0."""
    depth, start = 0, 0
    for at, c in enumerate(text):
        depth += (c == '{') - (c == '}')
        if depth == 0 and (c == ';' or c == '}' and re.match(r'\s*(static|extern)\b', text[start:])):
            yield ' '.join(text[start:at + 1].split())
            start = at + 1


def is_declaration(item):
    """Is the item public: not static, with a name that does not end with an underscore?"""
    if item.startswith('static') or item == ';':
        return False
    names = re.findall(r'\b(?:GRPO|grpo|gspo)_\w+', item if item.startswith('enum') else item.split('{')[0] + item.split('}')[-1])
    return not all(name.endswith('_') for name in names)


def shown(item):
    """Wraps an item into lines of at most 120 characters, with one member of a struct per line."""
    item = item.replace('( ', '(')
    if item.startswith('typedef struct'):
        return re.sub(r' (?=})', '\n', re.sub(r'([{;]) (?!})', r'\1\n    ', item))
    lines, line = [], ''
    for word in item.split(' '):
        if len(line) + len(word) > 120:
            lines.append(line)
            line = '   '
        line += (' ' if line else '') + word
    return '\n'.join(lines + [line])


def page():
    both = {}
    for element, real in (('-UGRPO_DOUBLE', 'float'), ('-DGRPO_DOUBLE', 'double')):
        found, constants = preprocess(element)
        for item in found:
            if is_declaration(item) and not item.endswith(' grpo_real;'):
                both[re.sub(r'\bgrpo_real\b', real, item)] = True
    values = ', '.join(f'{name} = {value}' for name, value in constants.items())
    return HEAD + '\n' + '\n'.join(shown(item) for item in [f'enum {{ GRPO_OK = 0, {values} }};'] + list(both)) + '\n'


def main():
    text = page()
    if sys.argv[1:] == ['--check']:
        if PLACE.read_text() != text:
            sys.exit('extra/grpo_declarations.h is not what the headers declare: run tests/declarations.py')
    else:
        PLACE.write_text(text)


main()
