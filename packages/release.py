"""The archives of a release, with their checksums: python3 packages/release.py FOLDER (or: ninja release).

The wheel and the source distribution are built in a virtual environment with packages from pip's index; the rest needs Python alone.
The same tree gives the same bytes."""

import gzip
import hashlib
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import core
import stage

TOP, VERSION = stage.TOP, stage.VERSION


def packed(archive, folder, prefix, names):
    """a .tar.gz of files of a folder: sorted, without owners and times"""
    with open(archive, "wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as zipped:
        with tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for name in sorted(names):
                entry = tar.gettarinfo(str(folder / name), f"{prefix}/{name}")
                entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = 0, 0, 0, "", ""
                entry.mode = 0o755 if entry.mode & 0o100 else 0o644
                with open(folder / name, "rb") as file:
                    tar.addfile(entry, file)


def files_of(folder):
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def sources(out):
    """everything that is tracked; in an unpacked archive there is nothing to ask"""
    listed = subprocess.run(["git", "-C", str(TOP), "ls-files"], capture_output=True, text=True)
    if listed.returncode == 0 and (TOP / ".git").exists():
        packed(
            out / f"grpo-{VERSION}.tar.gz",
            TOP,
            f"grpo-{VERSION}",
            [name for name in listed.stdout.splitlines() if (TOP / name).is_file()],
        )
    else:
        print("left out: the sources, because this is no git checkout")


def vectors(out):
    packed(
        out / f"grpo-vectors-{VERSION}.tar.gz",
        TOP / "tests" / "vectors",
        f"grpo-vectors-{VERSION}",
        files_of(TOP / "tests" / "vectors"),
    )


def light_set(out, work):
    core.write(work / "core")
    packed(out / f"grpo-vectors-core-{VERSION}.tar.gz", work / "core", f"grpo-vectors-core-{VERSION}", files_of(work / "core"))


def languages(out, work):
    for language in stage.LANGUAGES:
        folder = work / language
        stage.stage(language, folder)
        npm = language == "npm"  # whose archives have a name and a folder of their own
        name = f"grpo-conformance-{VERSION}.tgz" if npm else f"grpo-conformance-{language}-{VERSION}.tar.gz"
        packed(out / name, folder, "package" if npm else f"grpo-conformance-{VERSION}", files_of(folder))


def python(out, work):
    """0, or 1 where it cannot be built"""
    environment = work / "env"
    steps = (
        [sys.executable, "-m", "venv", str(environment)],
        [str(environment / "bin" / "pip"), "install", "-q", "build"],
        [str(environment / "bin" / "python"), "-m", "build", "--outdir", str(out), str(TOP)],
    )
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode:
            print(f"left out: the wheel, because {' '.join(step)} fails:\n{done.stdout[-500:]}{done.stderr[-500:]}")
            return 1
    return 0


def checksums(out):
    lines = [
        f"{hashlib.sha256((out / name).read_bytes()).hexdigest()}  {name}"
        for name in sorted(files_of(out))
        if name != "SHA256SUMS"
    ]
    (out / "SHA256SUMS").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def is_released():
    """do the vectors stand on the list of this version?"""
    sys.path.insert(0, str(TOP / "tests"))
    import released

    version, before = released.released()
    return version == VERSION and not released.differences(before, released.present())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for old in out.iterdir():
        if old.name == "SHA256SUMS" or old.name.endswith((".tar.gz", ".tgz", ".whl")):
            old.unlink()
    if not is_released():
        print(
            f"not yet a release: tests/vectors/released.txt is not the list of these vectors as {VERSION} (tests/released.py --write)"
        )
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        sources(out)
        vectors(out)
        light_set(out, work)
        languages(out, work)
        status = python(out, work)
    checksums(out)
    return status


if __name__ == "__main__":
    sys.exit(main())
