#!/usr/bin/env python3
"""Installs headers and all that they include: install_headers.py SRC INCLUDEDIR HEADER...

Runs from meson's install, which says below which prefix. An include of a header that others do not get (banned.h) is optional
where it stands.
"""
import os
import pathlib
import re
import shutil
import sys

INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
KEPT_BACK = {"base/banned.h"}


def main():
    source = pathlib.Path(sys.argv[1])
    target = pathlib.Path(os.environ["MESON_INSTALL_DESTDIR_PREFIX"]) / sys.argv[2]
    wanted, seen = sys.argv[3:], set(KEPT_BACK)
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)
        wanted += INCLUDE.findall((source / name).read_text())


main()
