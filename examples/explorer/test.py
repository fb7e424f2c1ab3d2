#!/usr/bin/env python3
"""The explorer's page in a browser without a window: every number of every row has the bits that the headers give when they are compiled
here; all controls have labels, colours have contrast, nothing is wider than a phone, nothing comes from a network, no script fails, an
address that names no objective is answered in words, the curves and the small policy show what the page says.  Ends with "N passed, N
failed"; says that it is skipped where there is no chromium."""
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "explorer.html")
HEADLESS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=30000", "--dump-dom"]
COMPILE = [os.environ.get("CC", "cc"), "-std=c99", "-O1", "-ffp-contract=off", "-DEXPLORER_MAIN", os.path.join(HERE, "explorer.c"), "-lm"]
passed = failed = 0


def verdict(what, right, told=""):
    global passed, failed
    passed, failed = passed + bool(right), failed + (not right)
    print(f"{'ok  ' if right else 'FAIL'} {what}{'' if right else ': ' + told}")


def dumped(fragment, width):
    """The page when its script has run."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        print("skipped: no chromium")
        sys.exit(0)
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, *HEADLESS, f"--user-data-dir={profile}", f"--window-size={width},900", f"file://{PAGE}#{fragment}"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout


def shown(fragment, width):
    """What the page has written at its end, and its title.  A busy machine's browser may stop before the page's script has: asked again."""
    for _ in range(3):
        out = dumped(fragment, width)
        found = re.search(r'<pre id="found">(.*?)</pre>', out, re.S)
        if found:
            break
    title = re.search(r"<title>(.*?)</title>", out, re.S)
    return found.group(1).strip().splitlines() if found else [], title.group(1) if title else "no page"


def computed():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "explorer")
        subprocess.run([*COMPILE, "-o", program], check=True)
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout.strip().splitlines()


def check_numbers():
    page, title = shown("test", 1200)
    here = computed()
    verdict("no script fails", not title.startswith("error") and page, title)
    differ = [a for a, b in zip(page, here) if a != b]
    verdict(f"{len(here)} lines of numbers of {len(here) // 6} rows have the bits of the library",
            len(page) == len(here) > 1000 and not differ, f"{len(page)} lines, {len(differ)} differ, first {differ[:1]}"[:300])


def check_look():
    page, _ = shown("look", 500)
    n = [int(x) for x in re.findall(r"\d+", page[0])] if page else [0] * 6
    verdict(f"on a phone of {n[1]} pixels it is {n[0]} wide", 0 < n[0] <= n[1], str(page))
    verdict(f"{n[2]} controls, all with labels", 0 < n[2] == n[3], str(page))
    verdict(f"{n[4]} curves, settings of the row are shown", n[4] == 8 and n[5] > 5, str(page))


def check_address():
    for what, fragment, right in (
            ("the address names the two objectives", "a=dapo&b=cispo", ["shown dapo cispo", "changed nothing", "said"]),
            ("the address changes fields, and the page says which", "a=dapo&b=cispo&b.surrogate.weight_max=3&b.penalty.kl=k2",
             ["shown dapo cispo", "changed Changed: surrogate.weight_max 5 \u2192 3, penalty.kl none \u2192 k2.", "said"]),
            ("a name that there is none of is said", "a=nosuch&b=dapo&b.nosuch=1&b.penalty.kl=k9",
             ["shown grpo dapo", "changed nothing", 'said No objective is named "nosuch": A is grpo. No field is named "nosuch". '
              'penalty.kl has no choice "k9".'])):
        page, _ = shown("look&" + fragment, 500)
        verdict(what, [line.strip() for line in page[1:4]] == right, str(page))


    page, _ = shown("look&a=grpo&b=gspo&others=0&from=1&scale=nosuch", 500)
    verdict("the address chooses too, of what there is", page and page[0].endswith(", others 0, from 1, scale own"), str(page[:1]))


def captions(fragment):
    """What the page says below the gradients, for A > 0 and for A < 0, at the token's log-ratio; and the page."""
    page = dumped(fragment, 1200)
    return [re.sub(".*: ", "", text) for text in re.findall("<figcaption>(Advantage[^<]*gradient[^<]*)<", page)], page


def check_curves():
    """What the page tells its reader to try."""
    said, _ = captions("a=dapo&b=cispo&log-ratio=1&reach=1")
    verdict("where DAPO's clip leaves no gradient, CISPO keeps one", said == ["A 0, B -2.718", "A 2.718, B 2.718"], str(said))
    _, page = captions("a=grpo&b=gspo&log-ratio=0&reach=-7&others=0")
    clipped = sum(k * 2**-7 / 80 - 2**-7 > 6 * math.log(1 + 4e-4) for k in range(161))
    stripes = page.split("<figcaption>", 1)[0].count('class="stripe-b"')
    verdict("with the others at 0 GSPO's clip begins at T log(1 + eps_high)", stripes == clipped > 50, f"{stripes} points, not {clipped}")
    with_kl = "a=grpo&a.penalty.kl_coef=1&b=grpo&b.penalty.kl=k2&b.penalty.kl_coef=1&reach=1&advantage=0.125&log-ratio="
    pulls = [captions(with_kl + "1")[0][:1], captions(with_kl + "-1")[0][1:]]
    verdict("the pulls of k3 and k2, where only they are left", pulls == [["A 0.6321, B 1"], ["A -1.718, B -1"]], str(pulls))


def check_contrast():
    with open(os.path.join(HERE, "page.html"), encoding="utf-8") as f:
        text = f.read()

    def light(colour):
        digits = colour if len(colour) == 6 else "".join(2 * c for c in colour)
        part = [int(digits[k:k + 2], 16) / 255 for k in (0, 2, 4)]
        return sum(w * (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055)**2.4) for w, x in zip((0.2126, 0.7152, 0.0722), part))

    low, colours = [], {}
    for rules in re.findall(r":root \{([^}]*)\}", text):                    # the light ones, then what is other in the dark
        colours |= dict(re.findall("--([a-z]+): #([0-9a-f]+)", rules))
        for name, least in (("a", 4.5), ("b", 4.5), ("ink", 4.5), ("line", 3)):
            x, y = sorted((light(colours[name]), light(colours["paper"])))
            low += [f"{name} {(y + 0.05) / (x + 0.05):.2f}"] if (y + 0.05) / (x + 0.05) < least else []
    verdict("text and lines have contrast, light and dark", not low and len(colours) > 5, str(low))


def trained(fragment):
    """Of A and of B, the last batch's mean reward, clip fraction, tokens per response, entropy per token, then the mean clip fraction of
    all batches; and what is said of training."""
    page, _ = shown("look&" + fragment, 500)
    sides = page[4].removeprefix("trained ").split(", ") if len(page) > 4 else ["", ""]
    return [[float(x) for x in side.split()] or [0] * 4 for side in sides], " ".join(page[5:])


def check_training():
    """What the page tells its reader to try."""
    (a, b), _ = trained("a=dapo&b=cispo&updates=1")
    verdict("with one step on each batch, DAPO and CISPO are one curve, and learn", a == b and a[0] > 0.9 and a[1] == 0, str((a, b)))
    (a, b), _ = trained("a=dapo&b=reinforce&updates=16")
    verdict("with sixteen REINFORCE's entropy is gone, DAPO's is not", a[3] > 0.1 and b[3] < 0.05, str((a, b)))
    (a, b), _ = trained("a=grpo&b=grpo&b.penalty.kl=none")
    verdict("GRPO's KL holds lengths and entropy", a[2] > 1.2 * b[2] and a[3] > 2 * b[3] and min(a[0], b[0]) > 0.9, str((a, b)))
    (a, b), _ = trained("a=gspo&b=grpo&b.penalty.kl=none")
    verdict("GSPO clips many times as many tokens as GRPO, and learns", a[4] > 5 * b[4] > 0 and min(a[0], b[0]) > 0.9, str((a, b)))
    (a, b), said = trained("a=gspo&b=vapo")
    verdict("a row that reads what the small policy has not says so",
            a[0] > 0.9 and b == [0] * 4 and "B does not train here: batch.value is NULL" in said, said)


def check_evidence():
    out = dumped("a=cispo&b=cispo&b.surrogate.weight_max=3", 1200)
    sides = [re.sub(r"<[^>]+>", " ", part) for part in out.split('id="about-')[1:3]]
    words = [("What it is: paper." in side, re.search(r"surrogate.weight_max = \d\s+chosen here", side) is not None) for side in sides]
    menu = out.split("<script>")[0]
    verdict("every row is under its heading of OBJECTIVES.md", "<optgroup" in out and "Not in OBJECTIVES.md" not in menu)
    verdict("what a row is, and what was chosen here, but not of a field that was changed",
            words == [(True, True), (True, False)], str(words))


def check_configurations():
    """The names of rows that a framework's configuration gives, with choices that the page leaves out because they are the first."""
    with open(PAGE, encoding="utf-8") as f:
        known = re.findall(r'"framework":"(\w+)","options":"([^"]*)"', f.read())
    told = [re.sub(r"<[^>]+>", " ", part) for part in dumped("a=trl-grpo&b=verl-gspo", 1200).split('id="about-')[1:3]]
    said = [re.findall(r"(?:trl|verl): [^\n]+", part) for part in told]
    verdict("a row says which configuration of a framework gives it", ("trl", "loss_type = grpo") in known
            and any(t.startswith("trl: loss_type = grpo ") for t in said[0]) and len(said[1]) > 0, str(said))
    out = dumped("a=trl-grpo&a.surrogate.eps_high=0.3&b=grpo", 1200)
    verdict("and a changed row does not", out.count("No configuration of TRL or verl") >= 2)


def check_sampler():
    corrected, without = (captions("a=tis&b=tis&log-ratio=0.5&sampler=" + x)[0] for x in ("0.5", "0"))
    verdict("the sampler's probabilities are those of the slider", corrected != without, f"{corrected} {without}")


def check_network():
    with open(PAGE, encoding="utf-8") as f:
        text = f.read()
    outside = [x for x in re.findall(r"""(?:src|href|url|fetch|import)\s*[=(]\s*["']?(https?:)?//""", text)]
    verdict("nothing comes from a network", not outside and "default-src 'none'" in text, str(outside[:3]))


check_numbers()
check_look()
check_address()
check_curves()
check_contrast()
check_training()
check_evidence()
check_configurations()
check_sampler()
check_network()
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
