"""A stateful stand-in for GitHub's REST API on loopback. It checks what it is sent, and keeps what it is told.

Comments persist, pages are linked, and `controls` make it refuse, limit or fail. A request that GitHub would not
accept (no version, no user agent, a wrong token, a body of another shape) is answered as GitHub answers it and
also remembered in `complaints`, which every test expects to be empty.
"""

import base64
import json
import re
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

BOT = {"login": "github-actions[bot]", "id": 41898282, "type": "Bot"}
TOKEN = "ghs_fixture-token"
COMMENT_LIMIT = 65536
REPOSITORY = r"/repos/(?P<repo>[\w.-]+/[\w.-]+)"


@dataclass
class Controls:
    read_only: bool = False
    """Writes are refused as for a fork's token."""
    no_repository: bool = False
    """Everything is 404, as for a token that may not read."""
    locked: bool = False
    fail: list[int] = field(default_factory=list)
    """Statuses of the next answers, before anything is done."""
    fail_after: list[int] = field(default_factory=list)
    """Statuses of the next writes, although they were carried out."""
    secondary: int = 0
    """So many writes meet the secondary limit, without Retry-After."""
    secondary_after: int | None = None
    """The same with this Retry-After."""
    primary: int = 0
    viewer: str | None = BOT["login"]
    """Who the token speaks as; None: GraphQL is refused."""
    author: str = BOT["login"]
    """Who new comments belong to."""
    foreign_links: bool = False
    """Link headers name another host, as behind some proxies."""


class FakeGitHub:
    def __init__(self, host: str = "127.0.0.1") -> None:
        self.controls = Controls()
        self.comments: dict[int, dict] = {}
        self.checks: dict[int, dict] = {}
        self.pulls: list[dict] = []
        self.commits: dict[str, str] = {}
        """Ref name or hash to hash."""
        self.files: dict[str, dict[str, bytes]] = {}
        """Hash to path to content."""
        self.submodules: set[str] = set()
        self.merge_bases: dict[tuple[str, str], str] = {}
        self.log: list[tuple[str, str]] = []
        self.complaints: list[str] = []
        self.before_write = lambda: None
        self.next_id = 100
        self.lock = threading.RLock()
        handler = type("Handler", (_Handler,), {"github": self})
        self.server = ThreadingHTTPServer((host, 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def add_comment(self, body: str, *, author: str = BOT["login"], issue: int = 2) -> int:
        with self.lock:
            number = self.next_id
            self.next_id += 1
            user = {"login": author, "type": "Bot" if author.endswith("[bot]") else "User"} if author else None
            self.comments[number] = {
                "id": number,
                "body": body,
                "user": user,
                "issue": issue,
                "html_url": f"https://github.com/octo/repo/pull/{issue}#issuecomment-{number}",
            }
            return number

    def bodies(self) -> list[str]:
        return [self.comments[number]["body"] for number in sorted(self.comments)]

    def calls(self, method: str) -> int:
        return sum(1 for made, _ in self.log if made == method)


class _Handler(BaseHTTPRequestHandler):
    github: FakeGitHub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def _serve(self):
        url = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length)
        path = url.path.removeprefix("/api/v3").removeprefix("/api")
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        with self.github.lock:
            self.github.log.append((self.command, self.path))
            self._answer(path, query, raw)

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _serve

    def _answer(self, path, query, raw):
        controls = self.github.controls
        self._check_headers(raw)
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self._error(401, "Bad credentials")
        if controls.fail:
            return self._error(controls.fail.pop(0), "Server Error")
        writes = self.command != "GET" and path != "/graphql"
        if writes and (controls.secondary or controls.secondary_after is not None):
            headers = {}
            if controls.secondary_after is not None:
                headers, controls.secondary_after = {"Retry-After": str(controls.secondary_after)}, None
            else:
                controls.secondary -= 1
            return self._error(403, "You have exceeded a secondary rate limit. Please wait a few minutes.", **headers)
        if controls.primary:
            controls.primary -= 1
            reset = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + 30)}
            return self._error(403, "API rate limit exceeded for installation.", **reset)
        if controls.no_repository:
            return self._error(404, "Not Found")
        if writes and controls.locked:
            return self._error(403, "Unable to create comment because issue is locked.")
        if writes and controls.read_only:
            accepted = {"X-Accepted-GitHub-Permissions": "issues=write; pull_requests=write"}
            return self._error(403, "Resource not accessible by integration", **accepted)
        if writes:
            self.github.before_write()
        body = json.loads(raw) if raw else None
        return self._route(path, query, body)

    def _check_headers(self, raw):
        wrong = []
        if self.headers.get("X-GitHub-Api-Version") != "2022-11-28":
            wrong.append("no API version")
        if not (self.headers.get("User-Agent") or "").startswith("abs-gate/"):
            wrong.append(f"user agent {self.headers.get('User-Agent')!r}")
        if not (self.headers.get("Accept") or "").startswith("application/vnd.github"):
            wrong.append(f"accept {self.headers.get('Accept')!r}")
        if raw and not (self.headers.get("Content-Type") or "").startswith("application/json"):
            wrong.append("body without JSON content type")
        if TOKEN in self.path:
            wrong.append("token in the address")
        self.github.complaints += [f"{self.command} {self.path}: {what}" for what in wrong]

    def _route(self, path, query, body):
        for pattern, serve in _ROUTES:
            if found := re.fullmatch(pattern, path):
                return serve(self, {k: unquote(v) for k, v in found.groupdict().items() if v}, query, body)
        self.github.complaints.append(f"{self.command} {path}: no such route")
        return self._error(404, "Not Found")

    def _viewer(self, _found, _query, body):
        if set(body) != {"query"} or "viewer" not in body["query"]:
            return self._error(400, "A query attribute must be specified.")
        login = self.github.controls.viewer
        if login is None:
            return self._error(403, "Resource not accessible by integration")
        return self._json(200, {"data": {"viewer": {"login": login}}})

    def _repository(self, found, _query, _body):
        return self._json(200, {"full_name": found["repo"], "default_branch": "main"})

    def _thread(self, found, query, body):
        issue = int(found["issue"])
        if self.command == "GET":
            items = [c for _, c in sorted(self.github.comments.items()) if c["issue"] == issue]
            return self._page(items, query)
        if self.command != "POST" or set(body) != {"body"} or not isinstance(body["body"], str):
            return self._error(422, "Validation Failed")
        if len(body["body"]) > COMMENT_LIMIT:
            return self._error(422, "Validation Failed", errors=[{"message": "Body is too long"}])
        number = self.github.add_comment(body["body"], author=self.github.controls.author, issue=issue)
        if self.github.controls.fail_after:
            return self._error(self.github.controls.fail_after.pop(0), "Server Error")
        return self._json(201, self.github.comments[number])

    def _comment(self, found, _query, body):
        number = int(found["number"])
        if number not in self.github.comments:
            return self._error(404, "Not Found")
        if self.command == "DELETE":
            del self.github.comments[number]
            return self._json(204, None)
        if self.command == "PATCH":
            if set(body) != {"body"} or len(body["body"]) > COMMENT_LIMIT:
                return self._error(422, "Validation Failed")
            self.github.comments[number]["body"] = body["body"]
        return self._json(200, self.github.comments[number])

    def _check_run(self, found, _query, body):
        annotations = body.get("output", {}).get("annotations", [])
        needed = {"path", "start_line", "end_line", "annotation_level", "message"}
        if len(annotations) > 50 or any(not needed <= set(item) for item in annotations):
            return self._error(422, "Invalid request. No more than 50 items are allowed")
        if not {"title", "summary"} <= set(body["output"]) or len(body["output"]["summary"]) > 65535:
            return self._error(422, "Invalid request.")
        number = int(found["number"]) if found.get("number") else self.github.next_id
        if not found.get("number"):
            if not {"name", "head_sha", "status", "conclusion"} <= set(body):
                return self._error(422, "Invalid request.")
            self.github.next_id += 1
            self.github.checks[number] = {"annotations": [], **{k: v for k, v in body.items() if k != "output"}}
        self.github.checks[number]["annotations"] += annotations
        answer = {"id": number, "html_url": f"https://github.com/octo/repo/runs/{number}"}
        return self._json(200 if found.get("number") else 201, answer)

    def _pulls(self, _found, query, _body):
        if not {"state", "head"} <= set(query):
            return self._error(422, "Validation Failed")
        owner, _, branch = query["head"].partition(":")
        pulls = [p for p in self.github.pulls if (p["head"]["user"]["login"], p["head"]["ref"]) == (owner, branch)]
        return self._page(pulls, query)

    def _commit(self, found, _query, _body):
        sha = self.github.commits.get(found["name"])
        if sha:
            return self._json(200, {"sha": sha})
        return self._error(422, f"No commit found for SHA: {found['name']}")

    def _compare(self, found, _query, _body):
        sha = self.github.merge_bases.get((found["base"], found["head"]))
        return self._json(200, {"merge_base_commit": {"sha": sha}}) if sha else self._error(404, "Not Found")

    def _contents(self, found, query, _body):
        files = self.github.files.get(query.get("ref", ""), {})
        path = found.get("path", "").strip("/")
        if path in self.github.submodules:
            return self._json(200, self._item(path, b"", submodule=True))
        if path in files:
            if "raw" in self.headers["Accept"]:
                return self._send(200, files[path], "application/octet-stream")
            return self._json(200, self._item(path, files[path], content=True))
        prefix = f"{path}/" if path else ""
        names = sorted({name[len(prefix) :].split("/")[0] for name in files if name.startswith(prefix)})
        names += sorted(name[len(prefix) :] for name in self.github.submodules if name.startswith(prefix))
        if not names:
            return self._error(404, "Not Found")
        listed = [self._listed(prefix + name, files) for name in names]
        return self._json(200, listed[:1000])

    def _listed(self, path, files):
        if path in self.github.submodules:
            return {"type": "file", "name": path.split("/")[-1], "path": path, "size": 0, "download_url": None}
        if path in files:
            return self._item(path, files[path])
        return {"type": "dir", "name": path.split("/")[-1], "path": path, "size": 0, "download_url": None}

    def _item(self, path, data, *, content=False, submodule=False):
        item = {"type": "submodule" if submodule else "file", "name": path.split("/")[-1], "path": path}
        item |= {"size": len(data), "download_url": None if submodule else "https://raw.example/x"}
        if content:
            large = len(data) > 1_000_000
            encoded = "" if large else base64.encodebytes(data).decode()
            item |= {"content": encoded, "encoding": "none" if large else "base64"}
        return item

    def _page(self, items, query):
        size = int(query.get("per_page", 30))
        if size > 100:
            self.github.complaints.append(f"per_page={size}")
        page = int(query.get("page", 1))
        last = max(1, -(-len(items) // size))
        headers = {}
        if page < last:
            host = "https://elsewhere.example" if self.github.controls.foreign_links else self.github.url
            here = f"{host}/repositories/42/comments?per_page={size}"
            headers["Link"] = f'<{here}&page={page + 1}>; rel="next", <{here}&page={last}>; rel="last"'
        return self._json(200, items[(page - 1) * size : page * size], **headers)

    def _error(self, status, message, *, errors=None, **headers):
        body = {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status)}
        if errors:
            body["errors"] = errors
        return self._json(status, body, **headers)

    def _json(self, status, value, **headers):
        data = b"" if value is None else json.dumps(value).encode()
        return self._send(status, data, "application/json; charset=utf-8", **headers)

    def _send(self, status, data, kind, **headers):
        self.send_response(status)
        for name, value in {"X-RateLimit-Remaining": "999", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


_ROUTES = (
    (r"/graphql", _Handler._viewer),
    (REPOSITORY, _Handler._repository),
    (REPOSITORY + r"/issues/(?P<issue>\d+)/comments", _Handler._thread),
    (REPOSITORY + r"/issues/comments/(?P<number>\d+)", _Handler._comment),
    (REPOSITORY + r"/check-runs(?:/(?P<number>\d+))?", _Handler._check_run),
    (REPOSITORY + r"/pulls", _Handler._pulls),
    (REPOSITORY + r"/commits/(?P<name>[^/]+)", _Handler._commit),
    (REPOSITORY + r"/compare/(?P<base>\w+)\.\.\.(?P<head>\w+)", _Handler._compare),
    (REPOSITORY + r"/contents/(?P<path>.*)", _Handler._contents),
)
