from __future__ import annotations

import re

_STRINGS_AND_COMMENTS = re.compile(r'"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n])*"|#[^\n\r]*')
_INNERMOST = re.compile(r"\{[^{}()[\]]*\}|[([][^{}()[\]]*[)\]]")
_HEAD = re.compile(r"[\s,\ufeff]*(\w*)\s*(\w*)", re.ASCII)


def is_query(document: str, operation_name: str | None = None) -> bool:
    """Whether sending a document twice changes nothing: the operation that runs is a query.

    A document in which the name doesn't tell which one runs counts as a mutation.
    """
    heads, before = _STRINGS_AND_COMMENTS.sub(" ", document), ""
    while heads != before:
        before = heads
        heads = _INNERMOST.sub(lambda nested: ";" if nested[0].startswith("{") else " ", heads)
    operations = [match.groups() for head in heads.split(";")[:-1] if (match := _HEAD.match(head))]
    named = [
        kind for kind, name in operations if kind != "fragment" and (operation_name is None or name == operation_name)
    ]
    return len(named) == 1 and named[0] in ("query", "") and re.search(r"[{}()[\]]", heads) is None
