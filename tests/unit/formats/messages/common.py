"""What is told by many readers alike: of XML, of lines, beyond budgets, and of what is no text."""

from __future__ import annotations

import gzip

from tests.unit.formats.messages.rows import each, row

XML = {
    "ecf": {"ROOT": "ecf", "CHILD": "excerpt", "KINDS": "<ecf>"},
    "kwlist": {"ROOT": "kwlist", "CHILD": "kw", "KINDS": "<kwlist>, <termlist>"},
    "kwslist": {"ROOT": "kwslist", "CHILD": "detected_kwlist", "KINDS": "<kwslist>, <stdlist>"},
}
LINED = {
    "rttm": {"RECORD": "SPEAKER f 1 0 9 <NA> <NA> s <NA>"},
    "queries": {"RECORD": "query,example,dur_s"},
    "stm": {"RECORD": "f 1 s 0 1.5 <o> a"},
    "ctm": {"RECORD": "f 1 0.5 0.25 a 0.9"},
    "lexicon": {"RECORD": "a\tx y"},
    "trn": {"RECORD": "a (s-1)"},
    "glm": {"RECORD": ";; a comment"},
    "lre_key": {"RECORD": "a Basque"},
    "lre_out": {"RECORD": "Empty Open a 1 2 3 4 5"},
}
INDEX = b"TrialID,ClipID,EventID\nt,c,E\n"
ZSTANDARD = b"\x28\xb5\x2f\xfd" + bytes.fromhex("201de90000547269616c49442c436c697049442c4576656e7449440a742c632c450a")

ROWS = (
    # every XML reader
    *each(
        XML,
        b"",
        "f:1: the XML is not well-formed at column 1: no element found. The file is empty or cut off: write it again "
        "to its last end tag.",
    ),
    *each(
        XML,
        b"\n<ROOT>\n<!-- \n",
        "f:3: the XML is not well-formed at column 1: unclosed token. The file is cut off inside a tag or comment: "
        "write it again to its last end tag.",
    ),
    *each(
        XML,
        b"<ROOT>\n<![CDATA[x",
        "f:2: text 'x' stands between the elements, at or before this line. Remove it, or write it as the element it "
        "was meant to be.",
        "f:2: the XML is not well-formed at column 11: unclosed CDATA section. The file is cut off: write it again to "
        "its last end tag.",
    ),
    *each(
        XML,
        b"<ROOT>\n</CHILD></ROOT>",
        "f:2: the XML is not well-formed at column 3: mismatched tag. Every element must end with its own end tag, the "
        "innermost first.",
    ),
    *each(
        XML,
        b"<ROOT>\n<CHILD\n a='1' a='2'/></ROOT>",
        "f:3: the XML is not well-formed at column 8: duplicate attribute. Keep one of the two.",
    ),
    *each(
        XML,
        b"<ROOT>\n</ROOT>\n<more/>",
        "f:3: the XML is not well-formed at column 1: junk after document element. Only one root element is allowed: "
        "remove what follows it.",
    ),
    *each(
        XML,
        b"<ROOT>\n&nbsp;</ROOT>",
        "f:2: the XML is not well-formed at column 1: undefined entity. Only &lt; &gt; &amp; &quot; &apos; and "
        "character references are allowed: write the character.",
    ),
    *each(
        XML,
        b"<?xml version='1.0' encoding='UTF-16'?>\n<ROOT>\n</ROOT>",
        "f:1: the XML is not well-formed at column 31: encoding specified in XML declaration is incorrect. Declare the "
        "encoding that the file is saved in.",
    ),
    *each(
        XML,
        b"<ROOT>\n\xc3",
        "f:2: the XML is not well-formed at column 1: partial character. The file is cut off inside a character: write "
        "it again to its last end tag.",
    ),
    *each(
        XML,
        b"<ROOT>\n<CHILD\n a=1/></ROOT>",
        "f:3: the XML is not well-formed at column 4: not well-formed (invalid token). Write & as &amp; and < as &lt; "
        "in values, and put every value in quotes.",
    ),
    *each(
        XML,
        b"<ROOT>\n<CHILD\n a='\xff'/></ROOT>",
        "f:3: the XML is not well-formed at column 5: not well-formed (invalid token) (byte 0xFF). Save the file as "
        "UTF-8, or declare the encoding that it is in.",
    ),
    *each(
        XML,
        b"<?xml version='1.0' encoding='EBCDIC-US'?>\n<ROOT>\n</ROOT>",
        "f:1: encoding 'EBCDIC-US' is not known (allowed: UTF-8, UTF-16, ISO-8859-*, windows-125*, GB18030). Save the "
        "file as UTF-8 and declare UTF-8.",
    ),
    *each(
        XML,
        b"<?xml version='1.0' encoding='GBK'?>\n<ROOT>\n<CHILD a='\xff\xff'/></ROOT>",
        "f:3: byte 0xFF is not text in GB18030, the encoding the file declares. Save the file as UTF-8 and declare "
        "UTF-8.",
    ),
    *each(
        XML,
        b"<!DOCTYPE ROOT\n SYSTEM 'x.dtd'>\n<ROOT/>",
        "f:2: the DOCTYPE declares or fetches something (allowed: none, or a bare name). Remove the <!DOCTYPE …> and "
        "write entities out as plain characters.",
    ),
    *each(
        XML,
        b"\n<html/>",
        "f:2: the root element is <html> (allowed: KINDS). Check that this is the right file for its role.",
    ),
    *each(
        XML,
        b"<%s/>" % (b"n" * 50),
        "f:1: the root element is <nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…> (allowed: KINDS). Check that this is the "
        "right file for its role.",
    ),
    *each(
        XML,
        b"<ROOT>\n\n<title>x</title>\n</ROOT>",
        "f:3: unexpected element <title> inside <ROOT> (allowed: <CHILD>). Remove it or correct its name.",
    ),
    *each(
        XML,
        b"<ROOT>\n" + b"<a>\n" * 40,
        "f:2: unexpected element <a> inside <ROOT> (allowed: <CHILD>). Remove it or correct its name.",
        "f:33: elements nest deeper than 32. Look for missing end tags.",
    ),
    *each(
        XML,
        b"<ROOT>\nwords\n</ROOT>",
        "f:3: text 'words' stands between the elements, at or before this line. Remove it, or write it as the element "
        "it was meant to be.",
    ),
    *each(
        XML,
        b"<ROOT>\nwords\n<x/></ROOT>",
        "f:3: text 'words' stands between the elements, at or before this line. Remove it, or write it as the element "
        "it was meant to be.",
        "f:3: unexpected element <x> inside <ROOT> (allowed: <CHILD>). Remove it or correct its name.",
    ),
    row(
        "kwlist",
        b"<kwlist>\n<kw kwid='K'>\nwords <kwtext>x</kwtext></kw></kwlist>",
        "f:3: text 'words' stands between the elements, at or before this line. Remove it, or write it as the element "
        "it was meant to be.",
    ),
    *each(
        XML,
        b"<ROOT>\n<CHILD a='" + b"x" * (1 << 21) + b"'/></ROOT>",
        "f:2: a tag, attribute or comment is longer than 1048576 bytes. Look for a missing quote or '>'.",
    ),
    row(
        "kwlist",
        b"<kwlist>\n<kw kwid='K'>\n<kwtext>" + b"x" * (1 << 21) + b"</kwtext></kw></kwlist>",
        "f:3: a text is longer than 1048576 characters. Look for a missing end tag.",
    ),
    *each(
        XML,
        b"\n\n\n\n\n<ROOT/>",
        "f:3: the file has more than 3 lines. Write one detection a line, without blanks.",
        given={"pipeline.formats.xmlstream.LINES_AT_MOST": 3},
    ),
    *each(
        XML,
        b"\n\n\n\n\n<ROOT/>",
        "f: the file is over a budget (allowed: 3 lines of a text file). Hand in a smaller one, or raise "
        "RESCORE_INPUT_LINES.",
        given={"RESCORE_INPUT_LINES": "3"},
    ),
    *each(
        XML,
        b"<ROOT><x><a/><a/><a/></x></ROOT>",
        "f: the file is over a budget (allowed: 3 lines where they have fewer than 8 bytes each, and unknown "
        "elements). Hand in a smaller one, or raise RESCORE_INPUT_SHORT_LINES.",
        given={"RESCORE_INPUT_SHORT_LINES": "3"},
    ),
    # every reader of lines
    *each(
        LINED,
        b"RECORD\n\xffRECORD\n",
        "f:2: byte 0xFF at position 1 of the line is not UTF-8. Save the file as UTF-8.",
    ),
    *each(
        LINED,
        b"RECORD\nx\xff",
        "f:2: byte 0xFF at position 2 of the line is not UTF-8. Save the file as UTF-8.",
    ),
    *each(
        LINED,
        b"RECORD\n" + b"x" * 150_000,
        "f:2: the line is longer than 65536 bytes. Check that this is a text file with one record a line.",
    ),
    *each(
        LINED,
        b"RECORD\n" + b"x" * 70_000 + b"\nRECORD\n",
        "f:2: the line is longer than 65536 bytes. Check that this is a text file with one record a line.",
    ),
    *each(LINED, b"\xff\xfeRECORD\n", "f:1: the file is UTF-16 (allowed: UTF-8). Save the file as UTF-8."),
    *each(
        {reader: line for reader, line in LINED.items() if reader not in ("queries", "glm")},
        b"\xef\xbb\xbfRECORD\n",
        "f:1: the file begins with a byte-order mark, which official tools take for part of a word.",
    ),
    *each(
        LINED,
        b"RECORD\nRECORD\nRECORD\n",
        "f: the file is over a budget (allowed: 2 lines of a text file). Hand in a smaller one, or raise "
        "RESCORE_INPUT_LINES.",
        given={"RESCORE_INPUT_LINES": "2"},
    ),
    *each(
        LINED,
        b"\n\n\n",
        "f: the file is over a budget (allowed: 2 lines where they have fewer than 8 bytes each, and unknown "
        "elements). Hand in a smaller one, or raise RESCORE_INPUT_SHORT_LINES.",
        given={"RESCORE_INPUT_SHORT_LINES": "2"},
    ),
    # budgets of every reader
    row(
        "lre_key",
        b"a Basque\nb Basque\n",
        "f: the file is over a budget (allowed: 1 different names in one column). Hand in a smaller "
        "one, or raise RESCORE_INPUT_NAMES.",
        given={"RESCORE_INPUT_NAMES": "1"},
    ),
    row(
        "med_index",
        b"TrialID,ClipID,EventID\nt,c,E\nu,c,E\n",
        "f: the file is over a budget (allowed: 1 different names in one column). Hand in a smaller "
        "one, or raise RESCORE_INPUT_NAMES.",
        given={"RESCORE_INPUT_NAMES": "1"},
    ),
    row(
        "rttm",
        b"LEXEME f 1 1 1 a lex s <NA>\nLEXEME g 1 1 1 a lex s <NA>\n",
        "f: the file is over a budget (allowed: 1 different names in one column). Hand in a smaller "
        "one, or raise RESCORE_INPUT_NAMES.",
        given={"RESCORE_INPUT_NAMES": "1"},
    ),
    row(
        "med_index",
        b"TrialID,ClipID,EventID\n\n\n\nt,c,E\n",
        "f: the file is over a budget (allowed: 3 lines of a text file). Hand in a smaller one, or "
        "raise RESCORE_INPUT_LINES.",
        given={"RESCORE_INPUT_LINES": "3"},
    ),
    row(
        "med_index",
        b"TrialID,ClipID,EventID\nt,c,E\n" + b"\n" * 70_000,
        "f: the file is over a budget (allowed: 3 lines where they have fewer than 8 bytes each, and "
        "unknown elements). Hand in a smaller one, or raise RESCORE_INPUT_SHORT_LINES.",
        given={"RESCORE_INPUT_SHORT_LINES": "3"},
    ),
    row(
        "bytes",
        b"12345",
        "f: the file is over a budget (allowed: 4 bytes of a file as it lies). Hand in a smaller "
        "one, or raise RESCORE_INPUT_BYTES.",
        given={"RESCORE_INPUT_BYTES": "4"},
    ),
    row(
        "slow bytes",
        b"",
        "f: the file is over a budget (allowed: 7 seconds of processor time to read a file). Hand in "
        "a smaller one, or raise RESCORE_INPUT_CPU_S.",
        given={"RESCORE_INPUT_CPU_S": "7"},
    ),
    row(
        "stm",
        b"f 1 s 0\n" * 25,
        "f:1: the row has 4 fields (allowed: file, channel, speaker, begin, end, then the text). "
        "Write the missing fields.",
        "f:2: the row has 4 fields (allowed: file, channel, speaker, begin, end, then the text). "
        "Write the missing fields.",
        "f: the file has 2 problems or more, and is read no further. Mend these first.",
        given={"pipeline.errors.PROBLEMS_AT_MOST": 2},
    ),
    # what is no text
    row(
        "packed",
        b"PK\x03\x04 and so on",
        "f: the file is a zip archive, whatever its name says (allowed: the text itself, or gzip of it). Unpack it.",
    ),
    row(
        "packed",
        b"PK\x05\x06",
        "f: the file is a zip archive, whatever its name says (allowed: the text itself, or gzip of it). Unpack it.",
    ),
    row(
        "packed",
        b"7z\xbc\xaf'\x1c",
        "f: the file is a 7z archive, whatever its name says (allowed: the text itself, or gzip of it). Unpack it.",
    ),
    row(
        "packed",
        b"Rar!\x1a\x07\x01",
        "f: the file is a rar archive, whatever its name says (allowed: the text itself, or gzip of it). Unpack it.",
    ),
    row(
        "packed",
        b"\xfd7zXZ\x00",
        "f: the file is compressed with xz, whatever its name says (allowed: the text itself, or "
        "gzip of it). Unpack it.",
    ),
    row(
        "packed",
        b"%PDF-1.7",
        "f: the file is a PDF document, whatever its name says (allowed: the text itself, or gzip of it). Unpack it.",
    ),
    row(
        "packed",
        b"\0" * 257 + b"ustar  ",
        "f: the file is a tar archive, whatever its name says (allowed: the text itself, or gzip of it). Unpack it.",
    ),
    row(
        "packed",
        b"BZh91AY&SY",
        "f: the file is compressed with bzip2, whatever its name says (allowed: the text itself, or "
        "gzip of it). Unpack it.",
    ),
    row(
        "packed",
        gzip.compress(b"PK\x03\x04"),
        "f: the file is a zip archive, whatever its name says (allowed: the text itself, or gzip of it). Unpack it.",
    ),
    row(
        "packed",
        gzip.compress(INDEX)[:-3],
        "f: the compressed file is damaged or cut off (Compressed file ended before the "
        "end-of-stream marker was reached). Compress it again.",
    ),
    row(
        "packed",
        b"\x1f\x8b\x08 and no more",
        "f: the compressed file is damaged or cut off (Error -3 while decompressing data: invalid "
        "stored block lengths). Compress it again.",
    ),
    row(
        "packed",
        gzip.compress(INDEX + b"t,clip-of-some-length,E\n" * 20_000),
        "f: the file unpacks to more than 200 times its size. Hand it in uncompressed.",
        given={"pipeline.formats.packed.BYTES_UNASKED": 1},
    ),
    row(
        "packed",
        gzip.compress(INDEX),
        "f: the file is over a budget (allowed: 3 bytes that a compressed file unpacks to). Hand in "
        "a smaller one, or raise RESCORE_INPUT_UNPACKED_BYTES.",
        given={"RESCORE_INPUT_UNPACKED_BYTES": "3"},
    ),
    row(
        "packed",
        ZSTANDARD,
        "f: the file is compressed with Zstandard, which is not installed. Install rescore[zst], or use gzip.",
        given={"without": "zstandard"},
    ),
    row(
        "packed",
        ZSTANDARD[:-2],
        "f: the compressed file is damaged or cut off (the last frame has no end). Compress it again.",
    ),
)
