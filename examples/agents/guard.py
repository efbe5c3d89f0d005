"""Guards one call of a tool with nothing but HTTP: asks Consigliere, waits while a person decides, and has the tool's server do
what was decided. The id is the agent's own name for the call: run again with the same one, it does not act again.

    python3 guard.py <id> <tool> '<parameters as JSON>' '<reason>'
"""

import http.client
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.request

CONSIGLIERE_URL = os.environ.get("CONSIGLIERE_URL", "http://127.0.0.1:3000")
CONSIGLIERE_TOKEN = os.environ.get("CONSIGLIERE_TOKEN", "")
TOOL_URL = os.environ.get("TOOL_URL", "http://127.0.0.1:4000")


def send(method, url, headers, body, timeout):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def consigliere(method, path, body=None):
    """Sends again what may be lost: each of these calls has its effect once."""
    url = f"{CONSIGLIERE_URL}/api/pro/action-requests{path}"
    for left in range(4, -1, -1):
        try:
            status, answer = send(method, url, {"x-service-token": CONSIGLIERE_TOKEN}, body, 40)
            if status < 300:
                return answer
            if left == 0 or (status < 500 and status != 429):
                raise SystemExit(f"{answer['error']['code']}: {answer['error']['message']}")
        except (OSError, http.client.HTTPException, ValueError):
            if left == 0:
                raise
        time.sleep(1)


def guard(external_id, tool, params, reason):
    attempt = secrets.token_hex(16)
    asked = {"externalId": external_id, "tool": tool, "params": params, "reason": reason}
    request = consigliere("POST", "", asked)
    path = "/" + request["actionRequestId"]
    while request["status"] == "pending":
        request = consigliere("GET", f"{path}?wait=30")
    # Rejected, say. Consumed by another attempt: nobody knows what came of it, so it is not done again.
    if request["status"] not in ("allowed", "approved"):
        return request["status"]

    before = time.monotonic()
    taken = {"attempt": attempt, "paramsHash": request["paramsHash"]}
    request = consigliere("POST", f"{path}/consume", taken)
    if (time.monotonic() - before) * 1000 > request["actBy"] - request["consumedAt"]:
        raise SystemExit("It is too late to begin.")
    permit = {"Authorization": "Permit " + request["permit"]}
    status, output = send("POST", f"{TOOL_URL}/{tool}", permit, request["decision"]["params"], 60)
    # What may have been done has no result: it stays unconfirmed until a person has looked.
    if status >= 500:
        raise SystemExit(f"The tool answered {status}.")
    outcome, summary = ("succeeded", "Done.") if status < 300 else ("failed", "The tool refused it.")
    result = {"outcome": outcome, "summary": summary, "output": shortened(output)}
    return consigliere("POST", f"{path}/result", result)["status"]


def shortened(answer):
    """A result takes an object of at most 8 KB: of anything else its beginning is told."""
    text = json.dumps(answer, ensure_ascii=False)
    fits = isinstance(answer, dict) and len(text.encode()) <= 8_192
    return answer if fits else {"beginning": text[:2_000]}


if __name__ == "__main__":
    ended = guard(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), sys.argv[4])
    print(ended)
    sys.exit(0 if ended == "completed" else 1)
