#!/usr/bin/env python3
"""Makes the C table of operations from operations.json: generate.py operations.json ids.h table.c"""

import json
import re
import sys

FLAGS = {"mutates", "destroys", "repeats", "streams", "administers", "text", "body", "relays", "open"}
KINDS = {"string", "integer", "number", "boolean", "object"}
PLACES = {"path": "PATH", "query": "QUERY", "body": "BODY", "whole": "WHOLE_BODY", "cli": "COMMAND_LINE"}
COMMANDS = {"flag": "FLAG", "positional": "POSITIONAL", "rest": "REST", "none": "NOT_ON_COMMAND_LINE"}


def fail(operation, message):
    sys.exit(f"operations.json: operation {operation}: {message}")


def text(value):
    """A counted string as a static initialiser."""
    if not value:
        return "{ NULL, 0 }"
    return "STR_INIT(" + json.dumps(value, ensure_ascii=False) + ")"


def literal(value):
    """JSON as a string literal; json.dumps() of a string quotes for C too, since it escapes only what C escapes alike."""
    return text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def input_row(operation, name, spec):
    kind = spec["type"]
    if kind not in KINDS:
        fail(operation, f"input {name} has the unknown type {kind}")
    place = spec.get("in", "query" if operation_method == "GET" or operation_method == "DELETE" else "body")
    aliases = [text(a) for a in spec.get("aliases", [])]
    if len(aliases) > 2:
        fail(operation, f"input {name} has more than two aliases")
    shown = spec.get("tool", name) or ""
    tool_name = shown.removesuffix("[]")
    if tool_name and tool_name not in [name, *spec.get("aliases", [])]:
        fail(operation, f"input {name} is not known by the name {tool_name} that its tool lists")
    if shown != tool_name and kind != "string":
        fail(operation, f"input {name} is no string, so its tool cannot take a list of them")
    required = spec.get("required", False)
    if required not in (False, True, "tool"):
        fail(operation, f"input {name}: required is true, or tool")
    minimum = spec.get("minimum")
    value = spec.get("value", "N" if kind in ("integer", "number") else re.sub("([A-Z])", r"_\1", name).upper())
    return (
        f"\t{{ {text(name)}, {{ {', '.join(aliases) if aliases else '{ NULL, 0 }'} }},\n"
        f"\t  {text(tool_name)}, {str(shown != tool_name).lower()}, {str(bool(required)).lower()},\n"
        f"\t  {text(spec['description'])}, {text('|'.join(spec.get('enum', [])))}, {text(value)},\n"
        f"\t  INPUT_{PLACES[place]}, INPUT_{kind.upper()}, INPUT_{COMMANDS[spec.get('cli', 'flag')]},\n"
        f"\t  {str(required is True).lower()}, {str(minimum is not None).lower()}, {minimum or 0} }},\n"
    )


def flag_words(row):
    unknown = set(row["flags"]) - FLAGS
    if unknown:
        fail(row["name"], f"unknown flags {sorted(unknown)}")
    return " | ".join("OPERATION_" + f.upper() for f in row["flags"]) or "0"


def check_unique(rows):
    for column in ("name", "command"):
        seen = set()
        for row in rows:
            names = [row[column]] + (row.get("commandAliases", []) if column == "command" else [])
            for taken in seen.intersection(names):
                fail(row["name"], f"{column} {taken} is taken")
            seen.update(name for name in names if name is not None)


def check_alone(rows):
    for row in rows:
        if (row["tool"] is None) != ("alone" in row):
            fail(row["name"], "has either an MCP tool or, in `alone`, the reason why not")


def count_commands(rows):
    """Rows without a command stand last, so that commands have the first numbers."""
    commands = [row["command"] is not None for row in rows]
    for row, before, has in zip(rows[1:], commands, commands[1:]):
        if has and not before:
            fail(row["name"], "stands behind one without a command")
    return sum(commands)


source, ids_path, table_path = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    rows = json.load(file)["operations"]
check_unique(rows)
check_alone(rows)

ids = "/* Made from operations.json. */\nenum operation_id {\n"
table = '/* Made from operations.json. */\n#include "base/base.h"\n#include "api/operation.h"\n\n'
for row in rows:
    ids += f"\tOPERATION_{row['name'].upper()},\n"
    operation_method = row["method"]
    if row["input"]:
        table += f"static const struct operation_input {row['name']}_inputs[] = {{\n"
        table += "".join(input_row(row["name"], name, spec) for name, spec in row["input"].items())
        table += "};\n\n"
ids += "\tOPERATION_COUNT\n};\n"
ids += f"/* The operations before this one have a command. */\nenum {{ OPERATION_COMMANDS = {count_commands(rows)} }};\n"

table += "const struct operation operations[OPERATION_COUNT] = {\n"
for row in rows:
    inputs = f"{row['name']}_inputs, {len(row['input'])}" if row["input"] else "NULL, 0"
    table += (
        f"\t{{ OPERATION_{row['name'].upper()}, {text(row['name'])}, {text(row['method'])}, {text(row['route'])},\n"
        f"\t  {text(row['command'])}, {{ {', '.join(map(text, row.get('commandAliases', []))) or '{ NULL, 0 }'} }},\n"
        f"\t  {text(row['tool'])}, {text(row['summary'])},\n"
        f"\t  {flag_words(row)}, {inputs},\n"
        f"\t  {literal(row['output'])}, {text(row['group'])}, {text(row.get('detail'))}, {text(row.get('alone'))} }},\n"
    )
table += "};\n"

with open(ids_path, "w", encoding="utf-8") as file:
    file.write(ids)
with open(table_path, "w", encoding="utf-8") as file:
    file.write(table)
