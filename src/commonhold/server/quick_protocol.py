"""HTTP/1.1 read by httptools, if that is installed: its parser is compiled, and a request takes half as long."""

from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEAD_BYTES: Final = 65_536
"""As much as uvicorn lets h11 keep of an unfinished head; of httptools it bounds nothing."""


class QuickProtocol(HttpToolsProtocol):
    """A connection. It ends if so much comes without a head, a part of a body or an end in it."""

    _unfinished = 0
    _goes_on = False

    def data_received(self, data: bytes) -> None:
        """Read the bytes that have come."""
        self._goes_on = False
        super().data_received(data)
        self._unfinished = 0 if self._goes_on else self._unfinished + len(data)
        if self._unfinished > LONGEST_HEAD_BYTES:
            self.transport.abort()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, without the white space around its value: httptools leaves some of it."""
        super().on_header(name, value.strip(b" \t"))

    def on_headers_complete(self) -> None:
        """Begin with a request, whose head has come."""
        self._goes_on = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of its body."""
        self._goes_on = True
        super().on_body(body)
