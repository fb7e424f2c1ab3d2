"""Reads the options that a shell script gives to its commands, without running anything.

Variables that the script itself sets are replaced by their values, arrays by their words, ${NAME:-value} by the value (the script is taken
as started without arguments, in an environment that sets none of its variables: `outside` has the names). What is not known, as the output
of a command, stays as it is written, with its $. A variable that is set under a condition, in a loop or in a function is not known
afterwards; nor is an option that Hydra's ~ deletes."""
import os
import re

SUB = r"\$\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"
BRACES = r"\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}"
QUOTED = r'"(?:\\.|' + SUB + r'|[^"\\$]|\$(?!\())*"'
PART = rf"""\\.|'[^']*'|{QUOTED}|{SUB}|{BRACES}|`[^`]*`"""
TOKEN = re.compile(rf"""(?P<blank>(?:[ \t]|\\\n)+) | (?P<comment>\#[^\n]*) | (?P<redirect>(?:\d*|&)(?:<<<|>>|>\||>|<(?!\())(?:&\d*-?)?)
    | (?P<stop>\n|;;|;|&&|\|\||\||&|\(|\)) | (?P<word>(?:{PART}|[^\s;&|()<>'"\\`])+) | (?P<other>.)""", re.X | re.S)
EXPANSION = re.compile(rf"{SUB}|{BRACES}|\$\w+|\$[@*#?!$-]|`[^`]*`", re.S)
HERE_READ = re.compile(r"(?:^|(?<=[\n;]))[ \t]*read (?:-r |-d *(?:''|\"\") )+(\w+)[ \t]*$")  # of the text before a here-document
HERE_TEXT = re.compile(r"(?<!<)<<-?\s*(['\"\\]?)(\w+)['\"]?([^\n]*)\n(?:.*?\n)?[ \t]*\2[ \t]*(?=\n|$)", re.S)
OPEN, CLOSE = ("if", "while", "until", "for", "case", "{"), ("fi", "done", "esac", "}")
BETWEEN = ("then", "else", "elif", "do", "!", "time", "exec")
SETS = ("export", "declare", "local", "readonly", "typeset")
READS = ("read", "readarray", "mapfile", "getopts", "unset")
SILENT = ("echo", "printf", "[", "[[", "test", "exit", "set", "shift", "trap", "cd", "mkdir")


def without_here(text):
    """(the text without the bodies of its here-documents, the names of those that were left out). `read -d '' NAME <<END` becomes an
    assignment."""
    left, done, at = [], "", 0
    for found in HERE_TEXT.finditer(text):
        done += text[at:found.start()]
        at, body = found.end(), text[found.end(3) + 1:found.end()].rpartition("\n")[0]
        name = HERE_READ.search(done)
        if name and not found[3].strip():
            quoted = "'" + body.replace("'", "'\\''") + "'" if found[1] else '"' + body.replace('"', '\\"') + '"'
            done = done[:name.start()] + f"{name[1]}={quoted}"
        else:
            done += found[3]
            left.append(found[2])
    return done + text[at:], left


class Perhaps(str):
    """A word that a command gets under a condition."""


def tokens(text):
    """(kind, text) of the words, operators and line ends; a # within a word begins no comment, a comment ends at its line."""
    for found in TOKEN.finditer(text):
        if found.lastgroup not in ("blank", "comment"):
            yield found.lastgroup, found[0]


def arithmetic(text):
    """The value of a whole-number expression, or None."""
    if not re.fullmatch(r"[\d\s+*/%()-]{1,80}", text) or "**" in text:
        return None
    try:
        return str(eval(text.replace("/", "//"), {"__builtins__": {}}))  # digits and + - * / % ( ) only
    except (SyntaxError, ZeroDivisionError, TypeError):
        return None


class Script:
    def __init__(self, path=None):
        self.path, self.names, self.commands, self.lost, self.messages, self.outside = path, {}, [], [], [], []
        self.depth, self.above, self.stops = [], [], "\n"

    # ---- expansion

    def variable(self, text):
        """The string or the list of words of $NAME or ${...}; None if it is not known."""
        found = re.fullmatch(r"\$\{?([\w@*]+?)(?:\[[@*]\])?(?:(:?[-=+?])(.*?))?\}?", text, re.S)
        if not found:
            return None
        name, step, other = found.groups()
        value = self.names.get(name)
        if name not in self.names:  # of the environment, or an argument
            if not step and name not in "@*":
                return None
            self.outside += [name] if name not in self.outside else []
            return "" if name in ("@", "*") or step in ("+", ":+") else self.expanded(other) if step in ("-", ":-", "=", ":=") else None
        if step and value is not None:
            empty = value in ("", []) and step[0] == ":"
            return (("" if empty else self.expanded(other)) if "+" in step else self.expanded(other) if empty else value)
        return value

    def replaced(self, text):
        """[words] for a text with expansions; joins only strings."""
        def one(found):
            raw = found[0]
            if raw.startswith("$(("):
                inner = re.sub(r"\$?\{?\b([A-Za-z_]\w*)\}?", lambda name: self.string("${" + name[1] + "}"), raw[3:-2])
                return arithmetic(inner) or raw
            return self.string(raw)
        return EXPANSION.sub(one, text)

    def string(self, raw):
        value = self.variable(raw)
        return raw if value is None else " ".join(value) if isinstance(value, list) else value

    def expanded(self, word):
        """A word as one string, without its quotes."""
        def one(found):
            part = found[0]
            if part[0] == "'":
                return part[1:-1]
            if part[0] == "\\":
                return "" if part[1] == "\n" else part[1]
            if part[0] == '"':
                inside = re.split(r"(\\[\s\S])", part[1:-1])  # every second one is an escaped character
                text = lambda x: "" if x == "\\\n" else x[1] if x[1] in '"\\$`' else x
                return "".join(text(x) if i % 2 else self.replaced(x) for i, x in enumerate(inside))
            return self.replaced(part)
        return re.sub(rf"{PART}|[^'\"\\`$]+|\$\w+|\$.", one, word, flags=re.S)

    def words(self, raw):
        """The words that a command gets for one word of the script: several for an array or a string with blanks, none for "$@"."""
        guarded = re.fullmatch(r'"?\$\{(\w+)\[[@*]\]:?\+"?(\$\{\1\[[@*]\]\})"?\}"?', raw)
        if guarded:  # ${NAME[@]+"${NAME[@]}"}, for an array that may be empty
            return self.words(f'"{guarded[2]}"')
        found = re.fullmatch(r'"?(\$\{?[\w@*]+(?:\[[@*]\])?(?::?[-+].*?)?\}?)"?', raw, re.S)
        value = self.variable(found[1]) if found else None
        if isinstance(value, list):
            return value
        if value is not None and raw[0] != '"':
            return [value] if "$(" in value else value.split()
        if value == "" and "@" in raw:
            return []
        return [self.expanded(raw)]

    # ---- statements

    def conditional(self):
        return bool(self.depth) or self.stops in ("&&", "||")

    def assign(self, name, value, more):
        before = self.names.get(name)
        if self.conditional() and before != value and re.search(r"(^|\s)--\w|^\+*\w+\.\S*=", value if isinstance(value, str) else ""):
            value, before = value.split(), before.split() if isinstance(before, str) else before  # options in a string
        if self.conditional() and isinstance(value, list):  # each word may be given or not
            before = before if isinstance(before, list) else []
            value = (before if more else [Perhaps(word) for word in before]) + [Perhaps(word) for word in value]
        elif more and not (name in self.names and before is None):
            value = (before or []) + value if isinstance(value, list) else (before or "") + value
        elif more or self.conditional() and before != value:
            value = None
        self.names[name] = value

    def statement(self, words, stop):
        """words: (text, None) or (NAME= or NAME+=, words of an array)"""
        while words and words[0][1] is None and words[0][0] in OPEN + CLOSE + BETWEEN:
            word = words.pop(0)[0]
            if word in OPEN:
                self.depth.append(word)
            elif word in CLOSE and self.depth:
                self.depth.pop()
            if word == "for" and words:
                self.names[words[0][0]] = None
            if word in ("for", "case"):
                words = []
        if stop == ")" and self.depth[-1:] == ["case"]:
            words = []  # a pattern
        if words and words[0][0] in SETS:
            words = [(text if array is not None else self.expanded(text) if text[0] in "'\"" else text, array) for text, array in words[1:]]
            self.assignments([word for word in words if re.match(r"[A-Za-z_]\w*\+?=", word[0])])
            words = []
        if words and (words[0][0] in READS or [text for text, _ in words[:2]] == ["printf", "-v"]):
            self.names.update({text: None for text, _ in words[1:] if re.fullmatch(r"[A-Za-z_]\w*", text)})
            words = []
        set_ = [word for word in words if re.match(r"[A-Za-z_]\w*\+?=", word[0])]
        if set_ == words:
            self.assignments(words)
            words = []
        while words and words[0] in set_:
            words = words[1:]  # only for that command
        if words and words[0][0] not in SILENT:
            self.command([text for text, _ in words])
        self.stops = stop

    def assignments(self, words):
        for text, array in words:
            name, value = re.match(r"(\w+\+?)=(.*)$", text, re.S).groups()
            value = self.expanded(value) if array is None else [word for raw in array for word in self.words(raw)]
            self.assign(name.rstrip("+"), value, name.endswith("+"))

    def command(self, raw):
        words = [word for text in raw for word in self.words(text)]
        inner = next((after for word, after in zip(words, words[1:]) if re.fullmatch(r"-l?c", word) and re.search(r"\s", after)), None)
        if words[:1] == ["eval"]:
            self.run(" ".join(words[1:]))
        elif inner:  # bash -c '...'
            self.run(inner)
        elif words and words[0] in ("source", ".") and len(words) > 1:
            self.source(words[1])
        elif words and re.match(r"-|\+{0,2}\w+\.[\w.]+=", words[0]) and len(self.commands) and self.path:
            self.lost.append(words)
        elif words:
            self.commands.append(words)

    def source(self, name):
        path = beside(name, self.path)
        if path in (None, self.path):
            self.messages.append("not read: " + name)
            return
        own, self.path = self.path, path
        if len(self.above) < 8:  # scripts can name each other
            self.above.append(own)
            with open(path, encoding="utf-8") as f:
                self.run(f.read())
            self.above.pop()
        self.path = own

    def run(self, text):
        text, left = without_here(text.replace("\r\n", "\n"))
        self.messages += [f"not read: the lines up to {name}" for name in left]
        words, array, skip, last = [], None, False, ""
        for kind, token in [*tokens(text), ("stop", "\n")]:
            if array is not None:
                if token == ")" and kind == "stop":
                    words.append((array[0], array[1]))
                    array = None
                elif kind == "word":
                    array[1].append(token)
            elif kind == "stop" and token == "(" and words and re.fullmatch(r"[A-Za-z_]\w*\+?=", last):
                array = (words.pop()[0], [])
            elif kind == "redirect":
                skip = not re.search(r"&[\d-]", token)
            elif kind == "word" and not skip:
                words.append((token, None))
            elif kind == "word":
                skip = False
            elif kind == "stop":
                self.statement(words, token)
                words = []
            last = token
        return self


def beside(name, path):
    """The file that a script names: relative to its folder or one above, without a leading variable; None if there is none."""
    name, folder = re.sub(rf"^(?:{SUB}|{BRACES}|\$\w+)/", "", name), os.path.dirname(os.path.abspath(path or "."))
    while "$" not in name:
        found = os.path.join(folder, name)
        if os.path.isfile(found):
            return found
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)
    return None


HYDRA = {"-cn": "config-name", "-cp": "config-path", "-cd": "config-dir"}


def options(words, scalar):
    """{name: value} of `--key value ...`, `--key=value`, `--switch`, `@ FILE` and `key=value` (also with Hydra's + before it, or its ~key),
    and messages."""
    flat, key, more, messages = {}, None, False, []  # more: the key has a value
    value = lambda text, word: f"$(under a condition: {text})" if isinstance(word, Perhaps) else scalar(text)
    unknown = lambda word: re.fullmatch(rf"\$\w+|\$\{{\w+(\[[@*]\])?\}}|{SUB}", word)
    for before, word in zip(["", *words], words):
        found = re.match(r"(--|\+{0,2})([A-Za-z_][\w.\-/@]*)=(.*)$", word, re.S)
        if found:
            flat[found[2]], key = value(found[3], word), None
        elif re.fullmatch(r"~[A-Za-z_][\w.\-/@]*(=.*)?", word):
            flat[word[1:].split("=")[0]], key = "$(deleted)", None
        elif word in HYDRA or re.match(r"--\S*$", word):
            key, more = HYDRA.get(word, word[2:]), False
            flat[key] = value("true", word)
        elif word == "@":  # prime-rl's @ FILE
            key, more = "config", "config" in flat
        elif before in ("rlhf", "swift.cli.rlhf") and word.endswith((".yaml", ".yml", ".json")):  # ms-swift's
            flat["config"] = word
        elif unknown(word) and (more or not key):
            messages.append("not read: " + word)
        elif key:
            flat[key] = (flat[key] if isinstance(flat[key], list) else [flat[key]]) + [value(word, word)] if more else value(word, word)
            more = True
    flat.pop("", None)
    return flat, messages if flat else []


def read(text, path, scalar):
    """({option: value}, messages) of a script, or of a text that has only options. An option to which two commands give different values
    is not known."""
    script = Script(path).run(text)
    if not script.commands:  # only options: they look like assignments
        script.commands = [[name + "=" + (value if isinstance(value, str) else "") for name, value in script.names.items()]]
    every = {}  # {option: the values that commands give it}
    for words in script.commands:
        given, messages = options(words, scalar)
        script.messages += messages
        for key, value in given.items():
            every[key] = every.get(key, []) + [value] * (value not in every.get(key, []))
    flat = {key: x[0] if len(x) == 1 else f"$(several commands: {', '.join(map(str, x))})" for key, x in every.items()}
    for words in script.lost:
        script.messages.append("not given to any command, as the line before does not go on: " + " ".join(words)[:100])
        for key, value in options(words, scalar)[0].items():
            flat.setdefault(key, f"$(not given to any command: {value})")
    if script.outside:
        script.messages.append("taken as not set when the script starts: " + " ".join("$" + name for name in sorted(script.outside)))
    return flat, script.messages
