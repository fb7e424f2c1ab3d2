#!/usr/bin/env python3
"""Mutation testing of the conformance kit: changes random lines of tests/conformance/runner/*.c, or of
packages/python/grpo_conformance/*.py, one at a time, and runs the kit's own tests that reach the file.
Prints the mutants that no test detects; some are equivalent to the original.

    tests/mutants_kit.py c                                      150 lines of the runner
    tests/mutants_kit.py python --number 100 --seed 2           of the Python package
    tests/mutants_kit.py c --file judge.c --lines 40-80 --tests few,judge

Mutants are made as in mutants.py, and Python's by the rules for that language. Needs gcc, meson, ninja and what the kit's tests need; the
tests of the build folder are to be built. Mutants with the code of the original are not counted, nor are those of Python with its syntax
tree.
"""

import argparse
import ast
import contextlib
import io
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

RUNNER, SELF, PACKAGE = TOP / 'tests/conformance/runner', TOP / 'tests/conformance/self_tests', TOP / 'packages/python/grpo_conformance'
PYTHON = '/usr/bin/python3' if os.path.exists('/usr/bin/python3') else sys.executable
C_FILES = [*RUNNER.glob('*.c'), *SELF.glob('*.c')]
FLAGS = ['-std=c99', '-O1', '-w', '-DGRPO_DOUBLE', f'-DVECTORS="{TOP}/tests/vectors"', '-I', str(TOP), '-iquote', str(RUNNER)]

# name: (the programs that are linked with the mutant, the command). BIN: their folder, BUILD: that of meson, SELF, V: the vectors
ADAPTER = 'conform | BIN/conform --vectors V --complete --tolerance 4'
FEW = ' '.join(f'--only {ids}' for ids in 'gspo-* calls-[a-g]* refuse-* logits-token-[a-g]* partition-micro-* hidden-given-*'.split())
OPTIONS = 'conform | python SELF/options_test.py BIN/conform V BUILD/adapter_c'
TESTS = {
    'few': f'{ADAPTER} {FEW} -- BUILD/adapter_c',
    'adapter': f'{ADAPTER} -- BUILD/adapter_c',
    'options': OPTIONS,
    'statuses': f'{OPTIONS} statuses wrong_usage',
    'expect': f'{OPTIONS} expectations',
    'formats': f'{OPTIONS} formats',
    'misbehaviour': 'conform | BUILD/misbehaviour BIN/conform BUILD/misbehave V',
    'judge': 'judge_test | BIN/judge_test V',
    'computed': 'computed_table | python SELF/computed_test.py BIN/computed_table V',
    'computed_mistakes': 'computed_mistakes | BIN/computed_mistakes V',
    'profiles': 'conform | python SELF/profiles_test.py BIN/conform BUILD/adapter_c',
    'report': 'conform | python SELF/report_test.py BIN/conform V BUILD/adapter_c',
    'repro': 'conform | python SELF/repro_test.py BIN/conform BUILD/adapter_c',
    'repro_c': 'conform | python SELF/repro_c_test.py BIN/conform BUILD/adapter_c',
    'metamorphic': 'conform | python SELF/metamorphic_test.py BIN/conform V BUILD/adapter_c BUILD/adapter_c_f32',
    'every_relation': 'conform | BIN/conform --vectors V --metamorphic -- BUILD/adapter_c',
    'snippets': 'conform | python SELF/snippets_test.py BIN/conform V',
    'site': 'conform | python SELF/site_test.py BIN/conform',
    'planted_few': 'conform | python SELF/planted.py BIN/conform V eighth',
    'planted': 'conform | python SELF/planted.py BIN/conform V eighth+further+issues+bits+nameless',
    'planted_parts': 'conform | python SELF/planted_parts.py BIN/conform V',
    'identify': 'conform | BUILD/identify_test BIN/conform BUILD/adapter_c',
    'discriminate': 'discriminate | BIN/discriminate V',
    'self_test': 'self_test conform'
    ' | python SELF/mistaken_oracle.py serve BIN/self_test BIN/conform V python -IS SELF/mistaken_oracle.py ask',
}
# files: the tests that reach them, the fast ones first
REACH = {
    'program session': 'few misbehaviour options report adapter',
    'expectations': 'expect profiles',
    'options conform': 'few repro_c statuses options report repro profiles misbehaviour metamorphic adapter',
    'judge answer': 'few computed_mistakes judge planted_few options misbehaviour profiles adapter self_test planted_parts planted',
    'computed_split computed_rows': 'computed_mistakes planted_few planted_parts self_test',
    'computed_loss computed_advantage computed_credit edited edits_advantage edits_ratio edits_mask edits_aggregation edits_penalty '
    'loss_formulas loss_parts sixteen_bits alternatives diagnose group nan_source known':
        'planted_few computed options report self_test planted_parts planted',
    'metamorphic shrink trial gradient relations relations_holds relations_cut relations_shift relations_rows request':
        'metamorphic every_relation snippets options',
    'full_batch identify': 'report metamorphic identify',
    'profile conventions recompute': 'profiles planted_few self_test planted',
    'repro_c': 'repro_c',
    'repro': 'repro_c repro',
    'report report_html': 'formats options report site profiles misbehaviour repro planted_few',
    'text': 'few repro_c formats options report misbehaviour site profiles repro metamorphic self_test',
}


def programs_of(test):
    return TESTS[test].split(' | ')[0].split()


def words_of(test, folder, build):
    """The command, with its folders."""
    where = {'BIN': folder, 'BUILD': build, 'SELF': SELF}
    for word in TESTS[test].split(' | ')[1].split():
        place, slash, name = word.partition('/')
        yield PYTHON if word == 'python' else str(TOP / 'tests/vectors') if word == 'V' else str(where.get(place, place)) + slash + name


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

    def __init__(self, build, folder):
        self.build, self.folder, self.limits = build / 'tests/conformance', folder, {}
        flags = subprocess.run(['pkg-config', '--cflags', 'libcjson', 'stb'], capture_output=True, text=True, check=True).stdout.split()
        self.flags = [*FLAGS, *flags]
        self.objects = {}
        for path in [*C_FILES, TOP / 'tests/support/case.c', TOP / 'tests/support/compare.c', TOP / 'tests/support/stb_ds.c']:
            self.objects[path.stem] = folder / f'{path.stem}.o'
            assert self.compile(path, self.objects[path.stem]), path
        self.objects['headers'] = build / 'tests/libheaders.a.p/support_headers.c.o'
        self.mains = {path.stem for path in C_FILES if re.search(r'^int main\(', path.read_text(), re.M)}
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
        return run(words_of(name, folder, self.build), self.limits.get(name, 600))

    def prepare(self, tests):
        for name in sorted({program for test in tests for program in programs_of(test)}):
            assert self.link(name, None, '', self.folder), name
        for test in tests:
            passed, seconds = self.test(test, self.folder)
            if not passed:
                sys.exit(f'{test} is red with the kit as it is')
            self.limits[test] = 10 + 10 * seconds
            print(f'{test}: {seconds:.1f} s', flush=True)

    def verdict(self, path, source, number, text, tests):
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            place = pathlib.Path(place)
            mutant = place / path.name
            mutant.write_text(''.join(source[: number - 1]) + text + ''.join(source[number:]), encoding='utf-8')
            if not self.compile(mutant, place / 'broken.o') or code_of(place / 'broken.o') == code_of(self.objects[path.stem]):
                return 'same'
            for name in sorted({program for test in tests for program in programs_of(test)}):
                if not self.link(name, place / 'broken.o', path.stem, place):
                    return 'same'
            for test in tests:
                if not self.test(test, place)[0]:
                    return test
        return 'unseen'


def code_of(path):
    """Sections of the object, without the name of the file."""
    sections = [word for name in ('.text', '.rodata', '.data', '.data.rel.ro.local', '.data.rel.local') for word in ('-j', name)]
    return subprocess.run(['objdump', '-s', '-r', *sections, path], capture_output=True).stdout.split(b'file format', 1)[-1]


def tree_of(text):
    """The syntax tree, without types of arguments and results, which nothing evaluates."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for name in ('returns', 'annotation'):
            if hasattr(node, name) and not isinstance(node, ast.AnnAssign):
                setattr(node, name, None)
    return ast.dump(tree)


class Package:
    """The Python files: a copy of what check.py reads."""

    def __init__(self, folder):
        self.folder, self.limit = folder, 600
        self.root = folder / 'tree'
        (self.root / 'packages').mkdir(parents=True)
        shutil.copytree(TOP / 'packages/python', self.root / 'packages/python', ignore=shutil.ignore_patterns('__pycache__'))
        for name in ('core.py', 'judging.json'):
            shutil.copy(TOP / 'packages' / name, self.root / 'packages')
        for name in ('tests', 'extra', 'VERSION', *(path.name for path in TOP.glob('*.h'))):
            (self.root / name).symlink_to(TOP / name)
        os.environ['GRPO_CONFORMANCE_CACHE'] = str(folder / 'cache')
        os.environ['PYTHONDONTWRITEBYTECODE'] = '1'

    def test(self):
        return run([PYTHON, self.root / 'packages/python/check.py', '-f'], self.limit)

    def prepare(self, tests):
        passed, seconds = self.test()
        passed or sys.exit('check.py is red with the package as it is')
        self.limit = 10 + 5 * seconds
        print(f'check.py: {seconds:.1f} s', flush=True)

    def verdict(self, path, source, number, text, tests):
        whole = ''.join(source[: number - 1]) + text + ''.join(source[number:])
        with contextlib.suppress(SyntaxError, ValueError):
            compile(whole, path.name, 'exec')  # refuses what ast.parse takes: a break outside a loop
            if tree_of(whole) != tree_of(''.join(source)):
                copy = self.root / 'packages/python/grpo_conformance' / path.name
                copy.write_text(whole, encoding='utf-8')
                passed = self.test()[0]
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
    return [ways[k] for k in chosen]


def tests_of(path, given):
    if given.language == 'python':
        return ['check.py']
    reached = next(tests for files, tests in REACH.items() if path.stem in files.split())
    return given.tests.split(',') if given.tests else reached.split()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('language', choices=('c', 'python'))
    parser.add_argument('--number', type=int, default=150, help='how many lines are broken, each in one way')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--file', action='append', help='only this one; may be given several times')
    parser.add_argument('--lines', help='FIRST-LAST,LINE,...')
    parser.add_argument('--tests', help='NAME,NAME,...: only these, in this order')
    parser.add_argument('--build', default='build', help='a build folder with -Dtests=true')
    given = parser.parse_args()
    of_c = given.language == 'c'
    place, pattern = (RUNNER, '*.c') if of_c else (PACKAGE, '*.py')
    paths = [place / name for name in given.file or []] or [*place.glob(pattern)]
    todo = draw(given, paths, lines_of_c if of_c else lines_of_python, ['c.rules', 'c_like.rules'] if of_c else ['python.rules'])
    count = {'seen': 0, 'unseen': 0, 'same': 0}
    with tempfile.TemporaryDirectory() as folder:
        bench = Runner(TOP / given.build, pathlib.Path(folder)) if of_c else Package(pathlib.Path(folder))
        bench.prepare(sorted({test for path, *_ in todo for test in tests_of(path, given)}))
        for path, source, number, texts in todo:
            for text in texts[:8]:
                verdict = bench.verdict(path, source, number, text, tests_of(path, given))
                if verdict != 'same':
                    break
            count['seen' if verdict not in count else verdict] += 1
            print(f'{path.name}:{number}: {verdict}', flush=True)
            if verdict == 'unseen':
                print(f'  - {source[number - 1].strip()}\n  + {" ".join(text.split())}', flush=True)
    mutants, same = count['seen'] + count['unseen'], count['same']
    print(f'{mutants} mutants of {len(todo)} lines, {count["seen"]} seen, {count["unseen"]} not ({same} could not be broken)')


if __name__ == '__main__':
    main()
