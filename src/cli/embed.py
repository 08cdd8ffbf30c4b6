#!/usr/bin/env python3
"""Makes C arrays of the scripts that shells source: embed.py OUTPUT completion.bash..."""
import pathlib
import sys

output, *scripts = sys.argv[1:]
text = "/* Made from the scripts that are named like the arrays. */\n"
for script in map(pathlib.Path, scripts):
    data = script.read_bytes()
    rows = [", ".join(map(str, data[i:i + 20])) for i in range(0, len(data), 20)]
    text += f"static const unsigned char {script.stem}_{script.suffix[1:]}[] = {{\n\t" + ",\n\t".join(rows) + "\n};\n"
pathlib.Path(output).write_text(text, encoding="utf-8")
