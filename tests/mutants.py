#!/usr/bin/env python3
"""Mutation testing: changes random lines of the headers, one at a time, and runs the tests that compare the headers with something
independent (the vectors, binary128, rules of statuses). The hashes are left out: they detect every change, correct or not. Prints the
mutants that no test detects; some of these are equivalent to the original (a shortcut, a bound that is never exceeded).

    tests/mutants.py                             200 lines of grpo.h, grpo_blocks.h, grpo_rows.h and gspo.h, some five minutes on two cores
    tests/mutants.py --number 3000 --seed 2      others, and more of them
    tests/mutants.py --header extra/grpo_credit.h --lines 400-500
    tests/mutants.py --header extra/grpo_logits.h --lines 312,471-493 --ways 9 --tests vectors_rows,logits_rows

A header whose own test takes long, with an eighth of the draws:
    meson setup build_few -Dtests=true -Dc_args=-DDRAWS_OVER=8
    tests/mutants.py --header extra/grpo_lint_objective.h --number 40 --build build_few --tests extra_lint_objective

Mutants are made by universalmutator (from the package index) with its rules for C: operators, numbers, conditions, deleted statements.
Needs gcc, meson, ninja and what the tests need. Mutants with the object code of the original (at -O0, and undetected ones at -O2) are not
counted.
"""
import argparse
import concurrent.futures
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

TOP = pathlib.Path(__file__).resolve().parent.parent
CORE = ['grpo.h', 'grpo_blocks.h', 'grpo_rows.h', 'gspo.h']
# fast ones first: most mutants are detected within a second
PROGRAMS = ['calls_refused', 'calls_arguments', 'extra_layout', 'errors', 'calls_faults', 'output_padding', 'vectors_rows', 'vectors',
            'extra_lint', 'exact_sums', 'special_batches', 'advantage_choices', 'advantages', 'extra_context', 'calls', 'scalar_accuracy',
            'properties']
EXTRA = ['calls_in_place', 'extra_selection', 'extra_control', 'extra_credit', 'extra_rewards', 'extra_weights', 'extra_critic',
         'extra_distill', 'extra_flow', 'hidden_loss', 'logits_loss']
LINT_OBJECTIVE = 'extra/grpo_lint_objective.h'      # its own test takes longest
READS_VECTORS = {'vectors', 'vectors_rows', 'extra_lint', 'calls'}
OWN_COPY = {'scalar_accuracy': ['-O1'], 'logits_rows': ['-O2', '-DDRAWS_OVER=6']}     # compile the functions under test themselves
ALONE = {'logits_rows'}                                          # and these need no others


def without_comments(text):
    """The text with comments replaced by spaces: the rules skip lines with a comment."""
    return re.sub(r'/\*.*?\*/', lambda m: re.sub(r'[^\n]', ' ', m[0]), text, flags=re.S)


def bodies(source):
    """The numbers of the lines inside functions and constant tables."""
    inside, found = False, set()
    for number, line in enumerate(source, 1):
        if line.startswith('}'):
            inside = False
        elif inside:
            found.add(number)
        elif line.rstrip().endswith('{') and not re.match(r'typedef|struct|union|enum|#|extern| ', line):
            inside = True
    return found


def mutants_of(header, lines):
    """The lines, and line number -> the ways to break it."""
    from universalmutator import mutator
    source = (TOP / header).read_text().splitlines(keepends=True)
    code = without_comments(''.join(source)).splitlines(keepends=True)
    with contextlib.redirect_stdout(io.StringIO()):
        found = mutator.mutants_regexp(code, ruleFiles=['universal.rules', 'c.rules', 'c_like.rules'], ignorePatterns=[],
                                       ignoreStringOnly=True)
    ways, of_functions = {}, bodies(source)
    for number, text, _, _ in found:
        left = text.rstrip('\n').rsplit('\n', 1)[-1].strip() in ('break;', 'continue;')       # rarely compiles
        if not left and number in of_functions and (not lines or any(first <= number <= last for first, last in lines)):
            ways.setdefault(number, {})[text] = 0          # each once, in order
    return source, {number: list(texts) for number, texts in ways.items()}


def compile_headers(tree, level, target):
    return subprocess.run(['gcc', '-std=c99', '-w', '-Werror=incompatible-pointer-types', level, '-DGRPO_DOUBLE', '-I', tree,
                           '-c', tree / 'tests/support/headers.c', '-o', target], capture_output=True).returncode == 0


class Bench:
    """The objects of the tests, to be linked with a mutated header."""

    def __init__(self, build, programs, folder):
        self.build, self.programs, self.folder = build, programs, folder
        for kind in ('reader', 'containers'):
            subprocess.run(['ar', 'rcs', folder / f'lib{kind}.a', *(build / f'tests/lib{kind}.a.p').glob('*.o')], check=True)
        self.original, self.original_fast = folder / 'original.o', folder / 'original_fast.o'
        assert compile_headers(TOP, '-O0', self.original) and compile_headers(TOP, '-O2', self.original_fast)
        self.limits = {}
        for name in programs:                      # all must pass; the seconds of each
            seen, seconds = self.run(name, self.original, folder, TOP, 600)
            if seen:
                sys.exit(f'{name} is red with the headers as they are')
            self.limits[name] = 10 + 10 * seconds

    def links(self, object_file, folder):
        """The functions that tests link by name: a missing function is not a mutant for tests to detect."""
        objects = (self.build / 'tests/vectors.p').glob('*.o')
        return subprocess.run(['gcc', '-o', folder / 'links', *objects, object_file, self.folder / 'libreader.a',
                               self.folder / 'libcontainers.a', '-lcjson', '-lm'], capture_output=True).returncode == 0

    def run(self, name, object_file, folder, tree, limit):
        program = folder / name
        objects = sorted((self.build / f'tests/{name}.p').glob('*.o'))
        if name in OWN_COPY and tree != TOP:
            objects = [folder / f'{name}.o']
            source = next((tree / 'tests').rglob(name + '.c'))
            subprocess.run(['gcc', '-std=c99', '-w', *OWN_COPY[name], '-DGRPO_DOUBLE', '-I', tree, '-c', source, '-o', objects[0]],
                           check=True)
        if name not in ALONE:
            objects += [object_file, self.folder / 'libreader.a', self.folder / 'libcontainers.a']
        subprocess.run(['gcc', '-o', program, *objects, '-lcjson', '-lm'], check=True)
        arguments = [TOP / 'tests/vectors'] if name in READS_VECTORS else []
        begin = os.times().elapsed
        process = subprocess.Popen(['stdbuf', '-oL', program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        timer = threading.Timer(limit, process.kill)
        timer.start()
        if any(line.startswith(b'FAIL') for line in process.stdout):        # the first failure is enough
            process.kill()
        red = process.wait()
        timer.cancel()
        return red != 0, os.times().elapsed - begin

    def verdict(self, header, source, number, texts):
        """(kind, text): 'seen', 'unseen', or 'same' where no way to break the line compiles to other code"""
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            place = pathlib.Path(place)
            tree = place / 'tree'
            for name in [*TOP.glob('*.h'), *(TOP / 'extra').glob('*.h'), *(TOP / 'tests').rglob('*.[ch]')]:
                (tree / name.relative_to(TOP)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(name, tree / name.relative_to(TOP))
            broken = place / 'headers.o'
            for text in texts:
                (tree / header).write_text(''.join(source[:number - 1]) + text + ''.join(source[number:]))
                if compile_headers(tree, '-O0', broken) and broken.read_bytes() != self.original.read_bytes() and self.links(broken, place):
                    break
            else:
                return 'same', ''
            if any(self.run(name, broken, place, tree, self.limits[name])[0] for name in self.programs):
                return 'seen', text
            fast = place / 'fast.o'
            if compile_headers(tree, '-O2', fast) and fast.read_bytes() == self.original_fast.read_bytes():
                return 'same', ''
            return 'unseen', text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--number', type=int, default=200, help='how many lines are broken (each in one way)')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--header', action='append', help='instead of the four of the objective; may be given several times')
    parser.add_argument('--lines', help='FIRST-LAST,LINE,..., of every header')
    parser.add_argument('--ways', type=int, default=1, help='how many ways of breaking each line are tried, one at a time')
    parser.add_argument('--tests', help='NAME,NAME,...: only these programs, in this order')
    parser.add_argument('--build', default='build', help='a build folder with -Dtests=true')
    given = parser.parse_args()
    headers = given.header or CORE
    programs = [*EXTRA, *PROGRAMS] if any(h.startswith('extra/') for h in headers) else PROGRAMS
    programs = [*programs, 'extra_lint_objective'] if LINT_OBJECTIVE in headers else programs
    programs = given.tests.split(',') if given.tests else programs
    lines = [(int(x.split('-')[0]), int(x.split('-')[-1])) for x in given.lines.split(',')] if given.lines else None

    build = TOP / given.build
    subprocess.run(['ninja', '-C', build, *(f'tests/{name}' for name in programs)], check=True, stdout=subprocess.DEVNULL)
    ways, sources = [], {}
    for header in headers:
        sources[header], found = mutants_of(header, lines)
        ways += [(header, number, texts) for number, texts in sorted(found.items())]
    chance = random.Random(given.seed)
    chosen = sorted(chance.sample(range(len(ways)), min(given.number, len(ways))))
    count = dict.fromkeys(['seen', 'unseen', 'same'], 0)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(build, programs, pathlib.Path(folder))
        with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
            tasks = {}
            for k in chosen:
                header, number, texts = ways[k]
                chance.shuffle(texts)
                for way in [texts[:8]] if given.ways == 1 else [[text] for text in texts[:given.ways]]:
                    tasks[pool.submit(bench.verdict, header, sources[header], number, way)] = header, number
            for task in concurrent.futures.as_completed(tasks):
                header, number = tasks[task]
                kind, text = task.result()
                count[kind] += 1
                if kind == 'unseen':
                    print(f'{header}:{number}: {sources[header][number - 1].strip()}\n    {" ".join(text.split())}', flush=True)
    counted = count['seen'] + count['unseen']
    print(f'{counted} mutants of {len(chosen)} lines, {count["seen"]} seen, {count["unseen"]} not ({count["same"]} could not be broken: '
          'each way to do so does not compile, or to the same code)')


if __name__ == '__main__':
    main()
