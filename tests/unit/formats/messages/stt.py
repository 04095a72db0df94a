"""What is told of STM, CTM, lexica and TRN."""

from __future__ import annotations

from tests.unit.formats.messages.rows import row

ROWS = (
    row(
        "stm",
        b"f 1 s 0 1.5 <o> a\n\nf 1 s 0\n;; LABEL\nf 1 s zero 1.5 <o> a\nf 1 s * 1e999 <o> a\nf 1 s 2 1.5 <o> a\n",
        "f:3: the row has 4 fields (allowed: file, channel, speaker, begin, end, then the text). "
        "Write the missing fields.",
        "f:5: begin is 'zero' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:6: end is '1e999' (allowed: at most 1.7976931348623157e308 in size). Write the number that is meant.",
        "f:7: the segment ends at 1.5 s, before its begin at 2.0 s. Write the later time second.",
    ),
    row(
        "stm",
        b"f 1 s 0 end <o> a\n",
        "f:1: end is 'end' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
    ),
    row(
        "stm",
        b"f 1 s 0 1.5 <hes> a\nf 1 s 2 2 <o> a\nf 1 s 3 3 a\n",
        "f:1: the transcript starts with '<hes>', which is read as the segment's label and not "
        "scored. Put a label such as <o> before it, or write (<hes>).",
        "f:2: the segment ends where it begins: no mid point falls into it (2 times, first here).",
    ),
    row(
        "ctm",
        b"f 1 0.5 0.25 a 0.9\n"
        b"f 1 0.5\n"
        b";; x\n"
        b"f 1 half 0.25 a 0.9\n"
        b"f 1 0.5 1s a 0.9\n"
        b"f 1 0.5 0.25 a high\n"
        b"f 1 1 2 3 4 5 6 7\n",
        "f:2: the row has 3 fields (allowed: file, channel, begin, duration, word, then a "
        "confidence). Write one word a line, without blanks inside fields.",
        "f:7: the row has 9 fields (allowed: file, channel, begin, duration, word, then a "
        "confidence). Write one word a line, without blanks inside fields.",
        "f:4: begin is 'half' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:5: duration is '1s' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:6: confidence is 'high' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
    ),
    row(
        "ctm",
        b"f 1 0.5 0.25 a 0.9\nf 1 0.5 x a 0.9\n",
        "f:2: duration is 'x' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
    ),
    row(
        "ctm",
        b"f 1 * <NA> a 0.9\nf 1 * * <ALT_BEGIN>\n",
        "f:1: the begin of a word is missing (allowed: a decimal number). Write its seconds; only "
        "<ALT…> rows have none.",
        "f:1: the duration of a word is missing (allowed: a decimal number). Write its seconds; only "
        "<ALT…> rows have none.",
    ),
    row(
        "ctm",
        b"f 1 &&one 0.25 a 0.9\nf 1 1* two* b NA\n",
        "f:1: begin is 'one' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
        "f:2: duration is 'two' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
    ),
    row(
        "ctm",
        b"f 1 0.5 -0.25 a 1.9\nf 1 1.5 0.25 b -0.1\nf 1 1.5 0.25 b NA\n",
        "f:1: the word ends before it begins.",
        "f:1: a confidence lies outside [0, 1]; it is clipped where entropies are computed (2 times, first here).",
    ),
    row(
        "ctm",
        b"LEXEME f 1 1.0 0.5 a lex s 0.5\nLEXEME f 1 1.0 0.5 a\nLEXEME f 1 now 0.5 a lex s 0.5\n",
        "f:2: the record has 6 fields (allowed: 9, or 10 with the signal look-ahead time). Write "
        "<NA> for what does not apply.",
        "f:3: begin is 'now' (allowed: a decimal number such as 12.5 or 1.25e1). Write the plain number.",
    ),
    row(
        "ctm",
        b"LEXEME f 1 1.0 0.5 a lex s 0.5\nLEXEME f 1 1.0 0.5 a fp s 0.5\nLEXEME f 1 1.0 0.5 a frag s 0.5\n",
        "f:2: a LEXEME of another subtype than lex is not scored as speech-to-text output (2 times, first here).",
    ),
    row(
        "lexicon",
        b"a\tx _1 . y\n; a comment\nb\t \nc x y\n\tx y\n",
        "f:3: the row has 1 filled fields (allowed: word, romanisation where all have one, "
        "pronunciations). Separate them by tabs.",
        "f:4: the row has 1 filled fields (allowed: word, romanisation where all have one, "
        "pronunciations). Separate them by tabs.",
        "f:5: the row has 1 filled fields (allowed: word, romanisation where all have one, "
        "pronunciations). Separate them by tabs.",
    ),
    row(
        "lexicon",
        b"a\tr\tx\nb\tr\t\n",
        "f:2: the row has 2 filled fields (allowed: word, romanisation where all have one, "
        "pronunciations). Separate them by tabs.",
    ),
    row(
        "lexicon",
        b"a\tr\tx\n\nb\tr\t\tx\nc\tr\t\n",
        "f:4: the row has 2 filled fields (allowed: word, romanisation where all have one, "
        "pronunciations). Separate them by tabs.",
    ),
    row(
        "trn",
        b"a b (s-1)\na b\n;; x\nc (s-1)\nd (s 2)\n",
        "f:2: the line ends in 'a b' (allowed: (utterance) at the end). Write its name in brackets.",
        "f:4: utterance 's-1' is given twice (first in line 1). Keep one of them.",
        "f:5: the line ends in 'd (s 2)' (allowed: (utterance) at the end). Write its name in brackets.",
    ),
    # GLM
    row(
        "glm",
        b";; c\n* NAME = x\n* FORMAT = 'BNF'\na b\n[a] => [b]\n* (stm\na c\n",
        "f:2: the setting '* NAME = x' has no value in quotes (allowed: * copy_no_hit = 'T'). Put the value in quotes.",
        "f:3: the format is 'BNF' (allowed: NIST1, NIST2). Write rules as A => B or A => B / C __ D.",
        "f:4: the line has no rule: 'a b' (allowed: A => B, or A => B / C __ D). Write an arrow with "
        "blanks around it, or a comment.",
        "f:6: the setting '* (stm' has no value in quotes (allowed: * copy_no_hit = 'T'). Put the value in quotes.",
        "f:7: the line has no rule: 'a c' (allowed: A => B, or A => B / C __ D). Write an arrow with "
        "blanks around it, or a comment.",
    ),
    row(
        "glm",
        b";; c\n;; d\n",
        "f: the file has no rules: transcripts are taken as they stand.",
    ),
    row(
        "glm",
        b";; c\n"
        b';; INPUT_DEPENDENT_APPLICATION="(stm"\n'
        b"a => b\n"
        b';; INPUT_DEPENDENT_APPLICATION="((s?){65535}){65535}"\n'
        b"a => b\n",
        "f:2: the region's expression '(stm' cannot be read: missing ), unterminated subpattern at "
        "position 0. Write names between bars, such as stm|ref.",
        "f:4: the region's expression '((s?){65535}){65535}' cannot be read: it has more than 64 "
        "characters, or counts with braces. Write names between bars, such as stm|ref.",
    ),
)
