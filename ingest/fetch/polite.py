"""HTTP as the services want it: with pauses, with patience when they are busy, and never without end.

One adapter under the sessions of all clients, so that every service is met with the same manners. It answers with what
succeeded and raises ConferError for the rest.
"""

from __future__ import annotations

import datetime
import email.utils
import re
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import requests
import tenacity
from requests.adapters import HTTPAdapter
from urllib3.exceptions import MaxRetryError

from ingest.fetch.visit import Manners, RefusedError
from rag.errors import ConferError

BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
LONGEST_BACKOFF = 60.0  # seconds; only a Retry-After makes a pause longer
CONNECT = 15.0  # seconds to make a connection in
SHOWN = 200  # characters of what a service says
XML_MESSAGE = re.compile(r"<summary[^>]*>([^<]+)</summary>")


class PassingError(ConferError):
    """Something that may be gone when the request is made again, after `wait` seconds if the service said so."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


class PoliteAdapter(HTTPAdapter):
    """Makes requests one after the other. `check` may raise for an answer that is not what was asked for."""

    def __init__(self, manners: Manners, interval: float, check: Callable[[bytes], None] | None = None) -> None:
        super().__init__()
        self._manners = manners
        self._interval = interval if manners.interval is None else manners.interval
        self._check = check
        self._last: float | None = None  # when the last request ended
        self._met = False  # whether the service has answered at all

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Any = None,
    ) -> requests.Response:
        """The answer. Raises ConferError where there is none, or an error."""
        backoff = tenacity.wait_exponential(multiplier=self._manners.first_wait, max=LONGEST_BACKOFF)

        def pause(state: tenacity.RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            return max(backoff(state), error.wait if isinstance(error, PassingError) else 0.0)

        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(PassingError),
            wait=pause,
            stop=tenacity.stop_after_attempt(self._manners.tries),
            sleep=self._manners.sleep,
            reraise=True,
        )
        try:
            return attempts(
                self._once, request, stream, timeout or (CONNECT, self._manners.timeout), verify, cert, proxies
            )
        except PassingError as error:
            raise ConferError(f"{error}, {self._manners.tries} times in a row") from error

    def _once(
        self, request: requests.PreparedRequest, stream: bool, timeout: Any, verify: Any, cert: Any, proxies: Any
    ) -> requests.Response:
        host = urlsplit(request.url or "").hostname
        self._pause()
        try:
            response = super().send(request, stream, timeout, verify, cert, proxies)
            body = response.content  # read here, so that one that is cut short is asked for again
        except requests.exceptions.RequestException as error:
            raise self._failure(error, str(host)) from error
        finally:
            self._last = time.monotonic()
        self._met = True
        if response.status_code >= 400:
            raise self._error(response, str(host))
        if self._check and response.status_code == HTTPStatus.OK:
            self._check(body)
        return response

    def _pause(self) -> None:
        if self._last is not None:
            left = self._last + self._interval - time.monotonic()
            if left > 0:
                self._manners.sleep(left)

    def _failure(self, error: requests.exceptions.RequestException, host: str) -> ConferError:
        """What to raise where there is no answer."""
        if error.args and isinstance(error.args[0], MaxRetryError):  # no connection was made
            told = f"{host} cannot be reached"
            return PassingError(told) if self._met else ConferError(f"{told}; is there a network?")
        return PassingError(f"{host} does not answer" if isinstance(error, requests.Timeout) else f"{host} hangs up")

    def _error(self, response: requests.Response, host: str) -> ConferError:
        """What to raise for an error status."""
        status = response.status_code
        told = f"{host} answers {status} ({_phrase(status)})"
        if status not in BUSY:
            message = _message(response)
            return RefusedError(f"{told}: {message}" if message else told, status)
        wait = _retry_after(response.headers.get("Retry-After", ""))
        if wait > self._manners.longest_wait:
            return RefusedError(f"{told} and asks to wait for {wait / 60:,.0f} minutes", status)
        return PassingError(told, wait)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "an unknown status"


def _retry_after(value: str) -> float:
    """The seconds that a Retry-After header asks for: a number or a date."""
    if value.strip().isdecimal():
        return float(value)
    try:
        until = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    until = until if until.tzinfo else until.replace(tzinfo=datetime.UTC)
    return max(0.0, (until - datetime.datetime.now(datetime.UTC)).total_seconds())


def _message(response: requests.Response) -> str:
    """What a service says about its error, on one line."""
    said: object = ""
    try:
        answer = response.json()
        said = (answer.get("message") or answer.get("error")) if isinstance(answer, dict) else ""
    except (ValueError, RecursionError):
        found = XML_MESSAGE.search(response.text[:10_000])
        said = found[1] if found else ""
    text = (
        " ".join("".join(c if c.isprintable() else " " for c in said[:1000]).split()) if isinstance(said, str) else ""
    )
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
