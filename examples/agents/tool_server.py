"""The tool's side: holds the credential of the tool, and acts with a fresh permit for exactly these parameters alone.

    apt install python3-jwt python3-cryptography && python3 tool_server.py
"""

import hashlib
import json
import os
import re
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt

CONSIGLIERE_URL = os.environ.get("CONSIGLIERE_URL", "http://127.0.0.1:3000")
USED_PERMITS = os.environ.get("USED_PERMITS", "used-permits")
WORKSPACE_ID = os.environ["WORKSPACE_ID"]  # Every workspace of the service signs with the same key.
KEYS = jwt.PyJWKClient(CONSIGLIERE_URL + "/.well-known/jwks.json")  # At this address alone, whatever a permit says.


def refund(params):
    print("refund", canonical(params), flush=True)
    return {"refunded": params.get("order")}


TOOLS = {"crm.refund": refund}  # The audience of a permit is the name of its tool.


def canonical(value):
    """JSON as RFC 8785 writes it. ValueError for what it has no form for."""
    if isinstance(value, dict):
        pairs = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(each)}" for key, each in pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, (int, float)) and not abs(value) < 2**53:
        raise ValueError("a number that not every reader can hold")
    if not isinstance(value, float):
        return json.dumps(value, ensure_ascii=False)
    if abs(value) >= 1e-6:
        return format(Decimal(repr(value)).normalize(), "f")
    return re.sub(r"e([+-])0", r"e\1", repr(value)) if value else "0"


def take_permit(permit, tool, params):
    claims = jwt.decode(
        permit, KEYS.get_signing_key_from_jwt(permit).key, algorithms=["EdDSA"], issuer=CONSIGLIERE_URL,
        audience=tool, leeway=5, options={"require": ["exp", "iat", "iss", "aud", "jti"]},
    )
    digest = hashlib.sha256(canonical({"tool": tool, "params": params}).encode()).hexdigest()
    said = (jwt.get_unverified_header(permit).get("typ"), claims["workspace_id"], claims["tool"], claims["params_sha256"])
    if said != ("consigliere-permit+jwt", WORKSPACE_ID, tool, digest):
        raise ValueError("the permit is for another call")
    # Fails where the file exists, so a permit is taken once, by whichever process, and after a restart too.
    open(os.path.join(USED_PERMITS, hashlib.sha256(claims["jti"].encode()).hexdigest()), "x").close()


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            tool, length = self.path[1:], int(self.headers.get("Content-Length", -1))
            if tool not in TOOLS or not 0 <= length <= 100_000:
                raise ValueError("there is no such tool, or the body has no length")
            params = json.loads(self.rfile.read(length))
            take_permit(self.headers.get("Authorization", "").removeprefix("Permit "), tool, params)
        except FileExistsError:
            # Taken before: the call may have been made then, so this is no refusal.
            status, body = 500, {"error": "Used before."}
        except Exception as error:
            status, body = 403, {"error": f"Refused: {error}"}
        else:
            status, body = 200, TOOLS[tool](params)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


if __name__ == "__main__":
    os.makedirs(USED_PERMITS, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "4000"))), Server)
    print(f"The tool listens on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
