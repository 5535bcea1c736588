"""Sends requests by `wasi:http`, in a component."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from componentize_py_types import Err, Ok  # type: ignore[import-not-found]
from wit_world.imports import outgoing_handler, streams  # type: ignore[import-not-found]
from wit_world.imports import wasi_http_types as types

from .http import Denied, HttpError, Request, Response, Timeout
from .outcome import ERROR

PART = 64 << 10
"""Bytes that are read at once."""
WRITTEN = 4096
"""Bytes that are written at once."""
METHODS = {
    "GET": types.Method_Get, "HEAD": types.Method_Head, "POST": types.Method_Post, "PUT": types.Method_Put,
    "DELETE": types.Method_Delete, "CONNECT": types.Method_Connect, "OPTIONS": types.Method_Options,
    "TRACE": types.Method_Trace, "PATCH": types.Method_Patch,
}

# Codes of errors by what they mean; the words are those of the executor `http`.
TIMEOUTS = {
    "DnsTimeout": "timeout of asking for the address of {}",
    "ConnectionTimeout": "timeout of connecting to {}",
    "ConnectionReadTimeout": "timeout of waiting for the response of {}",
    "ConnectionWriteTimeout": "timeout of sending to {}",
    "HttpResponseTimeout": "timeout of the whole request to {}",
}
CONNECTIONS = {
    "DnsError": "the name in {} is not known",
    "DestinationNotFound": "the name in {} is not known",
    "DestinationUnavailable": "no connection to {}: it cannot be reached",
    "DestinationIpUnroutable": "no connection to {}: there is no route to its address",
    "ConnectionRefused": "{} refused the connection",
    "ConnectionTerminated": "{} closed the connection before it responded",
    "HttpResponseIncomplete": "the response of {} broke off",
}
TLS = {
    "TlsProtocolError": "no TLS connection to {}: it speaks none, or no version that is spoken here",
    "TlsCertificateError": "the certificate is not trusted that {} shows",
    "TlsAlertReceived": "{} refused the TLS connection",
}
GRANTS = {
    "HttpRequestDenied": "not sent",
    "DestinationIpProhibited": "not sent: the address of {} is not granted",
    "ConnectionLimitReached": "not sent: too many connections at once",
    "ConfigurationError": "not sent: the host's configuration does not allow it",
    "HttpRequestBodySize": "more to send than this host allows",
    "HttpRequestHeaderSectionSize": "more to send than this host allows",
    "HttpResponseBodySize": "more to read than this host allows",
    "HttpResponseHeaderSectionSize": "more to read than this host allows",
}


def send(request: Request) -> Response:
    """Sends a request and reads the response."""
    outgoing = _outgoing(request)
    try:
        body = outgoing.body()
        # The request belongs to the host from now on.
        future = outgoing_handler.handle(outgoing, _options(request.timeout))
    except Err as error:
        raise _error(request, error.value) from None
    with future:
        _write(body, request.body)
        with future.subscribe() as ready:
            ready.block()
        match future.get():
            case Ok(Ok(response)):
                with response:
                    return _read(request, response)
            case Ok(Err(code)):
                raise _error(request, code)
    raise HttpError(f"{request}: the host gave no response", "protocol")


def _outgoing(request: Request) -> Any:
    parts = urlsplit(request.url)
    names = {name.lower() for name, _ in request.headers}
    length = [("content-length", str(len(request.body)))] if request.body and "content-length" not in names else []
    try:
        fields = types.Fields.from_list([(name, value.encode()) for name, value in request.headers + length])
    except Err as error:
        given = ", ".join(f"`{name}`" for name, _ in request.headers)
        why = type(error.value).__name__.partition("_")[2]
        raise HttpError(f"{request}: one of its headers {given} cannot be sent: {why}", "input", ERROR, False) from None
    outgoing = types.OutgoingRequest(fields)
    method = METHODS.get(request.method)
    query = f"?{parts.query}" if parts.query else ""
    try:
        outgoing.set_method(method() if method else types.Method_Other(request.method))
        outgoing.set_scheme(types.Scheme_Https() if parts.scheme == "https" else types.Scheme_Http())
        outgoing.set_authority(parts.netloc)
        outgoing.set_path_with_query((parts.path or "/") + query)
    except Err:
        raise HttpError(f"{request}: its method or its address cannot be sent", "input", ERROR, False) from None
    return outgoing


def _options(seconds: float) -> Any:
    options, nanos = types.RequestOptions(), min(max(0, int(seconds * 1e9)), 2**64 - 1)
    for limit in (options.set_connect_timeout, options.set_first_byte_timeout, options.set_between_bytes_timeout):
        try:
            limit(nanos)
        except Err:  # A host that takes no timeouts has its own.
            pass
    return options


def _write(body: Any, content: bytes) -> None:
    """Sends the body. The response reports its errors."""
    try:
        if content:
            with body.write() as stream:
                for at in range(0, len(content), WRITTEN):
                    stream.blocking_write_and_flush(content[at : at + WRITTEN])
        types.OutgoingBody.finish(body, None)
    except Err:
        pass


def _read(request: Request, response: Any) -> Response:
    headers: dict[str, str] = {}
    with response.headers() as fields:
        for name, value in fields.entries():
            name, text = name.lower(), value.decode(errors="replace")
            headers[name] = f"{headers[name]}, {text}" if name in headers else text
    content = bytearray()
    with response.consume() as body, body.stream() as stream:
        while True:
            try:
                content += stream.blocking_read(PART)
            except Err as error:
                if isinstance(error.value, streams.StreamError_Closed):
                    return Response(response.status(), headers, bytes(content))
                with error.value.value as cause:
                    code = types.http_error_code(cause)
                    if code is not None:
                        raise _error(request, code) from None
                    why = cause.to_debug_string()
                raise HttpError(f"{request}: the body broke off: {why}", "connection") from None
            if len(content) > request.max_body:
                what = f"the body is larger than {request.max_body} bytes; `max_body` sets the limit"
                raise HttpError(f"{request}: {what}", "too_large", 2, False)


def _error(request: Request, code: Any) -> HttpError:
    name = type(code).__name__.rpartition("_")[2]
    authority = urlsplit(request.url).netloc
    for words, kind, retryable in ((CONNECTIONS, "connection", True), (TLS, "tls", False)):
        if name in words:
            return HttpError(f"{request}: {words[name].format(authority)}", kind, ERROR, retryable)
    if name in TIMEOUTS:
        return Timeout(f"{request}: {TIMEOUTS[name].format(authority)}")
    if name in GRANTS:
        return Denied(f"{request}: {GRANTS[name].format(authority)}")
    if name in ("HttpRequestMethodInvalid", "HttpRequestUriInvalid"):
        return HttpError(f"{request}: its method or its address cannot be sent", "input", ERROR, False)
    value = getattr(code, "value", None)
    return HttpError(f"{request}: {name}" + (f": {value}" if isinstance(value, str) else ""), "protocol")
