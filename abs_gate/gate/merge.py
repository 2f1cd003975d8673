"""Merging the results of shards: counts are added and everything is decided once, over all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from abs_gate.errors import CannotVerify
from abs_gate.findings import Json
from abs_gate.gate.baseline import compare_with_baseline, session_keys
from abs_gate.gate.parts import add_parts
from abs_gate.gate.result import (
    BehaviorRecord,
    ContractsRecord,
    Metadata,
    ResultDocument,
    RowCountRecord,
    SessionRecord,
    VerificationRecord,
)
from abs_gate.gate.settle import settle
from abs_gate.gate.verdict import conclude

_WORST_FIRST = ("failed", "unverified", "inconclusive", "passed", "skipped")
_ALIKE = ("policy_fingerprint", "toolset_fingerprint", "commit", "agent_url", "agent_format")
_LEAST_FIRST = ("not met", "met", "not applicable")


def merge_results(
    shards: Sequence[tuple[str, ResultDocument]], *, baseline: ResultDocument | None = None
) -> ResultDocument:
    """One result of all shards, each given with the name errors call it by.

    Raises:
        CannotVerify: a shard is missing or there twice, or they are not parts of one and the same run.
    """
    ordered = _in_order(shards)
    documents = [document for _, document in ordered]
    _check_alike(ordered)
    sessions = _sessions(ordered)
    if baseline is not None:
        sessions = compare_with_baseline(sessions, baseline)
    return conclude(
        {
            "schema_version": 1,
            "verdict": "unverified",
            "exit_code": 3,
            "reasons": [],
            "contracts": _contracts(ordered),
            "verification": _verification(documents),
            "sessions": sessions,
            "metadata": _metadata(documents),
            "evidence": _evidence(documents),
        }
    )


def _in_order(shards: Sequence[tuple[str, ResultDocument]]) -> list[tuple[str, ResultDocument]]:
    if not shards:
        raise CannotVerify("There is no result to merge.", hint="Name the result.json of every shard.")
    found: dict[int, tuple[str, ResultDocument]] = {}
    counts: set[int] = set()
    for name, document in shards:
        number, count = _shard(name, document)
        counts.add(count)
        if number in found:
            raise CannotVerify(
                f"Shard {number}/{count} is there twice: {found[number][0]} and {name}. Its trials would count twice."
            )
        found[number] = (name, document)
    if len(counts) > 1:
        raise CannotVerify(f"The results come from runs of different size: {_listed(sorted(counts))} shards.")
    count = counts.pop()
    missing = [number for number in range(1, count + 1) if number not in found]
    if missing:
        raise CannotVerify(
            f"Of {count} shards, {_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing, "
            "and what they were to check is not checked.",
            hint="See why the job of that shard wrote no result, and run it again.",
        )
    return [found[number] for number in sorted(found)]


def _shard(name: str, document: ResultDocument) -> tuple[int, int]:
    number, _, count = (document["metadata"].get("shard") or "").partition("/")
    if not (number.isdigit() and count.isdigit() and 1 <= int(number) <= int(count)):
        raise CannotVerify(f"{name} is not the result of a shard.", hint="Shards are run with --shard 1/8, 2/8, …")
    return int(number), int(count)


def _check_alike(shards: Sequence[tuple[str, ResultDocument]]) -> None:
    for name, document in shards:
        if document["verdict"] == "cancelled" and not document["sessions"]:
            raise CannotVerify(
                f"{name} was cancelled before its sessions began, so what it was to verify is not all there.",
                hint="Run the job of that shard again.",
            )
    first_name, first = shards[0]
    for name, document in shards[1:]:
        for key in _ALIKE:
            if first["metadata"].get(key) != document["metadata"].get(key):
                what = key.replace("_", " ")
                raise CannotVerify(f"{first_name} and {name} are not parts of one run: their {what} differs.")
        for what, of in (("session", _session_hashes), ("data set of", _dataset_hashes)):
            hashes, others = of(first), of(document)
            if changed := sorted(key for key in hashes.keys() & others.keys() if hashes[key] != others[key]):
                raise CannotVerify(f"{first_name} and {name} ran different versions of the {what} {_listed(changed)}.")


def _session_hashes(document: ResultDocument) -> Mapping[str, str]:
    return document["metadata"]["session_hashes"]


def _dataset_hashes(document: ResultDocument) -> Mapping[str, str]:
    return document["metadata"].get("dataset_hashes", {})


def _sessions(shards: Sequence[tuple[str, ResultDocument]]) -> list[SessionRecord]:
    merged: dict[tuple[str, str, int], list[SessionRecord]] = {}
    for _, document in shards:
        for key, session in zip(session_keys(document["sessions"]), document["sessions"], strict=True):
            merged.setdefault(key, []).append(session)
    for (path, name, _), records in merged.items():
        if len(records) < len(shards):
            raise CannotVerify(f'Session "{name}" ({path}) is in {len(records)} of {len(shards)} shards only.')
        if any(record["policy"] != records[0]["policy"] for record in records):
            raise CannotVerify(f'Shards decided session "{name}" ({path}) by different policies.')
        if sum(record["trials"]["planned"] for record in records) != records[0]["planned_total"]:
            raise CannotVerify(f'The shards of session "{name}" ({path}) do not add up to the trials planned.')
    return [settle(_add(records)) for records in merged.values()]


def _add(records: Sequence[SessionRecord]) -> SessionRecord:
    first = records[0]
    early = any(record["decided_after"] is not None for record in records)
    lowest = [row for record in records if (row := record.get("lowest_row"))]
    unexpected, forbidden = Counter[str](), Counter[str]()
    for record in records:
        unexpected.update(record["unexpected_calls"])
        forbidden.update(record.get("forbidden_calls", {}))
    merged: SessionRecord = {
        **first,
        "trials": {
            "planned": sum(record["trials"]["planned"] for record in records),
            "run": sum(record["trials"]["run"] for record in records),
            "passed": sum(record["trials"]["passed"] for record in records),
            "failed": sum(record["trials"]["failed"] for record in records),
            "unverified": sum(record["trials"]["unverified"] for record in records),
            "saved": sum(record["trials"]["saved"] for record in records),
        },
        "decided_after": sum(_looked_at(record) for record in records) if early else None,
        "row_counts": _row_counts(records),
        "lowest_row": min(lowest, key=_row_rate) if lowest else None,
        "behaviors": _parts(records, lambda record: record["behaviors"]),
        "evaluations": _parts(records, lambda record: record["evaluations"]),
        "cases": sorted(
            (case for record in records for case in record["cases"]), key=lambda case: (case["row"] or 0, case["id"])
        ),
        "unexpected_calls": dict(unexpected.most_common()),
        "forbidden_calls": dict(forbidden.most_common()),
    }
    # The estimate after a stop holds for one sequence of trials, which several shards are not.
    for stale in ("stopped_by", "unbiased_rate", "anytime_interval", "pass_hat_k_error", "baseline"):
        merged.pop(stale, None)  # type: ignore[misc]
    if reasons := [reason for record in records if (reason := record.get("stop_reason"))]:
        merged["stop_reason"] = reasons[0]
    if omitted := sum(record.get("trials_omitted", 0) for record in records):
        merged["trials_omitted"] = omitted
    return merged


def _looked_at(record: SessionRecord) -> int:
    return record["trials"]["run"] if record["decided_after"] is None else record["decided_after"]


def _row_counts(records: Sequence[SessionRecord]) -> list[RowCountRecord]:
    rows = Counter[tuple[int, int, int]]()
    for record in records:
        for row in record["row_counts"]:
            rows[row["passed"], row["failed"], row["unverified"]] += row["rows"]
    return [
        {"passed": passed, "failed": failed, "unverified": unverified, "rows": count}
        for (passed, failed, unverified), count in sorted(rows.items())
    ]


def _row_rate(row: dict[str, Json]) -> tuple[Fraction, int, str]:
    return Fraction(row["passed"], row["verified"]), row["row"] or 0, row["case"]


def _parts(
    records: Sequence[SessionRecord], of: Callable[[SessionRecord], list[BehaviorRecord]]
) -> list[BehaviorRecord]:
    merged = list(of(records[0]))
    for record in records[1:]:
        merged = [add_parts(first, second) for first, second in zip(merged, of(record), strict=True)]
    return merged


def _contracts(shards: Sequence[tuple[str, ResultDocument]]) -> ContractsRecord | None:
    found = [(name, contracts) for name, document in shards if (contracts := document["contracts"]) is not None]
    if not found:
        return None
    first_name, first = found[0]
    for name, contracts in found[1:]:
        if contracts["fingerprints"] != first["fingerprints"]:
            raise CannotVerify(f"{first_name} and {name} saw different tool contracts.")
    compared = [(name, contracts) for name, contracts in found if not contracts.get("error")]
    for name, contracts in compared[1:]:
        other, known = compared[0]
        if any(contracts[key] != known[key] for key in ("base", "tools")):
            raise CannotVerify(f"{other} and {name} compared the tool contracts with different bases.")
    error = next((contracts["error"] for _, contracts in found if contracts.get("error")), None)
    if error is None or not compared:
        return first
    return {**compared[0][1], "error": error}


def _verification(documents: Sequence[ResultDocument]) -> list[VerificationRecord]:
    """Every case once; where several shards ran it, the worst outcome stands.

    Of cases that share an id in one shard, each stays one of its own.
    """
    merged: dict[tuple[str, int], VerificationRecord] = {}
    for document in documents:
        seen = Counter[str]()
        for record in document["verification"]:
            key = (record["id"], seen[record["id"]])
            seen[record["id"]] += 1
            known = merged.get(key)
            if known is None or _WORST_FIRST.index(record["outcome"]) < _WORST_FIRST.index(known["outcome"]):
                merged[key] = record
    return list(merged.values())


def _evidence(documents: Sequence[ResultDocument]) -> list[dict[str, Json]]:
    """Every item as the shard has it that knows the least of it; configuration tells more where it is at hand."""
    merged: dict[str, dict[str, Json]] = {}
    for document in documents:
        for entry in document["evidence"]:
            known = merged.setdefault(str(entry.get("id")), entry)
            if _state_rank(entry) < _state_rank(known):
                merged[str(entry.get("id"))] = entry
    return list(merged.values())


def _state_rank(entry: dict[str, Json]) -> int:
    state = entry.get("state")
    return _LEAST_FIRST.index(state) if state in _LEAST_FIRST else 0


def _metadata(documents: Sequence[ResultDocument]) -> Metadata:
    first = documents[0]["metadata"]
    all_metadata = [document["metadata"] for document in documents]
    models = _distinct(name for metadata in all_metadata for name in (metadata["model"] or "").split(", ") if name)
    usage = Counter[str]()
    hashes: dict[str, str] = {}
    for metadata in all_metadata:
        usage.update(metadata["usage"])
        hashes.update(metadata["session_hashes"])
    merged: Metadata = {
        **first,
        "started": min(metadata["started"] for metadata in all_metadata),
        "duration_ms": max(metadata["duration_ms"] for metadata in all_metadata),
        # A shard without a case has seen no model, and an alias may stand for several, as in one run.
        "model": ", ".join(models) or None,
        "agent_calls": sum(metadata["agent_calls"] for metadata in all_metadata),
        "usage": dict(usage),
        "session_hashes": hashes,
        "shard": None,
        "notices": _distinct(notice for metadata in all_metadata for notice in metadata.get("notices", ())),
        "weakened": _distinct(text for metadata in all_metadata for text in metadata.get("weakened", ())),
    }
    return merged


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _listed(items: Sequence[object]) -> str:
    shown = ", ".join(str(item) for item in items[:20])
    return f"{shown} and {len(items) - 20} more" if len(items) > 20 else shown
