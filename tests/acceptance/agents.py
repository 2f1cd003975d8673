"""One small shop agent that speaks every protocol, behind a real address: written from the providers' documents.

Asked about an order it calls `get_order`, and it says what the tool's result says: an answer that is right proves that
the call, its id and its result went both ways. It knows nothing of the code under test.
"""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CALL_ID = "call_7f"


class LoopbackAgent:
    """Hands every request to `answer(path, headers, body)`: a value to send as JSON, or bytes with a content type."""

    def __init__(self, answer):
        self.requests = []
        """(path, headers with lower-case names, body) of every request, in order."""
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = json.loads(body) if body[:1] == b"{" else body
                with owner._lock:
                    owner.requests.append((self.path, headers, body))
                reply = answer(self.path, headers, body)
                kind, data = reply if isinstance(reply, tuple) else ("application/json", json.dumps(reply).encode())
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                self.wfile.flush()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    @property
    def bodies(self):
        return [body for _, _, body in self.requests]


def _look_up(text):
    """The call the agent makes when it is asked something."""
    return {"orderId": re.search(r"\d+", text)[0]}


def _report(payload):
    """What the agent says of a tool result."""
    if isinstance(payload, str) and payload[:1] != "{":
        return f"The tool says: {payload}"
    found = json.loads(payload) if isinstance(payload, str) else payload
    return f"Your order {found['orderId']} is {found['status']}."


def openai(path, headers, body):
    return {"model": "shop-1", "choices": [_choice(_chat_message(body["messages"]))], "usage": _OPENAI_USAGE}


def openai_stream(path, headers, body):
    """The same as Server-Sent Events, arguments and text in pieces."""
    message = _chat_message(body["messages"])
    deltas = [{"role": "assistant", "content": ""}]
    for call in message.get("tool_calls", ()):
        function = call["function"]
        arguments = function["arguments"]
        head = {
            "index": 0,
            "id": call["id"],
            "type": "function",
            "function": {"name": function["name"], "arguments": ""},
        }
        pieces = [{"index": 0, "function": {"arguments": part}} for part in (arguments[:5], arguments[5:])]
        deltas += [{"tool_calls": [part]} for part in (head, *pieces)]
    deltas += [{"content": word} for word in re.findall(r"\S+\s*", message["content"] or "")]
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": _choice(message)["finish_reason"]}]}
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in (*chunks, end)]
    return "text/event-stream", "".join((*lines, "data: [DONE]\n\n")).encode()


def bare_message(path, headers, body):
    """`{"message": ...}`: an agent with a shape of its own; it calls its tool itself and only says what it found."""
    return {"message": _report({"orderId": _look_up(body["messages"][-1]["content"])["orderId"], "status": "shipped"})}


def bare_messages(path, headers, body):
    """`{"messages": [...]}`: an agent that runs its own tools and tells all of it."""
    arguments = _look_up(body["messages"][-1]["content"])
    result = {"orderId": arguments["orderId"], "status": "shipped"}
    return {
        "messages": [
            _chat_call(arguments),
            {"role": "tool", "tool_call_id": CALL_ID, "content": json.dumps(result)},
            {"role": "assistant", "content": _report(result)},
        ]
    }


def responses(path, headers, body):
    last = body["input"][-1]
    if last.get("type") == "function_call_output":
        assert last["call_id"] == CALL_ID
        text = _report(last["output"])
        output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}]
    else:
        arguments = json.dumps(_look_up(_text_of(last["content"])))
        output = [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "function_call", "id": "fc_1", "call_id": CALL_ID, "name": "get_order", "arguments": arguments},
        ]
    return {"id": "resp_1", "object": "response", "status": "completed", "model": "shop-1", "output": output}


def claude(path, headers, body):
    last = body["messages"][-1]
    results = [part for part in last["content"] if isinstance(part, dict) and part.get("type") == "tool_result"]
    if results:
        assert results[0]["tool_use_id"] == CALL_ID
        thought = [part for message in body["messages"] for part in message["content"] if part_is(part, "thinking")]
        assert thought == [_THINKING], "thinking has to come back as it was"
        content, reason = [{"type": "text", "text": _report(_text_of(results[0]["content"]))}], "end_turn"
    else:
        call = {"type": "tool_use", "id": CALL_ID, "name": "get_order", "input": _look_up(_text_of(last["content"]))}
        content, reason = [_THINKING, {"type": "text", "text": "Let me look."}, call], "tool_use"
    return {"type": "message", "role": "assistant", "content": content, "stop_reason": reason, "usage": _CLAUDE_USAGE}


def gemini(path, headers, body):
    last = body["contents"][-1]["parts"][0]
    if "functionResponse" in last:
        assert last["functionResponse"]["name"] == "get_order"
        part = {"text": _report(last["functionResponse"]["response"])}
    else:
        part = {"functionCall": {"name": "get_order", "args": _look_up(last["text"])}}
    return {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}


def messages(path, headers, body):
    """The whole conversation in, the next message out."""
    return _chat_message(body["messages"])


def part_is(part, kind):
    return isinstance(part, dict) and part.get("type") == kind


def _chat_message(conversation):
    last = conversation[-1]
    if last["role"] != "tool":
        return _chat_call(_look_up(_text_of(last["content"])))
    assert last["tool_call_id"] == CALL_ID
    return {"role": "assistant", "content": _report(last["content"])}


def _chat_call(arguments):
    function = {"name": "get_order", "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": CALL_ID, "type": "function", "function": function}],
    }


def _choice(message):
    return {"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}


def _text_of(content):
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


_THINKING = {"type": "thinking", "thinking": "An order number.", "signature": "sig=="}
_OPENAI_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
_CLAUDE_USAGE = {"input_tokens": 10, "output_tokens": 5}
