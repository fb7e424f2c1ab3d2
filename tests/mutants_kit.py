#!/usr/bin/env python3
"""Mutation testing of the conformance kit: changes random lines of tests/conformance/*.c, or of packages/python/grpo_conformance/*.py, one
at a time, and runs the kit's own tests that reach the file. Prints the mutants that no test detects; some are equivalent to the original.

    tests/mutants_kit.py c                                      150 lines of the runner
    tests/mutants_kit.py python --number 100 --seed 2           of the Python package
    tests/mutants_kit.py c --file judge.c --lines 40-80 --tests few,judge

A run with the fast tests, and then what it left over with every test that reaches the file:
    tests/mutants_kit.py c --quick --write left.txt && tests/mutants_kit.py c --read left.txt

Mutants are made as in mutants.py, and Python's by the rules for that language. Needs gcc, meson, ninja and what the kit's tests need; the
tests of the build folder are to be built. Mutants with the code of the original are not counted, nor are those of Python with its syntax
tree. --quick takes it that all tests pass with the kit as it is.
"""

import argparse
import ast
import contextlib
import io
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from mutants import TOP, bodies, without_comments

KIT, PACKAGE = TOP / 'tests/conformance', TOP / 'packages/python/grpo_conformance'
PYTHON = '/usr/bin/python3' if os.path.exists('/usr/bin/python3') else sys.executable
FLAGS = ['-std=c99', '-O1', '-w', '-DGRPO_DOUBLE', f'-DVECTORS="{TOP}/tests/vectors"', '-I', str(TOP)]
PROGRAMS = (
    'self_test',
    'misbehaviour',
    'computed_mistakes',
    'discriminate',
    'identify_test',
    'misbehave',
    'command',
    'judge_test',
    'computed_table',
)  # tests, not kit

# name: (the programs that are linked with the mutant, the command). BIN: their folder, BUILD: that of meson
V = str(TOP / 'tests/vectors')
TESTS = {
    'few': (
        ['conform'],
        [
            'BIN/conform',
            '--vectors',
            V,
            '--complete',
            '--tolerance',
            '4',
            '--only',
            'gspo-*',
            '--only',
            'calls-[a-g]*',
            '--only',
            'refuse-*',
            '--only',
            'logits-token-[a-g]*',
            '--only',
            'partition-micro-*',
            '--only',
            'hidden-given-*',
            '--',
            'BUILD/adapter_c',
        ],
    ),
    'adapter': (['conform'], ['BIN/conform', '--vectors', V, '--complete', '--tolerance', '4', '--', 'BUILD/adapter_c']),
    'options': (['conform'], [PYTHON, KIT / 'options_test.py', 'BIN/conform', V, 'BUILD/adapter_c']),
    'statuses': (['conform'], [PYTHON, KIT / 'options_test.py', 'BIN/conform', V, 'BUILD/adapter_c', 'statuses', 'wrong_usage']),
    'expect': (['conform'], [PYTHON, KIT / 'options_test.py', 'BIN/conform', V, 'BUILD/adapter_c', 'expectations']),
    'formats': (['conform'], [PYTHON, KIT / 'options_test.py', 'BIN/conform', V, 'BUILD/adapter_c', 'formats']),
    'relations': (['conform'], [PYTHON, KIT / 'options_test.py', 'BIN/conform', V, 'BUILD/adapter_c', 'relations']),
    'misbehaviour': (['conform'], ['BUILD/misbehaviour', 'BIN/conform', 'BUILD/misbehave', V]),
    'judge': (['judge_test'], ['BIN/judge_test', V]),
    'computed': (['computed_table'], [PYTHON, KIT / 'computed_test.py', 'BIN/computed_table', V]),
    'computed_mistakes': (['computed_mistakes'], ['BIN/computed_mistakes', V]),
    'profiles': (['conform'], [PYTHON, KIT / 'profiles_test.py', 'BIN/conform', 'BUILD/adapter_c']),
    'report': (['conform'], [PYTHON, KIT / 'report_test.py', 'BIN/conform', V, 'BUILD/adapter_c']),
    'repro': (['conform'], [PYTHON, KIT / 'repro_test.py', 'BIN/conform', 'BUILD/adapter_c']),
    'repro_c': (['conform'], [PYTHON, KIT / 'repro_c_test.py', 'BIN/conform', 'BUILD/adapter_c']),
    'metamorphic': (['conform'], [PYTHON, KIT / 'metamorphic_test.py', 'BIN/conform', V, 'BUILD/adapter_c', 'BUILD/adapter_c_f32']),
    'every_relation': (['conform'], ['BIN/conform', '--vectors', V, '--metamorphic', '--', 'BUILD/adapter_c']),
    'snippets': (['conform'], [PYTHON, KIT / 'snippets_test.py', 'BIN/conform', V]),
    'site': (['conform'], [PYTHON, KIT / 'site_test.py', 'BIN/conform']),
    'planted_few': (['conform'], [PYTHON, KIT / 'planted.py', 'BIN/conform', V, 'eighth']),
    'planted': (['conform'], [PYTHON, KIT / 'planted.py', 'BIN/conform', V, 'eighth+later+last+nameless']),
    'planted_parts': (['conform'], [PYTHON, KIT / 'planted_parts.py', 'BIN/conform', V]),
    'identify_few': (
        ['conform'],
        [
            'sh',
            '-c',
            'for row in lite-ppo gspo gdpo; do BIN/conform --identify -- BUILD/adapter_c --as $row |'
            ' grep -q "^it computes.* $row" || exit 1; done',
        ],
    ),
    'identify': (['conform'], ['BUILD/identify_test', 'BIN/conform', 'BUILD/adapter_c']),
    'discriminate': (['discriminate'], ['BIN/discriminate', V]),
    'self_test': (
        ['self_test', 'conform'],
        [PYTHON, KIT / 'mistaken_oracle.py', 'serve', 'BIN/self_test', 'BIN/conform', V, PYTHON, '-IS', KIT / 'mistaken_oracle.py', 'ask'],
    ),
}
# the tests that reach a file, the fast ones first; --quick: those before None
NAMING = ['planted_few', None, 'computed', 'options', 'report', 'self_test', 'planted_parts', 'planted']
REACH = [
    (r'program|session', ['few', 'misbehaviour', None, 'options', 'report', 'adapter']),
    (r'expectations', ['expect', None, 'profiles']),
    (
        r'options|conform\.',
        ['few', 'repro_c', 'statuses', None, 'options', 'report', 'repro', 'profiles', 'misbehaviour', 'metamorphic', 'adapter'],
    ),
    (
        r'judge|answer',
        [
            'few',
            'computed_mistakes',
            'judge',
            'planted_few',
            None,
            'options',
            'misbehaviour',
            'profiles',
            'adapter',
            'self_test',
            'planted_parts',
            'planted',
        ],
    ),
    (r'plain_(split|rows)', ['computed_mistakes', 'planted_few', None, 'planted_parts', 'self_test']),
    (r'plain_|alternatives|diagnose|group|known', NAMING),
    (r'metamorphic|shrink|trial|gradient|relations|request', ['metamorphic', None, 'every_relation', 'snippets', 'options']),
    (r'full_batch|identify', ['identify_few', None, 'report', 'metamorphic', 'identify']),
    (r'profile|conventions|recompute', ['profiles', None, 'planted_few', 'self_test', 'planted']),
    (r'repro_c', ['repro_c', None]),
    (r'repro', ['repro_c', 'repro', None]),
    (r'report', ['formats', None, 'options', 'report', 'site', 'profiles', 'misbehaviour', 'repro', 'planted_few']),
    (
        r'text',
        ['few', 'repro_c', 'formats', None, 'options', 'report', 'misbehaviour', 'site', 'profiles', 'repro', 'metamorphic', 'self_test'],
    ),
]


# of check.py, with --quick: the classes and tests that reach a file soonest
CLASSES = {
    name: classes.split()
    for names, classes in (
        ('comparison answer batch loader __init__', 'Comparison EveryNumber Loader Pytest Torch'),
        ('testing plugin', 'Pytest Comparison'),
        (
            'report pages',
            'Pytest Loader.test_pages Diagnosis.test_the_message Diagnosis.test_one_reason_for_many_cases Computed.test_nearly_right',
        ),
        (
            'diagnosis',
            'Pytest Diagnosis.test_factors_and_rounding Diagnosis.test_halves Diagnosis.test_nearly_the_mistake_is_not_the_mistake '
            'Diagnosis.test_one_reason_for_many_cases Diagnosis.test_a_cause_that_others_contradict_is_not_named '
            'Diagnosis.test_a_right_answer_contradicts_mistakes_and_fits_none Diagnosis.test_every_mistake_in_brief_is_a_hint '
            'Diagnosis.test_what_unexplained_cases_have_in_common Diagnosis.test_a_nan_is_no_evidence Computed',
        ),
        ('computed computed_advantage computed_loss', 'Computed'),
        ('reference', 'Reference'),
    )
    for name in names.split()
}


def ways_of(path, rules, wanted):
    """The lines, and line number -> the ways to break it."""
    from universalmutator import mutator

    source = path.read_text(encoding='utf-8').splitlines(keepends=True)
    code = without_comments(''.join(source)).splitlines(keepends=True) if path.suffix == '.c' else source
    with contextlib.redirect_stdout(io.StringIO()):
        found = mutator.mutants_regexp(code, ruleFiles=['universal.rules', *rules], ignorePatterns=[], ignoreStringOnly=True)
    ways = {}
    for number, text, _, _ in found:
        if number in wanted and text != source[number - 1]:
            ways.setdefault(number, {})[text] = 0
    return source, {number: list(texts) for number, texts in ways.items()}


def lines_of_c(path):
    """Lines in functions and tables, and functions of one line."""
    source = path.read_text(encoding='utf-8').splitlines()
    return bodies(source) | {n for n, line in enumerate(source, 1) if re.match(r'\w.*\) \{ .* \}$', line)}


def lines_of_python(path):
    """Lines with code that runs: no comments, imports, docstrings, or the fields of classes."""
    text = path.read_text(encoding='utf-8')
    out = set()
    for node in ast.walk(ast.parse(text)):
        words = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if words or isinstance(node, (ast.Import, ast.ImportFrom, ast.AnnAssign)) and getattr(node, 'value', None) is None:
            out |= set(range(node.lineno, node.end_lineno + 1))
    code = {n for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.strip().startswith(('#', '@', '"""'))}
    return code - out


def run(command, limit, folder=None):
    """Is the exit status 0, within the limit? The first line that begins with FAIL ends it."""
    process = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder, start_new_session=True
    )

    def stop():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)

    timer = threading.Timer(limit, stop)
    timer.start()
    begin = os.times().elapsed
    if any(line.startswith(b'FAIL') for line in process.stdout):
        stop()
    passed = process.wait() == 0
    timer.cancel()
    return passed, os.times().elapsed - begin


class Runner:
    """The C files: objects of all, one of which is replaced."""

    def __init__(self, build, folder, trusted):
        self.trusted = trusted  # the tests pass with the kit as it is
        self.build, self.folder, self.limits = build / 'tests/conformance', folder, {}
        flags = subprocess.run(['pkg-config', '--cflags', 'libcjson', 'stb'], capture_output=True, text=True, check=True).stdout.split()
        self.flags = [*FLAGS, *flags]
        self.objects = {}
        for path in [*KIT.glob('*.c'), TOP / 'tests/case.c', TOP / 'tests/compare.c', TOP / 'tests/stb_ds.c']:
            self.objects[path.stem] = folder / f'{path.stem}.o'
            assert self.compile(path, self.objects[path.stem]), path
        self.objects['headers'] = build / 'tests/libheaders.a.p/headers.c.o'
        self.mains = {path.stem for path in KIT.glob('*.c') if re.search(r'^int main\(', path.read_text(), re.M)}
        subprocess.run(['ar', 'rcs', folder / 'kit.a', *(o for name, o in self.objects.items() if name not in self.mains)], check=True)

    def compile(self, path, target):
        return subprocess.run(['gcc', *self.flags, '-c', path, '-o', target], capture_output=True).returncode == 0

    def link(self, name, broken, stem, folder):
        main = broken if stem == name else self.objects[name]
        parts = [main] if stem == name else [main, broken] if broken else [main]
        done = subprocess.run(['gcc', '-o', folder / name, *parts, self.folder / 'kit.a', '-lcjson', '-lm'], capture_output=True, text=True)
        if done.returncode and not broken:
            print(done.stderr)
        return done.returncode == 0

    def test(self, name, folder):
        words = [str(word).replace('BIN', str(folder)).replace('BUILD', str(self.build)) for word in TESTS[name][1]]
        return run(words, self.limits.get(name, 120 if self.trusted else 600))

    def prepare(self, tests):
        for name in sorted({program for test in tests for program in TESTS[test][0]}):
            assert self.link(name, None, '', self.folder), name
        for test in tests if not self.trusted else []:
            passed, seconds = self.test(test, self.folder)
            if not passed:
                sys.exit(f'{test} is red with the kit as it is')
            self.limits[test] = 10 + 10 * seconds
            print(f'{test}: {seconds:.1f} s', flush=True)

    def verdict(self, path, source, number, text, tests):
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            place = pathlib.Path(place)
            # beside the original: its includes are relative
            mutant = KIT / f'.mutant_{os.getpid()}_{path.name}'
            mutant.write_text(''.join(source[: number - 1]) + text + ''.join(source[number:]), encoding='utf-8')
            try:
                compiled = self.compile(mutant, place / 'broken.o')
            finally:
                mutant.unlink()
            if not compiled or code_of(place / 'broken.o') == code_of(self.objects[path.stem]):
                return 'same'
            for name in sorted({program for test in tests for program in TESTS[test][0]}):
                if not self.link(name, place / 'broken.o', path.stem, place):
                    return 'same'
            for test in tests:
                if not self.test(test, place)[0]:
                    return test
        return 'unseen'


def code_of(path):
    """Sections of the object, without the name of the file."""
    return subprocess.run(
        ['objdump', '-s', '-j', '.text', '-j', '.rodata', '-j', '.data', '-j', '.data.rel.ro.local', '-j', '.data.rel.local', '-r', path],
        capture_output=True,
    ).stdout.split(b'file format', 1)[-1]


class Package:
    """The Python files: a copy of what check.py reads."""

    def __init__(self, folder, trusted):
        self.folder, self.limit, self.trusted = folder, 600, trusted
        self.root = folder / 'tree'
        (self.root / 'packages').mkdir(parents=True)
        shutil.copytree(TOP / 'packages/python', self.root / 'packages/python', ignore=shutil.ignore_patterns('__pycache__'))
        shutil.copy(TOP / 'packages/core.py', self.root / 'packages')
        for name in ('tests', 'extra', 'VERSION', *(path.name for path in TOP.glob('*.h'))):
            (self.root / name).symlink_to(TOP / name)
        os.environ['GRPO_CONFORMANCE_CACHE'] = str(folder / 'cache')
        os.environ['PYTHONDONTWRITEBYTECODE'] = '1'

    def test(self, classes=()):
        return run([PYTHON, self.root / 'packages/python/check.py', '-f', *classes], self.limit)

    def prepare(self, tests):
        passed, seconds = (True, 60) if self.trusted else self.test()
        passed or sys.exit('check.py is red with the package as it is')
        self.limit = 10 + 5 * seconds
        print(f'check.py: {seconds:.1f} s', flush=True)

    def verdict(self, path, source, number, text, tests):
        whole = ''.join(source[: number - 1]) + text + ''.join(source[number:])
        with contextlib.suppress(SyntaxError, ValueError):
            if ast.dump(ast.parse(whole)) != ast.dump(ast.parse(''.join(source))):
                copy = self.root / 'packages/python/grpo_conformance' / path.name
                copy.write_text(whole, encoding='utf-8')
                passed = self.test(CLASSES.get(path.stem, ()) if self.trusted else ())[0]
                copy.write_text(''.join(source), encoding='utf-8')
                return 'unseen' if passed else 'check.py'
        return 'same'


def draw(given, paths, lines_of, rules):
    """[(path, source, line, its mutants in random order)]"""
    chance, ways = random.Random(given.seed), []
    for path in sorted(paths):
        wanted = lines_of(path)
        if given.lines:
            wanted &= {n for part in given.lines.split(',') for n in range(int(part.split('-')[0]), int(part.split('-')[-1]) + 1)}
        source, found = ways_of(path, rules, wanted)
        ways += [(path, source, number, texts) for number, texts in sorted(found.items())]
    chosen = sorted(chance.sample(range(len(ways)), min(given.number, len(ways))))
    for k in chosen:
        chance.shuffle(ways[k][3])
    return sorted((ways[k] for k in chosen), key=lambda way: rank(way[0]))


def rank(path):
    """Files whose tests are fast first."""
    order = (
        'judge',
        'answer',
        'conform.',
        'options',
        'expectations',
        'repro_c',
        'text',
        'plain_rows',
        'plain_split',
        'diagnose',
        'group',
        'known',
        'report',
        'program',
        'session',
        'trial',
        'metamorphic',
        'gradient',
        'shrink',
        'relations',
        'request',
        'profile',
        'conventions',
        'recompute',
        'identify',
        'full_batch',
        'repro.',
        'plain_',
        'alternatives',
    )
    return next((k for k, name in enumerate(order) if path.name.startswith(name)), 0)


def drawn_before(path_of, read):
    found = []
    for line in pathlib.Path(read).read_text(encoding='utf-8').splitlines():
        name, number, text = json.loads(line)
        path = path_of(name)
        found.append((path, path.read_text(encoding='utf-8').splitlines(keepends=True), number, [text]))
    return found


def tests_of(path, given):
    if given.tests:
        return given.tests.split(',')
    reach = next(tests for pattern, tests in REACH if re.match(pattern, path.name))
    return reach[: reach.index(None)] if given.quick else [t for t in reach if t]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('language', choices=('c', 'python'))
    parser.add_argument('--number', type=int, default=150, help='how many lines are broken, each in one way')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--file', action='append', help='only this one; may be given several times')
    parser.add_argument('--lines', help='FIRST-LAST,LINE,...')
    parser.add_argument('--tests', help='NAME,NAME,...: only these, in this order')
    parser.add_argument('--quick', action='store_true', help='the fast tests, of Python the nearest ones')
    parser.add_argument('--write', help='a file for the mutants that no test detects')
    parser.add_argument('--read', help='such a file: these, and no others')
    parser.add_argument('--build', default='build', help='a build folder with -Dtests=true')
    given = parser.parse_args()
    folder_of = KIT if given.language == 'c' else PACKAGE
    paths = [folder_of / name for name in given.file or []] or [
        p for p in folder_of.glob('*.c' if given.language == 'c' else '*.py') if p.stem not in PROGRAMS
    ]
    todo = (
        drawn_before(lambda name: folder_of / name, given.read)
        if given.read
        else draw(
            given, paths, *((lines_of_c, ['c.rules', 'c_like.rules']) if given.language == 'c' else (lines_of_python, ['python.rules']))
        )
    )
    count = {'seen': 0, 'unseen': 0, 'same': 0}
    with tempfile.TemporaryDirectory() as folder, open(given.write or os.devnull, 'w', encoding='utf-8') as left:
        bench = (
            Runner(TOP / given.build, pathlib.Path(folder), given.quick)
            if given.language == 'c'
            else Package(pathlib.Path(folder), given.quick)
        )
        needed = {t for path, *_ in todo for t in tests_of(path, given)} if given.language == 'c' else set()
        bench.prepare([t for t in TESTS if t in needed])
        for path, source, number, texts in todo:
            for text in texts[:8]:
                verdict = bench.verdict(path, source, number, text, tests_of(path, given) if needed else None)
                if verdict != 'same':
                    break
            count['seen' if verdict not in count else verdict] += 1
            print(
                f'{path.name}:{number}: {verdict}'
                + ('' if verdict != 'unseen' else f'\n  - {source[number - 1].strip()}\n  + {" ".join(text.split())}'),
                flush=True,
            )
            if verdict == 'unseen':
                left.write(json.dumps([path.name, number, text]) + '\n')
                left.flush()
    mutants, same = count['seen'] + count['unseen'], count['same']
    print(f'{mutants} mutants of {len(todo)} lines, {count["seen"]} seen, {count["unseen"]} not ({same} could not be broken)')


if __name__ == '__main__':
    main()
