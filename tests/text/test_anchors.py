import itertools
import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.text.anchors import anchor_counts, anchors, strict_anchors

Found = list[tuple[str, str]]

CASES: list[tuple[str, Found]] = [
    ('raise with "bad checksum in block" here', [("error", "bad checksum in block")]),
    ('value is "ok" now', []),
    ('say "abc" end', []),
    ('say "abcd" end', [("error", "abcd")]),
    ('value is "a-b-c" now', []),
    (
        'he said "this holds https://a.io/page inside" ok',
        [("error", "this holds https://a.io/page inside")],
    ),
    ('say "ab" then https://ex.io/p', [("url", "https://ex.io/p")]),
    (f'say "{"x" * 257} https://a.io/page" end', []),
    ('"see\ncc" here', []),
    ("say “curly quoted words” now", []),
    ('看 "校验和错误" 吧', []),
    ('quote " one " two " three', [("error", " one ")]),
    ("see (https://a.io/x) now", [("url", "https://a.io/x")]),
    ("s3://bucket/key", [("url", "s3://bucket/key")]),
    ("git+ssh://h/x", [("url", "git+ssh://h/x")]),
    ("x://ab", []),
    ("://nothing", []),
    ("fails at src/app.ts:10:5", [("frame", "src/app.ts:10")]),
    ("C:\\src\\main.cpp:12", [("frame", "main.cpp:12")]),
    ("bind 127.0.0.1:8080", [("frame", "127.0.0.1:8080")]),
    ("10.0.0.1:80", []),
    ("a.b:1", []),
    ("Makefile:12", []),
    ("at main.py, line 42", []),
    ("use Color::Red", [("enum", "Color::Red")]),
    ("tests/test_ring.py::test_wrap", [("enum", "py::test_wrap")]),
    ("a::b", []),
    ("::Foo", []),
    ("Foo::~Foo", []),
    ("set log.level to debug", [("config", "log.level")]),
    ("e.g. this", []),
    ("i.e. that", []),
    ("key. value", []),
    ("v1.2", []),
    ("ab.cd", []),
    ("parser.go", []),
    ("setup.py", []),
    ("package.json", []),
    ("Node.js", []),
    ("index.html", [("config", "index.html")]),
    ("tox.ini", [("config", "tox.ini")]),
    ("conf.d", [("config", "conf.d")]),
    ("self.count", [("config", "self.count")]),
    ("os.path.join", [("config", "os.path.join")]),
    ("Foo.Bar", []),
    ("Foo.bar", [("config", "oo.bar")]),
    ("App.vue", [("config", "pp.vue")]),
    ("Cargo.lock", [("config", "argo.lock")]),
    ('{"server.http.port": "plain words"}', []),
    ('{"note": "bad checksum"}', []),
    ('{"note": "says \\"bad checksum\\" twice"}', [("error", "bad checksum")]),
    ('"bad checksum"', []),
    ('["https://q.io/z"]', [("url", "https://q.io/z")]),
    ("42", []),
    (
        'open "x.test fails" at https://b.io then run.main:: Foo::Bar in q/w.rs:7 key a_b.c-d',
        [
            ("error", "x.test fails"),
            ("url", "https://b.io"),
            ("config", "run.main"),
            ("enum", "Foo::Bar"),  # and no frame: q/w.rs:7 has no run of three word bytes
            ("config", "a_b.c-d"),
        ],
    ),
]
QUERY_TEXTS = st.one_of(
    st.text(),
    st.text(alphabet='ab1_-./:"\n (<A~é\ud800'),
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(alphabet='ab.:"/\n'),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ).map(json.dumps),
)


def found(text: str) -> Found:
    return [(anchor.kind, anchor.literal) for anchor in anchors(text)]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_examples_of_the_specification(text: str, expected: Found) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "suffix",
    [
        *("go", "py", "rs", "ts", "tsx", "js", "java", "kt", "rb", "cs", "cpp", "c", "h"),
        *("md", "json", "yaml", "yml", "toml", "txt"),
    ],
)
def test_a_name_with_the_suffix_of_a_listed_file_is_no_config_key(suffix: str) -> None:
    assert found(f"see module.{suffix} there") == []
    assert found(f"see module.{suffix}-x there") == [("config", f"module.{suffix}-x")]


def test_at_most_sixteen() -> None:
    text = " ".join(f"key{'z' * n}.name" for n in range(1, 21))
    assert found(text) == [("config", f"key{'z' * n}.name") for n in range(1, 17)]


def test_a_literal_counts_once_whatever_its_class() -> None:
    assert found('log.level log.level "log.level"') == [("config", "log.level")]
    assert found('"log.level" log.level') == [("error", "log.level")]


@pytest.mark.parametrize(("length", "bearing"), [(32_000, True), (32_001, False)])
def test_the_bound_is_on_the_whole_text(length: int, bearing: bool) -> None:
    text = json.dumps({"text": "log.level"})
    text = text[:-2] + " " * (length - len(text)) + text[-2:]
    assert len(text.encode()) == length
    assert bool(anchors(text)) is bearing


def test_the_bound_is_in_bytes() -> None:
    text = "ß" * 16_100 + " log.level"
    assert len(text) < 32_000 < len(text.encode())
    assert not anchors(text)
    assert anchors("ß" * 15_000 + " log.level")


def test_the_environment_of_the_product_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("on", "", None):
        if value is None:
            monkeypatch.delenv("CORVINT_CONTEXT_ANCHORS")
        else:
            monkeypatch.setenv("CORVINT_CONTEXT_ANCHORS", value)
        assert anchors("set log.level to debug")
        assert not anchors("nothing to see")


def test_length_of_a_literal_is_in_bytes() -> None:
    assert found(f'"{"x" * 256}"y') == [("error", "x" * 256)]
    assert found(f'"abc{"ß" * 127}"y') == []  # 257 bytes, 130 characters
    assert found('"ßabc"y') == [("error", "ßabc")]


def test_values_are_visited_in_the_order_of_keys() -> None:
    text = json.dumps({"b": ["use b.one", {"z": "c.two", "a": "d.three"}], "a": "e.four", "é": "f.five"})
    assert [literal for _, literal in found(text)] == ["e.four", "b.one", "d.three", "c.two", "f.five"]


def test_values_do_not_run_into_each_other() -> None:
    assert found('["open \\"quote here", "and here\\" end"]') == []


def test_places_are_bytes_of_the_searched_text() -> None:
    first, second = anchors('{"text": "é \\"no entry\\" log.level"}')
    assert (first.kind, first.start, first.end) == ("error", 3, 13)
    assert (second.kind, second.start, second.end) == ("config", 14, 23)


def test_counts_per_class() -> None:
    both = {"config": 2, "url": 1, "enum": 1}
    assert anchor_counts("log.level https://a.io Foo::Bar at tls.key") == (both, both)
    assert anchor_counts("self.count of log.level") == ({"config": 2}, {"config": 1})
    assert anchor_counts("self.count") == ({"config": 1}, {})
    assert anchor_counts("nothing") == ({}, {})


@pytest.mark.parametrize("text", ['["log.level", NaN]', '["log.level"', "log.level " + "[" * 30_000])
def test_what_is_not_json_is_searched_as_it_is(text: str) -> None:
    assert ("config", "log.level") in found(text) or ("error", "log.level") in found(text)


def test_a_number_of_any_length_is_json() -> None:
    assert found(f'{{"n": {"9" * 5000}, "key.name": "plain"}}') == []


@pytest.mark.parametrize("unit", ["a", '"', "a.", "a:", "a::", "a/", "-", "a.b:", '"\n', "9."])
def test_a_long_text_of_one_kind_is_no_trap(unit: str) -> None:
    started = time.process_time()
    anchors(unit * (32_000 // len(unit)))  # matching that is quadratic in a run would take minutes here
    assert time.process_time() - started < 10


STRICT: list[tuple[str, Found]] = [
    ("set log.level to debug", [("config", "log.level")]),
    ("log.level", [("config", "log.level")]),
    ("log.level=debug, then", [("config", "log.level")]),
    ("read ${server.http.port}", [("config", "server.http.port")]),
    ("set log.level. Then", [("config", "log.level")]),
    ("xlog.levels", [("config", "xlog.levels")]),
    # Weakness 17: what the parity rules glean.
    ("self.count", []),
    ("this.state and cls.name and super.init", []),
    ("t.helper", []),
    ("App.vue", []),
    ("Cargo.lock", []),
    ("package.lock", []),
    ("index.html", []),
    ("tox.ini", []),
    ("parser.go", []),
    ("Foo.bar", []),
    ("log.levelMax", []),
    ("log.level.Max", []),
    ("os.path.join(a)", []),
    ("items.first[0]", []),
    ("see src/util.helper/x", []),
    ("$user.name and @pytest.mark", []),
    # An occurrence that stands alone is enough.
    ("Xlog.level log.level", [("config", "log.level")]),
    ('raise with "bad checksum in block" here', [("error", "bad checksum in block")]),
    ('raise Error("bad checksum");', [("error", "bad checksum")]),
    ('+"bad checksum",', [("error", "bad checksum")]),
    ('quote " one " two " three', []),
    ('the 19" rack and 21" rack', []),
    ('it is "bad checksum"s', []),
    ("see (https://a.io/x) now", [("url", "https://a.io/x")]),
    ("9https://a.io/x", []),
    ("fails at src/app.ts:10:5", [("frame", "src/app.ts:10")]),
    (r"C:\src\main.cpp:12", [("frame", "main.cpp:12")]),
    ("bind 127.0.0.1:8080", []),
    ("main.cpp:12x", []),
    ("use Color::Red", [("enum", "Color::Red")]),
    ("use ::std::vec", [("enum", "std::vec")]),
    ("tests/test_ring.py::test_wrap", []),
    ("9Foo::Bar", []),
    ('{"note": "says \\"bad checksum\\" twice"}', [("error", "bad checksum")]),
    ('{"server.http.port": "plain words"}', []),
]


@pytest.mark.parametrize(("text", "expected"), STRICT)
def test_strict_anchors_stand_alone(text: str, expected: Found) -> None:
    assert [(anchor.kind, anchor.literal) for anchor in strict_anchors(text)] == expected


@given(QUERY_TEXTS)
def test_strict_anchors_are_among_all_of_the_text(text: str) -> None:
    strict = strict_anchors(text)
    assert len({anchor.literal for anchor in strict}) == len(strict) <= 16
    if len(anchors(text)) < 16:
        assert {anchor.literal for anchor in strict} <= {anchor.literal for anchor in anchors(text)}
    assert anchors(text) or not strict


@given(QUERY_TEXTS)
def test_spans_never_overlap_and_literals_are_distinct(text: str) -> None:
    result = anchors(text)
    assert len(result) <= 16
    assert len({anchor.literal for anchor in result}) == len(result)
    for before, after in itertools.pairwise(result):
        assert before.start < before.end <= after.start


PLAIN_SHAPES = {
    "error": rb'"[^"\n]+"',
    "url": rb"[A-Za-z][A-Za-z0-9+.-]*://[^\t\n\f\r \"'<>()`]+",
    "frame": rb"[A-Za-z0-9_./-]+\.[A-Za-z0-9]+:[0-9]+",
    "enum": rb"[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_]*)+",
    "config": rb"[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)+",
}


@given(st.text(alphabet='abc1_-./:"\n (<A~é', min_size=8))
def test_against_the_shapes_as_the_specification_writes_them(text: str) -> None:
    remaining, places = b"= " + text.encode(), {}  # no JSON begins so
    for kind, shape in PLAIN_SHAPES.items():
        for match in re.finditer(shape, remaining):
            literal = match[0][1:-1] if kind == "error" else match[0]
            telling = 4 <= len(literal) <= 256 and re.search(rb"[A-Za-z0-9_]{3}", literal)
            if telling and not (kind == "config" and literal.endswith((b".c", b".cs"))):
                places[match.start()] = literal
        remaining = re.sub(shape, lambda match: b" " * len(match[0]), remaining)
    expected = dict.fromkeys(places[start].decode() for start in sorted(places))
    assert [literal for _, literal in found(f"= {text}")] == list(expected)[:16]
