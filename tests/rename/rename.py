#!/usr/bin/env python3
"""rename.py TREE [--only STEP,...] [--log FILE]: the names of names.tsv, applied to a tree in place.  README.md beside this file says how.

Steps, in their order: presets words paths members splits python json schema pages files
A tree that has been renamed already is left as it is.
"""
import io
import json
import keyword
import os
import re
import subprocess
import sys
import tokenize

HERE = os.path.dirname(os.path.abspath(__file__))
AXES = ("reward", "advantage", "ratio", "surrogate", "penalty", "weight", "aggregation")


def load():
    rows = {}
    with open(os.path.join(HERE, "names.tsv"), encoding="utf-8") as f:
        next(f)
        for line in f:
            kind, old, new, why = line.rstrip("\n").split("\t")
            rows.setdefault(kind, []).append((old, new))
    return rows


NAMES = load()
FIELD = dict(NAMES["field"])                                     # axis.old -> axis.new
CHOICE = {}                                                      # axis.field (old) -> {old: new}
for path, new in NAMES["choice"]:
    axis, field, old = path.split(".")
    CHOICE.setdefault(axis + "." + field, {})[old] = new
REPORT, BATCH, TOTALS = dict(NAMES["report"]), dict(NAMES["batch"]), dict(NAMES["totals"])
EXPECT = dict(NAMES["expect"])
CALLS = dict(NAMES["call"])

# field names and keys that are plain words, or that mean something else somewhere: renamed only where the context says which
COMMON = {"unit", "against", "mix", "score", "dual", "strength", "shape", "margin", "shift", "second", "gain", "window", "outside", "history",
          "pairs", "correction", "reject", "rejected", "veto", "drift", "future", "given", "off_policy", "empty", "clip_low", "clip_high",
          "clip_dual", "weight", "weights"}
# choices that are no other word anywhere
UNIQUE_CHOICES = {"densest": "hdi_median", "mean_deviation": "mean_absolute_deviation", "failure_power": "focal", "p_not_p": "p_one_minus_p",
                  "margin_else_sign": "pairwise_else_pointwise", "token_mean_varied": "token_mean_nonzero_std", "contrast_mean": "discriminative_mean",
                  "contrast_lse": "discriminative_lse", "soft_pairs": "pairwise_soft", "match_js": "softmax_js"}
KINDS = CHOICE["surrogate.kind"]

log_lines = []


def log(*what):
    log_lines.append(" ".join(map(str, what)))


def words_map():
    found = {}
    for old, new in NAMES["type"] + NAMES["internal"]:
        found[old] = new
    for old, new in NAMES["function"]:
        found[old] = new
        found[old + "_f64"] = new + "_f64"
    for old, new in NAMES["type"]:
        found[old + "_f64"] = new + "_f64"
    for old, new in NAMES["call"]:
        found["grpo_" + old] = "grpo_" + new
        found["grpo_" + old + "_f64"] = "grpo_" + new + "_f64"
        for prefix in ("run_", "call_", "check_", "test_"):
            found[prefix + old] = prefix + new
    for old, new in NAMES["field"]:
        a, b = old.split(".")[1], new.split(".")[1]
        if a not in COMMON and a != b:
            found[a] = b
    for table in (REPORT, BATCH, TOTALS, EXPECT):
        for old, new in table.items():
            if old not in COMMON and old != "informative":
                found[old] = new
    found["dlog_z"] = "dlog_partition"
    return found


WORDS = words_map()
FILE_WORDS = {}
CONSTS = [(o, n) for o, n in NAMES["const"] if not n.endswith("*")]
PREFIXES = [(o, n[:-1]) for o, n in NAMES["const"] if n.endswith("*")]
WORD_RE = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z_][A-Za-z0-9_]*")
EXACT = dict(CONSTS)


def new_word(w):
    if w in WORDS:
        return WORDS[w]
    if w in EXACT:
        return EXACT[w]
    if w.startswith("GRPO_"):
        for old, new in PREFIXES:
            if w.startswith(old) and not w.startswith(new):
                return new + w[len(old):]
    return w


# ---- files

TEXT = (".h", ".c", ".py", ".md", ".txt", ".inc", ".cu", ".rs", ".go", ".mjs", ".sh", ".build", ".dict", ".gp", ".json", ".hpp", ".cc", ".cpp", ".in", ".patch")


class Tree:
    def __init__(self, root):
        self.root, self.text = root, {}
        listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True).stdout.split("\n")
        for name in listed:
            full = os.path.join(root, name)
            if name.endswith(TEXT) and os.path.isfile(full) and not os.path.islink(full):
                with open(full, encoding="utf-8", newline="") as f:
                    self.text[name] = f.read()
        self.first = dict(self.text)

    def each(self, *ends, skip=()):
        for name in sorted(self.text):
            if name.endswith(ends) and not any(s in name for s in skip):
                yield name

    def edit(self, name, f):
        self.text[name] = f(self.text[name])

    def save(self):
        n = 0
        for name, text in self.text.items():
            if text != self.first[name]:
                with open(os.path.join(self.root, name), "w", encoding="utf-8", newline="") as f:
                    f.write(text)
                n += 1
        self.first = dict(self.text)
        return n


def is_vectors(name):
    return name.startswith("tests/vectors/") and name.endswith(".json")


# ---- presets: the macros of the table of rows, and the words pasted in them

PRESET_MACROS = {"UNIT": "LEVEL", "UNIT_CLAMP": "LEVEL_CLAMP", "AGAINST": "BEHAVIOUR", "BAND": "CLIP_RANGE", "AGAINST_TEACHER": "KL_TO_TEACHER",
                 "LIKELIHOOD": "NLL", "PAIRED": "PREFERENCE", "DRIFT": "POLICY_IS", "CORRECT": "ROLLOUT_IS", "RING": "REC_OUTER", "REJECT": "ROLLOUT_RS",
                 "FUTURE": "FIPO", "FUTURE_SAFE": "FIPO_SAFE", "MIX": "INTERPOLATE", "SKIP_EMPTY": "DROP_EMPTY"}
# macro: (which argument, {old: new})
PRESET_ARGUMENTS = {"SURROGATE": (0, {o.upper(): n.upper() for o, n in KINDS.items()}),
                    "BASELINE": (0, {"GIVEN": "EXTERNAL", "DENSEST": "HDI_MEDIAN"}), "SCALE": (0, {"MEAN_DEVIATION": "MEAN_ABSOLUTE_DEVIATION"}),
                    "AGAINST": (0, {"NOTHING": "NONE"}), "MIX": (0, {"AVERAGE": "ARITHMETIC", "WEIGHTED": "GEOMETRIC"}),
                    "LIKELIHOOD": (1, {"P_NOT_P": "P_ONE_MINUS_P"}), "DIVIDE": (0, {"TOKEN_MEAN_VARIED": "TOKEN_MEAN_NONZERO_STD"})}
PASTED = {"GRPO_CORRECTION_##kind": "GRPO_ROLLOUT_IS_##kind", "GRPO_CORRECTION_##unit": "GRPO_ROLLOUT_IS_LEVEL_##unit", "GRPO_REJECT_##kind": "GRPO_ROLLOUT_RS_##kind",
          "GRPO_REJECT_##unit": "GRPO_ROLLOUT_RS_LEVEL_##unit", "GRPO_##by": "GRPO_AGGREGATION_##by", "GRPO_MIX_##kind": "GRPO_INTERPOLATE_##kind"}


def preset_region(text):
    """[begin, end) of the macros of rows and the rows"""
    begin = re.search(r"^#define +(?:SET|OVERLONG|ROW)\(", text, re.M)
    if not begin:
        return None
    ends = [m.end() for m in re.finditer(r"^#undef +(?!GRPO)[A-Z_]+$", text, re.M) if m.start() > begin.start()]
    return (begin.start(), ends[-1]) if ends else None


def rename_presets(region):
    def argument(m):
        name, args = m.group(1), m.group(2)
        place, table = PRESET_ARGUMENTS[name]
        parts = args.split(",")
        if place < len(parts):
            parts[place] = re.sub(r"\w+", lambda w: table.get(w.group(0), w.group(0)), parts[place])
        return f"{name}({','.join(parts)})"
    region = re.sub(r"\b(" + "|".join(PRESET_ARGUMENTS) + r")\(([^()]*)\)", argument, region)
    for old, new in PASTED.items():
        region = region.replace(old, new)
    # the macros' own names, where they are defined, called or undefined
    names = "|".join(sorted(PRESET_MACROS, key=len, reverse=True))
    region = re.sub(r"(?<![\w#.])(" + names + r")(?=\()|(?<=#undef )(" + names + r")\b", lambda m: PRESET_MACROS[m.group(1) or m.group(2)], region)
    return re.sub(r"(?<![\w#.])(AGAINST_TEACHER|SKIP_EMPTY)\b", lambda m: PRESET_MACROS[m.group(1)], region)

def step_presets(tree):
    for name in tree.each(".h"):
        where = preset_region(tree.text[name])
        if where:
            t = tree.text[name]
            tree.text[name] = t[:where[0]] + rename_presets(t[where[0]:where[1]]) + t[where[1]:]


# ---- paths: axis.field, axis.field=choice, "axis.field", "choice"

PATH_RE = re.compile(r"(?<![A-Za-z0-9_])(" + "|".join(AXES) + r")\.([a-z][a-z0-9_]*)\b")


def choice_of(path, word):
    return CHOICE.get(path, {}).get(word, word)


def rename_paths(text):
    # the choices first, while the fields have their old names
    text = re.sub(r'(?<![\w])((?:' + "|".join(AXES) + r')\.[a-z0-9_]+)=([a-z][a-z0-9_]*)', lambda m: m.group(1) + "=" + choice_of(m.group(1), m.group(2)), text)
    text = re.sub(r'("?)((?:' + "|".join(AXES) + r')\.[a-z0-9_]+)(\1[,:] ?)((?:"[a-z0-9_| ]*"\s*)+)', choices_after, text)
    text = re.sub(r'(\["(' + "|".join(AXES) + r')"\]\[")([a-z0-9_]+)("\])', lambda m: m.group(1) + FIELD.get(m.group(2) + "." + m.group(3), "." + m.group(3)).split(".")[1] + m.group(4), text)
    text = KEY_RE.sub(lambda m: m.group(1) + "." + {"batch": BATCH, "report": REPORT, "totals": TOTALS}[m.group(1)].get(m.group(2), m.group(2)), text)
    return PATH_RE.sub(lambda m: FIELD.get(m.group(0), m.group(0)), text)


KEY_RE = re.compile(r"(?<![A-Za-z0-9_])(batch|report|totals)\.([a-z][a-z0-9_]*)\b")


def choices_after(m):
    quote, path, between, strings = m.groups()
    if path not in CHOICE:
        return m.group(0)
    return quote + path + between + re.sub(r"[a-z0-9_]+", lambda w: choice_of(path, w.group(0)), strings)


def rename_c_keys(text, name):
    """keys of the vectors in C strings"""
    if re.search(r"call_run|calls|extra", name):
        return text
    text = re.sub(r'"informative"', '"' + EXPECT["informative"] + '"', text)
    return re.sub(r'(\{ )"(' + "|".join(o for o in BATCH) + r')"(, [01], NULL \})', lambda m: m.group(1) + '"' + BATCH[m.group(2)] + '"' + m.group(3), text)


def step_paths(tree):
    for name in tree.each(*TEXT):
        if not is_vectors(name):
            tree.edit(name, rename_paths)
        if name.endswith((".c", ".h")):
            tree.edit(name, lambda text: rename_c_keys(text, name))


# ---- words that mean one thing wherever they stand

def rename_words(text):
    for old, new in BATCH.items():                            # numbers of the arrays, made by pasting
        text = text.replace("GRPO_AT_" + old + "_", "GRPO_AT_" + new + "_")
    return WORD_RE.sub(lambda m: new_word(m.group(0)), text)


def rename_calls(name, text):
    """the bare names of functions beside the objective: any word in Python, in quotes or backquotes elsewhere"""
    def new(m):
        return CALLS.get(m.group(0), m.group(0))
    if name.endswith(".py"):
        for old in CALLS:
            if "_" not in old:                                # allocate, sharpening, unlikeliness, divergence
                text = re.sub(r"(?<=[\"'`])" + old + r"(?=[\"'`])" + (r"|(?<=def )" + old + r"(?=\()" if is_calls(name) else ""), CALLS[old], text)
                if is_calls(name):                            # in code, not in sentences
                    text = "\n".join(line if "#" in line or '"""' in line else re.sub(r"(?<![\w.\"'` ])" + old + r"(?=[,()])|(?<=[,(] )" + old + r"(?=[,()])", CALLS[old], line)
                                     for line in text.split("\n"))
        return re.sub(r"(?<![\w.])[a-z]+_[a-z_0-9]+\b", new, text)
    return re.sub(r"(?<=[\"`])[a-z]+(?:_[a-z_0-9]+)?(?=[\"`])", new, text)


def step_words(tree):
    for name in tree.each(*TEXT):
        if not is_vectors(name) or name.endswith("schema.json"):
            tree.edit(name, lambda text: rename_calls(name, rename_words(text)))


# ---- members of structs: the declaration is renamed, then the compiler says who used the old name

MEMBERS = {"grpo_batch": {o: n for o, n in BATCH.items() if o in COMMON}, "grpo_totals": {o: n for o, n in TOTALS.items() if o in COMMON},
           "grpo_report": {o: n for o, n in REPORT.items() if o in COMMON}}
for path, new in FIELD.items():
    axis, old = path.split(".")
    struct = "grpo_ratio_axis" if axis == "ratio" else "grpo_" + axis
    if old in COMMON:
        MEMBERS.setdefault(struct, {})[old] = new.split(".")[1]


def struct_span(text, struct):
    end = re.search(r"^\} " + struct + r";", text, re.M)
    if not end:
        return None
    begin = text.rfind("typedef struct", 0, end.start())
    return begin, end.end()


def rename_declarations(text):
    for struct, table in MEMBERS.items():
        span = struct_span(text, struct)
        if not span:
            continue
        body = text[span[0]:span[1]]

        def declaration(line):
            code, comment = (line.split("/*", 1) + [""])[:2] if "/*" in line else (line, "")
            if ";" in code or "," in code:
                code = re.sub(r"\b(" + "|".join(table) + r")\b(?=\s*[;,])", lambda m: table[m.group(1)], code)
            return code + ("/*" + comment if "/*" in line else "")
        body = "\n".join(declaration(line) for line in body.split("\n"))
        text = text[:span[0]] + body + text[span[1]:]
    return text


ERROR = re.compile(r"^(.+?):(\d+):(\d+): (?:error|note): (?:no member named '(\w+)' in '(?:const )?(?:struct )?(\w*)'|field designator '(\w+)' does not refer to any field in type '(?:const )?(?:struct )?(\w+)')?(.*)")


def units(tree):
    """(file, extra flags) to be parsed: all C files, and the headers with every implementation"""
    flags = set()
    for name in tree.each(".h"):
        flags |= set(re.findall(r"\b(G[RS]PO_[A-Z_]*IMPLEMENTATION)\b", tree.text[name]))
    flags = ["-D" + f for f in sorted(flags)]
    headers = [n for n in ("grpo.h", "gspo.h") if n in tree.text] + [n for n in tree.each(".h") if n.startswith("extra/")]
    for header in headers:
        for more in ([], ["-DGRPO_DOUBLE"]):
            yield header, ["-x", "c", *flags, *more]
    for name in tree.each(".c"):
        yield name, ["-DGRPO_DOUBLE"] if "accuracy" in name else []


def parse(root, name, flags):
    dirs = [root, os.path.join(root, "tests"), os.path.join(root, "extra"), os.path.join(root, "tests/conformance"), os.path.join(root, "fuzz"), os.path.dirname(os.path.join(root, name))]
    command = ["clang", "-std=gnu99", "-fsyntax-only", "-w", "-ferror-limit=0", "-fno-caret-diagnostics", "-fmacro-backtrace-limit=0", *flags, *["-I" + d for d in dirs], "-I/usr/include/cjson", "-I/usr/include/stb", os.path.join(root, name)]
    return subprocess.run(command, capture_output=True, text=True).stderr


def apply_errors(tree, root, stderr, done):
    """the places that the compiler names, last first"""
    places, pending = {}, None
    for line in stderr.split("\n"):
        m = ERROR.match(line)
        if not m:
            continue
        file, row, col = os.path.relpath(os.path.realpath(m.group(1)), os.path.realpath(root)), int(m.group(2)), int(m.group(3))
        if m.group(4) or m.group(6):
            old, struct = m.group(4) or m.group(6), (m.group(5) or m.group(7) or "").removesuffix("_f64")
            if not struct:                                    # offsetof does not say; a report is what is listed by macros
                struct = next((s for s in ("grpo_report", *MEMBERS) if old in MEMBERS[s]), "")
                around = "\n".join(tree.text[file].split("\n")[max(0, row - 3):row + 2]) if file in tree.text else ""
                if old in ("clip_low", "clip_high") and "MEMBER(" in around and "clip_dual" not in around:
                    struct = "grpo_batch"
            pending = (old, struct)
        elif "expanded from macro" not in line:
            pending = None
            continue
        if pending and pending[0] in MEMBERS.get(pending[1], {}) and file in tree.text:
            lines = tree.text[file].split("\n")
            if row <= len(lines) and re.match(r"\b" + pending[0] + r"\b", lines[row - 1][col - 1:]):
                places[(file, row, col)] = pending
                pending = None
            else:                                             # a designator is pointed at by its dot
                rest = lines[row - 1][col:] if row <= len(lines) else ""
                inside = re.match(r"[A-Z_]*\((?:\w+, )*" + pending[0] + r"\b", lines[row - 1][col - 1:]) if row <= len(lines) else None
                if inside:                                    # X(name) of a list
                    places[(file, row, col + len(inside.group(0)) - len(pending[0]))] = pending
                    pending = None
                elif re.match(pending[0] + r"\b", rest) and lines[row - 1][col - 1] == ".":
                    places[(file, row, col + 1)] = pending
                    pending = None
    changed = False
    for (file, row, col), (old, struct) in sorted(places.items(), reverse=True):
        lines = tree.text[file].split("\n")
        line = lines[row - 1]
        lines[row - 1] = line[:col - 1] + MEMBERS[struct][old] + line[col - 1 + len(old):]
        tree.text[file] = "\n".join(lines)
        changed = True
    return changed


def step_members(tree):
    for name in tree.each(".h"):
        tree.edit(name, rename_declarations)
    tree.save()
    for name, flags in list(units(tree)):
        for _ in range(8):
            if not apply_errors(tree, tree.root, parse(tree.root, name, flags), None):
                break
            tree.save()


# ---- Python: keys and choices by where they stand

ALIASES = {"s": "surrogate", "a": "advantage", "penalty": "penalty", "p": "penalty"}
TABLES = {"AGAINST": "ratio.against", "MIX": "ratio.mix", "KIND": "surrogate.kind", "SIDES": "surrogate.kind", "KINDS": "surrogate.kind", "NEW_KINDS": "surrogate.kind",
          "BOUNDS": "surrogate.bounds", "FORM": "penalty.likelihood_form", "WEIGHT": "penalty.likelihood_weight", "BASELINE": "advantage.baseline", "GAIN": "advantage.gain",
          "SCALE": "advantage.scale", "RATIO": "penalty.kl_ratio", "GRADIENT": "penalty.kl_gradient", "SCORES": "surrogate.kind", "OUTSIDE": "advantage.outside",
          "GROUP_KINDS": "surrogate.kind", "SCORE": "penalty.pair_score"}
OF_SURROGATE = {"kind", "only", "with_kind", "bare", "on_levels"}
OF_ADVANTAGE = {"scores", "tokens", "each", "at_ends"}
LOOPS = {"gradient": ("penalty.kl_gradient", "ratio.gradient"), "u": ("penalty.kl_ratio",), "baseline": ("advantage.baseline",), "against": ("ratio.against",), "kind": ("surrogate.kind",),
         "empty": ("aggregation.empty",), "pair_score": ("penalty.pair_score",), "scale": ("advantage.scale",)}
SKIP = {"NL", "COMMENT"}


def is_calls(name):
    base = os.path.basename(name)
    return "call" in base or "/extra/" in name or "/functions/" in name or base in ("key_tokens.py", "key_token_advantage.py")


class Reader:
    """One Python file as tokens with the brackets they stand in"""

    def __init__(self, text):
        self.tokens = [t for t in tokenize.generate_tokens(io.StringIO(text).readline)]
        self.sig = [k for k, t in enumerate(self.tokens) if tokenize.tok_name[t.type] not in ("NL", "COMMENT", "INDENT", "DEDENT")]
        self.place = {k: n for n, k in enumerate(self.sig)}
        self.inside, stack = {}, []
        for k in self.sig:
            t = self.tokens[k]
            if t.type == tokenize.OP and t.string in ")]}" and stack:
                stack.pop()
            self.inside[k] = tuple(stack)
            if t.type == tokenize.OP and t.string in "([{":
                stack.append(k)

    def near(self, k, step):
        n = self.place[k] + step
        return self.tokens[self.sig[n]] if 0 <= n < len(self.sig) else None

    def index(self, k, step):
        n = self.place[k] + step
        return self.sig[n] if 0 <= n < len(self.sig) else None

    def string(self, k):
        t = self.tokens[k] if k is not None else None
        m = t is not None and t.type == tokenize.STRING and re.fullmatch(r"[\"']([a-z][a-z0-9_]*)[\"']", t.string)
        return m.group(1) if m else None

    def owner(self, bracket):
        """what a bracket belongs to: ('key', word), ('name', word), ('call', word), ('sub', word) or None"""
        before = self.near(bracket, -1)
        if before is None:
            return None
        opening = self.tokens[bracket].string
        if before.string == ":" and self.string(self.index(bracket, -2)):
            return "key", self.string(self.index(bracket, -2))
        if before.string in ("=", "|=") and self.near(bracket, -2).type == tokenize.NAME:
            return "name", self.near(bracket, -2).string
        if opening == "(" and before.type == tokenize.NAME and not keyword.iskeyword(before.string):
            return "call", before.string
        if opening == "[" and (before.type == tokenize.NAME and not keyword.iskeyword(before.string)):
            return "sub", before.string
        if opening == "[" and before.string in ")]":
            return "sub", "]"
        return None

    def axis(self, k):
        """the axis that the brackets around a token, or the subscript before it, name"""
        for bracket in reversed(self.inside[k]):
            owner = self.owner(bracket)
            if owner is None:
                continue
            how, word = owner
            if how == "sub":
                if word == "]":
                    inner = self.string(self.index(bracket, -2))
                    if inner in AXES:
                        return inner
                elif word in AXES or word in ALIASES:
                    return ALIASES.get(word, word)
                continue
            if word in AXES:
                return word
            if how == "call" and word in OF_SURROGATE:
                return "surrogate"
            if how == "call" and word in OF_ADVANTAGE:
                return "advantage"
            if how == "call" and word in ("choose", "option", "differs"):
                first = self.string(self.index(bracket, 1))
                if first in AXES:
                    return first
        return None

    def role(self, k):
        before, after = self.near(k, -1), self.near(k, 1)
        t = self.tokens[k]
        if t.type == tokenize.NAME:
            inner = self.inside[k]
            if not (after and after.string == "=" and inner and self.tokens[inner[-1]].string == "("):
                return None
            defined = self.near(inner[-1], -2)
            return None if defined is not None and defined.string == "def" else "kw"
        inner = self.inside[k]
        if after and after.string == ":" and inner and self.tokens[inner[-1]].string == "{":
            return "key"
        if before and before.string == "[" and after and after.string == "]" and inner and (self.owner(inner[-1]) or ("", ""))[0] == "sub":
            return "sub"
        if before and before.string == "(" and after and after.string in "),":
            back = self.near(k, -2)
            if back is not None and back.string == "get":
                return "sub"
        return "value"

    def field_of(self, k):
        """whose choice a value is: axis.field, field without an axis, or None"""
        before = self.near(k, -1)
        inner = self.inside[k]
        if before and before.string == ":" and inner and self.tokens[inner[-1]].string == "{":
            word = self.string(self.index(k, -2))
            return self.with_axis(word, k) if word else None
        if before and before.string == "=" and inner and self.tokens[inner[-1]].string == "(":
            back = self.index(k, -2)
            if back is not None and self.tokens[back].type == tokenize.NAME:
                return self.with_axis(self.tokens[back].string, k)
        place = k
        if inner and self.tokens[inner[-1]].string in "([{" and self.near(inner[-1], -1) is not None and self.near(inner[-1], -1).string == "in":
            place = inner[-1]
        before = self.near(place, -1)
        if before and before.string in ("==", "!=", "in"):
            back = self.index(place, -2)
            if back is not None and self.tokens[back].string == "not":
                back = self.index(place, -3)
            if back is not None and self.tokens[back].string == "]":
                word = self.string(self.sig[self.place[back] - 1])
                if word:
                    return self.with_axis(word, self.sig[self.place[back] - 1])
            if back is not None and self.tokens[back].type == tokenize.NAME:
                loop = self.tokens[back].string
                if loop in LOOPS:
                    return LOOPS[loop]
        for bracket in reversed(inner):
            if self.owner(bracket) in (("call", "only"), ("call", "but"), ("call", "one_of")):
                colon, key = self.near(bracket, -2), self.string(self.index(bracket, -3))
                if colon is not None and colon.string == ":" and key:
                    return self.with_axis(key, bracket)
            if self.tokens[bracket].string == "(":
                axis, field = self.string(self.index(bracket, 1)), self.string(self.index(bracket, 3))
                if axis in AXES and field:
                    return None if k in (self.index(bracket, 1), self.index(bracket, 3)) else (axis + "." + field,)
                first = self.near(bracket, -1)
                if first is not None and first.string == "in":
                    loop = self.near(bracket, -2)
                    if loop is not None and loop.string in LOOPS:
                        return LOOPS[loop.string]
            owner = self.owner(bracket)
            if owner and owner[0] == "key":
                return self.with_axis(owner[1], bracket)
            if owner and owner[0] == "name" and owner[1] in TABLES:
                return (TABLES[owner[1]],)
        return None

    def with_axis(self, word, k):
        axis = self.axis(k)
        paths = tuple(a + "." + word for a in ([axis] if axis else AXES) if a + "." + word in CHOICE or a + "." + word in FIELD)
        return paths or None


def choice_among(paths, word):
    for path in paths or ():
        if word in CHOICE.get(path, {}):
            return CHOICE[path][word]
    return None


# choices that are no other word in the oracle, where nothing says whose they are
UNRESOLVED = {"nothing": "none", "average": "arithmetic", "weighted": "geometric", "lost": "displacement", "free": "reference_free", "given": "external"}


def new_python_word(r, k, word, role, name):
    """the new word, or None"""
    line = r.tokens[k].line
    if word in UNIQUE_CHOICES and role != "kw":
        return UNIQUE_CHOICES[word]
    if word == "informative" and role != "kw":
        return EXPECT[word]
    if word == "history" and role == "key" and r.axis(k) is None and r.near(k, 2).type == tokenize.NAME and not r.near(k, 2).string.isupper():
        return None
    if role in ("key", "sub", "kw"):
        axis = r.axis(k)
        table = next((o for o in (r.owner(b) for b in reversed(r.inside[k])) if o and o[0] == "name"), None) if role == "key" else None
        if role == "key" and axis is None and table and table[1] in TABLES and word in CHOICE.get(TABLES[table[1]], {}):
            if not (word in ("score", "pairs") and r.near(k, 2).type == tokenize.STRING):
                return CHOICE[TABLES[table[1]]][word]
        base = r.near(k, -2).string if role == "sub" and r.near(k, -2) is not None else ""
        if base.isupper():                                    # a table of this file: its keys are choices, most often kinds
            if base in TABLES and word in CHOICE.get(TABLES[base], {}):
                return CHOICE[TABLES[base]][word]
            return KINDS.get(word)
        if word in ("outside", "log_z", "probability_squares"):
            return BATCH[word]
        if word in ("clip_low", "clip_high", "clip_dual"):
            if word in BATCH and role == "sub" and r.near(k, -2).string == "batch":
                return BATCH[word]
            return REPORT[word] if re.search(r"report|found|plain", line) else (BATCH.get(word) if "batch" in line else None)
        if word == "weight" and role == "key" and r.near(k, 2) is not None and r.near(k, 2).string == "[":
            return BATCH[word]
        if word == "weight" and role == "sub" and r.near(k, -2).string == "batch":
            return BATCH[word]
        after = r.near(k, 2)
        if role == "key" and axis is None and table and table[1].isupper() and after is not None and after.type == tokenize.NAME and not after.string.isupper() and table[1] not in TABLES | {"FIPO": 0}:
            return UNRESOLVED.get(word) or KINDS.get(word) if word not in ("score", "pairs", "target") else None
        if word in COMMON:
            fields = [a + "." + word for a in ([axis] if axis else AXES) if a + "." + word in FIELD]
            if word == "pairs" and role == "key" and axis is None and r.near(k, 2).type != tokenize.STRING:
                return KINDS["pairs"]
            if word == "score" and role == "key" and axis is None and r.near(k, 2).type != tokenize.STRING:
                return KINDS["score"]
            if len(fields) == 1:
                return FIELD[fields[0]].split(".")[1]
            if word == "shift":
                return "baseline_shift"                       # those of the surrogate stand under its name
            if len(fields) > 1:
                log(name, r.tokens[k].start[0], "two axes have", word, line.strip())
            return None
        if role == "key" and axis is None and word in KINDS and word not in ("target",):
            return KINDS[word]
        if role == "key" and axis is None and word in UNRESOLVED:
            return UNRESOLVED[word]
        return None
    inner = r.inside[k]
    if inner and r.owner(inner[-1]) in (("call", "tempered"), ("call", "number")) and word in COMMON:
        fields = [a + "." + word for a in ("surrogate", "advantage") if a + "." + word in FIELD]
        if len(fields) == 1:
            return FIELD[fields[0]].split(".")[1]
    # a field named as an argument after its axis
    if inner and r.tokens[inner[-1]].string in "([":
        axis = r.string(r.index(inner[-1], 1))
        if axis in AXES and k == r.index(inner[-1], 3) and axis + "." + word in FIELD:
            return FIELD[axis + "." + word].split(".")[1]
    if word in KINDS and inner and r.owner(inner[-1]) == ("call", "only"):
        return KINDS[word]
    paths = r.field_of(k)
    if paths:
        found = choice_among(paths, word)
        if found:
            return found
        if all(p in CHOICE or p in FIELD for p in paths):
            return None
    if word in ("outside",) and re.search(r"in batch|arrays|more=|ORDER|LATER|\"log_", line):
        return BATCH[word]
    if word in KINDS and not re.search(r"swap|around|request|reported|axis, \"", line):
        return KINDS[word]
    if word in BATCH and any(o == ("name", "reads") for o in map(r.owner, inner)):
        return BATCH[word]
    if word in ("clip_low", "clip_high", "clip_dual"):
        if re.search(r"clip_fraction|clip_dual|report|old_k", line) or "/defects/" in name or "report" in os.path.basename(name):
            return REPORT[word]
        if word in BATCH and (re.search(r"row\(|batch|more=|LATER|selected", line) or "scenarios" in name) and "surrogate.py" not in name:
            return BATCH[word]
        log(name, r.tokens[k].start[0], role, word, "|", line.strip()[:150])
        return None
    if word == "weight":
        if re.search(r"row\(.weight.\)|arrays \|= |\"(selected|shaping_mask)\", \"weight\"", line):
            return BATCH[word]
        return None
    before2 = r.near(k, -1)
    if before2 is not None and before2.string == "," and "surrogate." + word in FIELD and inner:
        first = r.near(inner[-1], 1).string.strip("\"")
        if first in ALL_KINDS or first in KINDS.values() or "-" in first:
            return FIELD["surrogate." + word].split(".")[1]
    if word in UNRESOLVED and "axis" not in line:
        return UNRESOLVED[word]
    if word in COMMON | {"own", "unit", "margin", "skip", "count", "batch"} | {"kl_gradient"}:
        log(name, r.tokens[k].start[0], role, word, "|", line.strip()[:150])
    return None


def rename_python(text, name):
    try:
        r = Reader(text)
    except (tokenize.TokenError, IndentationError) as why:
        log(name, "is not tokenized:", why)
        return text
    edits = []
    for k in r.sig:
        t = r.tokens[k]
        if t.type == tokenize.STRING:
            word = r.string(k)
            if word is None and re.fullmatch(r"\"[a-z0-9_]+(?: [a-z0-9_]+)+\"", t.string):
                paths = r.field_of(k)                        # choices in a row, as the adapters list what they know
                if paths and len(paths) == 1 and paths[0] in CHOICE:
                    edits.append((t.start, t.end, re.sub(r"[a-z0-9_]+", lambda w: choice_of(paths[0], w.group(0)), t.string)))
        elif t.type == tokenize.NAME:
            word = t.string if r.role(k) == "kw" else None
        else:
            word = None
        if not word:
            continue
        new = new_python_word(r, k, word, r.role(k), name)
        if new and new != word:
            edits.append((t.start, t.end, t.string.replace(word, new)))
    lines = text.split("\n")
    for (row, col), (_, end), new in sorted(edits, reverse=True):
        lines[row - 1] = lines[row - 1][:col] + new + lines[row - 1][end:]
    return "\n".join(lines)


# (what, new, only in files that have this): what no rule sees
PYTHON_PLACES = (
    ('for name in ("token", "unit"):', 'for name in ("token", "level"):', "axis.RATIO, name"),
    ('{"count": "skip", "skip": "count"}', '{"keep": "drop", "drop": "keep"}', ""),
    ('"empty": "count"', '"empty_sequences": "keep"', ""),
    ('== ("seq_mean_token_mean", "count")', '== ("seq_mean_token_mean", "keep")', ""),
    ('"k_" + side', '"vespo_k_" + side', ""), ('"lambda_" + side', '"vespo_lambda_" + side', ""),
    ('STEPS, {"step_discount": "steps"}, stepped', 'STEPS, {"step_discount": "steps", "gamma": 0, "step_gamma": 0.5}, stepped', ""),
    ('changed(STEPS, advantage={"step_discount": "steps"}), {"step_gamma": 1}', 'changed(STEPS, advantage={"step_discount": "steps", "gamma": 0, "step_gamma": 0.5}), {"step_gamma": 1}', ""),
    ('changed(OWN, advantage={"credit": "step"})', 'changed(OWN, advantage={"credit": "step", "gamma": 0.5})', '"step_gamma": 0.5'),
    ('HISTORY, {"credit": "step"}, trails', 'HISTORY, {"credit": "step", "gamma": 0.5}, trails', ""),
    ('advantage={"scale": scale, "eps": 0.25}', 'advantage={"scale": scale, "eps": 0.25, "scale_divisor": 0.25}', "SECONDS"),
    ('"step_value": "return"}}, turns)', '"step_value": "return", "step_gamma": 0.75}}, turns)', ""),
    ('changed(STATE, advantage={"eps": 0.25})', 'changed(STATE, advantage={"eps": 0.25, "scale_divisor": 0.25})', ""),
)


def python_places(text):
    for old, new, there in PYTHON_PLACES:
        if there in text and new not in text:
            text = text.replace(old, new)
    return text


def step_python(tree):
    for name in tree.each(".py"):
        tree.edit(name, python_places)
    for name in tree.each(".py"):
        if is_calls(name) or not name.startswith(("tests/oracle/", "tests/conformance/adapters", "tests/vectors/examples")):
            continue
        tree.edit(name, lambda text: rename_python(text, name))


# ---- numbers that meant several things: split while the names are old; by the choice that stands before them in the statement, else by the
# ---- words of the statement, else by the function around it

SOFTMAX_KINDS = {"contrast", "soft_pairs", "match", "match_js", "target"}
ALL_KINDS = set("score ratio ppo_clip dual_clip cispo sapo vespo log_ratio squared gppo aspo topr band sapo_detached variance labels balance pairs contrast "
                "contrast_mean contrast_lse soft_pairs match match_js logistic dispo bgpo shaped quadratic unbounded_positive standardised target hinge regression none".split())
SCALES = set("none group_std batch_std batch_centred_std token_whiten group_mean leave_one_out_std residual_rms kalman_std constant beta mean_deviation".split())
GAINS = set("valid_groups nonzero_rewards difficulty length_power exponential failure_power".split())


def split_name(word, before, statement, function, body):
    """the new name of a number that is to be split, or None; before: quoted words of the statement before it, nearest first"""
    if function == "plain" or statement.startswith("FIELDS ="):
        return None
    kind = next((w for w in before if w in ALL_KINDS), None)
    low = statement.lower()
    if word == "strength":
        return "reward_beta" if kind == "balance" or (kind is None and function == "balance") else None
    if word == "eps_high":
        return "quadratic_eps" if kind == "quadratic" or "quadratic" in low or function == "quadratic" else None
    if word == "shift":
        return "hinge_margin" if kind == "hinge" or "hinge" in low or function in ("hinge", "hinge_by_hand") else None
    if word == "tau_pos":
        named = kind in SOFTMAX_KINDS or (kind is None and (function in SOFTMAX_KINDS | {"matched"} or re.match(r"PAIR = ", statement) or "with_kind(kind," in statement))
        return "advantage_temperature" if named else None
    if word == "eps":
        scale = next((w for w in before if w in SCALES - {"none", "beta"}), None)
        if scale is None and ('"scale": "constant"' in statement or 'scale="constant"' in statement):
            scale = "constant"
        return "scale_divisor" if scale == "constant" or (scale is None and function == "constant") else None
    if word in ("gain_low", "gain_high"):
        gain = next((w for w in before if w in GAINS), None) or ("failure_power" if "failure_power" in statement else "difficulty" if "difficulty" in statement else None)
        if gain is None and "gain_power" in statement:
            gain = "failure_power"
        if gain is None:
            gain = "failure_power" if "failure" in (function or "") or "POWER" in statement or ("failure_power" in body and "difficulty" not in body) else None
        return ("focal_reward_" + word[5:]) if gain == "failure_power" else None
    if word == "entropy_cap":
        return "entropy_max" if '"response"' in statement or "RESPONSE" in statement or function == "of_response" else None
    if word == "gamma":
        steps = "step_own" in before or "episode_step" in before or "step_value" in statement or "step_discount" in statement
        inner = function in ("discounted_return",) or "steps.to_go" in statement
        return "step_gamma" if steps or inner else None
    return None


SPLIT = {"strength", "eps_high", "shift", "tau_pos", "eps", "gain_low", "gain_high", "entropy_cap", "gamma"}


def split_python(text, name):
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, IndentationError):
        return text
    lines, edits = text.split("\n"), []
    functions, depth, start, statement = [], 0, 0, []

    def body_of(row, indent):
        out = []
        for line in lines[row:]:
            if line.strip() and len(line) - len(line.lstrip()) <= indent:
                break
            out.append(line)
        return "\n".join(out)

    def handle(statement):
        if not statement:
            return
        row, col = statement[0].start
        while functions and functions[-1][1] >= col:
            functions.pop()
        words = [t.string for t in statement]
        if words[0] == "def" and len(words) > 1:
            functions.append((words[1], col, body_of(row, col)))
        function, body = (functions[-1][0], functions[-1][2]) if functions else (None, "")
        if words[0] == "@":                                   # a decorator is of the function below
            below = re.search(r"(?m)^ *def (\w+)", "\n".join(lines[statement[-1].end[0]:]))
            function, body = (below.group(1), "") if below else (None, "")
        whole = "\n".join(lines[row - 1:statement[-1].end[0]]).strip()
        quoted = []
        for k, t in enumerate(statement):
            if t.type == tokenize.STRING and re.fullmatch(r"\"[a-z_0-9]+\"", t.string):
                word = t.string[1:-1]
            elif t.type == tokenize.NAME and k + 1 < len(statement) and statement[k + 1].string == "=" and k > 0 and statement[k - 1].string in "(,":
                word = t.string
            else:
                continue
            if word in SPLIT:
                near = list(reversed(quoted))
                if word in ("strength", "eps_high", "shift", "tau_pos"):
                    near = near
                new = split_name(word, near, whole, function, body)
                if new:
                    edits.append((t.start, t.end, t.string.replace(word, new)))
            else:
                quoted.append(word)
    for t in tokens:
        kind = tokenize.tok_name[t.type]
        if kind in ("NL", "COMMENT", "INDENT", "DEDENT"):
            continue
        if kind in ("NEWLINE", "ENDMARKER"):
            handle(statement)
            statement = []
        else:
            statement.append(t)
    for (row, col), (_, end), new in sorted(edits, reverse=True):
        lines[row - 1] = lines[row - 1][:col] + new + lines[row - 1][end:]
        log("split", name, row, new, "|", lines[row - 1].strip()[:120])
    return "\n".join(lines)


def split_rows(text):
    """rows.txt: axis.field=value, the kinds on the same line"""
    def line_of(line):
        if "surrogate.kind=balance" in line:
            line = line.replace("surrogate.strength=", "surrogate.reward_beta=")
        if "surrogate.kind=quadratic" in line:
            line = line.replace("surrogate.eps_high=", "surrogate.quadratic_eps=")
        if "surrogate.kind=hinge" in line:
            line = line.replace("surrogate.shift=", "surrogate.hinge_margin=")
        if re.search(r"surrogate\.kind=(contrast|soft_pairs|match|match_js|target)\b", line):
            line = line.replace("surrogate.tau_pos=", "surrogate.advantage_temperature=")
        if "advantage.scale=constant" in line:
            line = line.replace("advantage.eps=", "advantage.scale_divisor=")
        if "advantage.gain=failure_power" in line:
            line = line.replace("advantage.gain_low=", "advantage.focal_reward_low=").replace("advantage.gain_high=", "advantage.focal_reward_high=")
        if "advantage.entropy=response" in line:
            line = line.replace("advantage.entropy_cap=", "advantage.entropy_max=")
        own = re.search(r"advantage\.credit=(step_own|episode_step)\b", line)
        by_steps = "advantage.step_discount=steps" in line
        if own or by_steps:
            line = line.replace("advantage.gamma=", "advantage.step_gamma=")
        elif "advantage.step_value=return" in line:
            line = re.sub(r"advantage\.gamma=(\S+)", r"advantage.gamma=\1 advantage.step_gamma=\1", line)
        return line
    return "\n".join(line_of(line) for line in text.split("\n"))


# the defaults of the new numbers stand after those that they were split from
NEW_DEFAULTS = (('"strength": 0', '"strength": 0, "reward_beta": 0'), ('"eps_high": 0, "bound_cap"', '"eps_high": 0, "quadratic_eps": 0, "bound_cap"'),
                ('"shift": 0, "weight_min_neg"', '"shift": 0, "hinge_margin": 0, "weight_min_neg"'), ('"tau_pos": 0', '"tau_pos": 0, "advantage_temperature": 0'),
                ('"eps": 0, "eps_place"', '"eps": 0, "scale_divisor": 0, "eps_place"'), ('"gain_low": 0, "gain_high": 0', '"gain_low": 0, "gain_high": 0, "focal_reward_low": 0, "focal_reward_high": 0'),
                ('"entropy_cap": 0', '"entropy_cap": 0, "entropy_max": 0'), ('"gamma": 0, "lambda"', '"gamma": 0, "step_gamma": 0, "lambda"'))


NEW_FIELDS = (("surrogate", "strength", ("reward_beta",)), ("surrogate", "eps_high", ("quadratic_eps",)), ("surrogate", "shift", ("hinge_margin",)),
              ("surrogate", "tau_pos", ("advantage_temperature",)), ("advantage", "eps", ("scale_divisor",)), ("advantage", "gain_high", ("focal_reward_low", "focal_reward_high")),
              ("advantage", "entropy_cap", ("entropy_max",)), ("advantage", "gamma", ("step_gamma",)))


def split_fields(text):
    """FIELDS = {axis: {field: domain}}"""
    for axis, old, new in NEW_FIELDS:
        begin = text.find('"' + axis + '": {')
        if begin < 0 or '"' + new[0] + '"' in text:
            continue
        m = re.compile('"' + old + '": ([A-Z_]+),').search(text, begin)
        if m:
            text = text[:m.end()] + "".join(f' "{n}": {m.group(1)},' for n in new) + text[m.end():]
        else:
            log("no field", axis, old)
    return text


# ---- functions that are choices by their names: decorated with TABLE.choice

def rename_choices(text):
    tables = dict(re.findall(r'(?:^|, )([A-Z]+) = Table\("(\w+", "\w+)"', text, re.M))
    m = re.search(r"^([A-Z]+(?:, [A-Z]+)+) = (Table\(.*)$", text, re.M)
    if m:
        tables.update(zip(m.group(1).split(", "), re.findall(r'Table\("(\w+", "\w+)"', m.group(2))))
    found = {}
    for table, path in tables.items():
        path = path.replace('", "', ".")
        for old in re.findall(r"^@" + table + r"\.choice\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\ndef (\w+)\(", text, re.M):
            new = choice_of(path, old)
            if new != old:
                found[old] = new
    for old, new in found.items():                            # the function, and its calls in this file
        text = re.sub(r"(?<=\ndef )" + old + r"(?=\()|(?<![\w.\"'])" + old + r"(?=\((?:s|choice|\{))", new, text)
    return text


def step_splits(tree):
    for name in tree.each(".py"):
        if name.startswith("tests/oracle/") and not is_calls(name):
            tree.edit(name, lambda text: split_python(text, name))
            if "def plain()" in tree.text[name]:
                text = tree.text[name]
                for old, new in NEW_DEFAULTS:
                    if old not in text:
                        log("no default", old, "in", name)
                    text = text.replace(old, new, 1)
                tree.text[name] = text
            if "FIELDS = {" in tree.text[name]:
                tree.edit(name, split_fields)
            if "Table(" in tree.text[name]:
                tree.edit(name, rename_choices)
    for name in tree.each("rows.txt"):
        tree.edit(name, split_rows)


# ---- the vectors

SOFTMAX_KINDS_OLD = SOFTMAX_KINDS


def split_objective(o):
    """an objective with the old names, its numbers split"""
    s, a = o.get("surrogate", {}), o.get("advantage", {})

    def move(axis, old, *new):
        if old in axis:
            items = list(axis.items())
            axis.clear()
            for key, x in items:
                if key == old:
                    axis.update({n: x for n in new})
                else:
                    axis[key] = x
    kind = s.get("kind")
    if kind == "balance":
        move(s, "strength", "reward_beta")
    if kind == "quadratic":
        move(s, "eps_high", "quadratic_eps")
    if kind == "hinge":
        move(s, "shift", "hinge_margin")
    if kind in SOFTMAX_KINDS:
        move(s, "tau_pos", "advantage_temperature")
    if a.get("scale") == "constant":
        move(a, "eps", "scale_divisor")
    if a.get("gain") == "failure_power":
        move(a, "gain_low", "focal_reward_low")
        move(a, "gain_high", "focal_reward_high")
    if a.get("entropy") == "response":
        move(a, "entropy_cap", "entropy_max")
    by_steps, returns = a.get("step_discount") == "steps", a.get("step_value") == "return"
    if by_steps or a.get("credit") in ("step_own", "episode_step"):
        move(a, "gamma", "step_gamma")
    elif returns:
        move(a, "gamma", "gamma", "step_gamma")


def new_objective(o):
    o = json.loads(json.dumps(o))
    split_objective(o)
    out = {}
    for axis, fields in o.items():
        out[axis] = {}
        for field, x in fields.items():
            path = axis + "." + field
            if isinstance(x, str):
                x = choice_of(path, x)
            out[axis][FIELD.get(path, path).split(".")[1]] = x
    return out


def renamed(keys, table):
    return {table.get(k, k): x for k, x in keys.items()}


def new_outputs(v):
    return {EXPECT.get(k, k): renamed(x, REPORT) if k == "report" and isinstance(x, dict) else x for k, x in v.items()}


def new_case(case):
    out = {}
    for key, x in case.items():
        if key == "objective":
            x = new_objective(x)
        elif key == "batch":
            x = renamed(split_arrays(case), BATCH)
        elif key in ("expect", "scale"):
            if case.get("kind") != "call":
                x = renamed(x, EXPECT)
                if "report" in x:
                    x["report"] = renamed(x["report"], REPORT)
        elif key == "function":
            x = CALLS.get(x, x)
        elif key == "defects":
            x = {d: ([EXPECT.get(v[0], v[0]), *[REPORT.get(w, w) if v[0] == "report" and isinstance(w, str) else w for w in v[1:]]] if isinstance(v, list) else new_outputs(v) if isinstance(v, dict) else v)
                 for d, v in x.items()}
        out[key] = x
    if case.get("kind") == "call":                            # the names of these cases begin with the function
        old = "calls-" + case["function"] + "-"
        if out["id"].startswith(old):
            out["id"] = "calls-" + out["function"] + "-" + out["id"][len(old):]
    return out


def rename_vectors(text):
    head, _, rest = text.partition('"cases": [\n')
    lines = rest.split("\n")
    for k, line in enumerate(lines):
        if line.startswith("{"):
            comma = line.endswith(",")
            case = json.loads(line[:-1] if comma else line)
            lines[k] = json.dumps(new_case(case), separators=(",", ":"), allow_nan=False) + ("," if comma else "")
    return head + '"cases": [\n' + "\n".join(lines)


def step_json(tree):
    for name in tree.each(".json"):
        if is_vectors(name) and os.path.dirname(name) == "tests/vectors" and not name.endswith("schema.json"):
            tree.edit(name, rename_vectors)


# ---- files

def move(tree, old, new):
    subprocess.run(["git", "-C", tree.root, "mv", old, new], check=False, capture_output=True)
    if not os.path.exists(os.path.join(tree.root, new)):
        os.rename(os.path.join(tree.root, old), os.path.join(tree.root, new))
    tree.text[new] = tree.first[new] = tree.text.pop(old)
    tree.first.pop(old, None)


def step_files(tree):
    for old, new in NAMES.get("file", []):
        if old in tree.text and new not in tree.text:
            move(tree, old, new)
            a, b = os.path.basename(old), os.path.basename(new)
            stem_a, stem_b = os.path.splitext(a)[0], os.path.splitext(b)[0]
            for name in tree.each(*TEXT):
                if is_vectors(name):
                    continue
                text = re.sub(r"(?<![\w./-])((?:\.\./|tests/)*)" + re.escape(a) + r"\b", lambda m: m.group(1) + b, tree.text[name])
                if name.endswith(("meson.build", ".sh", ".md", ".yml")):
                    text = re.sub(r"(?<![\w-])(tests/|'|build/tests/)" + stem_a + r"(?=['\s`.,]|$)(?!\.\w)", lambda m: m.group(1) + stem_b, text)
                tree.text[name] = text
            text = tree.text[new]
            tree.text[new] = re.sub(r"^/\* " + stem_a + r"\b", "/* " + stem_b, text)
    for name in list(tree.each(".py")):
        folder, base = os.path.split(name)
        stem = base[:-3]
        if stem in CALLS:                                     # a module that is named after its function
            move(tree, name, os.path.join(folder, CALLS[stem] + ".py"))


# ---- the same in C: members by the function or the line they stand in

# (member, new member, function, line): one of the two patterns must be found
C_RULES = (
    ("strength", "reward_beta", r"balance", None),
    ("eps_high", "quadratic_eps", r"quadratic", r"QUADRATIC"),
    ("shift", "hinge_margin", r"hinge|gspo_cost_", r"HINGE|\"hinge\""),
    ("tau_pos", "advantage_temperature", r"contrast_$|contrast_of|target|soft_pairs|match", r"SURROGATE_(CONTRAST|SOFT_PAIRS|MATCH|MATCH_JS|TARGET)\b"),
    ("eps", "scale_divisor", None, r"SCALE_CONSTANT\b(?!.*\beps_place)"),
    ("gain_low", "focal_reward_low", r"^failing$|failure", r"FAILURE_POWER|failure_power"),
    ("gain_high", "focal_reward_high", r"^failing$|failure", r"FAILURE_POWER|failure_power"),
    ("entropy_cap", "entropy_max", r"mean_entropy|finish_response", r"ENTROPY_RESPONSE|\"response\""),
    ("gamma", "step_gamma", r"grpo_step_value_$|grpo_check_steps_$|^step_value$", r"STEP_VALUE_RETURN"),
)
C_AXIS = {"strength": "surrogate", "eps_high": "surrogate", "shift": "surrogate", "tau_pos": "surrogate", "eps": "advantage", "gain_low": "advantage",
          "gain_high": "advantage", "entropy_cap": "advantage", "gamma": "advantage"}
C_NEW = {}
for _old, _new, _f, _l in C_RULES:
    C_NEW[C_AXIS[_old] + "." + _old] = C_AXIS[_old] + "." + _new
C_PLACES = (
    ("a->eps < 0 || a->second_eps < 0 || (a->scale == GRPO_SCALE_CONSTANT && a->eps == 0)",
     "a->eps < 0 || a->scale_divisor < 0 || a->second_eps < 0 || (a->scale == GRPO_SCALE_CONSTANT && a->scale_divisor == 0)"),
    ("if ((reads & GRPO_READS_TAU_POS_) && !(s->tau_pos > 0)) return GRPO_BAD_TAU;",
     "if ((reads & GRPO_READS_TAU_POS_) && !(s->tau_pos > 0 || s->advantage_temperature > 0)) return GRPO_BAD_TAU;"),
    ("a->step_discount == GRPO_STEP_DISCOUNT_STEPS && !c->batch->step_end[t] ? 1 : a->gamma",
     "a->step_discount == GRPO_STEP_DISCOUNT_TOKENS ? a->gamma : c->batch->step_end[t] ? a->step_gamma : 1"),
    ("a->step_discount == GRPO_STEP_DISCOUNT_STEPS && !e->batch->step_end[t] ? 1 : a->gamma",
     "a->step_discount == GRPO_STEP_DISCOUNT_TOKENS ? a->gamma : e->batch->step_end[t] ? a->step_gamma : 1"),
    ("now = times(now, a->gamma)", "now = times(now, by_token ? a->gamma : a->step_gamma)"),
    ("a->gamma >= 0 && a->gamma <= 1 &&", "a->gamma >= 0 && a->gamma <= 1 && a->step_gamma >= 0 && a->step_gamma <= 1 &&"),
    # the domains of what is split off
    ("READS(surrogate.kind, GRPO_TAU_POS_, surrogate.tau_pos, POSITIVE),",
     "READS(surrogate.kind, GRPO_TAU_POS_, surrogate.tau_pos, POSITIVE),\n        READS(surrogate.kind, GRPO_SOFTMAX_, surrogate.advantage_temperature, POSITIVE),"),
)


def split_tau_macro(text):
    """#define GRPO_TAU_POS_ of all kinds: the softmaxes get a set of their own"""
    m = re.search(r"#define GRPO_TAU_POS_ \(((?:[^\n]*\\\n)*[^\n]*)\)\n", text)
    if not m or "#define GRPO_SOFTMAX_" in text:
        return text
    kinds = re.findall(r"GRPO_IS_\((GRPO_SURROGATE_\w+)\)", m.group(1))
    soft = [k for k in kinds if re.search(r"_(CONTRAST|SOFT_PAIRS|MATCH|MATCH_JS|TARGET)$", k)]

    def macro(name, kinds):
        lines, line = [], f"#define {name} ("
        for k, kind in enumerate(kinds):
            piece = ("| " if k else "") + f"GRPO_IS_({kind})"
            if len(line) + len(piece) > 110:
                lines.append(line.rstrip() + " \\")
                line = "    "
            line += piece + " "
        return "\n".join(lines + [line.rstrip() + ")"]) + "\n"
    return text[:m.start()] + macro("GRPO_TAU_POS_", [k for k in kinds if k not in soft]) + macro("GRPO_SOFTMAX_", soft) + text[m.end():]


def split_row(row):
    """a row of presets, with the old names"""
    def put(*pairs):
        nonlocal row
        for old, new in pairs:
            row = row.replace("SET(" + old + ",", "SET(" + new + ",")
    if "SURROGATE(BALANCE)" in row:
        put(("surrogate.strength", "surrogate.reward_beta"))
    if "SURROGATE(QUADRATIC)" in row:
        put(("surrogate.eps_high", "surrogate.quadratic_eps"))
    if "SURROGATE(HINGE)" in row:
        put(("surrogate.shift", "surrogate.hinge_margin"))
    if re.search(r"SURROGATE\((CONTRAST|SOFT_PAIRS|MATCH|MATCH_JS|TARGET)\)", row):
        put(("surrogate.tau_pos", "surrogate.advantage_temperature"))
    if "SCALE(CONSTANT)" in row:
        put(("advantage.eps", "advantage.scale_divisor"))
    if "GRPO_GAIN_FAILURE_POWER" in row:
        put(("advantage.gain_low", "advantage.focal_reward_low"), ("advantage.gain_high", "advantage.focal_reward_high"))
    if "GRPO_ENTROPY_RESPONSE" in row:
        put(("advantage.entropy_cap", "advantage.entropy_max"))
    row = re.sub(r"\bCREDIT\((EPISODE_STEP|STEP_OWN), ", r"STEP_CREDIT(\1, ", row)
    if "GRPO_STEP_DISCOUNT_STEPS" in row:
        row = re.sub(r"\bCREDIT\((STEP), ", r"STEP_CREDIT(\1, ", row)
    return row


def split_presets(region):
    parts = re.split(r"(?=\bROW\(\"|\{ \"[a-z0-9+.*-]+\", \"|\bX\(\"[a-z0-9+.*-]+\", \")", region)
    region = parts[0] + "".join(map(split_row, parts[1:]))
    if "STEP_CREDIT(" in region and "define STEP_CREDIT" not in region:
        m = re.search(r"#define CREDIT\(kind, discount\)[^\n]*(\n)", region)
        if m:
            region = region[:m.end()] + m.group(0).replace("CREDIT(kind, discount)", "STEP_CREDIT(kind, discount)", 1).replace("advantage.gamma", "advantage.step_gamma") + region[m.end():]
            region = region.replace("#undef CREDIT\n", "#undef CREDIT\n#undef STEP_CREDIT\n")
    return region


DECLARED = re.compile(r"^(?:[A-Za-z_].*?)\b([a-z_0-9]+)\((?!.*;\s*$)")


def split_c(text, name):
    for old, new in C_PLACES:
        if old in text and new not in text:
            text = text.replace(old, new)
    text = split_tau_macro(text)
    lines, function, out = text.split("\n"), "", []
    tests = name.startswith(("tests/", "fuzz/", "examples/")) and "reference" not in name
    for line in lines:
        if line and line[0] not in " #/*}{" and DECLARED.match(line):
            function = DECLARED.match(line).group(1)
        elif line.startswith("}"):
            function_after = ""
        code = line
        for old, new, of_function, of_line in C_RULES:
            member = r"(?<=[>.])" + old + r"\b(?!\()"
            if not re.search(member, code) or "GRPO_NUMBER_(" in code or new in code:
                continue
            if (of_function and re.search(of_function, function)) or (of_line and re.search(of_line, code)):
                if old == "shift" and "advantage" in code or old in ("eps", "gamma") and re.search(r"surrogate|penalty", code):
                    continue
                path = C_AXIS[old] + "." + old
                code = re.sub(r"((?:->|" + C_AXIS[old] + r"\.|\b[a-z]\.))" + old + r"\b(?!\()", lambda m: m.group(1) + new, code)
                if "\"" + old + "\"" in code:
                    code = code.replace("\"" + old + "\"", "\"" + new + "\"")
            elif tests:                                       # a test that sets the number sets both
                letter = r"|\ba->" if C_AXIS[old] == "advantage" else r"|\bs->"
                code = re.sub(r"(?<![\w.>])((?:[a-z_]+(?:->|\.))*(?:" + C_AXIS[old] + r"\." + letter + r"))" + old + r" = (?!=)", lambda m: m.group(1) + old + " = " + m.group(1) + new + " = ", code)
        out.append(code)
        # entries of tables of numbers in tests: the new number has the same
        m = re.match(r'(\s*)\{ "((?:surrogate|advantage)\.\w+)", (.*)$', line)
        if tests and m and m.group(2) in C_NEW and m.group(3).rstrip().endswith("},") and re.search(r"\{", m.group(3)) and "GRPO_" not in line:
            out.append(line.replace(m.group(2), C_NEW[m.group(2)]))
        if line.startswith("}"):
            function = ""
    return "\n".join(out)


NEW_MEMBERS = (                                               # struct, after this declaration, what is declared
    ("grpo_surrogate", r"double strength;[^\n]*\n", "    double reward_beta;            /* balance: of the advantage (FlowRL's beta) */\n"),
    ("grpo_surrogate", r"double eps_low, eps_high;[^\n]*\n", "    double quadratic_eps;          /* quadratic, > 0: best at 1 +- this */\n"),
    ("grpo_surrogate", r"double shift;[^\n]*\n", "    double hinge_margin;           /* hinge */\n"),
    ("grpo_surrogate", r"double tau_pos, tau_neg;[^\n]*\n", "    double advantage_temperature;  /* contrast, soft_pairs, match, match_js, target, > 0: of a softmax of the advantages */\n"),
    ("grpo_advantage", r"double eps;[^\n]*\n", "    double scale_divisor;                           /* of scale constant, > 0 */\n"),
    ("grpo_advantage", r"double gain_low, gain_high, gain_slope, gain_centre;[^\n]*\n", "    double focal_reward_low, focal_reward_high;     /* of failure_power, low < high: the rewards of failure and of success */\n"),
    ("grpo_advantage", r"double entropy_coef, entropy_cap;[^\n]*\n", "    double entropy_max;                             /* response: A = 0 where the mean is above; 0: none */\n"),
    ("grpo_advantage", r"double gamma, lambda;[^\n]*\n", "    double step_gamma;                              /* for every step: of step_value return and step_discount steps */\n"),
)


def split_struct(text):
    for struct, after, new in NEW_MEMBERS:
        span = struct_span(text, struct)
        if not span:
            continue
        body = text[span[0]:span[1]]
        m = re.search(after, body)
        if not m:
            log("no place for", new.strip(), "in", struct)
        elif new.strip() not in body:
            body = body[:m.end()] + new + body[m.end():]
            text = text[:span[0]] + body + text[span[1]:]
    text = text.replace("double gamma, lambda;", "double gamma, lambda;                          /* for every token that counts */", 1) if "double step_gamma" in text else text
    # the table of fields
    for old, new in C_NEW.items():
        m = re.search(r"((?:GRPO_)?NUMBER_?|GRPO_FIELD_NUMBER_)\(" + re.escape(old) + r"((?:, ?[^()]*)?)\)", text)
        if m and "(" + new + (m.group(2) or ")")[:1] not in text[m.start():m.end() + 400]:
            text = text[:m.end()] + ", " + m.group(0).replace(old, new) + text[m.end():]
    # where infinity is allowed by a list
    return text.replace('"surrogate.eps_low", "surrogate.eps_high", "surrogate.dual"', '"surrogate.eps_low", "surrogate.eps_high", "surrogate.quadratic_eps", "surrogate.dual"')


def step_csplits(tree):
    for name in tree.each(".h", ".c"):
        text = tree.text[name]
        where = preset_region(text) if name.endswith(".h") else None
        if where:
            text = split_c(text[:where[0]], name) + split_presets(text[where[0]:where[1]]) + split_c(text[where[1]:], name)
        else:
            text = split_c(text, name)
        tree.text[name] = split_struct(text)


# ---- schema.json: strings by the keys they stand under

def split_schema(text):
    out = []
    for line in text.split("\n"):
        if '"contrast", "soft_pairs"' in line:
            line = line.replace('"tau_pos"', '"advantage_temperature"')
        if '"const": "quadratic"' in line:
            line = line.replace('"eps_high"', '"quadratic_eps"')
        if '"scale": { "const": "constant" }' in line:
            line = line.replace('"eps"', '"scale_divisor"')
        if '"const": "failure_power"' in line:
            line = line.replace('"gain_high"', '"focal_reward_high"').replace('"gain_low"', '"focal_reward_low"')
        out.append(line)
        m = re.match(r'( +)"(strength|eps_high|shift|tau_pos|eps|gain_high|entropy_cap|gamma)": (\{.*\}),?$', line)
        if m and not re.search(r"exclusive|const", line):
            axis = "advantage" if m.group(2) in ("eps", "gain_high", "entropy_cap", "gamma") else "surrogate"
            where = "\n".join(out[-120:])
            inside = max(AXES, key=lambda a: where.rfind('"' + a + '": {'))
            new = {"strength": ["reward_beta"], "eps_high": ["quadratic_eps"], "shift": ["hinge_margin"], "tau_pos": ["advantage_temperature"], "eps": ["scale_divisor"],
                   "gain_high": ["focal_reward_low", "focal_reward_high"], "entropy_cap": ["entropy_max"], "gamma": ["step_gamma"]}[m.group(2)]
            if inside == axis:
                if not out[-1].endswith(","):
                    out[-1] += ","
                    out += [f'{m.group(1)}"{n}": {m.group(3)},' for n in new]
                    out[-1] = out[-1][:-1]
                else:
                    out += [f'{m.group(1)}"{n}": {m.group(3)},' for n in new]
    return "\n".join(out)


def new_schema_word(word, is_key, path):
    """path: the keys above, outermost first"""
    axis = next((path[k] for k in range(len(path) - 1, -1, -1) if path[k] in AXES and k and path[k - 1] in ("properties",)), None)
    above = path[-1] if path else ""
    in_batch = "batch" in path and (axis is None or path.index("batch") > max(k for k, p in enumerate(path) if p == axis))
    if word in EXPECT and "arguments" not in path:
        return EXPECT[word]
    if (above == "report_key" or "report_key" in path or "report" in path) and word in REPORT and not in_batch:
        return REPORT[word]
    if in_batch and word in BATCH and (is_key or above in ("required", "clip_low", "clip_high", "eps_low", "eps_high", "dependentRequired", "step_reward")):
        return BATCH[word]
    if axis:
        if is_key and above in ("properties", "dependentRequired") or not is_key and above == "required":
            return FIELD.get(axis + "." + word, axis + "." + word).split(".")[1]
        if not is_key and above in ("const", "enum", "not"):
            k = max(i for i, p in enumerate(path) if p == "properties")
            if k + 1 < len(path):
                return choice_of(axis + "." + path[k + 1], word)
    return word


def rename_schema(text):
    out, stack, pos = [], [], 0                               # stack: [kind, key]
    for m in re.finditer(r'"((?:[^"\\\\]|\\\\.)*)"(\s*:)?|[{}\[\],]', text):
        out.append(text[pos:m.start()])
        token = m.group(0)
        if token in ("{", "["):
            stack.append([token, None])
        elif token in ("}", "]"):
            stack.pop()
        elif token != ",":
            path = [key for kind, key in stack if kind == "{" and key is not None]
            if m.group(2):
                path = [key for kind, key in stack[:-1] if kind == "{" and key is not None]
                new = new_schema_word(m.group(1), True, path)
                stack[-1][1] = m.group(1)                     # the old words are the path
                token = '"' + new + '"' + m.group(2)
            else:
                token = '"' + new_schema_word(m.group(1), False, path) + '"'
        out.append(token)
        pos = m.end()
    return "".join(out) + text[pos:]


def step_schema(tree):
    for name in tree.each("schema.json"):
        if "level_clamp_low" not in tree.text[name]:
            tree.edit(name, lambda text: rename_schema(split_schema(text)))


# ---- ids, comments and objectives of the vectors: as the renamed oracle lists them

LISTING = r"""
import json, sys
sys.dont_write_bytecode = True
import generate as g
def one(variant, label, comment, flags, objective, batch):
    if (variant, label) in getattr(g, "UNDEFINED", ()):
        raise g.Undefined("left open")
    return g.tidy({"id": f"{variant}-{label}", "comment": comment, "objective": objective, "batch": batch})
g.one_case = one
found = {}
for name in g.names():
    try:
        if name in g.objectives.ROWS: cases = g.preset_cases(name)
        elif name in g.OTHERS:
            if name != "mistakes": continue
            cases = g.OTHERS[name]()
        else: cases = g.choice_cases(name if hasattr(g, "FILES") else name[len("choices-"):])
    except Exception as why:
        print(name, why, file=sys.stderr); continue
    found[name] = [[c["id"], c["comment"], g.objectives.thinned(c["objective"]), c["batch"]] for c in cases]
json.dump(found, sys.stdout)
"""


def step_ids(tree):
    done = subprocess.run([sys.executable if sys.executable == "/usr/bin/python3" else "/usr/bin/python3", "-c", LISTING], cwd=os.path.join(tree.root, "tests/oracle"), capture_output=True, text=True)
    if not done.stdout:
        print("ids: the oracle could not be asked:", done.stderr.strip()[-300:])
        return
    print(done.stderr.strip()[-400:])
    ids = {}
    for name, listed in json.loads(done.stdout).items():
        path = f"tests/vectors/{name}.json"
        if path not in tree.text:
            continue
        head, mark, rest = tree.text[path].partition('"cases": [\n')
        lines = rest.split("\n")
        at = [k for k, line in enumerate(lines) if line.startswith("{")]
        if len(at) != len(listed):
            print("ids:", name, "has", len(at), "cases, the oracle", len(listed))
            continue
        for k, (new_id, comment, objective, batch) in zip(at, listed):
            comma = lines[k].endswith(",")
            case = json.loads(lines[k][:-1] if comma else lines[k])
            if case["id"] != new_id:
                ids[case["id"]] = new_id
            if case["batch"] != batch:
                log("batch", new_id, set(case["batch"]) ^ set(batch) or "values")
            case.update(id=new_id, comment=comment, objective=objective, batch=batch)
            lines[k] = json.dumps(case, separators=(",", ":"), allow_nan=False) + ("," if comma else "")
        tree.text[path] = head + mark + "\n".join(lines)
    if ids:                                                   # where the ids are named: scenes of defects, pages
        pattern = re.compile(r"(?<![\w-])(" + "|".join(sorted(map(re.escape, ids), key=len, reverse=True)) + r")(?![\w-])")
        for name in tree.each(".py", ".md", ".c", ".txt", ".h"):
            tree.edit(name, lambda text: pattern.sub(lambda m: ids[m.group(1)], text))
    print("ids:", len(ids), "are new")


# ---- layout: comments in columns again, and no line beyond 140

WIDTH = 140
SNAPSHOT = {}


def step_snapshot(tree):
    """the lines as they are before words change: later steps change no number of lines until `layout`"""
    for name in tree.each(".h", ".c", ".py"):
        SNAPSHOT[name] = tree.text[name].split("\n")


TRAILING = re.compile(r"^(\s*[^\s/*].*?)( +)(/\*.*)$")


def realign(old, new):
    new, i = list(new), 0
    while i < len(old):
        m = TRAILING.match(old[i])
        if not m:
            i += 1
            continue
        column, j, group = m.start(3), i, []
        while j < len(old):
            m = TRAILING.match(old[j])
            if m and m.start(3) == column:
                group.append((j, True))
            elif group and old[j].startswith(" " * (column + 2)) and old[j].strip() and not old[j].strip().startswith("/*"):
                group.append((j, False))
            else:
                break
            j += 1
        if any(old[k] != new[k] for k, _ in group):
            parts = {k: TRAILING.match(new[k]) for k, first in group if first}
            if all(parts.values()) and len(parts) > 1:
                widest_old = max(len(TRAILING.match(old[k]).group(1)) for k in parts)
                widest = max(len(p.group(1)) for p in parts.values())
                to = widest + max(1, min(column - widest_old, 8))
                for k, first in group:
                    if first:
                        new[k] = parts[k].group(1).ljust(to) + parts[k].group(3)
                    else:
                        new[k] = " " * (to + len(new[k]) - len(new[k].lstrip()) - column) + new[k].lstrip()
        i = max(j, i + 1)
    return new


def outside_strings(line):
    """for every place, is it outside of quotes?"""
    out, inside, k = [], False, 0
    while k < len(line):
        out.append(not inside)
        if line[k] == "\\" and inside:
            out.append(False)
            k += 1
        elif line[k] == '"':
            inside = not inside
        k += 1
    return out


def break_code(line, indent, tail=""):
    free = outside_strings(line)
    best = -1
    depth_at = []
    depth = 0
    for k, ch in enumerate(line):
        if free[k] and ch in "([{":
            depth += 1
        if free[k] and ch in ")]}":
            depth -= 1
        depth_at.append(depth)
    last = WIDTH - len(tail)
    candidates = []
    for k in range(indent + 20, min(last, len(line) - 1)):
        if free[k] and line[k] == " ":
            if line[k - 1] == ",":
                candidates.append((depth_at[k], -k, k, k + 1))
            elif re.match(r" (&&|\|\||\?|:|\||=) ", line[k:]) or (line[k - 1] == ":" and line[k:].startswith(" case ")) or line[k - 1] == ";":
                candidates.append((depth_at[k], -k, k, k + 1))
    if not candidates:
        return None
    lowest = min(c[0] for c in candidates)
    good = [c for c in candidates if c[0] <= lowest + 1 and c[2] > 60] or candidates
    k = max(good, key=lambda c: c[2])[2]
    return line[:k], line[k + 1:]


def wrap(lines):
    out, in_comment = [], False
    for line in lines:
        todo = [line]
        while todo:
            line = todo.pop(0)
            if len(line) <= WIDTH:
                out.append(line)
                in_comment = ends_in_comment(line, in_comment)
                continue
            m = TRAILING.match(line)
            if in_comment or re.match(r"\s*/\*", line):
                lead = re.match(r"(\s*/\*+ ?|\s*\* *|\s*)", line).group(1)
                k = line.rfind(" ", len(lead) + 1, WIDTH + 1)
                next_lead = re.sub(r"/\*", " *", lead) if in_comment is False else lead
                out.append(line[:k])
                in_comment = ends_in_comment(line[:k], in_comment)
                todo.insert(0, next_lead + line[k + 1:])
            elif m and "*/" in m.group(3) and len(m.group(1)) + len(m.group(2)) < 115 and not line.endswith("\\"):
                code, gap, comment = m.groups()
                slack = len(line) - WIDTH
                if len(gap) > slack:
                    out.append(code + gap[slack:] + comment)
                else:
                    line = code + " " + comment if len(gap) > 1 and len(code) + 1 + len(comment) <= WIDTH + 200 and len(gap) > 8 else line
                    start = line.index(comment)
                    k = line.rfind(" ", start + 10, WIDTH + 1)
                    out.append(line[:k])
                    rest = " " * (start + 3) + line[k + 1:]
                    while len(rest) > WIDTH:
                        k = rest.rfind(" ", start + 10, WIDTH + 1)
                        out.append(rest[:k])
                        rest = " " * (start + 3) + rest[k + 1:]
                    out.append(rest)
            elif m and "*/" not in m.group(3):                 # the comment goes on in the next line
                start = m.start(3)
                k = line.rfind(" ", start + 10, WIDTH + 1)
                out.append(line[:k])
                in_comment = True
                todo.insert(0, " " * (start + 3) + line[k + 1:])
            elif m and "*/" in m.group(3) and not line.endswith("\\"):
                code, gap, comment = m.groups()                # the comment before the code
                indent = len(code) - len(code.lstrip())
                todo = [" " * indent + comment, code] + todo
            else:
                indent = len(line) - len(line.lstrip())
                ended = line.endswith("\\")
                tail = " \\" if ended or line.startswith("#define ") else ""
                body = line[:-1].rstrip() if ended else line
                pair = break_code(body, indent, tail)
                if pair is None:
                    k = body.rfind(" ", indent + 20, WIDTH - 3 - len(tail))
                    if k <= 0 or body.rfind("|", indent + 20, WIDTH - 3 - len(tail)) > k + 40:
                        k = body.rfind("|", indent + 20, WIDTH - 3 - len(tail)) - 1
                    if k > 0 and not outside_strings(body)[k]:   # inside a string
                        out.append(body[:k + 1] + '"' + tail)
                        todo.insert(0, " " * (indent + 4) + '"' + body[k + 1:] + (tail if ended else ""))
                    else:
                        log("too long:", line.strip()[:100])
                        out.append(line)
                    continue
                first, rest = pair
                out.append(first + tail)
                todo.insert(0, " " * (indent if first.endswith((";", ":")) else indent + 4) + rest + (tail if ended else ""))
    return out


def ends_in_comment(line, inside):
    k = 0
    free = None
    while k < len(line):
        if inside:
            e = line.find("*/", k)
            if e < 0:
                return True
            inside, k = False, e + 2
        else:
            b = line.find("/*", k)
            if b < 0:
                return False
            free = free or outside_strings(line)
            if not free[b]:
                k = b + 2
                continue
            inside, k = True, b + 2
    return inside


def wrap_python(lines):
    out = []
    for line in lines:
        while len(line) > WIDTH and line.strip():
            indent = len(line) - len(line.lstrip())
            if line.lstrip().startswith("#"):
                k = line.rfind(" ", indent + 10, WIDTH + 1)
                out.append(line[:k])
                line = " " * indent + "# " + line[k + 1:]
                continue
            free = outside_strings(line)
            depth, k = 0, -1
            for i, ch in enumerate(line[:WIDTH]):
                if free[i] and ch in "([{":
                    depth += 1
                if free[i] and ch in ")]}":
                    depth -= 1
                if depth > 0 and free[i] and ch == " " and line[i - 1] == ",":
                    k = i
            if k < 40:
                log("too long:", line.strip()[:100])
                break
            out.append(line[:k])
            line = " " * (indent + 4) + line[k + 1:]
        out.append(line)
    return out


def step_layout(tree):
    for name in list(tree.each(".h", ".c", ".py")):
        new = tree.text[name].split("\n")
        old = SNAPSHOT.get(name)
        if old and len(old) == len(new) and name.endswith((".h", ".c")):
            new = realign(old, new)
        if old is None or old != new:
            new = wrap_python(new) if name.endswith(".py") else wrap(new)
        tree.text[name] = "\n".join(new)


# ---- the tables of choices: X(GRPO_CONSTANT, name, ...)

def split_surrogate_row(row):
    kind = re.match(r"X\(GRPO_SURROGATE_(\w+)", row)
    kind = kind.group(1).lower() if kind else ""
    if kind == "quadratic":
        row = re.sub(r"\beps_high\b", "quadratic_eps", row)
    if kind in SOFTMAX_KINDS:
        row = re.sub(r"\btau_pos\b", "advantage_temperature", row)
    if kind == "hinge":
        row = re.sub(r"\bshift\b", "hinge_margin", row)
    if kind == "balance":
        row = row.replace("k A_i)^2", "reward_beta A_i)^2")
    row = re.sub(r"\b([A-Z_]+)\(([a-z_]+(?:, ?[a-z_]+)*)\)", lambda m: m.group(1) + "(" + re.sub(r"[a-z_]+", lambda w: FIELD.get("surrogate." + w.group(0), "surrogate." + w.group(0)).split(".")[1]
                                                                                             if m.group(1) != "X" else w.group(0), m.group(2)) + ")", row)
    # what the text says of numbers and choices
    row = re.sub(r'"((?:[^"\\\\]|\\\\.)*)"', lambda m: '"' + surrogate_prose(m.group(1)) + '"', row)
    return row


def surrogate_prose(text):
    for old, new in (("strength", "beta"), ("shape", "shaping_gamma"), ("margin", "min_gap"), ("-dual A", "-clip_dual A"), ("against nothing", "behaviour none"), ("unit sequence", "level sequence"),
                     ("shift", "logit_shift"), ("of PAIRS", "of PAIRWISE_LOGISTIC")):
        text = re.sub(r"(?<![\w])" + re.escape(old) + r"(?![\w-])" if not old.startswith("-") else re.escape(old), new, text)
    return text


def rename_tables(text):
    paths = {macro: path for path, macro in re.findall(r"GRPO_CHOICE_\(((?:" + "|".join(AXES) + r")\.\w+), ?(GRPO_\w+_CHOICES)\)", text)}

    def table(m):
        macro, body = m.group(1), m.group(2)
        path = paths.get(macro)
        if macro == "GRPO_SURROGATE_CHOICES":
            parts = re.split(r"(?=\bX\(GRPO_SURROGATE_)", body)
            body = parts[0] + "".join(map(split_surrogate_row, parts[1:]))
            body = body.replace("k = strength;", "k = beta;")
        if path in CHOICE:
            body = re.sub(r"\bX\((GRPO_\w+), (\w+)", lambda x: f"X({x.group(1)}, {choice_of(path, x.group(2))}", body)
        return "#define " + macro + "(X)" + body
    return re.sub(r"#define (GRPO_\w+_CHOICES)\(X\)((?:[^\n]*\\\n)*[^\n]*\n)", table, text)


def step_tables(tree):
    for name in tree.each(".h"):
        if "_CHOICES(X)" in tree.text[name]:
            tree.edit(name, rename_tables)


# ---- arrays that meant several things: one array per reader, on the old names

NEW_MASKS = ("kl_mask", "nll_mask", "marked", "shaping_mask")
C_ARRAYS = (
    # the struct
    (r"    const uint8_t \*selected;[^\n]*\n(?: {20,}[^\n]*\n)?",
     "    const uint8_t *selected;          /* by entropy, covariance, at random ...: read by weight.selected */\n"
     "    const uint8_t *kl_mask;           /* of the tokens that pay the KL: read by penalty.kl_on */\n"
     "    const uint8_t *nll_mask;          /* of demonstrations: read by penalty.likelihood_on selected */\n"
     "    const uint8_t *marked;            /* read by advantage.marked */\n"
     "    const uint8_t *shaping_mask;      /* of tokens from another policy, or with a hint: read by surrogate.kind shaped */\n"),
    (r"    const uint8_t \*step_end;[^\n]*\n", "    const uint8_t *step_end;          /* last token of a step */\n"
     "    const uint8_t *segment_end;       /* last token of a segment (a turn); masked tokens' flags count */\n"),
    (r"    const int64_t \*state;[^\n]*\n(?: {20,}[^\n]*\n)?", "    const int64_t *state;             /* where the step started from (an observation ...): read where step_end */\n"
     "    const int64_t *token_id;          /* what the token is: read by advantage.credit prefix_tree */\n"),
    (r"    X\(step_end, FLAG, FINITE, GRPO_NEED_STEP_END_, 0\) \\\n", "\\g<0>    X(segment_end, FLAG, FINITE, GRPO_NEED_SEGMENT_END_, 0) \\\\\n"),
    (r"    X\(selected, FLAG, FINITE, GRPO_NEED_SELECTED_, 0\) \\\n", "\\g<0>" + "".join(f"    X({m}, FLAG, FINITE, GRPO_NEED_{m.upper()}_, 0) \\\\\n" for m in NEW_MASKS)),
    (r"    X\(state, FLAG, FINITE, GRPO_NEED_STATE_, 0\) \\\n", "\\g<0>    X(token_id, FLAG, FINITE, GRPO_NEED_TOKEN_ID_, 0) \\\\\n"),
    (r"GRPO_NEED_CLIPS_ = 2097152 \};", "GRPO_NEED_CLIPS_ = 2097152, GRPO_NEED_KL_MASK_ = 4194304,\n       GRPO_NEED_NLL_MASK_ = 8388608, "
     "GRPO_NEED_MARKED_ = 16777216, GRPO_NEED_SHAPING_MASK_ = 33554432,\n       GRPO_NEED_SEGMENT_END_ = 67108864, GRPO_NEED_TOKEN_ID_ = 134217728 };"),
    # who needs them
    (r"if \(o->weight\.selected != GRPO_SELECTED_ALL \|\| o->penalty\.kl_on != GRPO_KL_ON_ALL\) n \|= GRPO_NEED_SELECTED_;",
     "if (o->weight.selected != GRPO_SELECTED_ALL) n |= GRPO_NEED_SELECTED_;\n    if (o->penalty.kl_on != GRPO_KL_ON_ALL) n |= GRPO_NEED_KL_MASK_;"),
    (r"(likelihood\[\] = \{[^}]*)GRPO_NEED_SELECTED_", r"\1GRPO_NEED_NLL_MASK_"),
    (r"(shaped, TOKEN, )GRPO_NEED_SELECTED_", r"\1GRPO_NEED_SHAPING_MASK_"),
    (r"(GRPO_SURROGATE_SHAPED[^\n]*n \|= )GRPO_NEED_SELECTED_", r"\1GRPO_NEED_SHAPING_MASK_"),
    (r"(GRPO_MARKED_NONE\) n \|= )GRPO_NEED_SELECTED_", r"\1GRPO_NEED_MARKED_"),
    (r"n \|= GRPO_NEED_STEP_END_", "n |= GRPO_NEED_SEGMENT_END_"),
    (r"(GRPO_CREDIT_PREFIX_TREE\) n \|= )GRPO_NEED_STATE_", r"\1GRPO_NEED_TOKEN_ID_"),
    # who reads them
    (r"b->step_end && b->step_end\[x\.begin - 1\]", "b->segment_end && b->segment_end[x.begin - 1]"),
    (r"b->step_end && b->step_end\[x\.end - 1\]", "b->segment_end && b->segment_end[x.end - 1]"),
    (r"(case GRPO_LIKELIHOOD_SELECTED: *return b->)selected", r"\1nll_mask"),
    (r"(GRPO_SURROGATE_SHAPED && r->batch->)selected", r"\1shaping_mask"),
    (r"(GRPO_KL_ON_ALL \|\| r->batch->)selected", r"\1kl_mask"),
    (r"(b->mask\[y \+ k\]\)\) && b->)state\[x \+ k\] == b->state\[y \+ k\]", r"\1token_id[x + k] == b->token_id[y + k]"),
    (r"(GRPO_MARKED_NONE && b->)selected", r"\1marked"),
    (r"(-A w/\(w \+ shape\) at tokens with batch\.)selected", r"\1shaping_mask"), (r"(\"at tokens with batch\.)selected( \(KL-Cov)", r"\1kl_mask\2"),
    (r"(\"with batch\.)selected( \(CHORD)", r"\1nll_mask\2"), (r"/\* tokens with batch\.selected \*/", "/* tokens with batch.marked */"),
    (r"/\* A at a token with batch\.selected \*/", "/* A at a token with batch.marked */"), (r"as batch\.state names them", "as batch.token_id names them"),
    # the quantile of the ratios of the tokens that are shaped
    (r"over the unmasked tokens of batch\.selected\), interpolated linearly", "over the unmasked tokens of batch.shaping_mask), interpolated linearly"),
    # batches of tests: one array of the test for all
    (r"v\.state = b->state;", "v.state = v.token_id = b->state;"), (r"v\.step_end = b->step_end;", "v.step_end = v.segment_end = b->step_end;"),
    (r"v\.selected = b->selected;", "v.selected = v.kl_mask = v.nll_mask = v.marked = v.shaping_mask = b->selected;"),
    (r"b->state = f->state;", "b->state = b->token_id = f->state;"), (r"b->step_end = f->step_end;", "b->step_end = b->segment_end = f->step_end;"),
    (r"b->selected = f->selected;", "b->selected = b->kl_mask = b->nll_mask = b->marked = b->shaping_mask = f->selected;"),
    (r"v\.step_end = NULL;", "v.step_end = v.segment_end = NULL;"), (r"v\.state = NULL;", "v.state = v.token_id = NULL;"),
    (r"v\.selected = NULL;", "v.selected = v.kl_mask = v.nll_mask = v.marked = v.shaping_mask = NULL;"),
    (r"(apart|packed)\.b\.selected = (\w+);", r"\1.b.selected = \1.b.shaping_mask = \2;"),
    (r"\.step_end = r->step_end,", ".step_end = r->step_end, .segment_end = r->step_end,"),
    # the reader of the vectors
    (r'\{ "step_end", 0, NULL \}, ', '{ "step_end", 0, NULL }, { "segment_end", 0, NULL }, '),
    (r'\{ "selected", 0, NULL \}, ', '{ "selected", 0, NULL }, { "kl_mask", 0, NULL }, { "nll_mask", 0, NULL }, { "marked", 0, NULL }, { "shaping_mask", 0, NULL }, '),
    (r'\{ "state", 0, NULL \},', '{ "state", 0, NULL }, { "token_id", 0, NULL },'),
    (r"(enum \{ GROUP, LENGTH,[^}]*)STEP_END, ", r"\1STEP_END, SEGMENT_END, "), (r"(enum \{ GROUP, LENGTH,[^}]*)SELECTED, ", r"\1SELECTED, KL_MASK, NLL_MASK, MARKED, SHAPING_MASK, "),
    (r"(enum \{ GROUP, LENGTH,[^}]*)STATE, ", r"\1STATE, TOKEN_ID, "),
    (r'( +)\|\| flag_rows\(r, "batch\.step_end", s\[STEP_END\]\.item, &b->step_end\)\n', r'\g<0>\1|| flag_rows(r, "batch.segment_end", s[SEGMENT_END].item, &b->segment_end)\n'),
    (r'( +)\|\| flag_rows\(r, "batch\.selected", s\[SELECTED\]\.item, &b->selected\)\n', r'\g<0>' + "".join(f'\\1|| flag_rows(r, "batch.{m}", s[{m.upper()}].item, &b->{m})\\n' for m in NEW_MASKS)),
    (r'( +)\|\| integer_rows\(r, "batch\.state", s\[STATE\]\.item, &b->state\)\n', r'\g<0>\1|| integer_rows(r, "batch.token_id", s[TOKEN_ID].item, &b->token_id)\n'),
    # the table of needs, and the members that it names
    (r"MEMBER\(step_end, FLAGS\),", "MEMBER(step_end, FLAGS), MEMBER(segment_end, FLAGS),"), (r"MEMBER\(state, INT64\),", "MEMBER(state, INT64), MEMBER(token_id, INT64),"),
    (r"MEMBER\(selected, FLAGS\),", "MEMBER(selected, FLAGS), MEMBER(kl_mask, FLAGS), MEMBER(nll_mask, FLAGS), MEMBER(marked, FLAGS), MEMBER(shaping_mask, FLAGS),"),
    (r'(\{ "[^"]*penalty\.kl_on=selected[^"]*", )"selected"', r'\1"kl_mask"'), (r'(\{ "[^"]*likelihood_on=selected[^"]*", )"selected"', r'\1"nll_mask"'),
    (r'(\{ "[^"]*kind=shaped[^"]*", )"selected"', r'\1"shaping_mask"'), (r'(\{ "[^"]*advantage\.marked=\w+[^"]*", )"selected"', r'\1"marked"'),
    (r'(\{ "[^"]*credit=prefix_tree[^"]*", )"state"', r'\1"token_id"'), (r'(\{ "[^"]*(?:segment|prefix_sum|gate=sequence)[^"]*", )"step_end"', r'\1"segment_end"'),
    (r'write_flag_rows\(t, "step_end", is_step_end\);', 'write_flag_rows(t, "step_end", is_step_end);\n    write_flag_rows(t, "segment_end", is_step_end);'),
    (r'write_flag_rows\(t, "selected", is_selected\);', 'write_flag_rows(t, "selected", is_selected);\n' + "".join(f'    write_flag_rows(t, "{m}", is_selected);\n' for m in NEW_MASKS).rstrip("\n")),
)
PY_ARRAYS = (
    (r'reads=\("selected",\)', 'reads=("shaping_mask",)'),
    (r'arrays \|= \{"state"\} if a\["credit"\] == "prefix_tree"', 'arrays |= {"token_id"} if a["credit"] == "prefix_tree"'),
    (r'(if a\["marked"\] != "none":\n +arrays \|= )\{"selected"\}', r'\1{"marked"}'),
    (r'"selected": \{"selected"\}\}\.get\(penalty', '"selected": {"nll_mask"}}.get(penalty'),
    (r'arrays \|= \{"step_end"\} if penalty\["likelihood_gate"\]', 'arrays |= {"segment_end"} if penalty["likelihood_gate"]'),
    (r'(if o\["surrogate"\]\["kind"\] == "shaped":\n +arrays \|= )\{"selected"\}', r'\1{"shaping_mask"}'),
    (r'if weight\["selected"\] != "all" or penalty\["kl_on"\] == "selected":\n( +)arrays \|= \{"selected"\}',
     r'if weight["selected"] != "all":\n\1arrays |= {"selected"}\n    if penalty["kl_on"] == "selected":\n\1arrays |= {"kl_mask"}'),
    (r'(if names_segments\(o\):\n +arrays \|= )\{"step_end"\}', r'\1{"segment_end"}'),
    (r'"step_reward", "step_end", "state", "mask", "selected",', '"step_reward", "step_end", "segment_end", "state", "token_id", "mask", "selected", "kl_mask", "nll_mask", "marked", "shaping_mask",'),
    (r'LATER = \{"outside", "clip_low", "clip_high"\}', 'COPIES = {"segment_end": "step_end", "token_id": "state", "kl_mask": "selected", "nll_mask": "selected", "marked": "selected",\n          "shaping_mask": "selected"}  # what a batch has of them unless a case says otherwise\nLATER = {"outside", "clip_low", "clip_high", *COPIES}'),
    (r'(def finish\(o, batch\):\n +"""[^\n]*"""\n)', r'\1    for new, like_this in COPIES.items():\n        if like_this in batch:\n            batch.setdefault(new, batch[like_this])\n'),
    (r'for key, rows in batch\.items\(\):\n( +)for row in rows if key != "state" else \(\):', r'for key, rows in batch.items():\n\1for row in rows if key not in ("state", "token_id") else ():'),
    (r'segments\.numbered\(batch\["step_end"\]\[i\]\) if "step_end" in batch', 'segments.numbered(batch["segment_end"][i]) if "segment_end" in batch'),
    (r'( +)token\.selected = "selected" in batch and batch\["selected"\]\[i\]\[t\]\n', r'\1for mask in ("selected", "kl_mask", "nll_mask", "marked", "shaping_mask"):\n\1    setattr(token, mask, mask in batch and batch[mask][i][t])\n'),
    (r'( +)token\.state = batch\["state"\]\[i\]\[t\] if "state" in batch else None\n', r'\g<0>\1token.token_id = batch["token_id"][i][t] if "token_id" in batch else None\n'),
    (r'"selected": lambda t: t\.selected', '"selected": lambda t: t.nll_mask'), (r'"selected": lambda token: token\.selected', '"selected": lambda token: token.kl_mask'),
    (r'\{t\.t: t\.state for t', '{t.t: t.token_id for t'), (r'"position", "selected", "clip_low"', '"position", "shaping_mask", "clip_low"'),
    (r's\["selected"\]', 's["shaping_mask"]'), (r'if t\.selected else a for', 'if t.marked else a for'),
    (r'that end where `step_end` is true', 'that end where `segment_end` is true'),
    (r'return \{\*\*batch, "step_end": \[\[ends\]', 'return {**batch, "segment_end": [[ends]'), (r'ends = batch\["step_end"\]', 'ends = batch["segment_end"]'),
    (r'sum\(raw\["step_end"\]', 'sum(raw["segment_end"]'), (r'for row in batch\["state"\]\]', 'for row in batch["token_id"]]'),
    (r'\{\*\*batch, "state": \[\[100', '{**batch, "token_id": [[100'),
    (r'keys = \("advantage", "logp", "logp_old", "selected"\)', 'keys = ("advantage", "logp", "logp_old", "shaping_mask")'),
    (r'by\("selected", selected=', 'by("selected", nll_mask='),
    (r'for rows in zip\(none, every, batch\["selected"\]\)', 'for rows in zip(none, every, batch["kl_mask"])'),
)


def step_arrays(tree):
    for name in tree.each(".h", ".c"):
        text = tree.text[name]
        if name == "grpo.h" and "segment_end" in text:
            return
        for old, new in C_ARRAYS:
            text = re.sub(old, new, text)
        tree.text[name] = text
    text = tree.text.get("extra/grpo_control.h")
    if text:                                                  # grpo_ratio_quantile
        m = re.search(r"^grpo_status grpo_ratio_quantile\([^;{]*\{.*?^\}", text, re.M | re.S)
        if m:
            body = m.group(0).replace("batch->selected", "batch->shaping_mask").replace("GRPO_NEED_SELECTED_", "GRPO_NEED_SHAPING_MASK_")
            tree.text["extra/grpo_control.h"] = text[:m.start()] + body + text[m.end():]
    for name in tree.each(".py"):
        if name.startswith("tests/oracle/"):
            for old, new in PY_ARRAYS:
                tree.edit(name, lambda text: re.sub(old, new, text))
            if "def ratio_quantile" in tree.text[name] or "ratio_quantile" in tree.text[name]:
                tree.edit(name, quantile_mask)
    for name in tree.each("schema.json"):
        tree.edit(name, schema_arrays)


def quantile_mask(text):
    """the function, its cases and its checks: blocks of code that name it"""
    parts = re.split(r"(?m)^(?=@|def |class )", text)
    return "".join(re.sub(r'(["\']|\b)selected(["\']|=)', lambda m: m.group(0).replace("selected", "shaping_mask"), p) if "ratio_quantile" in p else p for p in parts)


def schema_arrays(text):
    def more(m):
        new = {"step_end": ["segment_end"], "selected": NEW_MASKS, "state": ["token_id"]}[m.group(2)]
        return m.group(0) + "".join(f'{m.group(1)}"{n}": {m.group(3)},\n' for n in new)
    if '"segment_end"' in text:
        return text
    return re.sub(r'( +)"(step_end|selected|state)": (\{ (?:"\$ref": "#/\$defs/switches"|"type": "array", "items": \{ "type": "array", "items": \{ "type": "integer"[^\n]*) ?\}),\n', more, text)


def split_arrays(case):
    """of a case with the old names: the arrays that its objective reads"""
    batch, o = case["batch"], case.get("objective")
    if o is None:
        if case.get("function") == "ratio_quantile":
            return renamed(batch, {"selected": "shaping_mask"})
        return batch
    given, everything = "advantage" in batch, "every-array" in case["id"]
    a, p, w, s, r, g = (o.get(axis, {}) for axis in ("advantage", "penalty", "weight", "surrogate", "ratio", "aggregation"))
    masks = [n for n, there in (("kl_mask", p.get("kl_on") == "selected"), ("nll_mask", p.get("likelihood_on") == "selected"), ("marked", not given and a.get("marked", "none") != "none"),
                                ("shaping_mask", s.get("kind") == "shaped")) if there]
    segments = any("segment_" in str(x) for x in (r.get("unit"), w.get("correction_unit"), w.get("reject_unit"), g.get("kind"))) or p.get("likelihood_gate") == "segment"
    steps = not given and a.get("credit") in ("step", "step_own", "episode_step", "step_gae")
    tree = not given and a.get("credit") == "prefix_tree"
    out = {}
    for key, x in batch.items():
        if key == "selected":
            new = (["selected"] if w.get("selected", "all") != "all" or everything or not masks else []) + masks
        elif key == "step_end":
            new = (["step_end"] if steps or everything or not segments else []) + (["segment_end"] if segments else [])
        elif key == "state":
            new = (["state"] if a.get("step_group") in ("state", "history") or everything or not tree else []) + (["token_id"] if tree else [])
        else:
            new = [key]
        out.update({n: x for n in new})
    return out


def step_pages(tree):
    """schema.json, DEFECTS.md and functions/*.md, as the renamed oracle writes them from the files that are there"""
    write = "import sys; sys.dont_write_bytecode = True; import generate as g; [open(g.path(n), 'w', encoding='ascii', newline='\\n').write(c) for n, c in g.files([])]"
    done = subprocess.run(["/usr/bin/python3", "-c", write], cwd=os.path.join(tree.root, "tests/oracle"), capture_output=True, text=True)
    print("pages:", done.stderr.strip()[-300:] or "written")


# ---- pages: words in backquotes, by the axis of the heading (or the file) and the field of the row

def rename_page(text, name):
    base = os.path.basename(name)[:-3]
    axis = base if base in AXES else None
    surrogate = False
    out = []
    for line in text.split("\n"):
        m = re.match(r"#+ +(?:The )?`?([a-z]+)`?", line)
        if m and line.startswith("#"):
            word = m.group(1)
            axis = word if word in AXES else axis if base in AXES else (axis if line.startswith("####") else None)
        row = re.match(r"\| *((?:`[a-z0-9_]+`(?:, *)?)+)", line)
        fields = re.findall(r"`([a-z0-9_]+)`", row.group(1)) if row else []
        path = axis + "." + fields[0] if axis and fields and axis + "." + fields[0] in CHOICE else None
        kinds = axis == "surrogate" and fields and fields[0] in ALL_KINDS

        def word_of(w):
            word = w.group(1)
            if axis is None:
                return "`" + UNIQUE_CHOICES.get(word, word) + "`"
            if path and word != fields[0] and word in CHOICE[path]:
                return "`" + CHOICE[path][word] + "`"
            if axis + "." + word in FIELD and not (kinds and word == fields[0] and word in KINDS):
                return "`" + FIELD[axis + "." + word].split(".")[1] + "`"
            if axis == "surrogate" and word in KINDS:
                return "`" + KINDS[word] + "`"
            return "`" + UNIQUE_CHOICES.get(word, UNRESOLVED.get(word, word) if word in ("nothing", "lost") else word) + "`"
        out.append(re.sub(r"`([a-z][a-z0-9_]*)`", word_of, line))
    return "\n".join(out)


def step_prose(tree):
    for name in tree.each(".md"):
        if name.startswith("tests/vectors/") and "/functions/" not in name and not name.endswith(("DEFECTS.md", "CATALOGUE.md")):
            tree.edit(name, lambda text: rename_page(text, name))


STEPS = {"arrays": step_arrays, "schema": step_schema, "tables": step_tables, "csplits": step_csplits, "snapshot": step_snapshot, "prose": step_prose, "presets": step_presets, "splits": step_splits, "python": step_python, "paths": step_paths, "words": step_words, "members": step_members, "layout": step_layout, "json": step_json, "files": step_files, "ids": step_ids, "pages": step_pages}


def main():
    root = os.path.abspath(sys.argv[1])
    steps = sys.argv[sys.argv.index("--only") + 1].split(",") if "--only" in sys.argv else list(STEPS)
    tree = Tree(root)
    if "--only" not in sys.argv and "GRPO_LEVEL_SEQUENCE_MEAN" in tree.text["grpo.h"]:
        print("renamed already")
        return 0
    for step in steps:
        STEPS[step](tree)
        print(step, tree.save(), "files", flush=True)
    if "--log" in sys.argv:
        with open(sys.argv[sys.argv.index("--log") + 1], "w") as f:
            f.write("\n".join(log_lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
