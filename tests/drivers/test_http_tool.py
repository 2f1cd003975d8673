"""HTTP operations: where arguments go, what answers mean, and answers that are lost."""

import time

import pytest

from abs_gate.drivers.http_tool import HttpTool
from abs_gate.transport import Transport
from abs_gate.verification.model import NO_CONTEXT, AnswerKind
from tests.drivers.servers import serving


@pytest.fixture(scope="module")
def transport():
    with Transport() as opened:
        yield opened


def ask(transport, options, arguments, *, answer=(200, {}), key=None, context=NO_CONTEXT):
    with serving(lambda _: answer) as (url, asked):
        headers = {name: str(value) for name, value in options.get("headers", {}).items()}
        tool = HttpTool({**options, "url": url + options.get("url", "")}, transport, headers)
        given = tool.call(arguments, key=key, context=context)
        tool.close()
        return given, asked[0] if asked else None


def test_arguments_go_into_the_body_by_default(transport):
    _, asked = ask(transport, {"url": "/x"}, {"a": 1, "b": None})
    assert (asked.method, asked.path, asked.json) == ("POST", "/x", {"a": 1, "b": None})


def test_path_query_headers_and_body(transport):
    options = {
        "method": "PUT",
        "url": "/orders/{id}/x",
        "query": ["page"],
        "headers": {"X-Tenant": "t-{tenant}", "X-Absent": "{absent}"},
    }
    _, asked = ask(transport, options, {"id": "a/b c", "page": 2, "tenant": "é1", "rest": True})
    assert asked.path == "/orders/a%2Fb%20c/x?page=2"
    assert asked.json == {"rest": True}
    assert "x-absent" not in asked.headers


def test_reads_put_the_rest_into_the_query(transport):
    _, asked = ask(transport, {"method": "GET", "url": "/o/{id}"}, {"id": "1", "full": True})
    assert (asked.path, asked.body) == ("/o/1?full=true", b"")


def test_a_body_template_keeps_types_and_leaves_out_what_is_absent(transport):
    options = {"body": {"refund": {"cents": "{amount}", "note": "{note}", "text": "for {id}"}, "v": 1}}
    _, asked = ask(transport, options, {"amount": 5, "id": "x"})
    assert asked.json == {"refund": {"cents": 5, "text": "for x"}, "v": 1}


def test_keys_and_context_travel_as_headers(transport):
    _, asked = ask(transport, {}, {}, key="k-1", context={"Authorization": "Bearer old"})
    assert asked.headers["idempotency-key"] == "k-1"
    assert asked.headers["authorization"] == "Bearer old"
    _, asked = ask(transport, {"key_header": "X-Action"}, {}, key="k-1")
    assert asked.headers["x-action"] == "k-1"


@pytest.mark.parametrize(
    ("answer", "kind", "code", "message", "retryable"),
    [
        ((200, {"a": 1}), AnswerKind.RESULT, None, "", None),
        ((404, {"error": {"code": "GONE", "message": "no", "retryable": False}}), "tool_error", "GONE", "no", False),
        ((409, {"code": "C", "detail": "d"}), "tool_error", "C", "d", None),
        ((400, {"errors": ["a: bad", "b: bad"]}), "tool_error", None, "a: bad; b: bad", None),
        ((500, "<h1>Oops</h1>"), "protocol_error", None, "HTTP 500: <h1>Oops</h1>", None),
        ((200, "<h1>Sign in</h1>"), "protocol_error", None, "the answer is no JSON: <h1>Sign in</h1>", None),
        ((302, {}), "protocol_error", None, "HTTP 302: {}", None),
        ((418, {}), "tool_error", "TEAPOT", "HTTP 418: {}", None),
    ],
)
def test_answers(transport, answer, kind, code, message, retryable):
    given, _ = ask(transport, {"error": {"status": {"418": "TEAPOT"}}}, {}, answer=answer)
    assert (given.kind, given.code, given.message, given.retryable) == (kind, code, message, retryable)


def test_pointers_say_where_things_are(transport):
    options = {"result": "/data", "error": {"code": "/fault/id", "message": "/fault/text", "retryable": "/again"}}
    assert ask(transport, options, {}, answer=(200, {"data": {"a": 1}}))[0].content == {"a": 1}
    given, _ = ask(transport, options, {}, answer=(400, {"fault": {"id": 17, "text": "t"}, "again": True}))
    assert (given.code, given.message, given.retryable) == ("17", "t", True)


def test_nothing_there_and_too_slow_are_no_answer(transport):
    assert HttpTool({"url": "http://127.0.0.1:9/"}, transport, {}).call({}).kind is AnswerKind.NO_ANSWER
    with serving(lambda _: time.sleep(1) or (200, {})) as (url, _):
        tool = HttpTool({"url": url, "timeout": 0.2}, transport, {})
        assert tool.call({}).kind is AnswerKind.NO_ANSWER


def test_a_lost_answer_still_has_its_effect_once(transport):
    done = []
    with serving(lambda asked: done.append(asked.json) or (200, {"n": len(done)})) as (url, asked):
        tool = HttpTool({"url": url}, transport, {})
        assert tool.can_lose_answers
        for number in range(3):
            assert tool.call_and_lose({"n": number}).kind is AnswerKind.NO_ANSWER
        assert done == [{"n": 0}, {"n": 1}, {"n": 2}]
        assert asked[0].headers["host"] == url.removeprefix("http://")
        assert tool.call({"n": 3}).content == {"n": 4}
        tool.close()
