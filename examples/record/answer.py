"""A web server that gives the same answer whatever is asked: `python answer.py PORT TEXT`."""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, TEXT = int(sys.argv[1]), sys.argv[2].encode("ascii") + b"\n"


class Answer(BaseHTTPRequestHandler):
    """Answers every GET with the text."""

    def do_GET(self) -> None:
        """Send the text."""
        self.send_response(200)
        self.send_header("Content-Length", str(len(TEXT)))
        self.end_headers()
        self.wfile.write(TEXT)


ThreadingHTTPServer(("", PORT), Answer).serve_forever()
