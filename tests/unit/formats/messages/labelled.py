"""What is told of tables of labelled scores."""

from __future__ import annotations

from tests.unit.formats.messages.rows import row

ROWS = (
    row(
        "labelled",
        b"",
        "f: the table has no trial. Check that the file is whole.",
    ),
    row(
        "labelled",
        b"document;label;score\nd;1;1\n",
        "f:1: the header has no column document, label, score (it has 'document;label;score'). Name "
        "the columns document, label, score.",
    ),
    row(
        "labelled",
        b"trial,document,label\nd,d,1\n",
        "f:1: the columns 'trial' and 'document' are both the document. Keep one of them.",
        "f:1: the header has no column score (it has 'trial,document,label'). Name the columns document, label, score.",
    ),
    row(
        "labelled",
        b"document,label,score\nd,1,1,2\ne,maybe,high\nd,1,2\n ,1,2\nf,1,nan\nd,0,3\n",
        "f:2: the row has 4 fields where the header has 3. Quote fields that contain a comma.",
        "f:3: label is 'maybe' (allowed: 1, true, y, yes, target, 1.0, 0, false, n, no, nontarget, "
        "0.0). Write one of these.",
        "f:3: score is 'high' (allowed: a decimal number such as -3.5 or 1e-3, inf or -inf). Write the plain number.",
        "f:5: document is empty. Write its name.",
        "f:6: score is 'nan' (allowed: a decimal number, inf or -inf). NaN has no place in a "
        "ranking: leave the row out, or give it a score.",
        "f:7: document 'd' of query 'all' is given twice (first in line 4). Keep one of them.",
    ),
    row(
        "labelled",
        b"query,document,label,score,decision\n,d,1,1,perhaps\nq,d,1,1,yes\n",
        "f:2: query is empty. Write its name.",
        "f:2: decision is 'perhaps' (allowed: 1, true, y, yes, accept, 0, false, n, no, reject). Write one of these.",
    ),
    row(
        "labelled",
        b"document,label,score,colour\nd,1,1,red\n",
        "f:1: the column 'colour' is passed over.",
    ),
    row(
        "labelled",
        b"document,label,score\n\xff,1,1\n\nd,1,x\n",
        "f:2: byte 0xFF at position 1 of the line is not UTF-8. Save the file as UTF-8.",
        "f:4: score is 'x' (allowed: a decimal number such as -3.5 or 1e-3, inf or -inf). Write the plain number.",
    ),
    row(
        "labelled",
        b'document,label,score\n"d"x,1,1\n',
        "f:2: the CSV is broken: ',' expected after '\"'. Double every quote inside quotes.",
    ),
)
