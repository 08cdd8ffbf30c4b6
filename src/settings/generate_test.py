#!/usr/bin/env python3
"""generate_test.py MADE_SETTINGS_MD COPY: what generate.py refuses, what it makes, and that docs/settings.md is its latest. Prints TAP."""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GOOD = {"path": "pool.max", "kind": "int", "default": "4", "min": "1", "max": "9", "scope": "daemon", "text": "most instances"}
SERVERS = {"entry": [], "block": []}
OUTPUTS = ["names.h", "table.c", "schema.json", "settings.md"]

# What is changed in GOOD, and what is said about it. A value of None takes the key out.
REFUSED = [
    ({"path": "Pool.max"}, "Pool.max: the path must be camelCase words with dots between them"),
    ({"path": "pool"}, "pool: the path must be camelCase words with dots between them"),
    ({"colour": 1}, "pool.max: unknown key colour"),
    ({"text": None}, "pool.max: text is missing"),
    ({"kind": "number"}, "pool.max: unknown kind or scope"),
    ({"scope": "planet"}, "pool.max: unknown kind or scope"),
    ({"text": "Most."}, "pool.max: the text begins in lower case and ends without a full stop"),
    ({"kind": "enum"}, "pool.max: an enum, and only an enum, lists its values in enum"),
    ({"kind": "enum", "enum": ["a"], "default": "b"}, "pool.max: the default b is not among its values"),
    ({"kind": "bool", "default": "yes"}, "pool.max: the default yes is neither true nor false"),
    ({"min": None}, "pool.max: min is missing"),
    ({"max": None}, "pool.max: max is missing"),
    ({"kind": "bytes", "default": "1MiB", "max": None}, "pool.max: max is missing"),
    ({"kind": "duration", "default": "1s", "min": None}, "pool.max: min is missing"),
    ({"max": "9223372036854775807"}, "pool.max: an int is between 0 and 2147483647"),
    ({"min": "-1"}, "pool.max: an int is between 0 and 2147483647"),
    ({"min": "0"}, "pool.max: min is zero, so the text says what 0 stands for"),
    ({"kind": "duration", "default": "5"}, "pool.max: is no duration"),
    ({"kind": "bytes", "default": "5 apples"}, "pool.max: is no size in bytes"),
    ({"max": "3"}, "pool.max: the default 4 is outside min and max"),
    ({"form": "urlPath"}, "pool.max: the kind int has no form urlPath"),
    ({"repeats": True}, "pool.max: only the flag of a list can be repeated"),
    ({"envAliases": ["MCPX_POOL_MAX"]}, "pool.max: the variable MCPX_POOL_MAX belongs to pool.max already"),
]


def generate(settings):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "in.json").write_text(json.dumps({"settings": settings}))
        (folder / "servers.json").write_text(json.dumps(SERVERS))
        files = [str(folder / output) for output in ["in.json", "servers.json"] + OUTPUTS]
        done = subprocess.run([sys.executable, HERE / "generate.py", *files], capture_output=True, text=True)
        made = [(folder / output).read_text() for output in OUTPUTS] if done.returncode == 0 else []
        return done.stderr, made


def refused(change, message):
    setting = {key: value for key, value in {**copy.deepcopy(GOOD), **change}.items() if value is not None}
    told = generate([setting])[0].strip()
    return told == f"settings.json: {message}", told


def settings_must_be_in_order():
    told = generate([GOOD, {**GOOD, "path": "pool.limit"}])[0].strip()
    return told == "settings.json: the settings are not in the order of their paths", told


def a_path_is_declared_once():
    told = generate([GOOD, {**GOOD, "env": "MCPX_X", "flag": "x"}])[0].strip()
    return told == "settings.json: a path is declared twice", told


def a_setting_reaches_every_output():
    told, made = generate([GOOD])
    expected = [(0, "SETTING_POOL_MAX, /* pool.max */"), (0, "#define MOST_POOL_MAX INT64_C(9)"), (1, ".min = INT64_C(1),"),
                (2, '"minimum": 1'), (3, "| `pool.max` | int, `1` to `9` | `4` | daemon |")]
    missing = [text for output, text in expected if made and text not in made[output]]
    return bool(made) and not missing, told + str(missing)


def the_document_is_current():
    made, kept = (pathlib.Path(name) for name in sys.argv[1:3])
    same = made.read_text() == kept.read_text()
    return same, f"docs/settings.md is not what src/settings/settings.json makes of it; refresh it: cp {made} {kept}"


def main():
    cases = [(message, lambda change=change, message=message: refused(change, message)) for change, message in REFUSED]
    cases += [(case.__name__, case) for case in (settings_must_be_in_order, a_path_is_declared_once,
                                                 a_setting_reaches_every_output, the_document_is_current)]
    failed = 0
    print(f"1..{len(cases)}")
    for number, (name, case) in enumerate(cases, 1):
        good, told = case()
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        if not good:
            print(f"# {told}")
    return 1 if failed else 0


sys.exit(main())
