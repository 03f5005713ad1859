"""A small object store on 127.0.0.1 that speaks as much of S3 as results take, and goes wrong when it is told to."""

import threading
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

BUCKET = "bucket"
ERRORS = {"500": (500, "InternalError"), "403": (403, "AccessDenied"), "429": (429, "SlowDown")}
FAULTS = ("hang", "drip", "drop", *ERRORS)
_LISTING = '<?xml version="1.0"?><ListBucketResult><Name>{}</Name><IsTruncated>false</IsTruncated>{}</ListBucketResult>'
_ITEM = (
    "<Contents><Key>{}</Key><Size>{}</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
    '<ETag>"0"</ETag><StorageClass>STANDARD</StorageClass></Contents>'
)


class StuckStore(ThreadingHTTPServer):
    """The objects of a bucket. After `working` requests each one goes wrong in the way that `fault` names."""

    daemon_threads = True

    def __init__(self, fault: str | None = None, working: int = 0) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.objects: dict[str, bytes] = {}
        self.fault, self.working = fault, working
        self.stated_size: int | None = None
        """The size of each object that listings state, if it is not the true one."""
        self.requests = 0
        self.lock = threading.Lock()
        self.ended = threading.Event()

    def environment(self) -> dict[str, str]:
        """The settings that lead s3fs here."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.server_address[1]}",
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "y",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",
        }

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that are interrupted close connections in the middle."""


@contextmanager
def serving(fault: str | None = None, working: int = 0) -> Iterator[StuckStore]:
    """A store that serves within the context."""
    store = StuckStore(fault, working)
    threading.Thread(target=store.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield store
    finally:
        store.ended.set()
        store.shutdown()
        store.server_close()


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StuckStore

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        with self.server.lock:
            self.server.requests += 1
            wrong = self.server.fault if self.server.requests > self.server.working else None
        if wrong in ("hang", "drop"):
            if wrong == "hang":
                self.server.ended.wait(600)
            self.close_connection = True
            return
        if wrong in ERRORS:
            status, code = ERRORS[wrong]
            self._reply(status, f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode())
            return
        self._reply(*self._serve(body), drip=wrong == "drip")

    def _serve(self, body: bytes) -> tuple[int, bytes]:
        parsed = urllib.parse.urlsplit(self.path)
        key = urllib.parse.unquote(parsed.path).removeprefix(f"/{BUCKET}").lstrip("/")
        objects = self.server.objects
        if not key:
            prefix = urllib.parse.parse_qs(parsed.query).get("prefix", [""])[0]
            listed = sorted(name for name in objects if name.startswith(prefix))
            stated = self.server.stated_size
            sizes = {name: len(objects[name]) if stated is None else stated for name in listed}
            items = "".join(_ITEM.format(escape(name), size) for name, size in sizes.items())
            return 200, _LISTING.format(BUCKET, items).encode()
        if self.command == "PUT":
            objects[key] = body
        elif self.command == "DELETE":
            objects.pop(key, None)
            return 204, b""
        elif key not in objects:
            return 404, b"<Error><Code>NoSuchKey</Code><Message>none</Message></Error>"
        return 200, b"" if self.command == "PUT" else objects[key]

    def _reply(self, status: int, body: bytes, *, drip: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"0"')
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.end_headers()
        if self.command == "HEAD":
            return
        if not drip:
            self.wfile.write(body)
            return
        for byte in body:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            if self.server.ended.wait(1.0):
                return
        if not body:
            time.sleep(0)

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = _answer  # noqa: N815 - names of http.server
