"""What is told of resources files, and of YAML whatever it is of."""

from __future__ import annotations

from tests.unit.formats.messages.rows import row

ROWS = (
    # YAML
    row(
        "resources",
        b"index: {wall_s: 1}\n#" + b"x" * (1 << 18),
        "f: the file is larger than 262144 bytes. Keep it to facts.",
    ),
    row(
        "resources",
        b"index:\n  d: {os: \xff}\n",
        "f:2: byte 0xFF is not UTF-8. Save the file as UTF-8.",
    ),
    row(
        "resources",
        b"index:\n  d: {wall_s: 1\n",
        "f:3: the file is not YAML: expected ',' or '}', but got '<stream end>'. Check indentation, colons and quotes.",
    ),
    row(
        "resources",
        b"index: {cpu_s: 1}\nsearch: [\x01]\n",
        "f:2: the file is not YAML: it has the character U+0001. Remove it.",
    ),
    row(
        "resources",
        b'index:\n  d: {cpu_s: "\\U0011FFFF"}\n',
        "f:2: the file is not YAML: 'chr() arg not in range(0x110000)'. Correct the escape or the version.",
    ),
    row(
        "resources",
        b"index:\n  d: &a {cpu_s: 1}\nsearch: *a\n",
        "f:2: anchors (&name) and aliases (*name) are refused. Write values out.",
    ),
    row(
        "resources",
        b"index:\n  d: {cpu_s: !!int 1}\n",
        "f:2: the tag 'tag:yaml.org,2002:int' is refused. Write the plain value.",
    ),
    row(
        "resources",
        b"index:\n" + b"".join(b" " * n + b"d:\n" for n in range(1, 20)),
        "f:17: values nest deeper than 16. Make it flatter.",
    ),
    row(
        "resources",
        b"- index\n",
        "f:1: the file is no mapping (allowed: `name: value` lines). Write its fields by name.",
    ),
    row(
        "resources",
        b"index: {cpu_s: 1}\nIndex: {cpu_s: 1}\nindex: {cpu_s: 1}\n? [a]\n: 1\n",
        "f:2: the file has the field 'Index' (allowed: index, search, eag). Rename it.",
        "f:3: the file has the field 'index' twice. Keep one.",
        "f:4: the file has a field without a name (allowed: index, search, eag). Rename it.",
    ),
    # what the file declares
    row(
        "resources",
        b"search:\n  q: {cpu_s: 1}\n'': {cpu_s: 1}\n",
        "f:3: the file has the field '' (allowed: index, search, eag). Rename it.",
        "f:2: the key of search is 'q' (allowed: QUERYSET/DATASET, or * for every cell). Name the "
        "query set and the dataset.",
    ),
    row(
        "resources",
        b"search:\n  q: {cpu_s: 1}\n  '': {cpu_s: 1}\n  q/d: {cpu_s: 1}\n  q/d: {cpu_s: 1}\n",
        "f:3: search has the field '' (allowed: a name). Rename it.",
        "f:5: search has the field 'q/d' twice. Keep one.",
        "f:2: the key of search is 'q' (allowed: QUERYSET/DATASET, or * for every cell). Name the "
        "query set and the dataset.",
    ),
    row(
        "resources",
        b"index:\n  d: 5\n  e: {}\n  f: {wall: 1}\nsearch: {wall_s: 1}\n",
        "f:2: index 'd' is no mapping (allowed: `name: value` lines). Write its fields by name.",
        "f:2: index 'd' declares nothing. Give some of wall_s, cores, cpu_s, peak_memory_bytes, nodes, steps.",
        "f:3: index 'e' declares nothing. Give some of wall_s, cores, cpu_s, peak_memory_bytes, nodes, steps.",
        "f:4: index 'f' has the field 'wall' (allowed: wall_s, cores, cpu_s, peak_memory_bytes, "
        "nodes, steps). Rename it.",
        "f:4: index 'f' declares nothing. Give some of wall_s, cores, cpu_s, peak_memory_bytes, nodes, steps.",
        "f:5: search has wall_s without cores. Add the number of cores that ran.",
    ),
    row(
        "resources",
        b"index:\n  d: {wall_s: 1, cpu_s: 1, cores: 1}\n  e: {wall_s: 1}\n",
        "f:2: index 'd' has both wall_s and cpu_s (allowed: one of them). Remove one.",
        "f:3: index 'e' has wall_s without cores. Add the number of cores that ran.",
    ),
    row(
        "resources",
        b"index: {wall_s: -1, cores: many}\n",
        "f:1: wall_s is '-1' (allowed: 0 or more). Write its size.",
        "f:1: cores is 'many' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
    ),
    row(
        "resources",
        b"index: {cpu_s: 1 h, peak_memory_bytes: 2 G}\n",
        "f:1: cpu_s is '1 h' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:1: peak_memory_bytes is '2 G' (allowed: bytes, or a number with B, kB, KB, MB, GB, TB, "
        "KiB, MiB, GiB, TiB). Write for example 2 GB (10^9 bytes) or 2 GiB (2^30).",
    ),
    row(
        "resources",
        b"index:\n  cpu_s: [1]\n  peak_memory_bytes: {a: 1}\n  nodes: 2\n",
        "f:2: cpu_s is a list or mapping (allowed: one value). Write one.",
        "f:4: nodes is no list. Write one `- {…}` for each kind of computer.",
        "f:3: peak_memory_bytes is a list or mapping (allowed: one value). Write one.",
    ),
    row(
        "resources",
        b"index:\n"
        b"  cpu_s: 1\n"
        b"  peak_memory_bytes: -2 GB\n"
        b"  nodes:\n"
        b"  - {count: 0, cores: 1.5, clock_ghz: fast, ram_bytes: much, os: [x], gpu: 1}\n"
        b"  - 3\n",
        "f:5: an entry of nodes has the field 'gpu' (allowed: count, brand, cpu, cores, clock_ghz, "
        "ram_bytes, os, peak_memory_bytes). Rename it.",
        "f:5: os is a list or mapping (allowed: one value). Write one.",
        "f:5: count is '0' (allowed: a whole number, 1 or more). Write the number.",
        "f:5: cores is '1.5' (allowed: a whole number, 1 or more). Write the number.",
        "f:5: clock_ghz is 'fast' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:5: ram_bytes is 'much' (allowed: bytes, or a number with B, kB, KB, MB, GB, TB, KiB, MiB, "
        "GiB, TiB). Write for example 2 GB (10^9 bytes) or 2 GiB (2^30).",
        "f:6: an entry of nodes is no mapping (allowed: `name: value` lines). Write its fields by name.",
        "f:3: peak_memory_bytes is '-2 GB' (allowed: 0 or more). Write its size.",
    ),
    row(
        "resources",
        b"index:\n  wall_s: 1e999\n  cores: 2\n  peak_memory_bytes: 1,5 GB\n",
        "f:2: wall_s is '1e999' (allowed: at most 1.7976931348623157e308 in size). Write the number that is meant.",
        "f:4: peak_memory_bytes is '1,5' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
    ),
    row(
        "resources",
        b"index:\n"
        b"  d: {steps: []}\n"
        b"  e: {steps: [{cpu_s: 1}], cpu_s: 2, nodes: []}\n"
        b"  f: {steps: {a: 1}}\n"
        b"  g:\n"
        b"    steps:\n"
        b"    - {name: [x], cpu_s: x, colour: red}\n"
        b"    - 3\n"
        b"    - nodes: [{peak_memory_bytes: much}]\n",
        "f:2: index 'd' has no step. Give one, or leave steps out.",
        "f:3: index 'e' has steps, and cpu_s, nodes of its own. Give them step by step.",
        "f:4: steps is no list. Write one `- {…}` for each step.",
        "f:7: step 1 of index 'g' has the field 'colour' (allowed: name, wall_s, cores, cpu_s, "
        "peak_memory_bytes, nodes). Rename it.",
        "f:7: name is a list or mapping (allowed: one value). Write one.",
        "f:7: cpu_s is 'x' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:8: step 2 of index 'g' is no mapping (allowed: `name: value` lines). Write its fields by name.",
        "f:9: peak_memory_bytes is 'much' (allowed: bytes, or a number with B, kB, KB, MB, GB, TB, "
        "KiB, MiB, GiB, TiB). Write for example 2 GB (10^9 bytes) or 2 GiB (2^30).",
    ),
)
