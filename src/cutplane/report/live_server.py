"""A page of this machine alone: served on the loopback address, to whoever asks for it by that name."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

_HOST = "127.0.0.1"
# A reader who has looked within this time gets to see how the run ended.
_PATIENCE = 3.0


class LiveServer:
    """Serves what `page` returns, for as long as the block lasts.

    Only the loopback address is bound. Requests under another name than that are refused, so that no page of the web
    can read this one by a name of its own that it points here.

    Parameters
    ----------
    port : int
        0 takes any that is free.
    page : callable
        Called for every request, in a thread of its own.
    """

    def __init__(self, port: int, page: Callable[[], str]) -> None:
        self._page = page
        self._made = -math.inf  # when the latest page that a reader has got was begun
        self._seen = -math.inf  # when a reader has last asked for one or got it
        self._waiting = 0  # how many are making one
        self._lock = threading.Lock()
        try:
            self._server = ThreadingHTTPServer((_HOST, port), self._handler())
        except OSError as error:
            raise ValueError(f"Port {port} of this machine cannot be used ({error.strerror}); give another.") from None
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{_HOST}:{self._server.server_port}/"

    def __enter__(self) -> Self:
        """Begin to serve."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Serve the last page to a reader who is there, and end."""
        now = time.monotonic()
        if kind is None and (self._waiting or now - self._seen < _PATIENCE):
            while self._made < now and (self._waiting or time.monotonic() < max(now, self._seen) + _PATIENCE):
                time.sleep(0.02)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @contextmanager
    def _busy(self) -> Iterator[None]:
        """While a page is made for a reader."""
        with self._lock:
            self._waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._waiting, self._seen = self._waiting - 1, time.monotonic()

    def _names(self) -> tuple[str, str]:
        return f"{_HOST}:{self._server.server_port}", f"localhost:{self._server.server_port}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.headers.get("Host") not in outer._names():
                    self.send_error(403)
                elif self.path == "/favicon.ico":  # every browser asks for one
                    self.send_response(204)
                    self.end_headers()
                elif self.path != "/":
                    self.send_error(404)
                else:
                    began = time.monotonic()
                    with outer._busy():
                        self._answer(outer._page().encode("utf-8"))
                    outer._made = max(outer._made, began)

            def _answer(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Cache-Control", "no-store")
                self.send_header("X-Content-Type-Options", "nosniff")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing: the terminal belongs to the run."""

        return Handler
