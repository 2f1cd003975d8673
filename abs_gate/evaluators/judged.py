"""Judged evaluators: prompts, strict reading of verdicts, votes, caching."""


class JudgePanel:
    """All judges of a run by name."""
