"""Verifiers that are told no more than an issuer, or the address of a key set: discovery, a library, and Envoy without a question to Assay."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest
import requests
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from authlib.oidc.discovery import OpenIDProviderMetadata
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

import tokens
from authorities import Issuer
from languages import GO_SOURCES
from proxies import Backend, EnvoyAlone, free_port
from server import APP, APP_ID, APPLE_ID, NUMBER, Server

ARTICLE = pathlib.Path(__file__).parent.parent.parent / "Sources/AssayEngine/AssayEngine.docc/VerifyByConfiguration.md"
OIDC, OAUTH = "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"
# A project whose issuer is below a path, one at Google's, and one whose path is too long to be served.
POLICY = """\
projects:
  - number: NUMBER
    id: PROJECT
    issuer: https://localhost:THE_PORT/
    apps:
      - id: APP_ID
        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
        providers:
          app_attest:
            trust_anchor: ANCHOR
  - {number: 22, id: below, issuer: "https://localhost:THE_PORT/checks/assay/"}
  - {number: 33, id: at-google}
  - {number: 44, id: too-far, issuer: "https://localhost:THE_PORT/a/b/c/"}
"""


class Issuing:
    """A server with TLS at the URL that its tokens name."""

    def __init__(self, folder, authority, apple):
        self.authority = authority
        certificates = Issuer("Example")
        certificate, key = certificates.issue("localhost", server=True)
        self.ca = folder / "ca.pem"
        for name, content in (("server.pem", certificate), ("server.key", key), ("ca.pem", certificates.pem)):
            (folder / name).write_bytes(content)
        (folder / "server.key").chmod(0o600)
        self.port = free_port()
        self.url = f"https://localhost:{self.port}"
        (folder / "server").mkdir()
        self.server = Server(
            folder / "server", authority, apple, POLICY.replace("THE_PORT", str(self.port)),
            ("--listen", f"127.0.0.1:{self.port}", "--tls-certificate", folder / "server.pem", "--tls-key", folder / "server.key"))
        self.server.start()
        self.server.address = self.url
        self.issuer = f"{self.url}/{NUMBER}"

    def ask(self, path, method="GET", **options):
        return requests.request(method, self.url + path, verify=self.ca, timeout=30, allow_redirects=False, **options)

    def token(self):
        os.environ["SSL_CERT_FILE"] = str(self.ca)
        try:
            return tokens.attested(self.server, self.authority, APP, APPLE_ID)
        finally:
            del os.environ["SSL_CERT_FILE"]


@pytest.fixture(scope="module")
def issuing(authority, apple, tmp_path_factory):
    issuing = Issuing(tmp_path_factory.mktemp("issuing"), authority, apple)
    yield issuing
    assert issuing.server.stop() == 0


@pytest.mark.parametrize("path", [f"/{NUMBER}{OIDC}", f"{OAUTH}/{NUMBER}"])
def test_an_issuer_describes_itself(issuing, path):
    reply = issuing.ask(path)
    assert reply.status_code == 200
    assert reply.json() == {
        "issuer": issuing.issuer, "jwks_uri": f"{issuing.url}/v1/jwks", "id_token_signing_alg_values_supported": ["RS256"],
        "subject_types_supported": ["public"], "response_types_supported": ["none"],
        "claims_supported": ["aud", "exp", "iat", "iss", "jti", "provider", "sub"], "token_endpoint": f"{issuing.url}/token",
        "token_endpoint_auth_methods_supported": ["none"],
        "grant_types_supported": ["urn:ietf:params:oauth:grant-type:token-exchange"],
    }
    assert reply.headers["content-type"].startswith("application/json")
    keys = issuing.ask("/v1/jwks")
    assert reply.headers["cache-control"] == keys.headers["cache-control"] and "max-age" in keys.headers["cache-control"]
    again = issuing.ask(path, headers={"If-None-Match": reply.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    head = issuing.ask(path, "HEAD")
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", reply.headers["etag"])
    for method in ["POST", "PUT", "DELETE", "PATCH"]:
        wrong = issuing.ask(path, method)
        assert (wrong.status_code, wrong.headers.get("allow")) in [(405, "GET, HEAD"), (501, None)], method
    # No name that a client says is in the answer.
    assert issuing.ask(path, headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"}).json() == reply.json()


def test_the_article_shows_what_is_answered(issuing):
    [shown] = re.findall(r"```json\n(.*?)```", ARTICLE.read_text(), re.S)
    assert json.loads(shown.replace("https://assay.example.com", issuing.url)) == issuing.ask(f"/{NUMBER}{OIDC}").json()


@pytest.mark.parametrize("path, base", [
    (f"/checks/assay/22{OIDC}", "/"), (f"{OAUTH}/checks/assay/22", "/"),
    # A proxy may have removed the beginning of the path.
    (f"/assay/22{OIDC}", "/checks/"), (f"/22{OIDC}", "/checks/assay/"), (f"{OAUTH}/22", "/checks/assay/"),
])
def test_an_issuer_below_a_path(issuing, path, base):
    found = issuing.ask(path).json()
    assert found["issuer"] == f"{issuing.url}/checks/assay/22"
    assert (found["jwks_uri"], found["token_endpoint"]) == (f"{issuing.url}{base}v1/jwks", f"{issuing.url}{base}token")


@pytest.mark.parametrize("path", [
    OIDC, OAUTH, f"/{NUMBER}0{OIDC}", f"/1{OIDC}", f"/example-project{OIDC}", f"/checks/{NUMBER}{OIDC}", f"/checks/22{OIDC}",
    f"/other/assay/22{OIDC}", f"/33{OIDC}", f"{OAUTH}/33", f"/a/b/c/44{OIDC}", f"/%2F{NUMBER}{OIDC}", f"/localhost/{NUMBER}{OIDC}",
    f"/projects/{NUMBER}{OIDC}", f"/{NUMBER}{OIDC}/more", f"/{NUMBER}/{OIDC}", f"{OIDC}/{NUMBER}",
    f"/{'1' * 3000}{OIDC}",
])
def test_unknown_issuers_are_not_found(issuing, path):
    reply = issuing.ask(path)
    assert reply.status_code == 404 and reply.headers["cache-control"] == "no-store"


def test_the_name_of_a_host_is_no_folder(issuing):
    assert issuing.ask(f"/{NUMBER}%00{OIDC}").status_code == 400
    assert issuing.ask(f"/localhost:{issuing.port}/{NUMBER}{OIDC}").status_code == 404


def test_a_library_verifies_tokens_by_the_issuer_alone(issuing):
    def known():
        found = OpenIDProviderMetadata(issuing.ask(f"/{NUMBER}{OIDC}").json())
        found.validate()
        AuthorizationServerMetadata(issuing.ask(f"{OAUTH}/{NUMBER}").json()).validate()
        assert found["issuer"] == issuing.issuer
        keys = requests.get(found["jwks_uri"], verify=issuing.ca, timeout=30).json()
        return found["id_token_signing_alg_values_supported"], KeySet.import_key_set(keys)

    algorithms, keys = known()
    rules = jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": issuing.issuer}, aud={"essential": True, "value": f"projects/{NUMBER}"},
        sub={"essential": True, "values": [APP_ID]}, exp={"essential": True})

    def verify(token):
        claims = jwt.decode(token, keys, algorithms=algorithms).claims
        rules.validate(claims)
        return claims["sub"]

    good = issuing.token()
    assert verify(good) == APP_ID
    forger = tokens.Forger(issuing.server, good)
    for name, token in forger.unacceptable().items():
        if name == "of another type":
            continue
        with pytest.raises((JoseError, ValueError)):
            verify(token)
            pytest.fail(name)


GO = """package main

import (
	"context"
	"fmt"
	"os"

	"github.com/coreos/go-oidc"
)

func main() {
	provider, err := oidc.NewProvider(context.Background(), os.Args[1])
	if err != nil {
		fmt.Println("no issuer:", err)
		return
	}
	token, err := provider.Verifier(&oidc.Config{ClientID: os.Args[2]}).Verify(context.Background(), os.Args[3])
	if err != nil {
		fmt.Println("no token:", err)
		return
	}
	fmt.Println(token.Subject)
}
"""


@pytest.mark.skipif(not (shutil.which("go") and (GO_SOURCES / "src/github.com/coreos/go-oidc").exists()), reason="go or go-oidc is not installed")
def test_a_program_finds_everything_by_the_issuer(issuing, tmp_path):
    (tmp_path / "find.go").write_text(GO)
    environment = dict(
        os.environ, GO111MODULE="off", GOPATH=str(GO_SOURCES), GOFLAGS="", GOCACHE=str(tmp_path / "cache"), SSL_CERT_FILE=str(issuing.ca))
    subprocess.run(["go", "build", "-o", "find", "find.go"], cwd=tmp_path, env=environment, check=True)

    def found(*arguments):
        return subprocess.run(
            [tmp_path / "find", *arguments], env=environment, capture_output=True, text=True, timeout=60, check=True).stdout.strip()

    good, audience = issuing.token(), f"projects/{NUMBER}"
    forger = tokens.Forger(issuing.server, good)
    assert found(issuing.issuer, audience, good) == APP_ID
    assert found(issuing.issuer, audience, forger.token(iss="https://assay.example.com/1")).startswith("no token")
    assert found(issuing.issuer, audience, forger.token(exp=1)).startswith("no token")
    assert found(issuing.issuer, "projects/9", good).startswith("no token")
    assert found(f"{issuing.url}/33", audience, good).startswith("no issuer: 404")


# MARK: Envoy, which verifies tokens itself


@pytest.fixture(scope="module")
def envoy(server):
    if EnvoyAlone.path() is None:
        pytest.skip("envoy is not installed")
    backend = Backend()
    proxy = EnvoyAlone(server.address.removeprefix("http://"), backend)
    yield proxy
    proxy.stop()
    backend.stop()


@pytest.fixture(scope="module")
def good(server, authority):
    return tokens.attested(server, authority, APP, APPLE_ID)


def test_envoy_lets_valid_tokens_pass(envoy, server, authority, good):
    spoofed = [("X-AppCheck-App-Id", "1:1:ios:1"), ("x-appcheck-proof", "verified")]
    answer = envoy.ask(headers=[("X-Firebase-AppCheck", good), *spoofed])
    assert answer.status == 200
    about = {name.lower(): value for name, value in json.loads(answer.body)["headers"] if name.lower().startswith("x-appcheck")}
    assert about == {"x-appcheck-app-id": APP_ID, "x-appcheck-provider": "app_attest"}
    # It consumes none, as the article says.
    limited = tokens.attested(server, authority, APP, APPLE_ID, limited=True)
    assert [envoy.ask(headers=[("X-Firebase-AppCheck", limited)]).status for _ in range(2)] == [200, 200]


def test_envoy_refuses_all_other_tokens(envoy, server, good):
    forger = tokens.Forger(server, good)
    bad = forger.unacceptable() | {"for another app": forger.token(sub="1:1234567890:ios:fedcba9876543210")}
    # It does not look at the type, and a second more is allowed.
    bad.pop("of another type")
    bad["expired"] = forger.token(exp=int(time.time()) - 60)
    before = len(envoy.backend.seen)
    statuses = {name: envoy.ask(headers=[("X-Firebase-AppCheck", token)]).status for name, token in bad.items()}
    assert {name: status for name, status in statuses.items() if status not in (401, 403)} == {}
    assert envoy.ask().status == 401
    assert envoy.ask(headers=[("X-Firebase-AppCheck", good), ("X-Firebase-AppCheck", bad["expired"])]).status in (401, 403)
    assert envoy.ask(path=f"/?X-Firebase-AppCheck={good}").status == 401
    assert len(envoy.backend.seen) == before


def test_the_article_shows_the_configuration(envoy):
    filters = (pathlib.Path(__file__).parent / "proxies/envoy-jwt.yaml").read_text()
    part = filters.split("http_filters:\n")[1].split("                  - name: envoy.filters.http.router")[0]
    shown = "\n".join(line[18:] for line in part.splitlines())
    assert shown in ARTICLE.read_text()
