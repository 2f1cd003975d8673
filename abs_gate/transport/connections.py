"""requests with our own connections: addresses are checked after resolution, and deadlines can cut them."""

from __future__ import annotations

import ipaddress
import socket
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

from abs_gate.transport.deadlines import Watch
from abs_gate.transport.destinations import refused_address

MAX_ADDRESSES = 4
"""How many addresses of one name are tried."""


class DestinationRefused(Exception):
    """A host name resolved to an address that may not be asked."""

    def __init__(self, host: str) -> None:
        super().__init__(host)
        self.host = host


def open_session(watch: Watch) -> requests.Session:
    """A keep-alive client for one thread: one connection an origin, no cookies, no retries of its own.

    Cookies are not kept: they would carry state from one session's trial into another's.
    """
    session = requests.Session()
    adapter = _Adapter(watch)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    return session


class _Adapter(HTTPAdapter):
    """Hands out pools whose connections report to the thread's watch."""

    def __init__(self, watch: Watch) -> None:
        self._pools = _pool_classes(watch)
        super().__init__(pool_connections=4, pool_maxsize=1, max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **kwargs)
        if not proxy.lower().startswith("socks"):
            manager.pool_classes_by_scheme = self._pools
        return manager


def _pool_classes(watch: Watch) -> dict[str, type[HTTPConnectionPool]]:
    """Pool classes bound to one watch; urllib3 takes classes, not instances."""

    class Plain(_Checked, HTTPConnection):
        pass

    class Secure(_Checked, HTTPSConnection):
        pass

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    Plain.watch = Secure.watch = watch
    return {"http": PlainPool, "https": SecurePool}


class _Checked:
    """What both kinds of connection add to urllib3's."""

    watch: Watch
    host: str
    port: int
    sock: socket.socket | None
    _dns_host: str

    def request(self, *args: Any, **kwargs: Any) -> Any:
        self.watch.connection, self.watch.sock = self, self.sock
        return super().request(*args, **kwargs)  # type: ignore[misc]

    def connect(self) -> None:
        self.watch.connection = self
        super().connect()  # type: ignore[misc]
        self.watch.sock = self.sock

    def _new_conn(self) -> socket.socket:
        """Resolve, refuse, then connect to the very addresses that were checked, one after the other."""
        name = self._dns_host
        try:
            found = socket.getaddrinfo(name, self.port, 0, socket.SOCK_STREAM)
        except (socket.gaierror, UnicodeError) as error:
            reason = error if isinstance(error, socket.gaierror) else socket.gaierror(str(error))
            raise NameResolutionError(name, self, reason) from error  # type: ignore[arg-type]
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if any(refused_address(ipaddress.ip_address(address.split("%", 1)[0])) for address in addresses):
            raise DestinationRefused(name)
        failure: Exception | None = None
        try:
            for address in addresses[:MAX_ADDRESSES]:
                if self.watch.expired:
                    break
                self._dns_host = address
                try:
                    sock: socket.socket = super()._new_conn()  # type: ignore[misc]
                except (NewConnectionError, ConnectTimeoutError) as error:
                    failure = error
                else:
                    return sock
        finally:
            self._dns_host = name
        raise failure or NewConnectionError(self, "the name has no address")  # type: ignore[arg-type]
