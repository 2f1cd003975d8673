"""Git LFS pointers: small text files that stand in for content kept elsewhere."""

from __future__ import annotations

MAX_POINTER_BYTES = 1024
"""Git LFS's own bound for a pointer file."""

_FIRST_LINE = b"version https://git-lfs.github.com/spec/v"


def is_lfs_pointer(data: bytes) -> bool:
    """Whether these bytes are a pointer rather than the file itself."""
    return len(data) < MAX_POINTER_BYTES and data.startswith(_FIRST_LINE)
