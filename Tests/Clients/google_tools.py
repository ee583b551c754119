"""The requests of Google's CLI and of Terraform's provider, as their sources make them: neither can be had in these tests."""

import json

import requests


class Refused(Exception):
    """An answer that a tool reports to its user."""

    def __init__(self, reply):
        super().__init__(reply.text)
        self.status = reply.status_code
        self.error = reply.json()["error"]


class Tool:
    headers = {}

    def __init__(self, address):
        self.address = address
        self.session = requests.Session()
        self.session.headers.clear()

    def send(self, method, path, query, body):
        reply = self.session.request(
            method, f"{self.address}/v1/{path}", params=query, data=body, headers=self.headers, timeout=30, allow_redirects=False)
        if reply.status_code >= 400:
            raise Refused(reply)
        return reply.json()


class CLI(Tool):
    """`firebase`, release 15 (`src/apiv2.ts`, `src/appcheck/api.ts`, `src/commands/appcheck-*.ts`): the project's number, no query but what is
    named, lists that may be absent, and the token `owner` where `FIREBASE_APPCHECK_URL` is no `https`."""

    headers = {
        "Connection": "keep-alive", "User-Agent": "FirebaseCLI/15.28.1", "X-Client-Version": "FirebaseCLI/15.28.1",
        "Content-Type": "application/json", "Authorization": "Bearer owner", "Accept": "*/*", "Accept-Encoding": "gzip,deflate"}
    # `src/appcheck/providers.ts`: what it asks for of an app of each platform.
    configs = {
        "IOS": ["appAttestConfig", "deviceCheckConfig", "recaptchaEnterpriseConfig"],
        "ANDROID": ["playIntegrityConfig", "recaptchaEnterpriseConfig"],
        "WEB": ["recaptchaEnterpriseConfig", "recaptchaV3Config"],
    }

    def __init__(self, address, number):
        super().__init__(address)
        self.project = f"projects/{number}"

    def get(self, path, **query):
        return self.send("GET", path, query, None)

    def post(self, path, body):
        return self.send("POST", path, {}, json.dumps(body))

    def patch(self, path, body, mask):
        return self.send("PATCH", path, {"updateMask": ",".join(mask)}, json.dumps(body))

    def pages(self, path, name):
        found, query = [], {}
        while True:
            page = self.get(path, **query)
            found += page.get(name, [])
            if not page.get("nextPageToken"):
                return found
            query = {"pageToken": page["nextPageToken"]}

    def debugtokens_create(self, app, token, name, force=False):
        parent = f"{self.project}/apps/{app}/debugTokens"
        same = [found for found in self.pages(parent, "debugTokens") if found["displayName"] == name]
        assert force or not same
        for found in same:
            self.debugtokens_delete(found["name"])
        return self.post(parent, {"displayName": name, "token": token})

    def debugtokens_list(self, app):
        return self.pages(f"{self.project}/apps/{app}/debugTokens", "debugTokens")

    def debugtokens_delete(self, name):
        return self.send("DELETE", name, {}, None)

    def services_list(self):
        return self.pages(f"{self.project}/services", "services")

    def services_get(self, service):
        return self.get(f"{self.project}/services/{service}")

    def services_set(self, service, mode, replay=None):
        self.services_get(service)
        update = {"enforcementMode": mode} | ({"replayProtection": replay} if replay else {})
        return self.patch(f"{self.project}/services/{service}", update, list(update))

    def providers_list(self, app, platform):
        return {name: self.get(f"{self.project}/apps/{app}/{name}") for name in self.configs[platform]}

    def providers_set(self, app, name, update, mask):
        return self.patch(f"{self.project}/apps/{app}/{name}", update, mask)

    def apps_list(self):
        names = sorted({name for names in self.configs.values() for name in names})
        return {name: self.get(f"{self.project}/apps/-/{name}:batchGet").get("configs", []) for name in names}


class Terraform(Tool):
    """`hashicorp/google`, release 7 (`google/services/firebaseappcheck`, `google/transport/transport.go`): the project's ID, `alt=json` beside
    every query, JSON with a line's end, a content type also without a body."""

    def __init__(self, address, token, project):
        super().__init__(address)
        self.headers = {
            "User-Agent": "Terraform/1.13.0 (+https://www.terraform.io) Terraform-Plugin-SDK/2.38.1 terraform-provider-google/7.0.0",
            "Content-Type": "application/json", "Authorization": f"Bearer {token}", "Accept-Encoding": "gzip"}
        self.project = f"projects/{project}"

    def ask(self, method, path, body=None, **query):
        return self.send(method, path, {"alt": "json", **query}, None if body is None else json.dumps(body) + "\n")

    def config(self, app, name):
        return f"{self.project}/apps/{app}/{name}"

    def create(self, path, body, mask=None):
        """A singleton is created by an update of it, with the mask that the provider has for it; then all are read."""
        if mask:
            self.ask("PATCH", path, body, updateMask=mask)
            return self.ask("GET", path)
        made = self.ask("POST", path, body)
        return self.ask("GET", f"{path.rstrip('/')}/{made['name'].rpartition('/')[2]}")

    def update(self, path, body, changed):
        self.ask("PATCH", path, body, updateMask=",".join(changed))
        return self.ask("GET", path)
