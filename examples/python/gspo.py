"""One evaluation of GSPO from Python with ctypes alone: two prompts with two responses each.

    python3 examples/python/gspo.py

The library is GRPO_LIBRARY (default: build/libgrpo.so); cc builds it if it is missing or older than the headers.  Copied to
where there is no examples/library.c, this file builds nothing.  Arrays are passed by address: tensor.data_ptr() of a contiguous float32
tensor on the CPU, array.ctypes.data of a NumPy array.
"""
import os
import pathlib
import subprocess
from array import array
from ctypes import CDLL, POINTER, Structure, byref, create_string_buffer, sizeof
from ctypes import c_char_p, c_double, c_float, c_int, c_int64, c_size_t, c_void_p

TOP = (pathlib.Path(__file__).resolve().parent / '../..').resolve()


# ---- what grpo.h declares; library() compares it with what was compiled

class Batch(Structure):
    _fields_ = [('n_groups', c_int64), ('group_begin', c_void_p), ('offset', c_void_p), ('length', c_void_p), ('n_tokens', c_int64)] + [
        (name, c_void_p) for name in (
            'logp', 'logp_old', 'logp_ref', 'logp_rollout', 'logp_teacher', 'entropy', 'value', 'step_reward', 'step_end', 'segment_end',
            'mask', 'selected', 'kl_mask', 'nll_mask', 'marked', 'shaping_mask', 'state', 'token_id', 'sum_pi_squared', 'reward', 'rewards')
    ] + [('n_rewards', c_int64)] + [
        (name, c_void_p) for name in (
            'reward_weight', 'truncated', 'excluded', 'baseline', 'log_partition', 'external_weight', 'eps_low', 'eps_high',
            'divergence_ref', 'divergence_old')]


class Output(Structure):
    _fields_ = [('dlogp', c_void_p), ('dentropy', c_void_p), ('term', c_void_p), ('ddivergence_ref', c_void_p),
                ('dlog_partition', c_void_p), ('scratch', c_void_p), ('scratch_size', c_int64)]


class Report(Structure):
    _fields_ = [(name, c_double) for name in ('loss', 'policy_loss', 'penalty_loss')] + [
        (name, c_int64) for name in ('tokens', 'sequences', 'groups', 'masked_tokens', 'rejected_tokens', 'degenerate_groups')] + [
        (name, c_double) for name in (
            'clip_fraction', 'clip_fraction_low', 'clip_fraction_high', 'clip_fraction_dual', 'ratio_mean', 'ratio_min', 'ratio_max', 'ess',
            'approx_kl_k1', 'approx_kl_k3', 'kl_k1', 'kl_k2', 'kl_k3', 'entropy', 'rollout_is_mean')] + [('overflow', c_int)]


class Layout(Structure):
    _fields_ = [('structure', c_char_p), ('member', c_char_p), ('offset', c_int64), ('size', c_int64)]


STRUCTS = {'grpo_batch': Batch, 'grpo_output': Output, 'grpo_report': Report, 'grpo_layout': Layout}
FUNCTIONS = {
    'grpo_objective_named': [c_char_p, c_void_p],
    'grpo_advantages': [c_void_p, POINTER(Batch), c_void_p],
    'gspo_loss': [c_void_p, POINTER(Batch), c_void_p, c_void_p, POINTER(Output), POINTER(Report)],
    'grpo_layout_check': [POINTER(Layout), c_int64],
    'grpo_sizeof': [c_char_p],
}


# ---- the library

def build(path):
    sources = [TOP / 'examples/library.c', *TOP.glob('*.h'), *TOP.glob('extra/*.h')]
    if path.exists() and not sources[0].exists():
        return
    if not path.exists() or path.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        path.parent.mkdir(exist_ok=True)
        flags = os.environ.get('CFLAGS', '-O2').split()
        subprocess.run(['cc', '-std=c99', *flags, '-shared', '-fPIC', sources[0], '-lm', '-o', path], check=True)


def library():
    path = pathlib.Path(os.environ.get('GRPO_LIBRARY', TOP / 'build' / 'libgrpo.so')).resolve()
    build(path)
    lib = CDLL(str(path))
    for name, arguments in FUNCTIONS.items():
        getattr(lib, name).argtypes, getattr(lib, name).restype = arguments, c_int64
    lib.grpo_status_message.argtypes, lib.grpo_status_message.restype = [c_int64, c_char_p, c_size_t], c_char_p
    check_layout(lib)
    return lib


def check_layout(lib):
    """Raises an error if a declaration differs from the header: the library would read one array in place of another."""
    declared = []
    for name, kind in STRUCTS.items():
        for member, _ in kind._fields_:
            at = getattr(kind, member)
            declared.append(Layout(name.encode(), member.encode(), at.offset, at.size))
        declared.append(Layout(name.encode(), b'', 0, sizeof(kind)))
    status = lib.grpo_layout_check((Layout * len(declared))(*declared), len(declared))
    if status:
        wrong = declared[(status >> 28) - 1]
        raise TypeError(f'{wrong.structure.decode()} {wrong.member.decode()} is not declared as in grpo.h: {message(lib, status)}')
    if lib.grpo_sizeof(b'grpo_real') != sizeof(c_float):
        raise TypeError('the library was compiled with GRPO_DOUBLE')


# ---- the example

def message(lib, status):
    return lib.grpo_status_message(status, create_string_buffer(160), 160).decode()


def check(lib, status):
    if status:
        raise ValueError(message(lib, status))


def address(numbers):
    return numbers.buffer_info()[0]


def main():
    lib = library()
    group_begin, offset, length = array('q', [0, 2, 4]), array('q', [0, 2, 5, 9]), array('q', [2, 3, 4, 1])
    reward = array('f', [1, 0, 0.5, 0.25])
    logp = array('f', [-1, -2, -0.5, -3, -0.25, -1.5, -0.75, -2.25, -0.125, -0.625])
    logp_old = array('f', [-1.125, -1.875, -0.5, -2.5, -0.5, -1.5, -0.875, -2.25, -0.25, -0.625])
    advantage, dlogp = array('f', [0] * len(logp)), array('f', [0] * len(logp))

    objective = (c_int64 * (lib.grpo_sizeof(b'grpo_objective') // 8))()
    check(lib, lib.grpo_objective_named(b'gspo', objective))

    batch = Batch(n_groups=len(group_begin) - 1, group_begin=address(group_begin), offset=address(offset), length=address(length),
                  n_tokens=len(logp), logp=address(logp), logp_old=address(logp_old), reward=address(reward))
    out, report = Output(dlogp=address(dlogp)), Report()
    check(lib, lib.grpo_advantages(objective, byref(batch), address(advantage)))
    check(lib, lib.gspo_loss(objective, byref(batch), address(advantage), None, byref(out), byref(report)))

    for i, first in enumerate(offset):
        gradient = ''.join(f' {x:9.6f}' for x in dlogp[first:first + length[i]])
        print(f'reward {reward[i]:.2f}  advantage {advantage[first]:7.4f}  d loss / d logp{gradient}')
    print(f'loss {report.loss:.9f}, clipped {100 * report.clip_fraction:.0f} %, KL to the old policy {report.approx_kl_k3:.6f}')


if __name__ == '__main__':
    main()
