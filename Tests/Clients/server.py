"""A real `assay serve` in a folder of its own."""

import base64
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import threading
import time

import requests

NUMBER, PROJECT = "1234567890", "example-project"
APP_ID = "1:1234567890:ios:321abc456def7890"
APPLE_ID = "ABCDE12345.com.example.app"
APP = f"projects/{PROJECT}/apps/{APP_ID}"
CLIENT = "oauthClients/1234567890-example.apps.googleusercontent.com"
DEBUG_TOKEN = "0B7C5A5E-3F0E-4C5D-9E0F-6A1B2C3D4E5F"
ADMIN_TOKEN = "admin-0123456789abcdef"


POLICY = """\
callers:
  administrator: {token: "env:ASSAY_ADMIN_TOKEN", permissions: [admin]}
projects:
  - number: NUMBER
    id: PROJECT
    verification: {accept_development: true}
    services:
      firestore.googleapis.com: {enforcement: UNENFORCED, editable: true}
      places.googleapis.com: {editable: true}
      oauth2.googleapis.com: {editable: true}
      orders.example.com: {enforcement: ENFORCED}
    apps:
      - id: APP_ID
        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
        providers:
          app_attest:
            trust_anchor: ANCHOR
          device_check: {key_id: SIMULATED1, private_key: "file:KEY_FILE", base_url: "APPLE_URL"}
          debug:
            managed: {limit: 20}
            tokens:
              - {name: of the environment, token: "env:ASSAY_DEBUG_TOKEN"}
    oauth_clients:
      - id: CLIENT_ID
        app: APP_ID
"""


class Apple:
    """`assay fake-apple`, which stands in for Apple's servers."""

    def __init__(self, folder):
        self.key_file = pathlib.Path(folder) / "AuthKey_SIMULATED1.p8"
        self.process = subprocess.Popen(
            [os.environ["ASSAY"], "fake-apple", "--port", "0", "--directory", folder], stdout=subprocess.PIPE, text=True)
        address = re.search(r"http://127\.0\.0\.1:\d+", self.process.stdout.readline())
        if not address:
            raise RuntimeError("the simulated Apple did not start")
        self.url = address.group() + "/production"
        # What it says of each request must not fill the pipe.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    @staticmethod
    def device_token(device):
        return base64.b64encode(f"device-token:production:{device}".encode()).decode()

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=30)


def policy(authority, apple, text=POLICY):
    values = {
        "NUMBER": NUMBER, "PROJECT": PROJECT, "APP_ID": APP_ID, "CLIENT_ID": CLIENT.split("/")[1],
        # JSON is YAML, too.
        "KEY_FILE": str(apple.key_file), "APPLE_URL": apple.url,
        "ANCHOR": json.dumps(authority.root_pem),
    }
    return re.sub("|".join(values), lambda match: values[match.group()], text)


class Server:
    # What `serve` is given beside the folders of this one.
    arguments = ()
    operations_place = "public"

    def __init__(self, folder, authority, apple, text=POLICY, arguments=()):
        self.folder = pathlib.Path(folder)
        if arguments:
            self.arguments = arguments
        policies = self.folder / "policies"
        policies.mkdir()
        (policies / "policy.yaml").write_text(policy(authority, apple, text))
        self.process = None
        self.address = None

    def spawn(self):
        environment = dict(os.environ, ASSAY_ADMIN_TOKEN=ADMIN_TOKEN, ASSAY_DEBUG_TOKEN=DEBUG_TOKEN)
        return subprocess.Popen(
            [
                os.environ["ASSAY"], "serve", "--policies", self.folder / "policies",
                "--state", f"sqlite:{self.folder / 'state.sqlite'}", "--listen", "127.0.0.1:0",
                "--operations", self.operations_place,
                # Tests look each decision up, and all come from one address.
                # Nor are requests refused because the machine of the tests has much to do.
                "--max-queue-time", "0", "--record-rate", "100000", "--record-rate-app", "100000", "--record-rate-peer", "100000",
                *self.arguments,
            ],
            stdout=subprocess.PIPE, stderr=open(self.folder / "log", "ab"), env=environment, text=True,
        )

    def start(self):
        self.process = self.spawn()
        line = self.process.stdout.readline()
        if "assay listens on " not in line:
            raise RuntimeError(f"the server did not start: {(self.folder / 'log').read_text()}")
        self.address = json.loads(line)["url"] if line.startswith("{") else line.split()[-1]

    def age(self, seconds=7200):
        """Starts it again with a state that began earlier, so that nothing that is made now may be of an earlier one."""
        assert requests.get(f"{self.address}/readyz", timeout=30).status_code == 200
        assert self.stop() == 0
        database = sqlite3.connect(self.folder / "state.sqlite")
        since = int((time.time() - seconds) * 1000).to_bytes(8, "big")
        changed = database.execute(
            "UPDATE entry SET value = ? WHERE space = ? AND name = ?", (since, b"state", b"since"))
        assert changed.rowcount == 1
        database.commit()
        database.close()
        self.start()

    def check_address(self):
        """Where it answers Envoy's ext_authz over gRPC."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            found = re.search(r"address=(\S+) .*listening for ext_authz", (self.folder / "log").read_text())
            if found:
                return found.group(1)
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text())

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=30)
