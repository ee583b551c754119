"""OAuth clients: attestations, proofs and tokens made and checked by joserfc and PyJWT."""

import base64
import hashlib
import json
import time
import urllib.parse
import uuid

import jwt
import pytest
import requests
from joserfc import jws
from joserfc.jwk import ECKey, KeySet
from joserfc.jwt import decode

from server import ADMIN_TOKEN, DEBUG_TOKEN, Server

AUDIENCE = "https://login.example.com"
OLDER = "https://older.example.com"
PARTY = "https://relying-party.example.com"
ENDPOINT = "https://login.example.com/token"
CLIENT = "1234567890-example.apps.googleusercontent.com"
APP = "1:1234567890:ios:321abc456def7890"
SERVER_TOKEN = "authorization-server-0123456789abcdef"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT = "urn:ietf:params:oauth:token-type:jwt"
APPCHECK = "urn:ietf:params:oauth:client-assertion-type:appcheck"
ATTESTATION, PROOF, DPOP = (
    "oauth-client-attestation+jwt", "oauth-client-attestation-pop+jwt", "dpop+jwt")

POLICY = f"""\
callers:
  administrator: {{token: "env:ASSAY_ADMIN_TOKEN", permissions: [admin]}}
  authorization-server:
    sha256: {hashlib.sha256(SERVER_TOKEN.encode()).hexdigest()}
    permissions: [clientAttestations.verify, clientAssertions.verify, tokens.introspect]
projects:
  - number: 1234567890
    id: example-project
    apps:
      - id: {APP}
        providers: {{debug: {{tokens: [{{name: test, token: "env:ASSAY_DEBUG_TOKEN"}}]}}}}
    oauth_clients: [{{id: {CLIENT}, app: "{APP}"}}]
    consumers:
      oauth_client:
        authorization_servers: [{AUDIENCE}]
        tokens: {{accept_development: true}}
        attester: {{}}
        verifier: {{}}
        client_assertion: {{accept_development: true}}
        introspection: {{accept_development: true}}
        ear: {{audiences: [{PARTY}]}}
  - number: 2222222222
    id: older-project
    apps:
      - id: 1:2222222222:ios:321abc456def7890
        providers: {{debug: {{tokens: [{{name: test, token: "env:ASSAY_DEBUG_TOKEN"}}]}}}}
    consumers:
      oauth_client:
        authorization_servers: [{OLDER}]
        clients: {{"1:2222222222:ios:321abc456def7890": older-client}}
        tokens: {{accept_development: true}}
        attester: {{issuer: "https://attester.example.com"}}
        verifier: {{compatibility: true}}
"""


@pytest.fixture(scope="module")
def service(authority, apple, tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("oauth"), authority, apple)
    (server.folder / "policies" / "policy.yaml").write_text(POLICY)
    server.start()
    server.age()
    yield server
    assert server.stop() == 0


@pytest.fixture
def key():
    return ECKey.generate_key("P-256")


def public(key):
    return {name: key.as_dict(private=False)[name] for name in ("kty", "crv", "x", "y")}


def app_check_token(service, resource=f"oauthClients/{CLIENT}", limited=True):
    reply = requests.post(
        f"{service.address}/v1/{resource}:exchangeDebugToken",
        json={"debug_token": DEBUG_TOKEN, "limited_use": limited})
    assert reply.status_code == 200, reply.text
    return reply.json()["token"]


def attest(service, key, token=None):
    return requests.post(
        f"{service.address}/client-attestation", json={"jwk": public(key)},
        headers={"X-Firebase-AppCheck": app_check_token(service) if token is None else token})


def exchange(service, audience, **fields):
    return requests.post(
        f"{service.address}/token",
        data={
            "grant_type": EXCHANGE, "subject_token": app_check_token(service), "subject_token_type": JWT,
            "audience": audience, **fields,
        })


def signed(key, header, claims):
    header = {name: value for name, value in header.items() if value is not None}
    claims = {name: value for name, value in claims.items() if value is not None}
    return jws.serialize_compact(header, json.dumps(claims), key, algorithms=["ES256", "HS256", "none"])


def proof(key, header=None, **claims):
    return signed(
        key, {"typ": PROOF, "alg": "ES256", **(header or {})},
        {"aud": AUDIENCE, "jti": str(uuid.uuid4()), "iat": int(time.time()), **claims})


def dpop(key, header=None, **claims):
    return signed(
        key, {"typ": DPOP, "alg": "ES256", "jwk": public(key), **(header or {})},
        {"htm": "POST", "htu": ENDPOINT, "jti": str(uuid.uuid4()), "iat": int(time.time()), **claims})


def ask(service, path, token=SERVER_TOKEN, headers=None, **arguments):
    return requests.post(
        f"{service.address}{path}", headers=headers or {"Authorization": f"Bearer {token}"}, **arguments)


def verify(service, attestations, proofs=(), dpops=(), **fields):
    return ask(service, "/client-attestation/verify", json={
        "audience": AUDIENCE, "client_attestation": list(attestations), "client_attestation_pop": list(proofs),
        "dpop": list(dpops), "method": "POST", "uri": ENDPOINT, **fields,
    })


@pytest.fixture
def attestation(service, key):
    return attest(service, key).json()["client_attestation"]


def keys(service):
    return requests.get(f"{service.address}/v1/jwks").json()


def test_others_verify_an_attestation_by_the_published_keys(service, key):
    reply = attest(service, key)
    assert (reply.status_code, reply.headers["cache-control"]) == (200, "no-store")
    assert reply.json().keys() == {"client_attestation", "expires_in"}
    text = reply.json()["client_attestation"]

    token = decode(text, KeySet.import_key_set(keys(service)), algorithms=["RS256", "ES256"])
    assert token.header["typ"] == ATTESTATION
    assert token.claims["sub"] == CLIENT
    assert token.claims["exp"] - token.claims["iat"] == reply.json()["expires_in"] == 86400
    assert token.claims["cnf"] == {"jwk": public(key)}
    assert "iss" not in token.claims

    signing = jwt.PyJWKClient(f"{service.address}/v1/jwks").get_signing_key_from_jwt(text)
    claims = jwt.decode(text, signing.key, algorithms=["RS256", "ES256"], options={"require": ["exp", "sub"]})
    assert claims == token.claims


def test_token_exchange_gives_the_same(service, key):
    reply = exchange(service, AUDIENCE, client_jwk=json.dumps(public(key)))
    assert reply.status_code == 200, reply.text
    assert reply.json()["token_type"] == "N_A"
    assert reply.json()["issued_token_type"] == JWT
    token = decode(
        reply.json()["access_token"], KeySet.import_key_set(keys(service)), algorithms=["RS256", "ES256"])
    assert token.claims["cnf"] == {"jwk": public(key)}


def test_what_is_wrong_with_a_request_for_an_attestation_is_told_by_the_status(service, key):
    used = app_check_token(service)
    assert attest(service, key, used).status_code == 200
    for token in (used, "x", "eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ=="):
        assert attest(service, key, token).status_code == 401
    assert requests.post(f"{service.address}/client-attestation", json={"jwk": public(key)}).status_code == 401
    for jwk in ({}, {**public(key), "x": "AA"}, key.as_dict(private=True), public(ECKey.generate_key("P-384"))):
        reply = requests.post(
            f"{service.address}/client-attestation", json={"jwk": jwk},
            headers={"X-Firebase-AppCheck": app_check_token(service)})
        assert reply.status_code == 400, jwk


def test_a_client_is_known_by_its_proof(service, key, attestation):
    reply = verify(service, [attestation], [proof(key)], clientId=CLIENT)
    assert reply.status_code == 200, reply.text
    assert reply.json()["clientId"] == CLIENT
    assert reply.json()["jkt"] == key.thumbprint()
    assert reply.json()["cnf"] == {"jwk": public(key)}
    assert reply.json()["mode"] == "attest_jwt_client_auth"

    reply = verify(service, [attestation], dpops=[dpop(key)])
    assert reply.json()["mode"] == "attest_jwt_client_auth_dpop"
    assert reply.json()["dpopJkt"] == key.thumbprint()

    other = ECKey.generate_key("P-256")
    reply = verify(service, [attestation], [proof(key)], [dpop(other)])
    assert reply.json()["dpopJkt"] == other.thumbprint()


WRONG_PROOFS = [
    {"aud": "https://other.example.com"}, {"aud": [AUDIENCE, "https://other.example.com"]}, {"aud": None},
    {"jti": None}, {"jti": "a" * 129}, {"iat": None}, {"iat": 1}, {"iat": 4000000000}, {"iat": None, "exp": 4000000000},
    {"header": {"typ": "JWT"}}, {"header": {"typ": None}}, {"header": {"typ": DPOP}},
]


@pytest.mark.parametrize("change", WRONG_PROOFS, ids=json.dumps)
def test_a_wrong_proof_is_refused(service, key, attestation, change):
    reply = verify(service, [attestation], [proof(key, **change)])
    assert (reply.status_code, reply.json()["error"]) == (400, "invalid_client_attestation")


WRONG_DPOP = [
    {"htm": "GET"}, {"htm": None}, {"htu": ENDPOINT + "?a=b"}, {"htu": "https://login.example.com/par"}, {"htu": None},
    {"jti": None}, {"iat": None}, {"iat": 1}, {"iat": 4000000000}, {"header": {"typ": "JWT"}},
    {"header": {"jwk": None}}, {"header": {"jwk": {"kty": "oct", "k": "AAAA"}}},
]


@pytest.mark.parametrize("change", WRONG_DPOP, ids=json.dumps)
def test_a_wrong_dpop_proof_is_refused(service, key, attestation, change):
    for reply in (
        verify(service, [attestation], [proof(key)], [dpop(key, **change)]),
        verify(service, [attestation], dpops=[dpop(key, **change)]),
    ):
        assert (reply.status_code, reply.json()["error"]) == (400, "invalid_dpop_proof")


def test_proofs_of_other_keys_and_second_uses_are_refused(service, key, attestation):
    other = ECKey.generate_key("P-256")
    used, used_dpop = proof(key), dpop(key)
    assert verify(service, [attestation], [used]).status_code == 200
    assert verify(service, [attestation], dpops=[used_dpop]).status_code == 200
    good = proof(key)
    for arguments, error in [
        (([attestation], [used]), "invalid_client_attestation"),
        (([attestation], [proof(other)]), "invalid_client_attestation"),
        (([attestation], [good, proof(key)]), "invalid_client_attestation"),
        (([attestation, attestation], [good]), "invalid_client_attestation"),
        (([attestation],), "invalid_client_attestation"),
        (([], [good]), "invalid_client_attestation"),
        (([attestation], (), [used_dpop]), "invalid_dpop_proof"),
        (([attestation], (), [dpop(other)]), "invalid_dpop_proof"),
        (([attestation], (), [dpop(key, {"jwk": public(other)})]), "invalid_dpop_proof"),
        (([attestation], (), [dpop(key, {"jwk": key.as_dict(private=True)})]), "invalid_dpop_proof"),
    ]:
        reply = verify(service, *arguments)
        assert (reply.status_code, reply.json()["error"]) == (400, error)
    forged = signed(
        other, {"typ": ATTESTATION, "alg": "ES256"},
        {"sub": CLIENT, "exp": int(time.time()) + 60, "cnf": {"jwk": public(key)}})
    assert verify(service, [forged], [good]).json()["error"] == "invalid_client_attestation"
    assert verify(service, [attestation], [good], clientId="other").status_code == 400
    assert verify(service, [attestation], [good]).status_code == 200


def test_a_proof_answers_a_challenge(service, key, attestation):
    reply = requests.post(f"{service.address}/client-attestation/challenge", params={"audience": AUDIENCE})
    assert (reply.status_code, reply.headers["cache-control"]) == (200, "no-store")
    challenge = reply.json()["attestation_challenge"]
    assert verify(service, [attestation], [proof(key, challenge=challenge)]).status_code == 200
    assert verify(service, [attestation], dpops=[dpop(key, nonce=challenge)]).status_code == 200

    reply = verify(service, [attestation], [proof(key, challenge="x")])
    assert (reply.status_code, reply.json()["error"]) == (400, "use_attestation_challenge")
    fresh = reply.headers["OAuth-Client-Attestation-Challenge"]
    assert verify(service, [attestation], [proof(key, challenge=fresh)]).status_code == 200

    reply = verify(service, [attestation], [proof(key)], [dpop(key, nonce="x")])
    assert (reply.status_code, reply.json()["error"]) == (400, "use_dpop_nonce")
    nonce = reply.headers["DPoP-Nonce"]
    assert verify(service, [attestation], [proof(key)], [dpop(key, nonce=nonce)]).status_code == 200


def test_apps_of_an_older_draft_are_served_where_the_policy_says_so(service, key):
    app = "projects/older-project/apps/1:2222222222:ios:321abc456def7890"
    attestation = attest(service, key, app_check_token(service, app)).json()["client_attestation"]
    assert jwt.decode(attestation, options={"verify_signature": False})["iss"] == "https://attester.example.com"
    # The proof of an app in the field: no `iat`, and `iss`.
    older = {"iss": "older-client", "iat": None, "exp": int(time.time()) + 180}
    reply = verify(
        service, [attestation], [proof(key, aud=OLDER, **older)], [dpop(key)], audience=OLDER)
    assert (reply.status_code, reply.json().get("clientId")) == (200, "older-client")
    joined = f"{attestation}~{proof(key, aud=OLDER, **older)}"
    assert verify(service, [joined], audience=OLDER).status_code == 200
    assert verify(service, [attestation], [proof(key, **older)]).status_code == 400


def test_google_sign_in_sends_its_token_in_the_authorization_request(service):
    def request(assertion, client=CLIENT):
        query = {"response_type": "code", "client_id": client, "scope": "openid", "state": "s"}
        if assertion is not None:
            query |= {"client_assertion_type": APPCHECK, "client_assertion": assertion}
        return ask(
            service, "/oauth/client-assertion", data=urllib.parse.urlencode(query | {"audience": AUDIENCE}),
            headers={
                "Authorization": f"Bearer {SERVER_TOKEN}", "Content-Type": "application/x-www-form-urlencoded"})

    token = app_check_token(service)
    assert request(token, "other").status_code == 400
    reply = request(token)
    assert (reply.status_code, reply.json()["verified"], reply.json()["provider"]) == (200, True, "debug")
    placeholder = base64.b64encode(b'{"error":"UNKNOWN_ERROR"}').decode()
    for assertion in (token, placeholder, None, "x"):
        reply = request(assertion)
        assert (reply.status_code, reply.json()["error"]) == (400, "invalid_client")


def test_tokens_are_introspected(service, key):
    def introspect(text, caller=SERVER_TOKEN):
        return ask(service, "/introspect", caller, data={"token": text, "audience": AUDIENCE})

    token = app_check_token(service)
    for _ in range(2):
        reply = introspect(token).json()
        claims = jwt.decode(token, options={"verify_signature": False})
        assert reply["active"] is True
        assert reply["client_id"] == reply["sub"] == CLIENT
        assert {name: reply[name] for name in ("iss", "aud", "exp", "iat", "jti")} == {
            name: claims[name] for name in ("iss", "aud", "exp", "iat", "jti")}
    attestation = attest(service, key, token).json()["client_attestation"]
    assert introspect(attestation).json()["cnf"] == {"jwk": public(key)}
    reply = ask(service, "/v1/projects/example-project/introspect", data={"token": attestation})
    assert reply.json()["client_id"] == CLIENT
    assert introspect("x").json() == {"active": False}
    # As a client of RFC 7662 asks. There are two projects, and the token says which is meant; "x" does not.
    assert ask(service, "/introspect", data={"token": app_check_token(service)}).json()["active"] is True
    reply = ask(service, "/introspect", data={"token": "x"})
    assert (reply.status_code, reply.json()["error"]) == (400, "invalid_request")
    assert "'audience' is missing" in reply.json()["error_description"]
    assert introspect(token, "wrong").status_code == 401
    assert introspect(token, ADMIN_TOKEN).status_code == 200
    assert requests.post(f"{service.address}/introspect", data={"token": token}).status_code == 401


def test_an_attestation_result_is_one_of_rats(service):
    reply = exchange(service, PARTY, eat_nonce="relying-party-nonce", requested_token_type=JWT)
    assert reply.status_code == 200, reply.text
    token = decode(
        reply.json()["access_token"], KeySet.import_key_set(keys(service)), algorithms=["RS256", "ES256"])
    assert token.header["typ"] == "eat+jwt"
    assert token.claims["eat_profile"].startswith("tag:ietf.org,2026:rats/ear#")
    assert token.claims["eat_nonce"] == "relying-party-nonce"
    assert token.claims["ear_verifier_id"].keys() == {"developer", "build"}
    appraisal = token.claims["submods"]["app"]
    assert appraisal["ear_status"] == token.claims["ear_status"] == "warning"
    assert set(appraisal["ear_trustworthiness_vector"].values()) == {32}
    assert exchange(service, PARTY, eat_nonce="short").json()["error"] == "invalid_request"
