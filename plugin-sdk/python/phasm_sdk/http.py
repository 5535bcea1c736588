"""HTTP requests. The operator grants each of them; redirects are not followed.

    response = http.get("https://api.example.com/v1/users", headers={"accept": "application/json"})
    users = response.raise_for_status().json()
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping
from urllib.parse import quote, urlsplit

from . import jsontext
from .outcome import ERROR, FAILED, TIMEOUT, Failed

MAX_BODY = 4 << 20
"""Bytes of a body, unless a request sets another limit."""
TIMEOUT_SECONDS = 30.0
"""Seconds of waiting for a connection, for the response, and between its parts, unless a request sets others."""


@dataclass(frozen=True)
class Request:
    """A request as it is sent."""

    method: str
    url: str
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    timeout: float = TIMEOUT_SECONDS
    max_body: int = MAX_BODY

    def __str__(self) -> str:
        """Method and address, without a query, which may have secrets."""
        return f"{self.method} {self.url.partition('?')[0]}"


@dataclass(frozen=True)
class Response:
    """A response with its body."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    """Names are in lower case; several values of a name are joined by a comma."""
    body: bytes = b""
    request: Request | None = None

    @property
    def ok(self) -> bool:
        """Whether the status is a success, 200 to 299."""
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        """The body as text, in UTF-8."""
        try:
            return self.body.decode()
        except UnicodeDecodeError as error:
            what = f"{self.request}: the body is not UTF-8 at byte {error.start}"
            raise HttpError(what, "parse", FAILED, False) from error

    def json(self) -> Any:
        """The body as JSON."""
        try:
            return jsontext.parse(self.text)
        except (ValueError, RecursionError) as error:
            raise HttpError(f"{self.request}: the body is not JSON: {error}", "parse", FAILED, False) from error

    def raise_for_status(self) -> Response:
        """Returns the response, or raises `StatusError` unless it is a success."""
        if not self.ok:
            raise StatusError(self)
        return self


class HttpError(Failed):
    """A request without a usable response. If it is not caught, it is the attempt's outcome."""

    def __init__(self, message: str, kind: str, code: int = ERROR, retryable: bool = True, **more: Any) -> None:
        super().__init__(message, code=code, kind=kind, retryable=retryable, **more)


class Denied(HttpError):
    """A request that the operator has not granted, or one beyond a limit of the host; it was not sent."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "grant", ERROR, False)


class Timeout(HttpError):
    """A request that took too long."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "timeout", TIMEOUT, True)


class StatusError(HttpError):
    """A response whose status is no success; `response` is the response."""

    def __init__(self, response: Response) -> None:
        kind, retryable = _judge(response.status)
        super().__init__(
            f"{response.request}: status {response.status}", kind, ERROR if retryable else FAILED, retryable,
            error_code=response.status, detail={"http": {"status": response.status, "headers": response.headers}},
        )
        self.response = response


def _judge(status: int) -> tuple[str, bool]:
    """The kind of error that a status is, and whether another attempt may succeed."""
    known = {401: ("auth", False), 403: ("auth", False), 407: ("auth", False), 408: ("timeout", True),
             425: ("client_error", True), 429: ("rate_limit", True), 501: ("server_error", False),
             505: ("server_error", False)}
    by_class = {3: ("redirect", False), 4: ("client_error", False), 5: ("server_error", True)}
    return known.get(status) or by_class.get(status // 100, ("protocol", False))


Send = Callable[[Request], Response]


def denied(request: Request) -> Response:
    """Refuses a request: what a test does that has set no other function."""
    raise Denied(f"{request}: not sent; in a test, set Test().http(...)")


_send: Send = denied


def use(send: Send) -> Send:
    """Replaces the function that sends requests, and returns the one before."""
    global _send
    before, _send = _send, send
    return before


def request(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | str | None = None,
    json: Any = None,
    timeout: float = TIMEOUT_SECONDS,
    max_body: int = MAX_BODY,
) -> Response:
    """Sends a request and waits for the whole response, whatever its status.

    Raises `Denied` for a request that is not granted, `Timeout`, or another `HttpError`.
    """
    if body is not None and json is not None:
        raise ValueError("a request has one body; expected either body or json")
    given = [(str(name), str(value)) for name, value in (headers or {}).items()]
    if json is not None:
        body = jsontext.write(jsontext.plain(json))
        if not any(name.lower() == "content-type" for name, _ in given):
            given.append(("content-type", "application/json"))
    content = body.encode() if isinstance(body, str) else bytes(body or b"")
    sent = Request(method.upper(), checked(url), given, content, timeout, max_body)
    response = _send(sent)
    return Response(response.status, response.headers, response.body, sent)


def get(url: str, **more: Any) -> Response:
    """Sends a GET request; see `request`."""
    return request("GET", url, **more)


def post(url: str, **more: Any) -> Response:
    """Sends a POST request; see `request`."""
    return request("POST", url, **more)


def put(url: str, **more: Any) -> Response:
    """Sends a PUT request; see `request`."""
    return request("PUT", url, **more)


def delete(url: str, **more: Any) -> Response:
    """Sends a DELETE request; see `request`."""
    return request("DELETE", url, **more)


def checked(url: str) -> str:
    """The address, with characters that no address may have written as %XX."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        shown = jsontext.shorten(url.partition("?")[0])
        raise HttpError(f"`{shown}`: expected http://HOST/PATH or https://HOST/PATH", "input", ERROR, False)
    return quote(url.partition("#")[0], safe="%/:=&?~+!$,;'@()*[]-._")
