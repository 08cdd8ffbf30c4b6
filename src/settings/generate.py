#!/usr/bin/env python3
"""Makes everything that follows from settings.json and servers.json.

generate.py SETTINGS SERVERS NAMES_H TABLE_C SCHEMA_JSON SETTINGS_MD

NAMES_H      enum setting, the CHOICE_ constants of enums and the MOST_ constants of numbers
TABLE_C      the declarations (registry.h)
SCHEMA_JSON  JSON Schema of the configuration file
SETTINGS_MD  the table for users; docs/settings.md is a copy of it, which a test compares

Mistakes in the declarations end the build with a message that names the setting.
"""

import json
import re
import sys

KINDS = ["bool", "int", "duration", "bytes", "enum", "list", "paths", "string"]
SCOPES = ["daemon", "client", "call", "plugin"]
KEYS = {"path", "kind", "default", "scope", "hot", "plumbing", "text", "detail", "enum", "enumAliases", "min", "max",
        "env", "flag", "envAliases", "flagAliases", "commands", "aliasCommands", "notInFile", "repeats", "form", "fileKey"}
FORMS = {"variables": "list", "urlPath": "string"}
INT_MOST = 2**31 - 1  # so that an int setting is an unsigned everywhere
DURATION_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}
BYTE_UNITS = {"": 1, "b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1024, "mib": 1024**2, "gib": 1024**3}


def fail(path, problem):
    sys.exit(f"settings.json: {path}: {problem}")


def words(name):
    """The words of a camelCase name. A run of capitals is one word: askTTL is ask, TTL; serveMCPNow is serve, MCP, Now."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)


def spelling(path, separator):
    return separator.join(separator.join(words(part)) for part in path.split("."))


def constant(text):
    return re.sub(r"[^A-Z0-9]", "_", text.upper())


def parse_duration(text):
    parts = re.findall(r"([0-9]+)(ms|s|m|h)", text)
    if not parts or "".join(n + u for n, u in parts) != text:
        raise ValueError("is no duration")
    return sum(int(n) * DURATION_UNITS[u] for n, u in parts)


def parse_bytes(text):
    match = re.fullmatch(r"([0-9]+)([A-Za-z]*)", text)
    if not match or match[2].lower() not in BYTE_UNITS:
        raise ValueError("is no size in bytes")
    return int(match[1]) * BYTE_UNITS[match[2].lower()]


NUMBERS = {"int": int, "duration": parse_duration, "bytes": parse_bytes}


def check(setting, spellings):
    path = setting.get("path", "?")
    if not re.fullmatch(r"[a-z][A-Za-z]*(\.[a-z][A-Za-z]*)+", path):
        fail(path, "the path must be camelCase words with dots between them")
    for key in setting:
        if key not in KEYS:
            fail(path, f"unknown key {key}")
    for key in ("kind", "default", "scope", "text"):
        if key not in setting:
            fail(path, f"{key} is missing")
    kind, default = setting["kind"], setting["default"]
    if kind not in KINDS or setting["scope"] not in SCOPES:
        fail(path, "unknown kind or scope")
    if setting["text"][0].isupper() or setting["text"].endswith("."):
        fail(path, "the text begins in lower case and ends without a full stop")
    if (kind == "enum") != ("enum" in setting):
        fail(path, "an enum, and only an enum, lists its values in enum")
    if kind == "enum" and default not in setting["enum"]:
        fail(path, f"the default {default} is not among its values")
    if kind == "bool" and default not in ("true", "false"):
        fail(path, f"the default {default} is neither true nor false")
    if setting.get("repeats") and kind != "list":
        fail(path, "only the flag of a list can be repeated")
    if "form" in setting and FORMS.get(setting["form"]) != kind:
        fail(path, f"the kind {kind} has no form {setting['form']}")
    if kind in NUMBERS:
        check_number(setting)
    names = [("variable", setting["env"]), ("flag", setting["flag"])]
    names += [("variable", name) for name in setting["envAliases"]]
    names += [("flag", name) for name in setting["flagAliases"]]
    for name in names:
        if name[0] == "variable" or name[1] not in setting["flagAliases"]:
            if name in spellings:
                fail(path, f"the {name[0]} {name[1]} belongs to {spellings[name]} already")
            spellings[name] = path


def check_number(setting):
    """Every number has both bounds: what a user may write must not take all memory, nor make what it bounds useless. Zero is a value like any
    other unless the text says what it stands for, as it must when zero is allowed."""
    path, kind, default = setting["path"], setting["kind"], setting["default"]
    for key in ("min", "max"):
        if key not in setting:
            fail(path, f"{key} is missing")
    try:
        value, (low, high) = NUMBERS[kind](default), bounds(setting)
    except ValueError as problem:
        fail(path, problem)
    if not low <= value <= high:
        fail(path, f"the default {default} is outside min and max")
    if kind == "int" and not 0 <= low <= high <= INT_MOST:
        fail(path, f"an int is between 0 and {INT_MOST}")
    if low == 0 and not re.search(r"\b0 (for|lets) ", setting["text"]):
        fail(path, "min is zero, so the text says what 0 stands for")


def bounds(setting):
    parse = NUMBERS[setting["kind"]]
    return parse(setting["min"]), parse(setting["max"])


def load(file_name):
    with open(file_name, encoding="utf-8") as file:
        settings = json.load(file)["settings"]
    spellings = {}
    for setting in settings:
        path = setting.get("path", "?")
        setting.setdefault("env", "MCPX_" + spelling(path, "_").upper())
        setting.setdefault("flag", spelling(path, "-").lower())
        for key in ("envAliases", "flagAliases", "commands", "aliasCommands"):
            setting.setdefault(key, [])
        check(setting, spellings)
    paths = [setting["path"] for setting in settings]
    if len(set(paths)) != len(paths):
        sys.exit("settings.json: a path is declared twice")
    if paths != sorted(paths, key=str.lower):
        sys.exit("settings.json: the settings are not in the order of their paths")
    return settings


# -- C -------------------------------------------------------------------------------------------------------------------


def c_str(text):
    return json.dumps(text, ensure_ascii=False)


def names_h(settings):
    out = ["/* Made from settings.json by generate.py: every setting, and the values of those that are enums. */",
           "#ifndef SETTINGS_SETTING_NAMES_H", "#define SETTINGS_SETTING_NAMES_H", "", "enum setting {"]
    out += [f"\t{c_name(setting)}, /* {setting['path']} */" for setting in settings]
    out += ["\tSETTING_COUNT", "};", ""]
    for setting in settings:
        if setting["kind"] == "enum":
            prefix = "CHOICE_" + spelling(setting["path"], "_").upper() + "_"
            choices = ", ".join(prefix + constant(word) for word in setting["enum"])
            out += [f"/* {setting['path']} */", f"enum {{ {choices} }};", ""]
    out.append("/* The max of every number, in milliseconds and bytes, for static assertions. */")
    out += [f"#define MOST_{spelling(setting['path'], '_').upper()} INT64_C({bounds(setting)[1]})"
            for setting in settings if setting["kind"] in NUMBERS]
    out += ["", "#endif", ""]
    return "\n".join(out)


def c_name(setting):
    return "SETTING_" + spelling(setting["path"], "_").upper()


def c_words(field, items, lists):
    if not items:
        return []
    name = f"list_{len(lists)}"
    lists.append(f"static const struct str {name}[] = {{ {', '.join(f'STR_INIT({c_str(item)})' for item in items)} }};")
    return [f"\t\t.{field} = {{ {name}, {len(items)} }},"]


def c_declaration(setting, lists):
    out = [f"\t[{c_name(setting)}] = {{"]
    for field, text in (("path", setting["path"]), ("text", setting["text"]), ("detail", setting.get("detail", "")),
                        ("default_value", setting["default"]), ("env", setting["env"]), ("flag", setting["flag"])):
        out.append(f"\t\t.{field} = STR_INIT({c_str(text)}),")
    out.append(f"\t\t.kind = SETTING_KIND_{setting['kind'].upper()},")
    out.append(f"\t\t.scope = SETTING_SCOPE_{setting['scope'].upper()},")
    for field, key in (("hot", "hot"), ("plumbing", "plumbing"), ("not_in_file", "notInFile"), ("repeats", "repeats")):
        if setting.get(key):
            out.append(f"\t\t.{field} = true,")
    if "form" in setting:
        out.append(f"\t\t.form = SETTING_FORM_{constant(spelling(setting['form'], '_'))},")
    if "fileKey" in setting:
        out.append(f"\t\t.file_key = STR_INIT({c_str(setting['fileKey'])}),")
    if setting["kind"] in NUMBERS:
        low, high = bounds(setting)
        out += [f"\t\t.min = INT64_C({low}),", f"\t\t.max = INT64_C({high}),"]
    out += c_words("env_aliases", setting["envAliases"], lists)
    out += c_words("flag_aliases", setting["flagAliases"], lists)
    out += c_words("commands", setting["commands"], lists)
    out += c_words("alias_commands", setting["aliasCommands"], lists)
    out += c_words("choices", setting.get("enum", []), lists)
    synonyms = [word for pair in setting.get("enumAliases", {}).items() for word in pair]
    out += c_words("synonyms", synonyms, lists)
    return out + ["\t},"]


def table_c(settings):
    lists, rows = [], []
    for setting in settings:
        rows += c_declaration(setting, lists)
    out = ["/* Made from settings.json by generate.py. */", '#include "base/base.h"', '#include "settings/registry.h"', ""]
    out += lists + ["", "const struct setting_declaration setting_declarations[SETTING_COUNT] = {"] + rows + ["};", ""]
    return "\n".join(out)


# -- JSON Schema ---------------------------------------------------------------------------------------------------------

DURATION = {"type": "string", "pattern": "^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$"}
BYTES = {"anyOf": [{"type": "integer", "minimum": 0},
                   {"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)? *([kKmMgG]?[iI]?[bB])?$"}]}
STRINGS = {"type": "array", "items": {"type": "string"}}
SCHEMAS = {
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "duration": DURATION,
    "bytes": BYTES,
    "list": STRINGS,
    "paths": {"type": "array", "items": {"type": ["string", "null"]}},
    "string": {"type": "string"},
    "strings": STRINGS,
    "map": {"type": "object", "additionalProperties": {"type": "string"}},
    "object": {"type": "object"},
}


def value_schema(setting):
    if setting["kind"] == "enum":
        schema = {"enum": setting["enum"] + list(setting.get("enumAliases", {}))}
    else:
        schema = dict(SCHEMAS[setting["kind"]])
    if setting["kind"] == "int":
        schema["minimum"], schema["maximum"] = bounds(setting)
    return schema


def setting_schema(setting):
    schema = value_schema(setting)
    schema["description"] = setting["text"] + "; default " + (setting["default"] or "empty")
    return schema


def field_schema(field, by_path):
    schema = value_schema(by_path[field["setting"]]) if "setting" in field else dict(SCHEMAS[field["kind"]])
    schema["description"] = field["text"]
    return schema


def schema_json(settings, servers):
    by_path = {setting["path"]: setting for setting in settings}
    block = {field["name"]: field_schema(field, by_path) for field in servers["block"]}
    entry = {field["name"]: field_schema(field, by_path) for field in servers["entry"]}
    entry["mcpx"] = {"type": "object", "properties": block, "additionalProperties": False,
                     "description": "what mcpx alone reads of the entry"}
    sections = {}
    for setting in settings:
        if not setting.get("notInFile"):
            section, key = setting["path"].split(".", 1)
            sections.setdefault(section, {})[key] = setting_schema(setting)
    sections["pool"] = {**block, **sections["pool"]}
    properties = {name: {"type": "object", "properties": section} for name, section in sections.items()}
    properties.update({setting["fileKey"]: setting_schema(setting) for setting in settings if "fileKey" in setting})
    properties["mcpServers"] = {
        "type": "object",
        "additionalProperties": {"type": "object", "properties": entry,
                                 "anyOf": [{"required": ["command"]}, {"required": ["url"]}, {"required": ["aliasOf"]}]},
    }
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "mcpx configuration file",
              "type": "object", "properties": {"$schema": {"type": "string"}, **dict(sorted(properties.items()))}}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


# -- Markdown ------------------------------------------------------------------------------------------------------------


def spellings_of(setting):
    flags = [setting["flag"]] + setting["flagAliases"]
    shown = [("-" if len(flag) == 1 else "--") + flag for flag in flags]
    return ", ".join(f"`{word}`" for word in [setting["env"]] + setting["envAliases"] + shown)


def row_md(setting):
    marks = [word for word in ("hot", "plumbing") if setting.get(word)]
    default = f"`{setting['default']}`" if setting["default"] else "empty"
    kind = " / ".join(setting["enum"]) if setting["kind"] == "enum" else setting["kind"]
    if "min" in setting:
        kind += f", `{setting['min']}` to `{setting['max']}`"
    text = setting["text"][0].upper() + setting["text"][1:] + "."
    if "detail" in setting:
        text += " " + setting["detail"]
    return (f"| `{setting['path']}` | {kind} | {default} | {', '.join([setting['scope']] + marks)} | {text} "
            f"{spellings_of(setting)} |")


def settings_md(settings):
    out = ["# Every setting", "",
           "Made from `src/settings/settings.json`; [configuration.md](configuration.md) says where a value may come from.",
           "The third column is the default. The fourth says which process acts on the setting, whether a change takes effect at",
           "once (hot), and whether it is an internal that there is no ordinary reason to change (plumbing).",
           "",
           "Every number has a least and a most value, which are part of its kind. Zero is no special value: where it is allowed, the",
           "text says what it stands for; elsewhere it is below the least."]
    section = None
    for setting in settings:
        if setting["path"].split(".")[0] != section:
            section = setting["path"].split(".")[0]
            out += ["", f"## {section}", "", "| setting | kind | default | scope | what it decides; environment and flag |",
                    "| --- | --- | --- | --- | --- |"]
        out.append(row_md(setting))
    return "\n".join(out) + "\n"


def main():
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    settings = load(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        servers = json.load(file)
    made = (names_h(settings), table_c(settings), schema_json(settings, servers), settings_md(settings))
    for name, text in zip(sys.argv[3:], made):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)


main()
