"""The words of ABS 0.2: actors, actions with their categories, keys. Source: ABS VOCABULARY and SPECIFICATION."""

from __future__ import annotations

from types import MappingProxyType

from abs_gate.documents.model import Category

ACTORS = ("user", "assistant", "tool", "system", "human", "external")

ACTIONS = MappingProxyType(
    {
        **dict.fromkeys(
            (
                *("says", "asks", "responds", "informs", "greets"),
                *("clarifies", "confirms", "rejects", "suggests", "shows"),
            ),
            Category.COMMUNICATION,
        ),
        **dict.fromkeys(("calls", "submits", "retrieves", "stores", "updates"), Category.EXECUTION),
        **dict.fromkeys(("selects", "uploads", "downloads", "approves"), Category.INTERACTION),
        "hands_off": Category.DELEGATION,
    }
)
"""Standard action to its category."""

VERSIONS = ("0.1", "0.2")
LATEST_VERSION = "0.2"
SINCE_0_2 = frozenset({"optional", "requires", "matches_when", "when", "expected"})
"""Keys and evaluator types that a 0.1 document may not use."""

SESSION_KEYS = ("session", "behaviors", "description", "abs_version", "dataset", "fragments", "evaluations")
LIBRARY_KEYS = ("fragments", "abs_version", "description")
"""Keys of a document that only serves fragments to the documents after it."""
BEHAVIOR_KEYS = (
    *("id", "actor", "action", "target", "content", "capture", "with", "with_only", "evaluations"),
    *("optional", "requires", "matches_when"),
)
DATASET_KEYS = ("id", "path")
EVALUATION_KEYS = ("type", "when", "blocking", "threshold", "adapter")
"""Keys of every evaluation that the model holds by name."""
SHARED_FIELDS = ("dataset", "prompt")
"""Fields that every evaluation may carry for its judge, whatever its type."""
OPEN_EVALUATOR = "custom"
"""The evaluator that may carry any further field: all of them are handed to its judge."""
PROMPT_PLACEHOLDERS = ("criteria", "query", "context", "response", "ground_truth", "conversation")
"""What a judge's `prompt` may name besides variables; filled in when the judge is asked."""
COMPOSITIONS = frozenset({"all_of", "any_of", "none_of"})

MATCHES_WHEN_ARGUMENT = MappingProxyType({"contains": "value", "regex": "pattern", "llm_judge": "criteria"})
"""`matches_when` type to the key that holds its argument."""
