"""Formats of JSON Schema, each with texts that are one and texts that are not."""

from __future__ import annotations

import pytest

from abs_gate.evaluators.json_schema import find_violations

FORMATS = {
    "date": (["2026-07-30", "2024-02-29"], ["2026-7-30", "20260730", "2023-02-29", "2026-07-30T00:00:00Z", "x"]),
    "time": (
        ["08:30:06Z", "08:30:06.283+01:00", "23:59:60Z", "01:29:60+01:30"],
        ["08:30", "24:00:00Z", "08:30:60Z", "08:30:06"],
    ),
    "date-time": (
        ["1985-04-12T23:20:50.52Z", "1996-12-19T16:39:57-08:00", "2026-01-01t00:00:00z"],
        ["1985-04-12 23:20:50Z", "1985-04-12T23:20:50", "1985-13-12T23:20:50Z", "1985-04-12"],
    ),
    "duration": (
        ["P4DT12H30M5S", "P4W", "PT36H", "P1Y2M3D", "PT0S"],
        ["P", "PT", "4D", "P1D2H", "P1W2D", "P2S", "P1.5D"],
    ),
    "email": (
        ["a@b.example", "te~st.o'x@ex-ample.com", '"a b"@b.example', "a@[127.0.0.1]"],
        ["a", "a@", "@b", ".a@b.c", "a..b@c.d", "a@-b.c"],
    ),
    "hostname": (["www.example.com", "xn--4gbwdl.xn--wgbh1c", "a"], ["-bad.example", "a..b", "a_b", "", "x" * 64]),
    "ipv4": (["192.168.0.1"], ["256.1.1.1", "1.2.3", "0x7f.0.0.1", "01.2.3.4"]),
    "ipv6": (["::1", "fe80::1"], ["12345::", "1:2:3", "fe80::1%eth0", "1.2.3.4"]),
    "uri": (["http://a.b/c?d=e#f", "urn:isbn:1", "mailto:a@b.c"], ["//a.b/c", "a b:c", "http://a b", "\\\\win"]),
    "uri-reference": (["/a/b", "#x", "http://a.b", ""], ["\\\\win", "a b", "#fr\\ag"]),
    "iri": (["http://ƒøø.ßår/?∂=é"], ["/abc", "http://a b"]),
    "uuid": (
        ["2EB8AA08-AA98-11EA-B4AA-73B441D16380"],
        ["2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638"],
    ),
    "json-pointer": (["", "/a/0", "/a~1b/~0"], ["a", "/a~2", "#/a"]),
    "relative-json-pointer": (["0", "1/a", "2#"], ["/a", "-1", "01"]),
    "uri-template": (["http://x/{id}{?q*}", "plain"], ["http://x/{id", "{}"]),
    "regex": (["^a+$", "(?=x)"], ["(", "[a"]),
}


@pytest.mark.parametrize(("name", "text"), [(n, t) for n, (good, _) in FORMATS.items() for t in good])
def test_accepts(name, text):
    assert find_violations({"format": name}, text) == ()


@pytest.mark.parametrize(("name", "text"), [(n, t) for n, (_, bad) in FORMATS.items() for t in bad])
def test_refuses(name, text):
    assert find_violations({"format": name}, text)


@pytest.mark.parametrize("name", FORMATS)
def test_speaks_of_text_only(name):
    for value in (12, None, [], {}):
        assert find_violations({"format": name}, value) == ()
