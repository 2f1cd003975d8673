"""The one table of settings that can be given outside the file: as a flag, an action input or the environment.

The command line builds its options from it, and the action's inputs are checked against it.
"""

from __future__ import annotations

from msgspec import Struct

from abs_gate.findings import Json
from abs_gate.settings import values
from abs_gate.settings.values import Read

AGENT_FORMATS = ("openai", "responses", "claude", "gemini", "messages", "command", "python", "replay")
AUTH_TYPES = ("none", "api_key", "bearer", "oauth2", "header")
JUDGE_FORMATS = ("openai", "claude", "gemini", "python", "command")
DECISIONS = ("observed", "demonstrated", "not_worse", "sequential")
CLASSIFICATIONS = ("compatible", "behavior_sensitive", "breaking", "safety_breaking")


class Option(Struct, frozen=True, kw_only=True):
    """One setting and the names under which it can be given. Strongest first: flag, input, environment."""

    path: str
    """Place in the file. `sessions.policy.*.x` holds for every entry of the policy."""
    read: Read
    """From text (or, for `many`, a tuple of texts) to the setting's value; raises ValueError in words."""
    flag: str | None = None
    input: str | None = None
    environment: tuple[str, ...] = ()
    many: bool = False
    """May be repeated; an input or variable then holds one a line."""
    switch: str | None = None
    """What the flag means where it takes no value."""
    secret: bool = False
    """Never shown, not even in an error."""
    metavar: str = ""
    help: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, as errors and help write it."""
        given = [self.flag] if self.flag else []
        given += [f"input {self.input}"] if self.input else []
        return (*given, *self.environment)


def _fail_on(value: Json) -> frozenset[str]:
    """The classifications that block: the one named and all worse ones."""
    level = values.choice("none", *CLASSIFICATIONS)(value)
    return frozenset(() if level == "none" else CLASSIFICATIONS[CLASSIFICATIONS.index(level) :])


OPTIONS: tuple[Option, ...] = (
    Option(
        path="file",
        read=values.text,
        flag="--config",
        input="config",
        environment=("ABS_GATE_CONFIG",),
        metavar="FILE",
        help="Configuration file; abs-gate.yaml where there is one.",
    ),
    Option(
        path="agent.url",
        read=values.url,
        flag="--agent",
        input="agent-url",
        environment=("ABS_GATE_AGENT_URL", "ABS_AGENT_URL"),
        metavar="URL",
        help="Address of the agent.",
    ),
    Option(
        path="agent.format",
        read=values.choice(*AGENT_FORMATS),
        flag="--agent-format",
        input="agent-format",
        environment=("ABS_GATE_AGENT_FORMAT", "ABS_AGENT_FORMAT"),
        metavar="|".join(AGENT_FORMATS),
        help="How the agent is spoken to.",
    ),
    Option(
        path="agent.model",
        read=values.text,
        flag="--agent-model",
        input="agent-model",
        environment=("ABS_GATE_AGENT_MODEL", "ABS_AGENT_MODEL"),
        metavar="NAME",
        help="Model to ask for; sent only when set.",
    ),
    Option(
        path="agent.auth.type",
        read=values.choice(*AUTH_TYPES),
        flag="--agent-auth",
        environment=("ABS_GATE_AGENT_AUTH", "ABS_AGENT_AUTH"),
        metavar="|".join(AUTH_TYPES),
        help="How to authenticate; bearer where a token is given and nothing else said.",
    ),
    Option(
        path="agent.auth.token",
        read=values.header_value,
        flag="--agent-token",
        input="agent-token",
        environment=("ABS_GATE_AGENT_TOKEN", "ABS_AGENT_TOKEN"),
        secret=True,
        metavar="TOKEN",
        help="Token of the agent; better given in the environment.",
    ),
    Option(
        path="agent.auth.client_id",
        read=values.text,
        environment=("ABS_GATE_AGENT_CLIENT_ID", "ABS_AGENT_CLIENT_ID"),
    ),
    Option(
        path="agent.auth.client_secret",
        read=values.text,
        environment=("ABS_GATE_AGENT_CLIENT_SECRET",),
        secret=True,
    ),
    Option(
        path="agent.auth.refresh_token",
        read=values.text,
        environment=("ABS_GATE_AGENT_REFRESH_TOKEN", "ABS_AGENT_REFRESH_TOKEN"),
        secret=True,
    ),
    Option(
        path="agent.auth.token_url",
        read=values.url,
        environment=("ABS_GATE_AGENT_REFRESH_URL", "ABS_AGENT_REFRESH_URL"),
    ),
    Option(
        path="agent.headers",
        read=values.headers,
        flag="--header",
        environment=("ABS_GATE_HEADERS",),
        many=True,
        secret=True,
        metavar="NAME=VALUE",
        help="Header sent with every request; may be repeated.",
    ),
    Option(
        path="agent.timeout",
        read=values.seconds,
        flag="--timeout",
        environment=("ABS_GATE_TIMEOUT", "ABS_TIMEOUT"),
        metavar="SECONDS",
        help="Of one request.",
    ),
    Option(
        path="agent.session_timeout",
        read=values.seconds,
        flag="--session-timeout",
        environment=("ABS_GATE_SESSION_TIMEOUT",),
        metavar="SECONDS",
        help="Of one whole session.",
    ),
    Option(
        path="agent.record",
        read=values.text,
        flag="--record",
        environment=("ABS_GATE_RECORD",),
        metavar="DIR",
        help="Write every exchange there, secrets removed.",
    ),
    Option(
        path="agent.replay",
        read=values.text,
        flag="--replay",
        environment=("ABS_GATE_REPLAY",),
        metavar="DIR",
        help="Answer from recorded exchanges, with no agent.",
    ),
    Option(
        path="sessions.paths",
        read=values.texts,
        input="sessions",
        environment=("ABS_GATE_SESSIONS",),
        many=True,
        help="Session files and directories.",
    ),
    Option(
        path="sessions.dataset",
        read=values.text,
        flag="--dataset",
        input="dataset",
        environment=("ABS_GATE_DATASET", "ABS_DATASET"),
        metavar="PATH",
        help="Dataset file, or directory of datasets named like their sessions.",
    ),
    Option(
        path="sessions.variables",
        read=values.assignments,
        flag="--var",
        environment=("ABS_GATE_VARIABLES",),
        many=True,
        metavar="NAME=VALUE",
        help="Variable (name:=JSON for a typed one); may be repeated.",
    ),
    Option(
        path="sessions.filters",
        read=values.filters,
        flag="--filter",
        environment=("ABS_GATE_FILTER", "ABS_FILTER"),
        many=True,
        metavar="COLUMN:VALUE",
        help="Only rows with this value; may be repeated.",
    ),
    Option(
        path="sessions.select",
        read=values.lines,
        flag="--select",
        environment=("ABS_GATE_SELECT",),
        many=True,
        metavar="NAME",
        help="Only the session of this name; may be repeated.",
    ),
    Option(
        path="sessions.trials",
        read=values.whole_number(1, 1_000_000),
        flag="--trials",
        input="trials",
        environment=("ABS_GATE_TRIALS",),
        metavar="N",
        help="Trials of every case, for every entry of the policy.",
    ),
    Option(
        path="sessions.concurrency",
        read=values.whole_number(1, 1000),
        flag="--concurrency",
        environment=("ABS_GATE_CONCURRENCY", "ABS_PARALLEL"),
        metavar="N",
        help="Trials at the same time.",
    ),
    Option(
        path="sessions.policy.*.pass_rate",
        read=values.rate,
        flag="--pass-rate",
        input="min-pass-rate",
        environment=("ABS_GATE_PASS_RATE",),
        metavar="RATE",
        help="Rate to reach: 0.9, 90% or 9/10. Critical sessions keep 100 %.",
    ),
    Option(
        path="sessions.policy.*.decide",
        read=values.choice(*DECISIONS),
        flag="--decide",
        environment=("ABS_GATE_DECIDE",),
        metavar="|".join(DECISIONS),
        help="What the rate is asked: observed, or shown with confidence.",
    ),
    Option(
        path="sessions.policy.*.confidence",
        read=values.open_rate,
        flag="--confidence",
        input="confidence",
        environment=("ABS_GATE_CONFIDENCE",),
        metavar="RATE",
        help="Confidence of demonstrated and not_worse; 0.95.",
    ),
    Option(
        path="sessions.policy.*.unexpected_calls",
        read=values.choice("allow", "fail"),
        flag="--unexpected-calls",
        environment=("ABS_GATE_UNEXPECTED_CALLS",),
        metavar="allow|fail",
        help="What a call that no behavior expects does.",
    ),
    Option(
        path="sessions.early_stop",
        read=values.boolean,
        flag="--no-early-stop",
        environment=("ABS_GATE_EARLY_STOP",),
        switch="false",
        help="Run all trials even when the outcome is decided.",
    ),
    Option(
        path="sessions.transcripts",
        read=values.choice("failures", "all", "none"),
        flag="--transcripts",
        environment=("ABS_GATE_TRANSCRIPTS",),
        metavar="failures|all|none",
        help="Which transcripts the result keeps.",
    ),
    Option(
        path="sessions.traces",
        read=values.text,
        flag="--traces",
        environment=("ABS_GATE_TRACES",),
        metavar="FILE",
        help="Judge recorded conversations instead of running the agent.",
    ),
    Option(
        path="sessions.baseline",
        read=values.text,
        flag="--baseline",
        environment=("ABS_GATE_BASELINE",),
        metavar="RESULT",
        help="Result to compare with.",
    ),
    Option(
        path="sessions.shard",
        read=values.shard,
        flag="--shard",
        input="shard",
        environment=("ABS_GATE_SHARD",),
        metavar="I/N",
        help="Run only this part of the cases.",
    ),
    Option(
        path="sessions.resume",
        read=values.boolean,
        flag="--resume",
        environment=("ABS_GATE_RESUME",),
        switch="true",
        help="Go on where an interrupted run with this --report-dir stopped.",
    ),
    Option(
        path="contracts.paths",
        read=values.texts,
        input="contracts",
        environment=("ABS_GATE_CONTRACTS",),
        many=True,
        help="Contract files and directories.",
    ),
    Option(
        path="contracts.base",
        read=values.text,
        flag="--base",
        input="base",
        environment=("ABS_GATE_BASE",),
        metavar="REF|PATH",
        help="What contracts are compared with; auto finds the base branch.",
    ),
    Option(
        path="contracts.block",
        read=_fail_on,
        flag="--fail-on",
        input="fail-on",
        environment=("ABS_GATE_FAIL_ON",),
        metavar="|".join(("none", *CLASSIFICATIONS)),
        help="Weakest contract change that blocks.",
    ),
    Option(
        path="contracts.providers",
        read=values.texts,
        flag="--provider",
        environment=("ABS_GATE_PROVIDERS",),
        many=True,
        metavar="PROFILE",
        help="Provider whose limits contracts must respect, such as openai-strict; may be repeated.",
    ),
    Option(
        path="judges.default.url",
        read=values.url,
        flag="--judge",
        environment=("ABS_GATE_JUDGE_URL", "ABS_JUDGE_BASE_URL"),
        metavar="URL",
        help="Address of the judge.",
    ),
    Option(
        path="judges.default.format",
        read=values.choice(*JUDGE_FORMATS),
        flag="--judge-format",
        environment=("ABS_GATE_JUDGE_FORMAT",),
        metavar="|".join(JUDGE_FORMATS),
        help="How the judge is spoken to.",
    ),
    Option(
        path="judges.default.model",
        read=values.text,
        flag="--judge-model",
        environment=("ABS_GATE_JUDGE_MODEL", "ABS_JUDGE_MODEL"),
        metavar="NAME",
        help="Model of the judge.",
    ),
    Option(
        path="judges.default.token",
        read=values.header_value,
        flag="--judge-token",
        environment=("ABS_GATE_JUDGE_TOKEN", "ABS_JUDGE_API_KEY"),
        secret=True,
        metavar="TOKEN",
        help="Token of the judge; better given in the environment.",
    ),
    Option(
        path="budget.max_agent_calls",
        read=values.whole_number(1),
        flag="--max-agent-calls",
        environment=("ABS_GATE_MAX_AGENT_CALLS",),
        metavar="N",
        help="Agent calls of the whole run.",
    ),
    Option(
        path="budget.max_minutes",
        read=values.amount,
        flag="--max-minutes",
        environment=("ABS_GATE_MAX_MINUTES",),
        metavar="MINUTES",
        help="Time of the whole run.",
    ),
    Option(
        path="report.dir",
        read=values.text,
        flag="--report-dir",
        input="report-dir",
        environment=("ABS_GATE_REPORT_DIR",),
        metavar="DIR",
        help="Where reports are written.",
    ),
    Option(
        path="report.junit",
        read=values.text,
        flag="--junit-file",
        input="junit-file",
        environment=("ABS_GATE_JUNIT_FILE",),
        metavar="FILE",
        help="JUnit report.",
    ),
    Option(
        path="report.comment",
        read=values.choice("auto", "never"),
        flag="--comment",
        input="comment",
        environment=("ABS_GATE_COMMENT",),
        metavar="auto|never",
        help="Whether to comment on the pull request.",
    ),
    Option(
        path="report.comment_key",
        read=values.text,
        flag="--comment-key",
        input="comment-key",
        environment=("ABS_GATE_COMMENT_KEY",),
        metavar="KEY",
        help="Tells comments of several gates on one pull request apart.",
    ),
    Option(
        path="report.annotations",
        read=values.boolean,
        flag="--annotations",
        input="annotations",
        environment=("ABS_GATE_ANNOTATIONS",),
        metavar="true|false",
        help="Whether to annotate files in the workflow.",
    ),
    Option(
        path="github_token",
        read=values.header_value,
        input="github-token",
        environment=("ABS_GATE_GITHUB_TOKEN", "GITHUB_TOKEN"),
        secret=True,
        help="Token that comments and reads the base.",
    ),
    Option(
        path="allow_commands",
        read=values.boolean,
        flag="--allow-commands",
        input="allow-commands",
        environment=("ABS_GATE_ALLOW_COMMANDS",),
        metavar="true|false",
        help="Whether commands named in the repository's files may run; false in a workflow unless said.",
    ),
)

OTHER_INPUTS = frozenset({"working-directory"})
"""Inputs of the action that are no settings: they are used before any setting is read."""

OTHER_ENVIRONMENT = frozenset({"ABS_GATE_ALLOW_UNTRUSTED_EVENT", "ABS_GATE_DEBUG"})
"""Variables of ours that are no settings."""
