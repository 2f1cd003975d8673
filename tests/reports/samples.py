"""Result documents for every report to be tried on: one builder for each record, and a named set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from abs_gate.gate.result import (
    BehaviorRecord,
    CaseRecord,
    ChangeRecord,
    FindingRecord,
    Metadata,
    MismatchRecord,
    ResultDocument,
    SessionRecord,
    StepRecord,
    ToolDiffRecord,
    TrialRecord,
    VerificationRecord,
)

REFUND = "sessions/refund.abs.yaml"


def metadata(**changes: Any) -> Metadata:
    base: Metadata = {
        "abs_gate_version": "0.1.0",
        "started": "2026-11-05T09:30:00Z",
        "duration_ms": 73_412,
        "agent_url": "https://staging.example.com/chat",
        "agent_format": "openai",
        "model": "example-model-2",
        "toolset_fingerprint": "sha256:" + "a1" * 32,
        "policy_fingerprint": "sha256:" + "b2" * 32,
        "session_hashes": {REFUND: "sha256:" + "c3" * 32},
        "commit": "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
        "base": "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c",
        "agent_calls": 41,
        "usage": {"input_tokens": 18_230, "output_tokens": 2_115},
        "versions": {"python": "3.11.7", "jsonschema": "4.26.0"},
    }
    return {**base, **changes}  # type: ignore[typeddict-item]


def document(**changes: Any) -> ResultDocument:
    base: ResultDocument = {
        "schema_version": 1,
        "verdict": "passed",
        "exit_code": 0,
        "reasons": ["Every session reached its threshold."],
        "contracts": None,
        "verification": [],
        "sessions": [],
        "metadata": metadata(),
        "evidence": [],
    }
    return {**base, **changes}  # type: ignore[typeddict-item]


def behavior(index: int, label: str, passed: int = 5, failed: int = 0, **changes: Any) -> BehaviorRecord:
    unverified = changes.get("unverified", 0)
    verified = passed + failed
    base: BehaviorRecord = {
        "index": index,
        "id": None,
        "file": REFUND,
        "line": 8 + 6 * index,
        "label": label,
        "passed": passed,
        "failed": failed,
        "skipped": 0,
        "inconclusive": 0,
        "unverified": 0,
        "pass_rate": passed / verified if verified else None,
        "interval": wilson(passed, verified),
        "coverage": verified / (verified + unverified) if verified + unverified else None,
        "reasons": [],
        "outcome": "failed" if failed else "unverified" if unverified else "passed" if passed else "skipped",
    }
    return {**base, **changes}  # type: ignore[typeddict-item]


def wilson(passed: int, verified: int) -> list[float] | None:
    if not verified:
        return None
    z, rate = 1.959964, passed / verified
    middle = (rate + z * z / (2 * verified)) / (1 + z * z / verified)
    half = z / (1 + z * z / verified) * (rate * (1 - rate) / verified + z * z / (4 * verified**2)) ** 0.5
    return [max(0.0, round(middle - half, 6)), min(1.0, round(middle + half, 6))]


def step(index: int, turn: int, kind: str, **changes: Any) -> StepRecord:
    actor = {"sent": "user", "text": "assistant", "call": "assistant", "result": "tool"}[kind]
    action = {"sent": "says", "text": "responds", "call": "calls", "result": "responds"}[kind]
    base: StepRecord = {
        "index": index,
        "turn": turn,
        "kind": kind,  # type: ignore[typeddict-item]
        "actor": actor,
        "action": action,
        "target": None,
        "content": None,
        "arguments": None,
        "behavior": None,
        "expected": True,
        "supplied": False,
        "is_error": False,
        "notes": [],
    }
    return {**base, **changes}  # type: ignore[typeddict-item]


def trial(outcome: str = "passed", **changes: Any) -> TrialRecord:
    base: TrialRecord = {
        "outcome": outcome,  # type: ignore[typeddict-item]
        "reason": "",
        "duration_ms": 1_840,
        "agent_calls": 3,
        "unexpected_calls": [],
        "warnings": [],
        "steps": 0,
        "mismatches": [],
        "transcript": None,
    }
    made: TrialRecord = {**base, **changes}  # type: ignore[typeddict-item]
    if made["transcript"] is not None:
        made["steps"] = len(made["transcript"])
    return made


def mismatch(where: str, label: str, **changes: Any) -> MismatchRecord:
    base: MismatchRecord = {
        "where": where,
        "label": label,
        "line": None,
        "outcome": "failed",
        "expected": "",
        "observed": "",
        "reason": "",
    }
    return {**base, **changes}  # type: ignore[typeddict-item]


def case(trials: list[TrialRecord], row: int | None = None, **variables: Any) -> CaseRecord:
    return {"id": f"case-{row or 0}", "row": row, "variables": variables, "trials": trials}


def session(name: str, cases: list[CaseRecord], **changes: Any) -> SessionRecord:
    outcomes = [t["outcome"] for c in cases for t in c["trials"]]
    passed, failed = outcomes.count("passed"), outcomes.count("failed")
    base: SessionRecord = {
        "name": name,
        "path": REFUND,
        "line": 1,
        "critical": False,
        "quarantined": False,
        "outcome": "failed" if failed else "unverified" if "unverified" in outcomes else "passed",
        "reason": "",
        "decide": "observed",
        "trials": {
            "planned": len(outcomes),
            "run": len(outcomes),
            "passed": passed,
            "failed": failed,
            "unverified": outcomes.count("unverified"),
            "saved": 0,
        },
        "pass_rate": passed / (passed + failed) if passed + failed else None,
        "interval": wilson(passed, passed + failed),
        "coverage": (passed + failed) / len(outcomes) if outcomes else None,
        "pass_hat_k": {"1": passed / (passed + failed)} if passed + failed else {},
        "pass_at_k": {"1": passed / (passed + failed)} if passed + failed else {},
        "required": f"{len(outcomes)} of {len(outcomes)} (100 %)",
        "decided_after": None,
        "behaviors": [],
        "evaluations": [],
        "cases": cases,
        "unexpected_calls": {},
        "policy": {
            "trials": len(outcomes) // max(len(cases), 1),
            "pass_rate": "1/1",
            "pass_rate_text": "100%",
            "decide": "observed",
            "confidence": None,
            "per": "session",
            "pass_hat_k": None,
            "min_coverage": "1/1",
            "max_unverified": None,
            "sequential": None,
            "baseline": "report",
        },
        "planned_total": len(outcomes),
        "row_counts": [],
    }
    return {**base, **changes}  # type: ignore[typeddict-item]


def change(path: str, kind: str, classification: str, **changes: Any) -> ChangeRecord:
    base: ChangeRecord = {
        "path": path,
        "kind": kind,
        "classification": classification,  # type: ignore[typeddict-item]
        "affects": ["model_arguments", "saved_runs"],
        "message": "",
        "before": None,
        "after": None,
        "proof": "convention",
        "file": "contracts/refund.yaml",
        "line": 14,
        "notes": [],
    }
    return {**base, **changes}  # type: ignore[typeddict-item]


def tool_diff(tool_id: str, classification: str, changes: list[ChangeRecord], **more: Any) -> ToolDiffRecord:
    base: ToolDiffRecord = {
        "tool_id": tool_id,
        "baseline": 3,
        "candidate": 4,
        "baseline_fingerprint": "sha256:" + "11" * 32,
        "candidate_fingerprint": "sha256:" + "22" * 32,
        "classification": classification,  # type: ignore[typeddict-item]
        "changes": changes,
    }
    return {**base, **more}  # type: ignore[typeddict-item]


def finding(rule: str, severity: str, message: str, **changes: Any) -> FindingRecord:
    base: FindingRecord = {
        "rule": rule,
        "severity": severity,  # type: ignore[typeddict-item]
        "message": message,
        "subject": "billing.issue_refund",
        "hint": "",
        "file": "contracts/refund.yaml",
        "line": 3,
        "column": 1,
        "fingerprint": "0123456789abcdef",
    }
    return {**base, **changes}  # type: ignore[typeddict-item]


def verification(id: str, outcome: str = "passed", **changes: Any) -> VerificationRecord:
    base: VerificationRecord = {
        "id": id,
        "tool_id": "billing.issue_refund",
        "kind": "provider",
        "name": id.replace("-", " "),
        "outcome": outcome,  # type: ignore[typeddict-item]
        "reason": "",
        "checks": [],
        "file": "contracts/refund.yaml",
        "line": 40,
        "duration_ms": 12,
    }
    return {**base, **changes}  # type: ignore[typeddict-item]


def refund_transcript(order: str = "ORD-1002", *, matched: bool = False) -> list[StepRecord]:
    return [
        step(0, 1, "sent", content="My order ORD-1001 arrived broken, I want my money back.", behavior=0),
        step(1, 1, "call", target="get_order", arguments={"order_id": "ORD-1001"}, behavior=1),
        step(2, 1, "result", target="get_order", content={"status": "delivered", "total_cents": 1999}, supplied=True),
        step(3, 1, "text", content="I am sorry to hear that. Shall I refund 19.99 to your card?", behavior=2),
        step(4, 2, "sent", content="Yes please.", behavior=3),
        step(
            5,
            2,
            "call",
            target="issue_refund",
            arguments={"order_id": order, "amount_cents": 1999},
            behavior=4 if matched else None,
            expected=matched,
        ),
        step(
            6,
            2,
            "result",
            target="issue_refund",
            content="The tool issue_refund is not available in this session.",
            supplied=True,
            is_error=True,
        ),
        step(7, 2, "text", content="Done, your refund is on its way."),
    ]


def failed_refund_trial(**changes: Any) -> TrialRecord:
    reason = 'argument "order_id" differs: expected "ORD-1001", observed "ORD-1002"'
    return trial(
        "failed",
        reason=f"behavior 5: {reason}",
        unexpected_calls=["issue_refund"],
        mismatches=[
            mismatch(
                "behavior 5",
                'assistant calls "issue_refund"',
                line=32,
                expected='issue_refund with {"order_id": "ORD-1001"}',
                observed='issue_refund with {"order_id": "ORD-1002", "amount_cents": 1999}',
                reason=reason,
            )
        ],
        transcript=refund_transcript(),
        **changes,
    )


def refund_session(passed: int = 2, failed: int = 3) -> SessionRecord:
    total = passed + failed
    trials = [failed_refund_trial() for _ in range(failed)]
    trials += [trial(transcript=refund_transcript("ORD-1001", matched=True)) for _ in range(passed)]
    return session(
        "Refund a damaged order",
        [case(trials, row=1, order_id="ORD-1001")],
        critical=True,
        reason=f"passed {passed} of {total} trials, every trial must pass (critical)" if failed else "",
        required=f"{total} of {total} (100 %), critical",
        behaviors=[
            behavior(0, "user says", total),
            behavior(1, 'assistant calls "get_order"', total),
            behavior(2, "assistant asks", total),
            behavior(3, "user confirms", total),
            behavior(
                4,
                'assistant calls "issue_refund"',
                passed,
                failed,
                id="issue-refund",
                reasons=['argument "order_id" differs: expected "ORD-1001", observed "ORD-1002"'] if failed else [],
            ),
        ],
        evaluations=[
            behavior(0, 'never calls "cancel_order"', total, line=44),
            behavior(1, "sequence get_order, issue_refund", passed, failed, line=47)
            | {"reasons": ['"issue_refund" with the order asked for never came after "get_order"'] if failed else []},  # type: ignore[operator]
        ],
        unexpected_calls={"issue_refund": failed} if failed else {},
        pass_hat_k={"1": passed / total, "2": 0.1, "3": 0.0} if failed else {"1": 1.0, "2": 1.0, "3": 1.0},
        pass_at_k={"1": passed / total, "2": 0.7, "3": 0.9} if failed else {"1": 1.0, "2": 1.0, "3": 1.0},
    )


def passed() -> ResultDocument:
    return document(
        sessions=[
            refund_session(5, 0),
            session(
                "Greeting in the customer's language",
                [case([trial() for _ in range(4)], row=row, language=lang) for row, lang in enumerate(["de", "fr"], 1)],
                path="sessions/greeting.abs.yaml",
                required="8 of 10 (80 %)",
                decided_after=8,
                behaviors=[behavior(0, "user greets", 8, file="sessions/greeting.abs.yaml", line=4)],
                trials={"planned": 10, "run": 8, "passed": 8, "failed": 0, "unverified": 0, "saved": 2},
            ),
        ],
        contracts={
            "base": "commit 9f8e7d6",
            "tools": [
                tool_diff(
                    "billing.get_order",
                    "compatible",
                    [
                        change(
                            "input.include_items",
                            "optional_property_added",
                            "compatible",
                            message="The optional argument `include_items` was added.",
                            after={"type": "boolean"},
                            affects=[],
                            action="note",
                            proof="proved",
                        )
                    ],
                )
            ],
            "lint": [],
            "toolset_fingerprint": "sha256:" + "a1" * 32,
            "fingerprints": {"billing.get_order@4": "sha256:" + "22" * 32},
        },
        verification=[verification("missing-order-id", kind="input"), verification("duplicate-key-same-payload")],
        evidence=[
            {
                "item": "The candidate contract has a canonical fingerprint and explicit predecessor.",
                "state": "met",
                "pointers": ["contracts/refund.yaml:1"],
            }
        ],
    )


def failed() -> ResultDocument:
    """Something wrong in every layer."""
    lookup = session(
        "Look up an order",
        [case([trial(), trial("failed", reason="the answer never names the order", duration_ms=900)], row=1)],
        path="sessions/lookup.abs.yaml",
        outcome="passed",
        required="1 of 2 (50 %)",
        behaviors=[
            behavior(
                0, "assistant informs", 1, 1, file="sessions/lookup.abs.yaml", line=9, reasons=["no text step came"]
            )
        ],
    )
    judged = session(
        "Tone with an angry customer",
        [case([trial(), trial("unverified", reason="judge `default` did not answer: HTTP 503"), trial()])],
        path="sessions/tone.abs.yaml",
        reason="1 of 3 trials could not be verified, all must be",
        behaviors=[
            behavior(
                0,
                "assistant responds",
                2,
                0,
                unverified=1,
                file="sessions/tone.abs.yaml",
                line=6,
                reasons=["judge `default` did not answer: HTTP 503"],
            )
        ],
    )
    loyalty = session(
        "Loyalty points",
        [case([trial("failed", reason="the balance was wrong")])],
        path="sessions/loyalty.abs.yaml",
        quarantined=True,
        quarantine_note="@payments until 2027-01-31: the ledger is being moved",
        behaviors=[
            behavior(
                0,
                "assistant informs",
                0,
                1,
                file="sessions/loyalty.abs.yaml",
                line=7,
                reasons=["the balance was wrong"],
            )
        ],
    )
    return document(
        verdict="failed",
        exit_code=1,
        reasons=[
            'Session "Refund a damaged order" is critical and failed 3 of 5 trials.',
            "billing.issue_refund: input.reason was optional and is required now (breaking), with no migration.",
            "Verification: 1 of 3 cases failed.",
        ],
        contracts={
            "base": "commit 9f8e7d6",
            "tools": [
                tool_diff(
                    "billing.issue_refund",
                    "safety_breaking",
                    [
                        change(
                            "input.reason",
                            "optional_to_required",
                            "breaking",
                            message="`reason` was optional and is required now: calls without it are refused.",
                            before={"required": ["order_id", "amount_cents"]},
                            after={"required": ["order_id", "amount_cents", "reason"]},
                            proof="witness",
                            witness={"order_id": "ORD-1001", "amount_cents": 1},
                            action="block",
                            notes=["To release it all the same: name `billing.issue_refund@3` in `replaces`."],
                        ),
                        change(
                            "policy.approval",
                            "approval_weakened",
                            "safety_breaking",
                            message="Approval was `always` and is `never` now.",
                            before="always",
                            after="never",
                            affects=["approval_policy", "authority"],
                            action="block",
                            line=31,
                        ),
                        change(
                            "errors.PROVIDER_TIMEOUT",
                            "retryability_changed",
                            "behavior_sensitive",
                            message="`PROVIDER_TIMEOUT` was retryable and is not any more.",
                            before=True,
                            after=False,
                            affects=["recovery_policy"],
                            action="review",
                            line=22,
                        ),
                    ],
                ),
                tool_diff(
                    "billing.get_order",
                    "behavior_sensitive",
                    [
                        change(
                            "discovery.description",
                            "description_changed",
                            "behavior_sensitive",
                            message="The description changed.",
                            before="Look up one order.",
                            after="Look up one order or all orders of a customer.",
                            affects=["model_selection"],
                            action="acknowledged",
                            file="contracts/get_order.yaml",
                            line=5,
                        )
                    ],
                ),
                tool_diff(
                    "billing.void_invoice",
                    "breaking",
                    [
                        change(
                            "tool",
                            "tool_removed",
                            "breaking",
                            message="The tool was removed.",
                            affects=["model_selection", "saved_runs"],
                            action="cleared",
                            file=None,
                            line=None,
                        )
                    ],
                    candidate=None,
                    candidate_fingerprint=None,
                    cleared="retired on 2026-10-01 as planned",
                ),
            ],
            "lint": [
                finding("no-idempotency-key", "error", "A write tool has no idempotency key.", hint="Name one."),
                finding("no-example", "warning", "The tool has no example.", line=1),
                finding("many-tools", "info", "21 tools are offered at once.", file=None, line=None, column=None),
            ],
            "toolset_fingerprint": "sha256:" + "a1" * 32,
            "fingerprints": {"billing.issue_refund@4": "sha256:" + "22" * 32},
        },
        verification=[
            verification("missing-order-id", kind="input"),
            verification(
                "duplicate-key-other-payload",
                "failed",
                kind="retry",
                reason="the second call with the same key and another amount was accepted",
                checks=[
                    {"name": "second call refused", "outcome": "failed", "reason": "answered with a receipt"},
                    {"name": "one effect", "outcome": "passed", "reason": ""},
                ],
            ),
            verification("claim-refund-done", "unverified", kind="claim", reason="no probe stands behind the claim"),
            verification("expired-authority", "skipped", reason="the driver cannot expire a token"),
        ],
        sessions=[lookup, loyalty, refund_session(), judged],
        metadata=metadata(
            notices=["`example-model-2` answered as `example-model-2.1` from the ninth call on."],
            weakened=["`pass_rate` of sessions/lookup.abs.yaml was lowered from 90% to 50%."],
        ),
        evidence=[
            {"item": "Every breaking change has a new version and a migration.", "state": "not met", "pointers": []},
        ],
    )


def unverified() -> ResultDocument:
    why = "the agent could not be reached: connection refused (https://staging.example.com/chat)"
    return document(
        verdict="unverified",
        exit_code=3,
        reasons=[f"No trial could be verified: {why}"],
        contracts={
            "base": None,
            "tools": [],
            "lint": [],
            "toolset_fingerprint": None,
            "fingerprints": {},
            "error": "commit 9f8e7d6 is not in this shallow clone; set fetch-depth: 0",
        },
        sessions=[
            session(
                "Refund a damaged order",
                [case([trial("unverified", reason=why) for _ in range(3)])],
                reason=why,
                behaviors=[behavior(0, "user says", 0, 0, unverified=3, reasons=[why])],
            )
        ],
    )


def cancelled() -> ResultDocument:
    made = failed()
    return document(
        verdict="cancelled",
        exit_code=130,
        reasons=["Stopped by SIGINT after 12.3 s."],
        sessions=made["sessions"][:1],
    )


def empty() -> ResultDocument:
    return document(
        verdict="unverified",
        exit_code=3,
        reasons=["No session, contract or verification case was found: nothing was checked."],
        metadata=metadata(
            agent_url=None, agent_format=None, model=None, commit=None, base=None, session_hashes={}, usage={}
        ),
    )


def not_gating_cause() -> ResultDocument:
    """Failed although every session passed: reports that count cases must still be red."""
    return document(
        verdict="failed",
        exit_code=1,
        reasons=["A threshold was lowered in this change, and the policy blocks that."],
        sessions=[session("Refund a damaged order", [case([trial()])], behaviors=[behavior(0, "user says", 1)])],
    )


def other_failures() -> ResultDocument:
    """A session that fails as a whole, and a behavior whose own evaluation fails."""
    fault = 'the call "cancel_order" that no behavior asked for, in turn 2'
    strict = session(
        "Nothing but the refund",
        [
            case(
                [
                    trial(
                        "failed",
                        reason=f"the whole session: {fault}",
                        unexpected_calls=["cancel_order"],
                        mismatches=[mismatch("the whole session", "unexpected calls", reason=fault)],
                    ),
                    trial(),
                ]
            )
        ],
        reason="1 of 2 trials passed (50 %); 2 of 2 are needed (100%).",
        required="2 of 2 (100%, observed)",
        behaviors=[behavior(0, "user says", 2)],
        unexpected_calls={"cancel_order": 1},
        baseline={
            "state": "new_failure",
            "regression": False,
            "difference": -0.5,
            "interval": [-0.9, 0.2],
            "detectable": 0.75,
        },
    )
    check = 'the text "Your order ..." does not contain "ORD-1001"'
    said = "expected assistant informs; observed no text, get_order instead"
    answer = session(
        "Answer with the order number",
        [
            case(
                [
                    trial(
                        "failed",
                        reason=f"behavior 2: {check}",
                        mismatches=[
                            mismatch("evaluation 1 of behavior 2", 'contains "ORD-1001"', line=17, reason=check),
                        ],
                    ),
                    trial(
                        "failed",
                        reason=said,
                        mismatches=[
                            mismatch(
                                "behavior 1",
                                "assistant informs",
                                expected="assistant informs",
                                observed="no text, get_order",
                                reason=said,
                            )
                        ],
                    ),
                ],
                row=1,
            ),
            case([trial(), trial()], row=2),
        ],
        path="sessions/answer.abs.yaml",
        reason="2 of 4 trials passed (50 %); 4 of 4 are needed (100%).",
        lowest_row={"row": 1, "case": "case-1", "passed": 0, "verified": 2},
        behaviors=[
            behavior(0, "assistant informs", 3, 1, file="sessions/answer.abs.yaml", reasons=[said]),
            behavior(1, "assistant responds", 3, 1, file="sessions/answer.abs.yaml", reasons=[check]),
        ],
    )
    return document(
        verdict="failed",
        exit_code=1,
        reasons=[f'Session "{made["name"]}" failed: {made["reason"]}' for made in (strict, answer)],
        sessions=[strict, answer],
    )


HOSTILE_TEXTS = [
    "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "```\n</details>\n# heading @octocat #1 https://evil.example ![x](https://evil.example/p.png)",
    "`` a ` b ``` c | d \\| e",
    "::error file=a.py::owned\r::set-output name=x::y\n\u00a0::add-mask::z\n text ##[error]owned ##[ADD-MATCHER]x",
    "]]> &amp; <!-- abs-gate:comment {} --> <![CDATA[ x ]]>",
    "\u202egnitirw\u202c \u200bzero\u200dwidth\ufeff \x1b[31mred\x1b[0m \x07bell \x9b2J \x00nul \ud800lone \ufffe",
    "{{secret}} ${GITHUB_TOKEN} $(id) `id` %0A::error::x",
    "</script><svg onload=alert(3)> javascript:alert(4) \u2028\u2029",
    "[click](javascript:alert(5)) <https://evil.example> www.evil.example user@evil.example org/repo#5 GH-7",
    '-->\n<!-- abs-gate:comment {"key":"default"} -->\n~~~\n| a | b |\n|---|---|\n$$x$$ $`y`$ :tada:',
]


def hostile() -> ResultDocument:
    """Hostile text in every field that an agent, a contract, a document or a server can fill."""
    everything = " ".join(HOSTILE_TEXTS)

    def steps() -> list[StepRecord]:
        return [
            step(i, 1, kind, target=text, content=text, arguments={text: text}, notes=[text], actor=text, action=text)
            for i, (kind, text) in enumerate(zip(["sent", "call", "result", "text"] * 3, HOSTILE_TEXTS, strict=False))
        ]

    def hostile_trial() -> TrialRecord:
        return trial(
            "failed",
            reason=everything,
            unexpected_calls=HOSTILE_TEXTS,
            warnings=HOSTILE_TEXTS,
            mismatches=[
                mismatch("behavior 1", everything, expected=everything, observed=everything, reason=everything)
            ],
            transcript=steps(),
        )

    path = "sessions/../evil\n::error::`x`|<b>.yaml"
    return document(
        verdict="failed",
        exit_code=1,
        reasons=HOSTILE_TEXTS,
        contracts={
            "base": everything,
            "tools": [
                tool_diff(
                    text,
                    "breaking",
                    [
                        change(
                            f"input.{text}",
                            "property_removed",
                            "breaking",
                            affects=[text],
                            message=text,
                            before={text: text},
                            after=text,
                            proof="witness",
                            witness={text: [text]},
                            file=text,
                            line=1,
                            notes=[text],
                            action="block",
                        )
                    ],
                    baseline=text,
                    candidate=text,
                )
                for text in HOSTILE_TEXTS
            ],
            "lint": [finding(text, "error", text, subject=text, hint=text, file=text) for text in HOSTILE_TEXTS],
            "toolset_fingerprint": everything,
            "fingerprints": {text: text for text in HOSTILE_TEXTS},
        },
        verification=[
            verification(
                text,
                "failed",
                tool_id=text,
                kind=text,
                name=text,
                reason=text,
                file=text,
                checks=[{"name": text, "outcome": "failed", "reason": text}],
            )
            for text in HOSTILE_TEXTS
        ],
        sessions=[
            session(
                everything,
                [case([hostile_trial()], row=1, **{text: text for text in HOSTILE_TEXTS})],
                path=path,
                reason=everything,
                required=everything,
                behaviors=[behavior(0, everything, 0, 1, id=everything, file=path, reasons=HOSTILE_TEXTS)],
                evaluations=[behavior(0, everything, 0, 1, file="/etc/passwd", reasons=HOSTILE_TEXTS)],
                unexpected_calls=dict.fromkeys(HOSTILE_TEXTS, 2),
                lowest_row={"row": 1, "case": everything, "passed": 0, "verified": 1},
                baseline={"state": everything, "difference": -1.0, "interval": [-1.0, 0.0], "detectable": None},
            ),
            session(everything, [case([hostile_trial()])], quarantined=True, quarantine_note=everything),
        ],
        metadata=metadata(
            agent_url=everything,
            agent_format=everything,
            model=everything,
            commit=everything,
            base=everything,
            session_hashes={everything: everything},
            versions={everything: everything},
            notices=HOSTILE_TEXTS,
            weakened=HOSTILE_TEXTS,
        ),
        evidence=[{"item": text, "state": text, "pointers": [text]} for text in HOSTILE_TEXTS],
    )


def huge(sessions: int = 100, cases: int = 10, behaviors: int = 3, changes: int = 200) -> ResultDocument:
    """A thousand cases and hundreds of failing behaviors and changes."""
    made: list[SessionRecord] = []
    for number in range(sessions):
        path = f"sessions/group-{number % 10}/session-{number:04}.abs.yaml"
        why = f'expected a call to "tool_{number % 7}", observed a text instead'
        made.append(
            session(
                f"Session number {number}",
                [
                    case(
                        [
                            trial(
                                "failed",
                                reason=why,
                                mismatches=[
                                    mismatch(
                                        f"behavior {index + 1}",
                                        f"assistant calls tool_{index}",
                                        expected=f"tool_{index} with {{}}",
                                        observed="a text: I cannot do that. " + "Because of reasons. " * 10,
                                        reason=why,
                                    )
                                    for index in range(behaviors)
                                ],
                                transcript=refund_transcript(),
                            )
                        ],
                        row=row,
                        order_id=f"ORD-{row}",
                        note="x" * 40,
                    )
                    for row in range(1, cases + 1)
                ],
                path=path,
                reason=f"passed 0 of {cases} trials",
                behaviors=[
                    behavior(index, f"assistant calls tool_{index}", 0, cases, file=path, reasons=[why])
                    for index in range(behaviors)
                ],
            )
        )
    return document(
        verdict="failed",
        exit_code=1,
        reasons=[f"Session {s['name']} failed: {s['reason']}" for s in made],
        sessions=made,
        contracts={
            "base": "commit 9f8e7d6",
            "tools": [
                tool_diff(
                    f"tool_{number:04}",
                    "breaking",
                    [
                        change(
                            f"input.argument_{number}",
                            "property_removed",
                            "breaking",
                            message=f"The argument `argument_{number}` was removed.",
                            before={"type": "string", "description": "y" * 200},
                            witness={f"argument_{number}": "z" * 100},
                            proof="witness",
                            action="block",
                        )
                    ],
                )
                for number in range(changes)
            ],
            "lint": [finding("no-example", "warning", f"Tool {n} has no example.", line=n + 1) for n in range(changes)],
            "toolset_fingerprint": "sha256:" + "a1" * 32,
            "fingerprints": {},
        },
        verification=[
            verification(f"case-{number}", "failed" if number % 2 else "passed", reason="refused too late")
            for number in range(changes)
        ],
    )


SAMPLES: dict[str, Callable[[], ResultDocument]] = {
    "passed": passed,
    "failed": failed,
    "unverified": unverified,
    "cancelled": cancelled,
    "empty": empty,
    "not_gating_cause": not_gating_cause,
    "other_failures": other_failures,
    "hostile": hostile,
    "huge": huge,
}
