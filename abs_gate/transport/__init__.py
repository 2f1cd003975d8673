"""How bytes reach agents, judges and others: HTTP (the only importer of requests) and child processes."""

from abs_gate.transport.client import Transport
from abs_gate.transport.credentials import Credentials, StaticCredentials

__all__ = ["Credentials", "StaticCredentials", "Transport"]
