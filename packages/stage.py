"""python3 packages/stage.py FOLDER [LANGUAGE...]: the packages of rust, npm and go as their tools want them, with the vectors inside."""

import json
import pathlib
import shutil
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
VERSION = (TOP / "VERSION").read_text(encoding="utf-8").strip()
LANGUAGES = ("rust", "npm", "go")
MANIFESTS = ("Cargo.toml", "package.json")


def names():
    """vectors/NAMES.txt: the outputs that an answer may have, and the metrics of a report, a line each"""
    definitions = json.loads((TOP / "tests" / "vectors" / "schema.json").read_text(encoding="utf-8"))["$defs"]
    kinds = definitions["expect"], *(definitions[kind]["properties"]["expect"] for kind in ("split", "from_logits"))
    outputs = sorted({name for kind in kinds for name in kind["properties"]} - {"report"})
    return " ".join(outputs) + "\n" + " ".join(definitions["report_key"]["enum"]) + "\n"


def rust_files(folder):
    """src/files.rs: the texts, compiled in"""
    names = sorted(path.stem for path in (folder / "vectors").glob("*.json"))
    rows = "".join(f'    ("{name}", include_str!("../vectors/{name}.json")),\n' for name in names)
    text = (
        f'pub static FILES: &[(&str, &str)] = &[\n{rows}];\npub static MISTAKES: &str = include_str!("../vectors/DEFECTS.md");\n'
        'pub static NAMES: &str = include_str!("../vectors/NAMES.txt");\n'
    )
    (folder / "src" / "files.rs").write_text(text, encoding="utf-8")


def stage(language, folder):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(TOP / "packages" / language, folder)
    shutil.copy(TOP / "LICENSE", folder)
    vectors = folder / "vectors"
    vectors.mkdir()
    for path in sorted((TOP / "tests" / "vectors").glob("*.json")):
        if path.stem != "schema":
            shutil.copy(path, vectors)
    for name in ("DEFECTS.md", "README.md", "CHANGES.md"):
        shutil.copy(TOP / "tests" / "vectors" / name, vectors)
    (vectors / "NAMES.txt").write_text(names(), encoding="ascii")
    shutil.copy(TOP / "packages" / "judging.json", folder / "tests" if language == "rust" else folder)  # for its tests
    for name in MANIFESTS:
        if (folder / name).exists():
            text = (folder / name).read_text(encoding="utf-8").replace("@VERSION@", VERSION)
            (folder / name).write_text(text, encoding="utf-8")
    if language == "rust":
        rust_files(folder)


if __name__ == "__main__":
    for language in sys.argv[2:] or LANGUAGES:
        stage(language, pathlib.Path(sys.argv[1]) / language)
