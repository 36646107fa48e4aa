from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

SOURCES = Path(__file__).parent.parent / "src/tollgate_client"
GENERATED = {"_api.py", "_codes.py", "errors.py"}
MAX_LINES = 838
"""docs/adr/0179-shorter-client-libraries.md says what they are for."""
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def lines_of_code(text: str) -> int:
    """Without blank lines, comments and docstrings."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {line for token in tokens if token.type not in NO_CODE for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def test_what_is_written_by_hand_stays_small() -> None:
    files = [each for each in SOURCES.glob("*.py") if each.name not in GENERATED]
    assert sum(lines_of_code(each.read_text()) for each in files) <= MAX_LINES
