"""The plainest format: the conversation as `{"messages": [...]}`, the answer in any bare shape."""

from __future__ import annotations

from abs_gate.conversation import AgentRequest, AgentTurn
from abs_gate.findings import Json
from abs_gate.wire.base import HttpRequest, HttpResponse, WireOptions
from abs_gate.wire.openai import decode_chat
from abs_gate.wire.openai_messages import write_messages, write_tools


class MessagesCodec:
    """`{"messages": [...]}`, with the model and tools only when there are any."""

    name = "messages"

    def encode(self, request: AgentRequest, url: str, options: WireOptions) -> HttpRequest:
        body: dict[str, Json] = {"messages": write_messages(request.messages)}
        if options.model:
            body["model"] = options.model
        if request.tools:
            body["tools"] = write_tools(request.tools)
        return HttpRequest(method="POST", url=url, body=body)

    def decode(self, response: HttpResponse) -> AgentTurn:
        return decode_chat(response)
