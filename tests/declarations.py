#!/usr/bin/env python3
"""Generates extra/grpo_declarations.h: the headers' declarations in plain C without macros, for programs that read them (cffi, bindgen).

    tests/declarations.py            rewrites it from the output of `cc -E`
    tests/declarations.py --check    is it up to date, and are the arguments named in extra/grpo_messages.h those of the declarations?
"""
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
PLACE = TOP / 'extra' / 'grpo_declarations.h'
INTERNAL = ('grpo_shared.h', 'grpo_shared_logits.h', 'grpo_shared_loops.h', 'grpo_shared_mixture.h', 'grpo_shared_text.h')
HEADERS = ['gspo.h'] + sorted(f'extra/{p.name}' for p in (TOP / 'extra').glob('*.h') if p.name not in INTERNAL + (PLACE.name,))
NO_ARGUMENT_TO_REFUSE = ('grpo_context_check', 'grpo_hidden_check', 'grpo_layout_check')      # of calls_arguments.c
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


def named(text):
    """The table of extra/grpo_messages.h: the arguments of each function in the words of its text."""
    strings = dict(re.findall(r'#define (\w+) "(.*)"', text))
    for function, row in re.findall(r'\{ "(\w+)", ([^}]*) \}', text):
        yield 'grpo_' + function, ''.join(quoted or strings[macro] for quoted, macro in re.findall(r'"([^"]*)"|(\w+)', row)).split()


def check_messages(text):
    """The complaints about the table of extra/grpo_messages.h, given the text of the declarations."""
    def names(declared):
        return [re.sub(r'\[.*', '', word).split()[-1].lstrip('*') for word in declared.split(',')]

    declared = dict(re.findall(r'^grpo_status (\w+)\(([^;]*)\);', text, re.M))
    members = {name: [m for line in body.split(';')[:-1] for m in names(line)]
               for body, name in re.findall(r'^typedef struct \{([^}]*)\} (\w+);', text, re.M)}
    table = dict(named((TOP / 'extra' / 'grpo_messages.h').read_text()))
    optional = ''.join(path.read_text() for path in (TOP / 'extra').glob('*.h') if path != PLACE)
    called = (TOP / 'tests' / 'extra' / 'calls_arguments.c').read_text()
    for function in declared:
        if re.search(rf'^grpo_status {function}\(', optional, re.M) and function not in table:
            yield f'{function} is missing'
    for function, arguments in table.items():
        if [argument.split(':')[0] for argument in arguments] != names(declared[function]):
            yield f'{function} is declared with ({declared[function]})'
        for at, (argument, _, listed) in enumerate(argument.partition(':') for argument in arguments):
            structure = re.sub(r'\bconst\b|\*', '', declared[function].split(',')[at]).split()[0]
            if listed and listed.split(',') != members[structure][:listed.count(',') + 1]:
                yield f'{function}: {structure} has the members {members[structure]}'
        if f'({function},' not in called and function not in NO_ARGUMENT_TO_REFUSE:
            yield f'{function} is not called by tests/extra/calls_arguments.c'


def main():
    text = page()
    if sys.argv[1:] == ['--check']:
        if PLACE.read_text() != text:
            sys.exit('extra/grpo_declarations.h is not what the headers declare: run tests/declarations.py')
        complaints = list(check_messages(text))
        if complaints:
            sys.exit('extra/grpo_messages.h: ' + '\n'.join(complaints))
    else:
        PLACE.write_text(text)


main()
