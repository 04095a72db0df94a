"""What is told of the tables of multimedia event detection."""

from __future__ import annotations

from tests.unit.formats.messages.rows import each, row

MED = {
    "med_index": {"WANTED": "TrialID, ClipID, EventID", "HEADER": "TrialID,ClipID,EventID", "RECORD": "t,c,E"},
    "med_ref": {"WANTED": "TrialID, Targ", "HEADER": "TrialID,Targ", "RECORD": "t,y"},
    "med_clipmd": {"WANTED": "ClipID", "HEADER": "ClipID", "RECORD": "c"},
    "med_eventdb": {"WANTED": "EventID", "HEADER": "EventID", "RECORD": "E"},
    "med_judgement": {"WANTED": "ClipID, EventID", "HEADER": "ClipID,EventID", "RECORD": "c,E"},
    "med_detection": {"WANTED": "TrialID", "HEADER": "TrialID,Score", "RECORD": "t,1"},
    "med_threshold": {"WANTED": "EventID", "HEADER": "EventID,DetectionThreshold", "RECORD": "E,1"},
}

ROWS = (
    # the dialect, of every table
    *each(MED, b"", "f: the file is empty. Write the columns WANTED."),
    *each(MED, b"HEADER\n", "f: the file has a header and no rows. Check that it was written whole."),
    *each(MED, b"\xef\xbb\xbfHEADER\nRECORD\n", "f:1: the file begins with a byte-order mark, which DEVA refuses."),
    *each(MED, b"\xff\xfeHEADER\n", "f:1: the file is UTF-16 (allowed: UTF-8). Save the file as UTF-8."),
    *each(
        MED,
        b"HEADER\nRECORD\n" + b"x" * 70_000,
        "f:3: the line is longer than 65536 bytes. Check that this is a text file of records.",
    ),
    *each(MED, b"HEADER\n\n\nRECORD\n", "f:2: the line is empty, and records follow. Remove it."),
    *each(
        MED,
        b"HEADER\nRECORD\rRECORD",
        "f:2: a carriage return stands inside the line (allowed: lines that end in LF or CR LF). Save the file with "
        "Unix or Windows line ends.",
    ),
    *each(
        MED,
        b"HEADER\nRECORD\rRECORD\n",
        "f:2: a carriage return stands inside the line (allowed: lines that end in LF or CR LF). Save the file with "
        "Unix or Windows line ends.",
    ),
    # the dialect
    row(
        "med_index",
        b"",
        "f: the file is empty. Write the columns TrialID, ClipID, EventID.",
    ),
    row(
        "med_index",
        b"TrialID,ClipID,EventID\n",
        "f: the file has a header and no rows. Check that it was written whole.",
    ),
    row(
        "med_index",
        b"TrialID,\xe2\x80\x9cClipID\xe2\x80\x9d,EventID\nt,c,E\n",
        'f:1: the header has the character “ (U+201C LEFT DOUBLE QUOTATION MARK). Write straight quotes (").',
    ),
    row(
        "med_index",
        b'TrialID, "ClipID",EventID\nt,c,E\n',
        "f:1: the header 'TrialID, \"ClipID\",EventID' is not CSV (allowed: fields between commas, "
        "quoted whole or not at all). No blank before a quote.",
    ),
    row(
        "med_index",
        b'"TrialID";"ClipID"\nt,c,E\n',
        'f:1: the header \'"TrialID";"ClipID"\' is not CSV (allowed: fields between commas, quoted '
        "whole or not at all). Separate the fields by commas.",
    ),
    row(
        "med_index",
        b"TrialID,ClipID,ClipID\nt,c,E\n",
        "f:1: two columns are named 'ClipID'. Keep one of them.",
        "f:1: the header has no column EventID (it has 'TrialID,ClipID,ClipID'). The first line "
        "names the columns, upper and lower case as in the plan.",
    ),
    row(
        "med_index",
        b"trialid,ClipID,Event ID\nt,c,E\n",
        "f:1: the header has no column TrialID, EventID (it has 'trialid,ClipID,Event ID'). "
        "Spell 'trialid' as 'TrialID'.",
    ),
    row(
        "med_index",
        b"TrialID;ClipID;EventID\nt;c;E\n",
        "f:1: the header has no column TrialID, ClipID, EventID (it has 'TrialID;ClipID;EventID'). "
        "Separate the fields by commas.",
    ),
    row(
        "med_index",
        b'TrialID,ClipID,EventID\nt,c\nu,c,E,x\nv, "c",E\nw,c,E\n\nx,c,E\n\xff,c,E\ny,c,E\xe2\x80\x991\n',
        "f:4: the row is not CSV (allowed: fields between commas, each quoted whole or not at all, "
        'quotes doubled). Write "a ""b""", and no blank between a comma and a quote.',
        "f:2: the row has 2 fields where the header has 3. Quote fields that contain a comma.",
        "f:3: the row has 4 fields where the header has 3. Quote fields that contain a comma.",
        "f:6: the line is empty, and records follow. Remove it.",
        "f:8: TrialID has a byte that is not UTF-8. Save the file as UTF-8.",
        'f:9: EventID has the character ’ (U+2019 RIGHT SINGLE QUOTATION MARK). Write straight quotes (").',
    ),
    row(
        "med_index",
        b"TrialID,ClipID,EventID\nt,c,E\n\n\nu,c,E\n",
        "f:3: the line is empty, and records follow. Remove it.",
    ),
    row(
        "med_index",
        b"TrialID,ClipID,EventID\nt,c,E\rt,c,E\n",
        "f:2: a carriage return stands inside the line (allowed: lines that end in LF or CR LF). "
        "Save the file with Unix or Windows line ends.",
    ),
    row(
        "med_index",
        b"TrialID,ClipID,EventID\nt,c,E\n" + b"x" * 70_000,
        "f:3: the line is longer than 65536 bytes. Check that this is a text file of records.",
    ),
    row(
        "med_index",
        b"\xff\xfeT\x00",
        "f:1: the file is UTF-16 (allowed: UTF-8). Save the file as UTF-8.",
    ),
    row(
        "med_index",
        b"\xef\xbb\xbfTrialID,ClipID,EventID\nt,c,E\n",
        "f:1: the file begins with a byte-order mark, which DEVA refuses.",
    ),
    # what each table checks
    row(
        "med_index",
        b"TrialID,ClipID,EventID\nt,c,E\n ,,\nt,c,E\n",
        "f:3: TrialID is empty. Write the identifier.",
        "f:4: TrialID 't' is given twice (first in line 2). Keep one of the rows.",
        "f:3: ClipID is empty. Write the identifier.",
        "f:3: EventID is empty. Write the identifier.",
    ),
    row(
        "med_ref",
        b"TrialID,Targ\nt,y\n,n\nt,n\nu,Y\nv, n\n",
        "f:3: TrialID is empty. Write the identifier.",
        "f:4: TrialID 't' is given twice (first in line 2). Keep one of the rows.",
        "f:5: Targ is 'Y' (allowed: y for a target, n for another trial). Write y or n, lower case, without blanks.",
        "f:6: Targ is ' n' (allowed: y for a target, n for another trial). Write y or n, lower case, without blanks.",
    ),
    row(
        "med_clipmd",
        b"ClipID,DURATION\nc,1\n,2\nc,3\n",
        "f:3: ClipID is empty. Write the identifier.",
        "f:4: ClipID 'c' is given twice (first in line 2). Keep one of the rows.",
    ),
    row(
        "med_eventdb",
        b"EventID,EventName\nE,x\n,y\nE,z\n",
        "f:3: EventID is empty. Write the identifier.",
        "f:4: EventID 'E' is given twice (first in line 2). Keep one of the rows.",
    ),
    row(
        "med_judgement",
        b"ClipID,EventID,INSTANCE_TYPE\nc,E,positive\n,E,positive\n",
        "f:3: ClipID is empty. Write the identifier.",
    ),
    row(
        "med_detection",
        b"TrialID,score\nt,1\n",
        "f:1: the header has neither Score nor Rank (it has 'TrialID,score'). Name the column of "
        "scores Score, upper and lower case as here.",
    ),
    row(
        "med_detection",
        b"TrialID,Score,Rank,Decision\nt,high,first,yes\n,inf,0,y\nt,1,1.5,n\n",
        "f:3: TrialID is empty. Write the identifier.",
        "f:4: TrialID 't' is given twice (first in line 2). Keep one of the rows.",
        "f:2: Score is 'high' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:3: Score is 'inf' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:2: Rank is 'first' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:3: Rank is '0' (allowed: whole numbers of 1 or more). The best trial of an event has rank 1.",
        "f:4: Rank is '1.5' (allowed: whole numbers of 1 or more). The best trial of an event has rank 1.",
        "f:2: Decision is 'yes' (allowed: y, n). Write y or n.",
    ),
    row(
        "med_threshold",
        b"EventID,DetectionThreshold,RankThreshold\nE,low,nan\n,1,1\nE,1,1\n",
        "f:3: EventID is empty. Write the identifier.",
        "f:4: EventID 'E' is given twice (first in line 2). Keep one of the rows.",
        "f:2: DetectionThreshold is 'low' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:2: RankThreshold is 'nan' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
    ),
    row(
        "med_threshold",
        b"EventID,DectectionThrehold,DetectionTPT,EAGTPT\nE,1,NA,1\nF,1,2,one\n",
        "f:1: the column DectectionThrehold is taken for DetectionThreshold.",
        "f:2: DetectionTPT is 'NA', no number of hours; it is left out (2 times, first here).",
    ),
    row(
        "med_threshold",
        b"EventID,DetectionThreshold,EMDTPT,EBGMDTPT,SEARCHMDTPT\nE,1,x,y,z\n",
        "f:2: EMDTPT is 'x', no number of hours; it is left out (3 times, first here).",
    ),
)
