"""The heads of S-expressions and the operators they stand for."""

import re

UNARY = {"neg": "-", "~": "~", "!": "!", "deref": "*", "addr": "&"}
BINARY = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "&&", "||",
          "==", "!=", "<", "<=", ">", ">=")  # fmt: skip
ASSIGN = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
SPACES = {"let": "", "shared": "shared", "extern-shared": "extern shared",
          "constant": "constant", "device": "device", "static": "static",
          "managed": "managed", "extern-device": "extern device",
          "extern-constant": "extern constant"}  # fmt: skip
WORD = re.compile(r"[^\W\d][\w$:<>&*%~]*(?:\.[^\W\d]\w*)*$")
"""A name, perhaps with fields of a structure after it."""
