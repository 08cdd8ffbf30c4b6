#!/usr/bin/env python3
"""Makes C arrays of the text that scripts get: embed.py OUTPUT types.d.ts script.js...

client_runtime is the scripts one after the other; client_types the declarations as they stand in a namespace, and declarations_prelude as they
stand alone.
"""

import re
import sys


def array(name, text):
    data = text.encode("utf-8")
    rows = [", ".join(f"0x{byte:02x}" for byte in data[i:i + 20]) for i in range(0, len(data), 20)]
    return f"static const unsigned char {name}[] = {{\n\t" + ",\n\t".join(rows) + "\n};\n"


output, types, *scripts = sys.argv[1:]
with open(types, encoding="utf-8") as file:
    declarations = file.read()
runtime = ""
for script in scripts:
    with open(script, encoding="utf-8") as file:
        runtime += file.read()
with open(output, "w", encoding="utf-8") as file:
    file.write("/* Made from script/. */\n")
    file.write(array("client_runtime", runtime))
    file.write(array("client_types", declarations))
    file.write(array("declarations_prelude", re.sub(r"^(function|const|class) ", r"declare \1 ", declarations, flags=re.M)))
