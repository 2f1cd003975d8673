"""Keeping secrets out of everything that is written: reports, logs, comments, recordings.

Two rules. Every secret known by value is replaced in each form it may take inside other text: raw,
URL-encoded, base64 (at any alignment inside longer base64), JSON-escaped and HTML-escaped. Besides,
text with the shape of a well-known credential is replaced even when nobody named it. A secret shorter
than four characters is ignored: replacing it would erase ordinary text and protect nothing.
"""

from __future__ import annotations

import base64
import html
import json
import re
import threading
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus

from abs_gate.findings import Json

MASK = "***"
MIN_SECRET_CHARS = 4
"""Shorter secrets are ignored."""
MIN_LINE_CHARS = 8
"""Lines of a secret of several lines (a private key) are replaced on their own from this length."""
MAX_DEPTH = 200
"""Deeper JSON is not walked but masked whole."""

SENSITIVE_NAMES = frozenset(
    {
        "api-key",
        "apikey",
        "authorization",
        "client-secret",
        "cookie",
        "access-token",
        "id-token",
        "password",
        "private-key",
        "proxy-authorization",
        "refresh-token",
        "set-cookie",
        "x-amz-security-token",
        "x-api-key",
        "x-auth-token",
        "x-goog-api-key",
    }
)
"""Header and field names whose text values are always masked; compared lower-case, `_` read as `-`."""

_SHAPES: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = tuple(
    (needles, re.compile(pattern), replacement)
    for needles, pattern, replacement in (
        (
            ("PRIVATE KEY-----",),
            r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----(?:(?!-----)[\s\S]){0,16384}"
            r"(?:-----END [A-Z ]{0,32}PRIVATE KEY-----)?",
            MASK,
        ),
        (("sk-", "sk_", "rk_"), r"\b[sr]k[-_](?=[A-Za-z_-]{0,256}\d)[A-Za-z0-9_-]{16,}", MASK),
        (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9]{20,}", MASK),
        (("github_pat_",), r"\bgithub_pat_[A-Za-z0-9_]{20,}", MASK),
        (("glpat-",), r"\bglpat-[A-Za-z0-9_-]{16,}", MASK),
        (("xox", "xapp-"), r"\b(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}", MASK),
        (("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b", MASK),
        (("AIza",), r"\bAIza[A-Za-z0-9_-]{30,}", MASK),
        (("hf_", "npm_", "pypi-"), r"\b(?:hf_|npm_|pypi-)[A-Za-z0-9_-]{30,}", MASK),
        (("eyJ",), r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?", MASK),
        (
            ("earer ", "EARER ", "asic ", "ASIC "),
            r"(?i)\b(bearer|basic) {1,8}(?=[A-Za-z._~+/=-]{0,256}\d)[A-Za-z0-9._~+/=-]{16,}",
            rf"\1 {MASK}",
        ),
        (
            ("uthorization", "UTHORIZATION", "pi-", "PI-", "ookie"),
            r"(?i)\b((?:proxy-)?authorization|(?:x-)?(?:goog-)?api-key|(?:set-)?cookie)"
            r"(\\?[\"']?[ \t]{0,8}[:=][ \t]{0,8}\\?[\"']?)"
            r"(?:(?:bearer|basic|token) +[^\s\"'\\,;]{4,}|(?=[^\s\"'\\,;]{0,256}\d)[^\s\"'\\,;]{8,})",
            rf"\1\2{MASK}",
        ),
        (("://",), r"(?i)\b([a-z][a-z0-9+.-]{1,15}://)[^\s/?#@\"'<>]{1,512}@", rf"\1{MASK}@"),
        (
            ("=",),
            r"(?i)([?&](?:access_token|refresh_token|id_token|api[_-]?key|client_secret|password|token|sig|signature|x-amz-signature)=)"
            r"[^&\s\"'#<>\\]{4,}",
            rf"\1{MASK}",
        ),
    )
)
"""Needles that must occur before a pattern is tried, the pattern, and what takes its place. Every pattern is
linear: a literal start, then bounded classes."""


class Redactor:
    """Replaces secrets in text and JSON. Safe for threads."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._lock = threading.Lock()
        self._forms: tuple[str, ...] = ()
        self.learn(*secrets)

    def learn(self, *secrets: str) -> None:
        """Add secrets that came up during the run, such as access tokens."""
        with self._lock:
            forms = set(self._forms).union(*map(secret_forms, secrets))
            self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))

    def redact(self, text: str) -> str:
        """The text with every known secret and credential-shaped part replaced by `***`."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        for needles, pattern, replacement in _SHAPES:
            for needle in needles:
                if needle in text:
                    text = pattern.sub(replacement, text)
                    break
        return text

    def redact_json(self, value: Json) -> Json:
        """A copy of a JSON value with its texts and keys redacted and sensitive fields masked whole."""
        return self._walk(value, MAX_DEPTH)

    def _walk(self, value: Json, depth: int) -> Json:
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, Mapping):
            if depth <= 0:
                return MASK
            return {
                self.redact(str(key)): MASK if item and is_sensitive_name(str(key)) else self._walk(item, depth - 1)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._walk(item, depth - 1) for item in value] if depth > 0 else MASK
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value if self.redact(repr(value)) == repr(value) else MASK
        return value


def is_sensitive_name(name: str) -> bool:
    """Whether a header or field of this name holds a credential whatever its value looks like."""
    return name.lower().replace("_", "-") in SENSITIVE_NAMES


def secret_forms(secret: str) -> set[str]:
    """Every form in which the secret is looked for; none when it is too short to be one."""
    whole = secret.strip()
    values = {whole}
    lines = whole.splitlines()
    if len(lines) > 1:
        values |= {line.strip() for line in lines if len(line.strip()) >= MIN_LINE_CHARS}
    forms: set[str] = set()
    for value in values:
        if len(value) < MIN_SECRET_CHARS:
            continue
        percent = quote(value, safe="")
        forms |= {value, percent, _lower_percent(percent), quote(value), quote_plus(value)}
        forms |= {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
        forms |= {html.escape(value), html.escape(value, quote=False)}
        forms |= _base64_forms(value.encode("utf-8", "surrogatepass"))
    return forms


def _lower_percent(text: str) -> str:
    return re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), text)


def _base64_forms(data: bytes) -> set[str]:
    """The characters that base64 gives for these bytes wherever they stand in longer data.

    At offset n (mod 3) the first characters mix with what goes before and the last with what follows;
    the ones between depend on the secret alone.
    """
    forms: set[str] = set()
    for offset in range(3):
        text = base64.b64encode(b"\0" * offset + data).decode().rstrip("=")
        start = (0, 2, 3)[offset]
        end = len(text) - (1 if (offset + len(data)) % 3 else 0)
        core = text[start:end]
        if len(core) >= 2 * MIN_SECRET_CHARS:
            forms |= {core, core.replace("+", "-").replace("/", "_")}
    if len(data) >= MIN_SECRET_CHARS:
        whole = base64.b64encode(data).decode()
        forms |= {whole, whole.replace("+", "-").replace("/", "_")}
    return forms
