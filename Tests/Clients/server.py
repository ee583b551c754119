"""A real `assay serve` in a folder of its own."""

import json
import os
import pathlib
import re
import subprocess

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
          debug:
            managed: {limit: 20}
            tokens:
              - {name: of the environment, token: "env:ASSAY_DEBUG_TOKEN"}
    oauth_clients:
      - id: CLIENT_ID
        app: APP_ID
"""


def policy(authority):
    values = {
        "NUMBER": NUMBER, "PROJECT": PROJECT, "APP_ID": APP_ID, "CLIENT_ID": CLIENT.split("/")[1],
        # JSON is YAML, too.
        "ANCHOR": json.dumps(authority.root_pem),
    }
    return re.sub("|".join(values), lambda match: values[match.group()], POLICY)


class Server:
    def __init__(self, folder, authority):
        self.folder = pathlib.Path(folder)
        policies = self.folder / "policies"
        policies.mkdir()
        (policies / "policy.yaml").write_text(policy(authority))
        self.process = None
        self.address = None

    def start(self):
        environment = dict(os.environ, ASSAY_ADMIN_TOKEN=ADMIN_TOKEN, ASSAY_DEBUG_TOKEN=DEBUG_TOKEN)
        self.process = subprocess.Popen(
            [
                os.environ["ASSAY"], "serve", "--policies", self.folder / "policies",
                "--state", f"sqlite:{self.folder / 'state.sqlite'}", "--listen", "127.0.0.1:0",
            ],
            stdout=subprocess.PIPE, stderr=open(self.folder / "log", "ab"), env=environment, text=True,
        )
        line = self.process.stdout.readline()
        if "assay listens on " not in line:
            raise RuntimeError(f"the server did not start: {(self.folder / 'log').read_text()}")
        self.address = line.split()[-1]

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=30)
