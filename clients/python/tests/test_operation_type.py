import pytest

from tollgate_client._operation_type import is_query


@pytest.mark.parametrize(
    ("document", "name", "expected"),
    [
        ("{ a }", None, True),
        ("query A($b: [Int] = [1]) @c(d: {e: 1}) { a }", None, True),
        ("fragment F on A { b } query { ...F }", None, True),
        ("\ufeff # mutation\n { a }", None, True),
        ('query { a(b: "} mutation { c") }', None, True),
        ('query { a(b: """} " \\""" mutation { c""") }', None, True),
        ("mutation { a }", None, False),
        ("subscription { a }", None, False),
        ("query A { a } mutation B { b }", "A", True),
        ("query A { a } mutation B { b }", "B", False),
        ("query A { a } mutation B { b }", None, False),
        ("query A { a }", "B", False),
        ("query A { a } mutation A { b }", "A", False),
        ("{ a", None, False),
        ("", None, False),
        ("query { a } }", None, False),
    ],
)
def test_whether_an_operation_may_be_repeated(document: str, name: str | None, expected: bool) -> None:
    assert is_query(document, name) is expected


def test_a_hostile_document_takes_no_time() -> None:
    assert is_query("{" * 20_000) is False
    assert is_query('"' * 20_001) is False
