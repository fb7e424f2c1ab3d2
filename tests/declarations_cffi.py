"""tests/declarations_cffi.py LIBRARY DECLARATIONS: the struct layouts that cffi computes from the declarations are those of the library.

LIBRARY is examples/library.c, compiled; DECLARATIONS is extra/grpo_declarations.h.  Ends with "N passed, N failed"."""
import sys

import cffi

from support.counting import check, checked

ffi = cffi.FFI()
ffi.cdef(open(sys.argv[2], encoding='utf-8').read())
lib = ffi.dlopen(sys.argv[1])


def layouts():
    """The library's layout: {(structure, member): (offset, size)}."""
    count = ffi.new('int *')
    table = lib.grpo_layouts(count)
    return {(ffi.string(x.structure).decode(), ffi.string(x.member).decode()): (x.offset, x.size) for x in table[0:count[0]]}


def declared(structure):
    """cffi's layout of a struct and its members."""
    yield '', 0, ffi.sizeof(structure)
    for name, field in ffi.typeof(structure).fields or []:
        yield name, field.offset, ffi.sizeof(field.type)


def message(status):
    return ffi.string(lib.grpo_status_message(status, ffi.new('char[]', lib.GRPO_MESSAGE_SIZE), lib.GRPO_MESSAGE_SIZE)).decode()


def check_layouts():
    here = layouts()
    structures = {structure for structure, _ in here} - {'grpo_real'}
    looked_into = {structure for structure, member in here if member} - {'grpo_objective'}
    for structure in sorted(structures):
        for member, offset, size in declared(structure):
            if not member or structure in looked_into:
                found = here.get((structure, member))
                check(f'{structure}.{member}', found == (offset, size), f'{found}, declared {offset, size}')


def check_fields():
    """The fields of an objective are at the same offsets in cffi's structs."""
    count = ffi.new('int *')
    fields = lib.grpo_fields(count)
    for field in fields[0:count[0]]:
        axis, name = ffi.string(field.path).decode().split('.')
        offset = ffi.offsetof('grpo_objective', axis) + ffi.offsetof('grpo_' + {'ratio': 'ratio_axis'}.get(axis, axis), name)
        check(f'{axis}.{name}', offset == field.offset, f'at {field.offset}, declared at {offset}')


def check_calls():
    """Loads an objective by name, and changes it through the struct and through a path."""
    objective = ffi.new('grpo_objective *')
    check('gspo', lib.grpo_objective_named(b'gspo', objective) == lib.GRPO_OK)
    check('the settings of gspo', objective.ratio.level == lib.GRPO_LEVEL_SEQUENCE_MEAN and objective.surrogate.eps_high == 4e-4)
    status = lib.grpo_objective_set(objective, b'surrogate.eps_high', 0.25)
    check('eps_high', status == lib.GRPO_OK and objective.surrogate.eps_high == 0.25)
    status = lib.grpo_objective_named(b'gsop', objective)
    said = message(status)
    check('an unknown name', status & 255 == lib.GRPO_UNKNOWN and said == 'name is unknown: the nearest is gspo', said)


def check_version():
    check('the version', lib.grpo_version() == lib.GRPO_VERSION_NUMBER)


sys.exit(checked(check_version, check_layouts, check_fields, check_calls))
