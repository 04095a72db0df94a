"""What is told of ECF, KWList, KWSList, RTTM and the table of query examples."""

from __future__ import annotations

from tests.unit.formats.messages.rows import row

DETECTION = b'<kw file="f" channel="1" tbeg="1.5" dur="1" score="0.5" decision="YES"/>\n'

ROWS = (
    # ECF
    row(
        "ecf",
        b"<ecf>\n</ecf>",
        "f: the ECF has no <excerpt>. List the parts of recordings that are evaluated.",
    ),
    row(
        "ecf",
        b'<ecf source_signal_duration="1 h">\n'
        b'<excerpt audio_filename="a" channel="1" tbeg="0" dur="1" source_type="cts"/></ecf>',
        "f:1: source_signal_duration is '1 h' (allowed: a decimal number such as 12.5 or 1.25e1). "
        "Write the plain number.",
    ),
    row(
        "ecf",
        b'<ecf source_signal_duration="-1">\n'
        b'<excerpt audio_filename="a" channel="1" tbeg="0" dur="1" source_type="cts"/></ecf>',
        "f:1: source_signal_duration is '-1' (allowed: 0 or more seconds). Times are counted from "
        "the start of the recording.",
    ),
    row(
        "ecf",
        b"<ecf>\n"
        b'<excerpt channel="1" tbeg="0" dur="1" source_type="cts"/>\n'
        b'<excerpt audio_filename=" " channel="" tbeg="0" dur="1"/></ecf>',
        "f:2: <excerpt> has no attribute `audio_filename` (required). Add it.",
        "f:3: attribute `audio_filename` of <excerpt> is empty. Write its value.",
        "f:3: attribute `channel` of <excerpt> is empty. Write its value.",
    ),
    row(
        "ecf",
        b'<ecf>\n<excerpt audio_filename="a" channel="1" tbeg="1:30" dur="1,5" source_type="cts"/></ecf>',
        "f:2: tbeg is '1:30' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:2: dur is '1,5' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
    ),
    row(
        "ecf",
        b'<ecf>\n<excerpt audio_filename="a" channel="1"\n tbeg="-0.5" dur="1e999" source_type="cts"/></ecf>',
        "f:2: tbeg is '-0.5' (allowed: 0 or more seconds). Times are counted from the start of the recording.",
        "f:2: dur is '1e999' (allowed: at most 1.7976931348623157e308 in size). Write the number that is meant.",
    ),
    row(
        "ecf",
        b'<ecf>\n<excerpt audio_filename="a" channel="1" tbeg="0" dur="-1" source_type="cts"/></ecf>',
        "f:2: dur is '-1' (allowed: 0 or more seconds). Times are counted from the start of the recording.",
    ),
    row(
        "ecf",
        b'<ecf>\n<excerpt audio_filename="a&amp;b" channel="1" tbeg="0" dur="1" start="2"/></ecf>',
        "f:2: <excerpt> has the unknown attribute 'start' (known: audio_filename, channel, tbeg, "
        "dur, source_type, language); it is passed over.",
        "f:2: source_type is '' (known: bnews, cts, splitcts, confmtg); it is kept as written.",
        "f:2: 'a&b' is written with XML references and read as XML says; the official tools do not "
        "decode them, and find nothing of that name in the transcript.",
    ),
    row(
        "ecf",
        b"<ecf>\n"
        b'<excerpt audio_filename="a" channel="1" tbeg="0" dur="2" source_type="cts"/>\n'
        b'<excerpt audio_filename="a" channel="1" tbeg="0" dur="2" source_type="bnews"/>\n'
        b'<excerpt audio_filename="a" channel="1" tbeg="1.5" dur="2" source_type="cts"/></ecf>',
        "f:3: the excerpt of 'a', channel '1', 0 to 2 s is listed in line 2 too: KWSEval counts its "
        "time once, STDEval every time.",
        "f:4: the excerpt of 'a', channel '1', 1.5 to 3.5 s overlaps that of 0 to 2 s in line 2: "
        "KWSEval ends the earlier where the later begins, STDEval counts both; what lies in both is "
        "the first one's in the ECF, but with -g its words are the last one's.",
        "f:3: recording 'a' has excerpts of source type 'cts' (line 2) and 'bnews': of equal spans "
        "KWSEval counts the last one's type; with -g a channel has the type of its first excerpt, in "
        "STDEval of its last.",
    ),
    # KWList and termlist
    row(
        "kwlist",
        b'<kwlist encoding="EUC-JP" compareNormalize="upper">\n<kw kwid="K"><kwtext>a</kwtext></kw></kwlist>',
        "f:1: compareNormalize is 'upper' (allowed: lowercase, or empty). Write one of the two.",
    ),
    row(
        "kwlist",
        b'<kwlist encoding="EUC-JP">\n'
        b'<kw kwid="K" lang="x">\n'
        b"<kwtext>a &amp; b</kwtext><kwinfo>\n"
        b"<attr><name>n</name><value>1</value></attr>\n"
        b"<attr><name>n</name><value>2</value></attr></kwinfo></kw></kwlist>",
        "f:1: encoding is 'EUC-JP' (known: UTF-8, GB2312); the texts are read as the XML declares.",
        "f:2: <kw> has the unknown attribute 'lang' (known: kwid); it is passed over.",
        "f:3: 'a & b' is written with XML references or CDATA and read as XML says; KWSEval (&amp;, "
        "&lt;, &gt;, CDATA) and STDEval (any) do not decode them and find none of its words.",
        "f:5: the keyword has the attribute 'n' twice; the last value holds.",
    ),
    row(
        "kwlist",
        b"<kwlist>\n"
        b'<kw kwid="K"><kwtext>a</kwtext><kwinfo>\n'
        b"<attr><name>n</name><value>1 &gt; 0</value></attr></kwinfo></kw></kwlist>",
        "f:3: '1 > 0' is written with XML references or CDATA and read as XML says; KWSEval (&amp;, "
        "&lt;, &gt;, CDATA) and STDEval (any) do not decode them and find none of its words.",
    ),
    row(
        "kwlist",
        b"<kwlist>\n"
        b'<kw kwid="K"><kwtext>a</kwtext></kw>\n'
        b'<kw kwid="K"><kwtext>b</kwtext>\n'
        b"<kwtext>c</kwtext></kw>\n"
        b"<kw><kwtext> </kwtext></kw>\n"
        b'<kw kwid=" ">\n'
        b"</kw></kwlist>",
        "f:3: kwid 'K' is given twice (first in line 2). Give every keyword an id of its own.",
        "f:4: the keyword has a second <kwtext>. Keep one of them.",
        "f:5: <kw> has no attribute `kwid` (required). Add it.",
        "f:5: <kwtext> is empty. Write the words to search for.",
        "f:6: attribute `kwid` of <kw> is empty. Write its value.",
        "f:7: the <kw> that ends here has no <kwtext>. Add it.",
    ),
    row(
        "kwlist",
        b'<kwlist><kw kwid="K"><kwtext>a</kwtext><kwinfo>\n'
        b"<attr><value>1</value><name>n</name></attr></kwinfo></kw></kwlist>",
        "f:2: the <attr> has a <value> without a <name> before it. Write <name>…</name> first.",
    ),
    row(
        "kwlist",
        b"<termlist>\n"
        b'<term termid="K"><termtext>a</termtext></term>\n'
        b'<term termid="K"><termtext>b</termtext><termtext>c</termtext></term>\n'
        b"<term><termtext/></term>\n"
        b'<term termid="L">\n'
        b"</term></termlist>",
        "f:3: termid 'K' is given twice (first in line 2). Give every keyword an id of its own.",
        "f:3: the keyword has a second <termtext>. Keep one of them.",
        "f:4: <term> has no attribute `termid` (required). Add it.",
        "f:4: <termtext> is empty. Write the words to search for.",
        "f:6: the <term> that ends here has no <termtext>. Add it.",
    ),
    row(
        "kwlist",
        b'<termlist><term termid="K" x="1">\n<termtext>a &amp; b</termtext></term></termlist>',
        "f:1: <term> has the unknown attribute 'x' (known: termid); it is passed over.",
        "f:2: 'a & b' is written with XML references or CDATA and read as XML says; KWSEval (&amp;, "
        "&lt;, &gt;, CDATA) and STDEval (any) do not decode them and find none of its words.",
    ),
    row(
        "kwlist",
        b'<kwlist>\n<kw kwid="K"><kwtext>a</kwtext></kw>\n<kwinfo/></kwlist>',
        "f:3: unexpected element <kwinfo> inside <kwlist> (allowed: <kw>). It belongs inside its "
        "keyword: an end tag </kw> comes too early.",
    ),
    row(
        "kwlist",
        b'<termlist>\n<term termid="K"><termtext>a</termtext></term>\n<terminfo/></termlist>',
        "f:3: unexpected element <terminfo> inside <termlist> (allowed: <term>). It belongs inside "
        "its term: an end tag </term> comes too early.",
    ),
    row(
        "kwlist",
        b"<kwlist>\n<detected_kwlist/></kwlist>",
        "f:2: unexpected element <detected_kwlist> inside <kwlist> (allowed: <kw>). This is a system "
        "output (KWSList), whose root is <kwslist>.",
    ),
    row(
        "kwlist",
        b"<termlist>\n<detected_termlist/></termlist>",
        "f:2: unexpected element <detected_termlist> inside <termlist> (allowed: <term>). This is a "
        "system output (STDList), whose root is <stdlist>.",
    ),
    row(
        "kwlist",
        b"\n<kwslist/>",
        "f:2: the root element is <kwslist> (allowed: <kwlist>, <termlist>). This is a system output (KWSList).",
    ),
    row(
        "kwlist",
        b"<stdlist/>",
        "f:1: the root element is <stdlist> (allowed: <kwlist>, <termlist>). This is a system output (STDList).",
    ),
    # KWSList and STDList
    row(
        "kwslist",
        b'<kwslist min_score="0">\n</kwslist>',
        "f:1: the header declares min_score alone (allowed: min_score and max_score, or neither). "
        "Add the other one, or remove it.",
    ),
    row(
        "kwslist",
        b'<kwslist min_score="1" max_score="low">\n</kwslist>',
        "f:1: max_score is 'low' (allowed: a decimal number such as -3.5 or 1e-3, inf or -inf). "
        "Write the plain number.",
    ),
    row(
        "kwslist",
        b'<kwslist\n min_score="1" max_score="0">\n</kwslist>',
        "f:1: min_score 1.0 is above max_score 0.0. Swap them.",
    ),
    row(
        "kwslist",
        b'<kwslist min_score="0" max_score="1">\n'
        b'<detected_kwlist kwid="K">\n'
        b'<kw file="f" channel="1" tbeg="1" dur="1" score="2" decision="YES"/>\n'
        b'<kw file="f" channel="1" tbeg="1" dur="1" score="-0.5" '
        b'decision="NO"/></detected_kwlist></kwslist>',
        "f:3: score 2.0 lies outside the range that the header declares (allowed: 0.0 to 1.0). "
        "Correct min_score and max_score, or remove both.",
        "f:4: score -0.5 lies outside the range that the header declares (allowed: 0.0 to 1.0). "
        "Correct min_score and max_score, or remove both.",
    ),
    row(
        "kwslist",
        b"<kwslist>\n"
        b'<detected_kwlist search_time="fast" oov_count="some">\n'
        b"</detected_kwlist>\n"
        b'<detected_kwlist kwid="" oov_count="-1"/></kwslist>',
        "f:2: <detected_kwlist> has no attribute `kwid` (required). Add it.",
        "f:2: search_time is 'fast' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:2: oov_count is 'some' (allowed: a whole number, or NA for a system without a "
        "dictionary). Write NA if unknown.",
        "f:4: attribute `kwid` of <detected_kwlist> is empty. Write its value.",
        "f:4: oov_count is '-1' (allowed: a whole number, or NA for a system without a dictionary). "
        "Write NA if unknown.",
    ),
    row(
        "kwslist",
        b"<kwslist>\n"
        b'<detected_kwlist kwid="K" search_time="-1" words="2">\n'
        b"</detected_kwlist>\n"
        b'<detected_kwlist kwid="K"/></kwslist>',
        "f:2: <detected_kwlist> has the unknown attribute 'words' (known: kwid, search_time, "
        "oov_count); it is passed over.",
        "f:2: search_time is '-1'; it is taken as not declared.",
        "f:4: kwid 'K' has a second block; the setting duplicate_blocks says what counts.",
    ),
    row(
        "kwslist",
        b"<kwslist>\n"
        b'<detected_kwlist kwid="K">\n'
        b'<kw file="f" channel="1" tbeg="1"/>\n'
        b'<kw channel="" file=" " tbeg="1" dur="1" score="0" decision="NO"/>\n'
        b"</detected_kwlist></kwslist>",
        "f:3: <kw> has no attribute `dur` (required). Add it.",
        "f:3: <kw> has no attribute `score` (required). Add it.",
        "f:3: <kw> has no attribute `decision` (required). Add it.",
        "f:4: attribute `file` of <kw> is empty. Write its value.",
        "f:4: attribute `channel` of <kw> is empty. Write its value.",
    ),
    row(
        "kwslist",
        b"<kwslist>\n"
        b'<detected_kwlist kwid="K">\n'
        b'<kw file="f" channel="" tbeg="1" dur="1" score="0" decision="NO"/>\n'
        b'<kw file="f" channel="1" tbeg="now" dur="1s" score="best" decision="yes"/>\n'
        b'<kw file="f" channel="1" tbeg="1" dur="1e999" score="nan" decision="NO"/>\n'
        b'<kw file="f" channel="1" tbeg="1" dur="1" score="1e999" decision="YES "/>\n'
        b"</detected_kwlist></kwslist>",
        "f:3: attribute `channel` of <kw> is empty. Write its value.",
        "f:4: decision is 'yes' (allowed: YES or NO, in capitals, without blanks). Write YES or NO.",
        "f:6: decision is 'YES ' (allowed: YES or NO, in capitals, without blanks). Write YES or NO.",
        "f:4: dur is '1s' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:5: dur is '1e999' (allowed: at most 1.7976931348623157e308 in size). Write the number that is meant.",
        "f:4: score is 'best' (allowed: a decimal number such as -3.5 or 1e-3, inf or -inf). Write the plain number.",
        "f:5: score is 'nan' (allowed: a decimal number, inf or -inf). NaN has no place in a "
        "ranking: leave the row out, or give it a score.",
        "f:6: score is '1e999' (allowed: at most 1.7976931348623157e308 in size). Write inf or -inf "
        "where infinity is meant.",
        "f:4: tbeg is 'now' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
    ),
    row(
        "kwslist",
        b"<kwslist>\n"
        b'<detected_kwlist kwid="K">\n'
        b'<kw file="f" channel="1" tbeg="1" dur="-1" score="0" decision="NO" lang="x"/>\n'
        b'<kw file="f" channel="1" tbeg="1" dur="-1" score="0" decision="NO" lang="x"/>\n'
        b"</detected_kwlist></kwslist>",
        "f:3: <kw> has the unknown attribute 'lang' (known: file, channel, tbeg, dur, score, "
        "decision); it is passed over.",
        "f:3: the detection ends before it begins; it is kept (2 times, first here).",
    ),
    row(
        "kwslist",
        b"<stdlist>\n"
        b'<detected_termlist termid="K" term_search_time="x" oov_term_count="x">\n'
        b'<term file="f" channel="1"/>\n'
        b"</detected_termlist></stdlist>",
        "f:2: term_search_time is 'x' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:2: oov_term_count is 'x' (allowed: a whole number, or NA for a system without a "
        "dictionary). Write NA if unknown.",
        "f:3: <term> has no attribute `tbeg` (required). Add it.",
        "f:3: <term> has no attribute `dur` (required). Add it.",
        "f:3: <term> has no attribute `score` (required). Add it.",
        "f:3: <term> has no attribute `decision` (required). Add it.",
    ),
    row(
        "kwslist",
        b"<stdlist>\n"
        b'<detected_termlist termid="K"/>\n'
        b'<detected_termlist termid="K">\n'
        b'<term file="f" channel="1" tbeg="1" dur="-1" score="0" decision="NO"/>\n'
        b"</detected_termlist></stdlist>",
        "f:3: termid 'K' has a second block; the setting duplicate_blocks says what counts.",
        "f:4: the detection ends before it begins; it is kept.",
    ),
    row(
        "kwslist",
        b"<kwlist/>",
        "f:1: the root element is <kwlist> (allowed: <kwslist>, <stdlist>). Name it <kwslist> if it "
        "holds <detected_kwlist> blocks; else the file is a query list.",
    ),
    row(
        "kwslist",
        b"<termlist/>",
        "f:1: the root element is <termlist> (allowed: <kwslist>, <stdlist>). Name it <stdlist> if "
        "it holds <detected_termlist> blocks; else the file is a query list.",
    ),
    row(
        "kwslist",
        b"<kwslist>\n<kw/></kwslist>",
        "f:2: unexpected element <kw> inside <kwslist> (allowed: <detected_kwlist>). It belongs "
        "inside a <detected_kwlist>.",
    ),
    row(
        "kwslist",
        b"<stdlist>\n<term/></stdlist>",
        "f:2: unexpected element <term> inside <stdlist> (allowed: <detected_termlist>). It belongs "
        "inside a <detected_termlist>.",
    ),
    row(
        "kwslist",
        b'<kwslist>\n<detected_kwlist kwid="K">\n'
        + DETECTION * 4000
        + b'</detected_kwlist>\n<detected_kwlist kwid="K"/></kwslist>',
        "f:4004: kwid 'K' has a second block; the setting duplicate_blocks says what counts.",
    ),
    row(
        "kwslist",
        b'<kwslist>\n<detected_kwlist kwid="K">\n'
        + DETECTION * 4000
        + b'<kw file="f" channel="1" tbeg="1.5" dur="1" score="0.5" decision="Y"/></detected_kwlist></kwslist>',
        "f:4003: decision is 'Y' (allowed: YES or NO, in capitals, without blanks). Write YES or NO.",
    ),
    row(
        "kwslist_texts",
        b"<kwslist>\n"
        b'<detected_kwlist kwid="K">\n'
        b'<kw file="f" channel="1" tbeg="1" dur="1" score="high" decision="NO"/>\n'
        b"</detected_kwlist></kwslist>",
        "f:3: score is 'high' (allowed: a decimal number such as -3.5 or 1e-3, inf or -inf). Write the plain number.",
    ),
    row(
        "in pieces",
        b"<kwslist>\n"
        b'<detected_kwlist kwid="K">\n'
        b'<kw file="f" channel="1" tbeg="1" dur="1" score="0" decision="no"/>\n'
        b"</detected_kwlist>\n"
        b'<detected_kwlist kwid="K" oov_count="x"/></kwslist>',
        "f:5: oov_count is 'x' (allowed: a whole number, or NA for a system without a dictionary). Write NA if "
        "unknown.",
        "f:3: decision is 'no' (allowed: YES or NO, in capitals, without blanks). Write YES or NO.",
    ),
    row(
        "in pieces",
        b'<kwslist>\n<detected_kwlist kwid="K"/>\n<detected_kwlist kwid="K"/></kwslist>',
        "f:3: kwid 'K' has a second block; the setting duplicate_blocks says what counts.",
    ),
    # RTTM
    row(
        "rttm",
        b"SPEAKER f 1 1.5 0.5* <NA> <NA> s <NA>\n",
        "f:1: the time '0.5*' is marked as not actual; it is read as 0.5.",
    ),
    row(
        "rttm",
        b"LEXEME f 1 1.0 0.5 a lex s\n\nLEXEME f 1 1.0 0.5 a lex s <NA> <NA> x\n",
        "f:1: the record has 8 fields (allowed: 9, or 10 with the signal look-ahead time). Write "
        "<NA> for what does not apply; no blanks inside a field.",
        "f:3: the record has 11 fields (allowed: 9, or 10 with the signal look-ahead time). Write "
        "<NA> for what does not apply; no blanks inside a field.",
    ),
    row(
        "rttm",
        b"LEXEME f 1 one 0.5 a lex s <NA>\nLEXEME f 1 1.0 half a lex s <NA>\nLEXEME f 1 1:0* <NA> a lex s <NA>\n",
        "f:1: tbeg is 'one' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:3: tbeg is '1:0' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:2: tdur is 'half' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
    ),
    row(
        "rttm",
        b";; a comment\n"
        b"LEXEME f 1 1.0 -0.5 a lex s <NA>\n"
        b"LEXEME f 1 2.0* 0.5 b lex s <NA> <NA>\n"
        b"SPEAKER f 1 <NA> 0.5* <NA> <NA> s <NA>\n"
        b"WORD f 1 1 1 a lex s <NA>\n",
        "f:3: the record has 10 fields, as plan 004 says; the official tool takes 9 and refuses others.",
        "f:3: the time '2.0*' is marked as not actual; it is read as 2.0 (2 times, first here).",
        "f:4: a time is <NA>; it is read as 0.",
        "f:2: the record ends before it begins.",
        "f:5: records of unknown types are passed over ('WORD': 1); scored types: LEXEME, SPEAKER, NOSCORE, SEGMENT.",
    ),
    row(
        "rttm",
        b"A f 1 1 1 a b c d\n"
        b"B f 1 1 1 a b c d\n"
        b"C f 1 1 1 a b c d\n"
        b"D f 1 1 1 a b c d\n"
        b"E f 1 1 1 a b c d\n"
        b"F f 1 1 1 a b c d\n"
        b"A f 1 1 1 a b c d\n"
        b"G f 1 1 1 a b c d\n",
        "f:1: records of unknown types are passed over ('A': 2, 'B': 1, 'C': 1, 'D': 1, 'E': 1, "
        "'others': 2); scored types: LEXEME, SPEAKER, NOSCORE, SEGMENT.",
    ),
    row(
        "rttm",
        b"LEXEME f 1 1 1 A lex s <NA>\nLEXEME f 1 1 1 a lex t <NA>\nLEXEME f 1 1.5 1 a lex s <NA>\n",
        "f:2: the word 'a' at 1 s of 'f', channel '1', is given twice (line 1 too): each record is "
        "an occurrence of its own, which one detection cannot find twice.",
        "f:3: the word 'a' at 1.5 s of 'f', channel '1', overlaps itself (line 1 too): each record "
        "is an occurrence of its own, which one detection cannot find twice.",
    ),
    row(
        "rttm",
        b"SEGMENT f 1 1 1 a main <NA> <NA>\n"
        b"NOSCORE f 1 1 1 <NA> x <NA> <NA>\n"
        b"NO_RT_METADATA f 1 1 1 <NA> <NA> x <NA>\n"
        b"LEXEME f 1 1 1 a <NA> <NA> <NA>\n"
        b"NON-LEX f 1 1 1 a <NA> s <NA>\n"
        b"NON-SPEECH f 1 1 1 a <NA> <NA> <NA>\n"
        b"SPKR-INFO f 1 1 1 <NA> <NA> s <NA>\n",
        "f:1: the SEGMENT record is not written as plan 004, table C.3, says: ortho is 'a', write "
        "<NA>; stype is 'main', write eval or <NA>. It is read as it stands.",
        "f:2: the NOSCORE record is not written as plan 004, table C.3, says: stype is 'x', write "
        "<NA>. It is read as it stands.",
        "f:3: the NO_RT_METADATA record is not written as plan 004, table C.3, says: name is 'x', "
        "write <NA>. It is read as it stands.",
        "f:4: the LEXEME record is not written as plan 004, table C.3, says: stype is <NA>, write a "
        "value; name is <NA>, write a value. It is read as it stands.",
        "f:5: the NON-LEX record is not written as plan 004, table C.3, says: stype is <NA>, write a "
        "value. It is read as it stands.",
        "f:6: the NON-SPEECH record is not written as plan 004, table C.3, says: stype is <NA>, "
        "write a value; ortho is 'a', write <NA>. It is read as it stands.",
        "f:7: the SPKR-INFO record is not written as plan 004, table C.3, says: stype is <NA>, write "
        "a value; tbeg is '1', write <NA>; tdur is '1', write <NA>. It is read as it stands.",
    ),
    # query examples
    row(
        "queries",
        b"",
        "f: the file is empty (allowed: query,example,dur_s first). Write the header.",
    ),
    row(
        "queries",
        b"query;example;dur_s\n",
        "f:1: the header is 'query;example;dur_s' (allowed: query,example,dur_s). Write these three "
        "column names, in this order.",
    ),
    row(
        "queries",
        b'query,example,dur_s\nq,a\n"q",b,1,2\n',
        "f:2: the row has 2 fields (allowed: 3: query, example, dur_s). Quote fields that contain a comma.",
        "f:3: the row has 4 fields (allowed: 3: query, example, dur_s). Quote fields that contain a comma.",
    ),
    row(
        "queries",
        b"query,example,dur_s\n ,,1\nq,a,one\nq,a,0\nq,b,1e11\nq,c,1e999\n",
        "f:2: query is empty. Write its name.",
        "f:2: example is empty. Write its name.",
        "f:3: dur_s is 'one' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:4: example 'a' of query 'q' is given twice (first in line 3). Keep one of them.",
        "f:4: dur_s is '0' (allowed: more than 0 and at most 1e+10 seconds). Write the duration of the example.",
        "f:5: dur_s is '1e11' (allowed: more than 0 and at most 1e+10 seconds). Write the duration of the example.",
        "f:6: dur_s is '1e999' (allowed: at most 1.7976931348623157e308 in size). Write the number that is meant.",
    ),
    row(
        "queries",
        b'query,example,dur_s\nq,"a"b",1\n',
        "f:2: the CSV is broken: ',' expected after '\"'. Double every quote inside quotes.",
    ),
    row(
        "queries",
        b"query,example,dur_s\n\xff,a,1\n\nq,b,long\n",
        "f:2: byte 0xFF at position 1 of the line is not UTF-8. Save the file as UTF-8.",
        "f:4: dur_s is 'long' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
    ),
    row(
        "queries",
        b"\xff,example,dur_s\nq,a,1\nq,b,long\n",
        "f:1: byte 0xFF at position 1 of the line is not UTF-8. Save the file as UTF-8.",
        "f:1: the header is '' (allowed: query,example,dur_s). Write these three column names, in this order.",
        "f:3: dur_s is 'long' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
    ),
)
