# A travel agency for this example: it has flights and hotels, and no car. Another port than 9000 can be given.
import http.server
import itertools
import json
import sys

numbers = itertools.count(1)


class Agency(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path in ("/flights", "/hotels"):
            self.reply(200, {"id": str(next(numbers))})
        else:
            self.reply(409, {"error": "none left"})

    def do_DELETE(self):
        self.reply(200, {"cancelled": self.path})

    def reply(self, status, body):
        print(self.command, self.path, status, flush=True)
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


port = int(sys.argv[1]) if len(sys.argv) > 1 else 9000
http.server.ThreadingHTTPServer(("127.0.0.1", port), Agency).serve_forever()
