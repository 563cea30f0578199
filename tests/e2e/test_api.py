"""Every operation of docs/openapi.json on a real hub: what it answers and what it refuses is what is written there."""

import http.client
import json
import ssl
import unittest

from harness import DeploymentTest, eventually
from openapi import Document

# Needs a node's certificate or a request that only a node can sign; the node's own enrolment is seen in other tests.
NOT_CALLED = {"tunnel", "enroll_node", "open_tunnel", "renew_certificate", "leave_hub"}
# The first of RFC 8032's test vectors.
PUBLIC_KEY = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
UNKNOWN_FIELD = "surely_unknown"


class Api(DeploymentTest):
    document = Document()

    def call(self, method, path, body=None, token=None, headers=None):
        """(status, parsed JSON or bytes); fails when the answer is not as documented."""
        context = ssl._create_unverified_context()
        client = http.client.HTTPSConnection("127.0.0.1", self.world.port, context=context, timeout=60)
        sent = {"Authorization": "Bearer " + (self.admin if token is None else token), **(headers or {})}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        try:
            client.request(method, path, body=body, headers=sent)
            answer = client.getresponse()
            raw = answer.read()
        finally:
            client.close()
        operation = self.document.find(method, path.split("?")[0])
        self.assertIsNotNone(operation, f"{method} {path} is in no document")
        self.called.add(operation)
        kind = answer.headers.get("Content-Type", "")
        faults = self.document.faults_of_answer(operation, answer.status, kind, raw)
        self.assertEqual(faults, [], f"{method} {path}: {answer.status}: {raw[:400]!r}")
        return answer.status, json.loads(raw) if kind.split(";")[0].endswith("json") else raw

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.admin = (cls.world.root / "hub" / "admin-token").read_text().strip()
        cls.called = set()

    def ok(self, *words, **kwargs):
        status, answer = self.call(*words, **kwargs)
        self.assertLess(status, 300, answer)
        return answer

    def refused(self, expected, *words, **kwargs):
        status, answer = self.call(*words, **kwargs)
        self.assertEqual(status, expected, answer)
        self.assertEqual(answer["status"], status)

    def test_every_answer_is_as_documented(self):  # proves N5
        self.ok("GET", "/healthz")
        self.ok("GET", "/api/v1/meta")
        self.ok("GET", "/api/v1/whoami")
        self._accounts()
        self._nodes()
        self._tasks()
        self._audit()
        self.assertEqual(set(self.document.operations) - self.called - NOT_CALLED, set())

    def _accounts(self):
        account = self.ok("POST", "/api/v1/accounts", {"name": "ann"})
        self.refused(409, "POST", "/api/v1/accounts", {"name": "ann"})
        member = self.ok("POST", "/api/v1/tokens", {"role": "member", "account": "ann", "expires_in": "1h", "name": "x"})
        spare = self.ok("POST", "/api/v1/tokens", {"role": "member"})
        self.refused(404, "POST", "/api/v1/tokens", {"role": "member", "account": "nobody"})
        self.refused(403, "GET", "/api/v1/accounts", token=member["token"])
        self.refused(401, "GET", "/api/v1/whoami", token="oht_nothing")
        self.ok("GET", "/api/v1/accounts")
        self.ok("GET", "/api/v1/tokens")
        self.ok("DELETE", "/api/v1/tokens/" + spare["id"])
        self.refused(404, "DELETE", "/api/v1/tokens/" + spare["id"][:-2] + "00")
        key = self.ok("POST", "/api/v1/keys", {"public_key": PUBLIC_KEY, "name": "laptop"})
        self.refused(409, "POST", "/api/v1/keys", {"public_key": PUBLIC_KEY}, token=member["token"])
        self.refused(400, "POST", "/api/v1/keys", {"public_key": "ed25519:AAAA"})
        self.ok("GET", "/api/v1/keys?limit=1")
        self.refused(404, "DELETE", "/api/v1/keys/" + key["id"], token=member["token"])
        self.ok("DELETE", "/api/v1/keys/" + key["id"])
        self.ok("POST", f"/api/v1/accounts/{account['id']}/disable")
        self.refused(404, "POST", "/api/v1/accounts/nobody/disable")
        self.refused(401, "GET", "/api/v1/whoami", token=member["token"])

    def _nodes(self):
        self.ok("POST", "/api/v1/node-tokens", {"pool": "p", "labels": {"a": "b"}, "planes": ["task"], "expires_in": "5m"})
        self.ok("POST", "/api/v1/node-tokens")
        self.ok("GET", "/api/v1/node-tokens?limit=1")
        made = self.ok("POST", "/api/v1/node-tokens", {"approve": True})
        self.assertTrue(made["needs_approval"])
        decision = {"approve": True, "fingerprint": "sha256:" + "0" * 64}
        self.refused(404, "POST", "/api/v1/enrolments/" + made["id"], decision)
        self.refused(400, "POST", "/api/v1/enrolments/" + made["id"], {**decision, "fingerprint": "0"})
        self.assertEqual(self.ok("GET", "/api/v1/enrolments?limit=1")["items"], [])
        self.assertEqual(self.call("DELETE", "/api/v1/node-tokens/" + made["id"])[0], 204)
        self.refused(404, "DELETE", "/api/v1/node-tokens/" + made["id"])
        self.world.add_node("extra")
        listed = self.ok("GET", "/api/v1/nodes?limit=1")
        self.ok("GET", "/api/v1/nodes?limit=1&cursor=" + listed["next_cursor"])
        self.ok("GET", "/api/v1/nodes/extra")
        self.ok("POST", "/api/v1/nodes/extra/drain", {"drain": True})
        self.ok("POST", "/api/v1/nodes/extra/rotate")
        self.refused(404, "POST", "/api/v1/nodes/nobody/rotate")
        self.ok("GET", "/api/v1/approvals")
        self.refused(404, "POST", "/api/v1/approvals/task_01jd0000000000000000000000", {"answer": "once"})
        self.refused(404, "GET", "/api/v1/nodes/nobody")
        self.ok("DELETE", "/api/v1/nodes/extra")
        self.refused(404, "DELETE", "/api/v1/nodes/extra")

    def _tasks(self):
        done = self.ok("POST", "/api/v1/tasks?wait=30s", {"argv": ["echo", "hi"], "timeout": "30s", "env": {"A": "b"}})
        self.assertEqual(done["state"], "finished")
        self.ok("POST", "/api/v1/tasks?wait=30s", {"shell": "kill -9 $$"})
        self.ok("POST", "/api/v1/tasks?wait=30s", {"echo": "hello"})
        self.ok("POST", "/api/v1/tasks?wait=30s", {"argv": ["/nowhere"]})
        self.ok("POST", "/api/v1/tasks?follow=true", {"argv": ["true"]})
        key = {"Idempotency-Key": "one"}
        self.ok("POST", "/api/v1/tasks", {"argv": ["true"]}, headers=key)
        self.refused(422, "POST", "/api/v1/tasks", {"argv": ["false"]}, headers=key)
        self.refused(400, "POST", "/api/v1/tasks", {"argv": ["a"], "shell": "b"})
        self.refused(400, "POST", "/api/v1/tasks", {"user_order": "c29tZXRoaW5n"})
        self.refused(413, "POST", "/api/v1/tasks", {"argv": ["x" * 60_000] * 6})
        waits = self.ok("POST", "/api/v1/tasks", {"argv": ["cat"], "stdin": True})
        path = "/api/v1/tasks/" + waits["id"]
        self.ok("PUT", path + "/stdin?offset=0", b"some")
        self.refused(409, "PUT", path + "/stdin?offset=9", b"gap")
        eventually(lambda: self.ok("GET", path)["state"] in ("accepted", "running"))
        self.ok("POST", path + "/cancel", {"signal": "KILL", "grace": "1s"})
        eventually(lambda: self.ok("GET", path + "?wait=5s")["ended_at"])
        self.ok("GET", path + "/events")
        self.ok("GET", f"/api/v1/streams/{done['stream_id']}?from=1")
        self.refused(404, "GET", "/api/v1/streams/" + done["stream_id"][:-4] + "0000")
        self.refused(404, "GET", "/api/v1/tasks/" + done["id"][:-4] + "0000")
        self.ok("GET", f"/api/v1/tasks/{done['id']}/receipt")
        self.refused(404, "GET", "/api/v1/tasks/" + done["id"][:-4] + "0000/receipt")
        self.ok("GET", "/api/v1/tasks?state=finished&node=alpha&limit=2")
        self.refused(404, "GET", "/api/v1/tasks?node=nobody")
        self.refused(400, "GET", "/api/v1/tasks?state=odd")

    def _audit(self):
        page = self.ok("GET", "/api/v1/audit?limit=3")
        self.ok("GET", "/api/v1/audit?limit=3&cursor=" + page["next_cursor"])
        self.ok("GET", "/api/v1/audit?action=task.&outcome=done&since=1&until=99999999999999999")
        self.refused(400, "GET", "/api/v1/audit?outcome=odd")
        self.ok("GET", "/api/v1/audit/bundle")

    def test_unknown_fields_and_parameters_are_refused_everywhere(self):
        for operation, (method, pattern, _, _) in self.document.operations.items():
            if operation in NOT_CALLED:
                continue
            path = pattern.replace("{id}", "alpha")
            schema = self.document.request_schema(operation)
            with self.subTest(operation=operation):
                if schema is not None:
                    self.assertIs(schema.get("additionalProperties"), False, "its request takes any field")
                    status, answer = self.call(method, path, {UNKNOWN_FIELD: 1})
                    self.assertIn(status, (400, 404), answer)
                    if status == 400:
                        self.assertEqual(answer["code"], "invalid")
                if method == "GET" and "{id}" not in pattern and self.document.query_names(operation):
                    self.refused(400, "GET", path + f"?{UNKNOWN_FIELD}=1")


if __name__ == "__main__":
    unittest.main()
