#!/usr/bin/env python3
"""The explorer's page in a browser without a window: every number of every row has the bits that the headers give when they are compiled
here; all controls have labels, nothing is wider than a phone, nothing comes from a network, no script fails, an address that names no
objective is answered in words, the small policy learns.  Ends with "N passed, N failed"; says that it is skipped where there is no
chromium."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "explorer.html")
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
        return subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}",
                               f"--window-size={width},900", "--virtual-time-budget=30000", "--dump-dom", f"file://{PAGE}#{fragment}"],
                              capture_output=True, text=True, timeout=120, check=False).stdout


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
        subprocess.run([os.environ.get("CC", "cc"), "-std=c99", "-O1", "-ffp-contract=off", "-DEXPLORER_MAIN", os.path.join(HERE, "explorer.c"), "-lm",
                        "-o", program], check=True)
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


def trained(fragment):
    """Of A and of B, the last batch's mean reward, clip fraction, tokens per response, entropy per token; and what is said of training."""
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
    (a, b), said = trained("a=gspo&b=vapo")
    verdict("a row that reads what the small policy has not says so",
            a[0] > 0.9 and b == [0] * 4 and "B does not train here: batch.value is NULL" in said, said)


def check_evidence():
    out = dumped("a=cispo&b=cispo&b.surrogate.weight_max=3", 1200)
    sides = [re.sub(r"<[^>]+>", " ", part) for part in out.split('id="about-')[1:3]]
    words = [("What it is: paper." in side, re.search(r"surrogate.weight_max = \d\s+chosen here", side) is not None) for side in sides]
    verdict("what a row is, and what was chosen here, but not of a field that was changed", words == [(True, True), (True, False)], str(words))


def check_network():
    with open(PAGE, encoding="utf-8") as f:
        text = f.read()
    outside = [x for x in re.findall(r"""(?:src|href|url|fetch|import)\s*[=(]\s*["']?(https?:)?//""", text)]
    verdict("nothing comes from a network", not outside and "default-src 'none'" in text, str(outside[:3]))


check_numbers()
check_look()
check_address()
check_training()
check_evidence()
check_network()
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
