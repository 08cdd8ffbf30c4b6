"""What the checks under tools/ share: which files there are, C text without comments, and one way to report.

A check is a program: `check-thing`, from the root of the repository or with `--root DIRECTORY`. It prints one line per
violation, `path:line: what is wrong and what to do`, and exits 1 when there was one.
"""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

ALLOWED = re.compile(r"^(?P<what>.+?)  # (?P<reason>\S.*)$")


class Tree:
    def __init__(self, argv):
        at = argv.index("--root") if "--root" in argv else None
        self.root = pathlib.Path(argv[at + 1] if at else ".").resolve()
        self.violations = []

    @functools.cached_property
    def files(self):
        """Every file that is tracked or would be, as paths from the root."""
        listed = self.git_files()
        if listed is None:  # an unpacked archive
            return sorted(str(path.relative_to(self.root)) for path in self.root.glob("src/**/*") if path.is_file())
        return sorted(name for name in set(listed.split("\0")) if name and os.path.isfile(self.root / name))

    def git_files(self):
        if not (self.root / ".git").exists() or not shutil.which("git"):  # which a build does not need
            return None
        # A hook of git has variables that name a repository; ours is that of the root.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return subprocess.run(["git", "-c", "safe.directory=*", "-C", str(self.root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                              env=environment, check=True, capture_output=True).stdout.decode()

    @functools.cached_property
    def rooms(self):
        """The rooms under src/, ground floor first, as src/meson.build lists them."""
        return re.findall(r"^subdir\('(\w+)'\)", self.text("src/meson.build"), re.M)

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8", errors="replace")

    def sources(self, tests=True):
        """The C files under src/; without the tests and fuzzers when `tests` is false."""
        for name in self.files:
            if name.startswith("src/") and name.endswith((".c", ".h")):
                if tests or not re.search(r"_(test|fuzz|fixture)\.[ch]$|/fuzz_replay\.c$", name):
                    yield name

    def code(self, name):
        """The lines of a C file with comments, strings and characters blanked, so that columns and lines stay."""
        return blank(self.text(name)).split("\n")

    def allowlist(self, name):
        """Lines of `what  # reason`; a line without a reason, and one that exempts nothing any more, are violations."""
        return Allowlist(self, name)

    def report(self, name, line, what):
        self.violations.append((name, line, what))

    def finish(self):
        for name, line, what in sorted(self.violations):
            print(f"{name}:{line}: {what}")
        sys.exit(1 if self.violations else 0)


class Allowlist:
    def __init__(self, tree, name):
        self.tree, self.name, self.entries = tree, name, {}
        if name not in tree.files:
            return
        for number, line in enumerate(tree.text(name).splitlines(), 1):
            if not line or line.startswith("#"):
                continue
            entry = ALLOWED.match(line)
            if entry:
                self.entries[entry["what"].strip()] = [number, False]
            else:
                tree.report(name, number, "an exemption needs a reason: `what  # reason`")

    def allows(self, what):
        if what not in self.entries:
            return False
        self.entries[what][1] = True
        return True

    def report_unused(self):
        for what, (number, used) in self.entries.items():
            if not used:
                self.tree.report(self.name, number, f"exempts nothing any more: {what}")


TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)


def blank(text):
    def spaces(match):
        found = match[0]
        if found[0] in "\"'":
            return found[0] + " " * (len(found) - 2) + found[0]
        return re.sub(r"[^\n]", " ", found)

    return TOKEN.sub(spaces, text)
