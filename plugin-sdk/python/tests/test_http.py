"""Requests, natively, by a function that stands in for the network."""

import unittest
from typing import Any

from phasm_sdk import Outcome, executor, http, testing
from phasm_sdk.http import Request, Response


@executor
def fetch(url: str) -> dict[str, Any]:
    return {"users": http.get(url, headers={"accept": "application/json"}).raise_for_status().json()}


@executor
def create(url: str) -> dict[str, Any]:
    response = http.post(url, json={"name": "Ada"}, timeout=5)
    return {"status": response.status, "text": response.text}


def fetched(response: Response | http.HttpError, url: str = "http://a.example/users?key=secret") -> testing.TestRun:
    def send(_: Request) -> Response:
        if isinstance(response, http.HttpError):
            raise response
        return response

    return testing.Test().input("url", url).http(send).run(fetch)


class Http(unittest.TestCase):
    def test_a_response_is_read(self) -> None:
        run = fetched(Response(200, {}, b'["Ada"]'))
        self.assertEqual(run.outcome, Outcome.succeeded(users=["Ada"]))
        [sent] = run.requests
        self.assertEqual((sent.method, sent.headers), ("GET", [("accept", "application/json")]))

    def test_json_is_sent(self) -> None:
        run = testing.Test().input("url", "https://a.example/ü b").http(lambda _: Response(201, {}, b"made")).run(create)
        self.assertEqual(run.outcome, Outcome.succeeded(status=201, text="made"))
        [sent] = run.requests
        self.assertEqual((sent.body, sent.timeout), (b'{"name":"Ada"}', 5))
        self.assertEqual((sent.url, sent.headers[0][1]), ("https://a.example/%C3%BC%20b", "application/json"))

    def test_a_refusal_is_the_outcome_unless_it_is_caught(self) -> None:
        outcome = testing.call(fetch, url="http://a.example/users?key=secret")
        self.assertEqual(outcome.details, {"error": {"kind": "grant", "retryable": False}})
        self.assertTrue(outcome.message.startswith("GET http://a.example/users: not sent"), outcome.message)
        self.assertEqual(fetched(http.Timeout("late")).outcome.code, 4)

    def test_a_status_that_is_no_success_says_whether_another_attempt_may_succeed(self) -> None:
        for status, code, kind, retryable in [
            (404, 2, "client_error", False), (401, 2, "auth", False), (429, 3, "rate_limit", True),
            (503, 3, "server_error", True), (501, 2, "server_error", False), (302, 2, "redirect", False),
            (100, 2, "protocol", False),
        ]:
            outcome = fetched(Response(status, {"x": "y"})).outcome
            self.assertEqual((outcome.code, outcome.message), (code, f"GET http://a.example/users: status {status}"))
            self.assertEqual(outcome.details, {
                "error": {"kind": kind, "retryable": retryable, "code": status},
                "http": {"status": status, "headers": {"x": "y"}},
            })

    def test_a_body_that_is_not_what_it_should_be_is_named(self) -> None:
        for body, says in [(b"{", "the body is not JSON"), (b"\xff", "the body is not UTF-8 at byte 0")]:
            outcome = fetched(Response(200, {}, body)).outcome
            self.assertIn(says, outcome.message)
            self.assertEqual((outcome.code, outcome.details["error"]["kind"]), (2, "parse"))

    def test_an_address_that_is_none_is_refused(self) -> None:
        for url in ("a.example", "ftp://a.example", "http:///x", "http://user:word@a.example/"):
            outcome = fetched(Response(200), url).outcome
            self.assertIn("expected http://HOST/PATH", outcome.message)
            self.assertEqual(outcome.details["error"], {"kind": "input", "retryable": False})


if __name__ == "__main__":
    unittest.main()
