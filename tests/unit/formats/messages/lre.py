"""What is told of keys and outputs of language recognition, and of the names of what is submitted together."""

from __future__ import annotations

from tests.unit.formats.messages.rows import row

ROWS = (
    row(
        "lre_key",
        b"",
        "f:1: the key has no segment (allowed: one or more). Check that the file is whole.",
    ),
    row(
        "lre_key",
        b"a Basque\n\na b c\na OOS\nb Latin\n",
        "f:2: the line has 0 fields (allowed: segment label). Write one segment a line.",
        "f:3: the line has 3 fields (allowed: segment label). Write one segment a line.",
        "f:4: segment 'a' is given again, first in line 1 (allowed: once). Remove one of the lines.",
        "f:5: the label is 'Latin' (allowed: Basque, Catalan, English, Galician, Portuguese, "
        "Spanish, French, German, Greek, Italian, OOS, -). Languages that are no target are OOS.",
    ),
    row(
        "lre_out",
        b"",
        "f:1: the file has no line (allowed: a line for every segment of the test). Check that the file is whole.",
    ),
    row(
        "lre_out",
        b"Empty Open a 1 2 3 4 5\n"
        b"\n"
        b"Empty\n"
        b"Few Open b 1 2 3 4 5\n"
        b"Empty Ajar b 1 2 3 4 5\n"
        b"Empty Closed b 1 2 3 4 5\n"
        b"Empty Open b 1 2 3\n"
        b"Empty Open a 1 2 3 4 5\n",
        "f:2: the line is blank (allowed: task, set, segment and scores on every line). Remove it.",
        "f:3: the line has 1 field (allowed: task, set, segment, scores). Write the whole line.",
        "f:4: the task is 'Few' (allowed: Plenty, Empty). Write the code as it stands here.",
        "f:5: the set is 'Ajar' (allowed: Closed, Open). Write the code as it stands here.",
        "f:6: the codes are Empty Closed where earlier lines have Empty Open (allowed: the same). "
        "Put every track into a file of its own.",
        "f:7: the line has 6 fields (allowed: 8 for Empty: task, set, segment, and scores of French, "
        "German, Greek, Italian, OOS). Write the missing scores, or remove what is too much.",
        "f:8: segment 'a' is given again (allowed: once, even where the lines are the same). Remove one of the lines.",
    ),
    row(
        "lre_out",
        b"Few Ajar b 1 2 3 4 5\n",
        "f:1: the task is 'Few' (allowed: Plenty, Empty). Write the code as it stands here.",
        "f:1: the set is 'Ajar' (allowed: Closed, Open). Write the code as it stands here.",
    ),
    row(
        "lre_out",
        b"Empty Open a 1 2 nan 4 5\nEmpty Open b -inf 1,5 3 1e999 5\n",
        "f:1: the score of Greek is 'nan' (allowed: finite decimal numbers). Write a large number of "
        "the right sign, such as -1e6.",
        "f:2: the score of French is '-inf' (allowed: finite decimal numbers). Write a large number "
        "of the right sign, such as -1e6.",
        "f:2: the score of German is '1,5' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:2: the score of Italian is '1e999' (allowed: at most 1.7976931348623157e308 in size). "
        "Write the number that is meant.",
    ),
    row(
        "lre_out",
        b"Empty Open a 1 2 3 4 5\n",
        "out/G_PC_pri.out:1: the codes are Empty Open, of track EO, and the file's name says PC "
        "(allowed there: Plenty Closed). Correct the name or the codes.",
        where="out/G_PC_pri.out",
    ),
    row(
        "names",
        b"out/a.txt\nout/G_PO_con1.out\nout/G_PO_con2.out\nout/H_PC_pri.out\nout/h/H_PC_pri.out\n",
        "out/a.txt: the name is 'a.txt' (allowed: <GroupID>_<PC|PO|EC|EO>_<pri|con1|con2|…>.out). Rename it.",
        "G_PO: group 'G' has 0 primary systems in PO (allowed: exactly one). Name one file G_PO_pri.out.",
        "H_PC: group 'H' has 2 primary systems in PC (allowed: exactly one). Name one file H_PC_pri.out.",
        "G: group 'G' has nothing in the mandatory track PC. Submit G_PC_pri.out.",
    ),
)
