"""Between the model and the billing API: every answer of the API becomes one stable, safe tool result.

A result is `{"receipt", "order_id", "amount_cents"}`; an error `{"isError": true, "code", "message", "retryable"}`.
Nothing of the API's own texts reaches the model.
"""

import json
import traceback
import urllib.error
import urllib.request

from refund_rules import find_faults

TIMEOUT_S = 1.5
TOKEN = "Bearer demo-token"
REJECTIONS = {
    "ORDER_NOT_FOUND": "There is no such order.",
    "ORDER_INELIGIBLE": "This order can no longer be refunded.",
    "KEY_REUSED": "This action was already used for another refund.",
}


def issue_refund(arguments, provider_url, fault="none"):
    """Issue one refund. `fault` plants one, so that you can see which check finds it."""
    faults = find_faults(arguments, with_version=False)
    if faults:
        return failed("INVALID_ARGUMENT", "; ".join(faults))
    try:
        return read_receipt(*send(arguments, provider_url, fault), arguments, fault)
    except OSError:
        if fault == "timeout-as-success":
            return {"receipt": "pending", "order_id": arguments["order_id"], "amount_cents": 0}
        if fault == "timeout-is-final":
            return failed("ACTION_REJECTED", "The refund could not be made.")
        return failed("TEMPORARY_FAILURE", "Billing cannot be reached. Try again in a minute.", retryable=True)
    except Exception:
        if fault == "shows-stack-trace":
            return failed("PROVIDER_CHANGED", traceback.format_exc())
        return failed("PROVIDER_CHANGED", "Billing gave an answer that is not understood. Nothing is confirmed.")


def send(arguments, provider_url, fault):
    """Status and text of the API's answer."""
    body = dict(arguments)
    if fault == "new-key-each-time":
        body["action_id"] = f"{arguments['action_id']}-{id(object())}-{next(_attempts)}"
    request = urllib.request.Request(
        f"{provider_url}/v2/refunds",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Authorization": TOKEN},
        method="POST",
    )
    try:
        opener = _following if fault == "follows-redirects" else _opener
        with opener.open(request, timeout=TIMEOUT_S) as response:
            return response.status, read_whole(response)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, read_whole(refusal)


def read_whole(response):
    """The body; one that ends early is a lost answer, not an empty one."""
    import http.client

    try:
        return response.read().decode()
    except http.client.IncompleteRead as half:
        raise OSError("half an answer") from half


def read_receipt(status, text, arguments, fault):
    """The tool result of an answer. Raises where it is not understood."""
    if status in (429, 502, 503, 504) and fault != "overload-is-final":
        return failed("TEMPORARY_FAILURE", "Billing is overloaded. Try again in a minute.", retryable=True)
    if status >= 400:
        if fault == "passes-messages-on":
            return failed("ACTION_REJECTED", text)
        if status >= 500:
            raise ValueError(text)
        code = (json.loads(text).get("error") or {}).get("code")
        reason = REJECTIONS.get(code, "Billing does not allow this refund.")
        return failed("ACTION_REJECTED", "" if fault == "no-reason" else reason)
    if status != 200:
        raise ValueError(f"status {status}")
    if fault == "believes-anything":
        return {"receipt": "ok", "order_id": arguments["order_id"], "amount_cents": arguments["amount_cents"]}
    answer = json.loads(text)
    if answer["status"] != "refunded" or not isinstance(answer["refund_id"], str):
        raise ValueError("not a refund")
    if fault == "strict" and set(answer) - {"refund_id", "order_id", "amount_cents", "status"}:
        raise ValueError("unknown fields")
    result = {
        "receipt": answer["refund_id"],
        "order_id": answer["order_id"],
        "amount_cents": answer["amount_cents"],
    }
    if fault == "drops-receipt":
        del result["receipt"]
    return {**result, "provider": answer} if fault == "passes-everything-on" else result


def failed(code, message, retryable=False):
    return {"isError": True, "code": code, "message": message, "retryable": retryable}


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects())
_following = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_attempts = iter(range(10**9))
