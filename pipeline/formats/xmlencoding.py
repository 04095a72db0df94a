"""Which encoding an XML file is in, and decoding of the one family that expat cannot read."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

KNOWN_ENCODINGS = re.compile(
    r"utf-?8|utf-?16(?:le|be)?|us-ascii|ascii|latin-?1|iso-8859-(?:[1-9]|10|11|13|14|15|16)|windows-125[0-8]",
    re.IGNORECASE,
)
"""Encodings that a declaration may name beside the GB family. Anything else could name a codec that is no character
set."""

_GB = re.compile(rb"gb2312|gbk|gb18030", re.IGNORECASE)
_DECLARED = re.compile(rb"<\?xml\s[^<>]*?\bencoding\s*=\s*[\"']([A-Za-z][A-Za-z0-9._-]*)[\"']")
_ROOT_ATTRIBUTE = re.compile(
    rb"(?>\s+|<\?.*?\?>|<!--.*?-->)*+<[A-Za-z_][^<>]*?\sencoding\s*=\s*[\"']\s*(gb2312|gbk|gb18030)\s*[\"']",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Decoder:
    """How the bytes of a file become what expat reads. ``parser_encoding`` overrules the declaration where given."""

    parser_encoding: str | None = None
    codec: codecs.IncrementalDecoder | None = None

    def decode(self, data: bytes, *, final: bool) -> bytes:
        """The next piece as expat takes it. Raises ``UnicodeDecodeError``."""
        return data if self.codec is None else self.codec.decode(data, final).encode()


def decoder_of(head: bytes) -> Decoder:
    """The decoder for a file that begins with ``head``.

    A UTF-8 byte-order mark wins over any declaration. Where the declaration names no encoding, an ``encoding``
    attribute of the root counts if it names the GB family, as in the organisers' tool (KWList, plan 004 A.4).
    """
    if head.startswith(codecs.BOM_UTF8):
        return Decoder("utf-8")
    declared = _DECLARED.match(head)
    named = declared or _ROOT_ATTRIBUTE.match(head)
    if named is None:
        return Decoder()
    if _GB.fullmatch(named[1]):
        return Decoder("utf-8", codecs.getincrementaldecoder("gb18030")("strict"))
    return Decoder("utf-8" if named[1].lower() == b"utf8" else None)
