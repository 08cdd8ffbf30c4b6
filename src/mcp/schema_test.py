#!/usr/bin/env python3
"""Holds every kind of message that we write against the official schema of its revision.

usage: schema_test.py PROGRAM [SCHEMAS]

PROGRAM prints the messages (schema_test.c). SCHEMAS is a folder with one <revision>.json each, from
github.com/modelcontextprotocol/modelcontextprotocol; without it, $MCP_SCHEMAS or ../shared/data/mcp-schema. Skipped when there is
no such folder, or no module jsonschema.
"""
import json
import os
import pathlib
import subprocess
import sys

SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


try:
    import jsonschema
except ImportError:
    skip("the Python module jsonschema is not installed")


def definitions(schema):
    return "$defs" if "$defs" in schema else "definitions"


def error_name(schema):
    """The envelope of an error was renamed in 2025-11-25."""
    known = schema[definitions(schema)]
    return "JSONRPCErrorResponse" if "JSONRPCErrorResponse" in known else "JSONRPCError"


def problems(schema, name, message):
    kind = definitions(schema)

    def check(definition, value):
        validator = jsonschema.validators.validator_for(schema)
        wrapped = dict(schema, **{"$ref": f"#/{kind}/{definition}"})
        return [f"{definition}: {e.message} at {list(e.absolute_path)}" for e in validator(wrapped).iter_errors(value)]

    if name == "error":
        return check(error_name(schema), message)
    if name.endswith("Result"):
        envelope = "JSONRPCResultResponse" if "JSONRPCResultResponse" in schema[kind] else "JSONRPCResponse"
        return check(envelope, message) + check(name, message.get("result"))
    return check(name, message)


def main():
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("MCP_SCHEMAS") or
                          pathlib.Path(os.environ["MESON_SOURCE_ROOT"]) / "../shared/data/mcp-schema")
    if not folder.is_dir():
        skip(f"there is no {folder}")
    schemas = {p.stem: json.loads(p.read_text()) for p in folder.glob("*.json")}
    lines = subprocess.run([sys.argv[1]], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    failed = 0
    for line in lines:
        revision, name, text = line.split("\t")
        for problem in problems(schemas[revision], name, json.loads(text)):
            failed += 1
            print(f"{revision} {problem}\n    {text}")
    print(f"{len(lines)} messages, {failed} problems")
    sys.exit(1 if failed or not lines else 0)


main()
