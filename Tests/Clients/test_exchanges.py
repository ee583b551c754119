"""What apps call, with Google's own API client."""

import base64

import pytest
from googleapiclient.errors import HttpError

from device import Device
from server import APP, APPLE_ID, CLIENT, DEBUG_TOKEN


@pytest.fixture(params=[APP, CLIENT])
def resource(request, anybody):
    methods = anybody.projects().apps() if request.param == APP else anybody.oauthClients()
    return request.param, methods


def encoded(data):
    return base64.b64encode(data).decode()


def challenge(name, methods):
    reply = methods.generateAppAttestChallenge(app=name, body={}).execute()
    assert reply["ttl"] == "300s"
    return base64.b64decode(reply["challenge"], validate=True)


@pytest.mark.parametrize("limited", [False, True])
def test_app_attest(resource, authority, version, limited):
    name, methods = resource
    device = Device(authority, APPLE_ID)
    nonce = challenge(name, methods)
    reply = methods.exchangeAppAttestAttestation(
        app=name,
        body={
            "attestationStatement": encoded(device.attest(nonce)),
            "challenge": encoded(nonce),
            "keyId": device.key_id,
            "limitedUse": limited,
        },
    ).execute()
    assert reply["appCheckToken"]["ttl"] == ("300s" if limited else "3600s")
    assert ("attestationToken" in reply) == (version == "v1beta")

    artifact = base64.b64decode(reply["artifact"], validate=True)
    nonce = challenge(name, methods)
    body = {
        "artifact": encoded(artifact),
        "assertion": encoded(device.assertion(artifact + nonce)),
        "challenge": encoded(nonce),
        "limitedUse": limited,
    }
    reply = methods.exchangeAppAttestAssertion(app=name, body=body).execute()
    assert reply["token"].count(".") == 2
    with pytest.raises(HttpError) as error:
        methods.exchangeAppAttestAssertion(app=name, body=body).execute()
    assert (error.value.status_code, error.value.reason) == (403, "App attestation failed.")


def test_debug_token(resource, version):
    name, methods = resource
    reply = methods.exchangeDebugToken(app=name, body={"debugToken": DEBUG_TOKEN.lower()}).execute()
    assert reply["ttl"] == "3600s"
    assert ("attestationToken" in reply) == (version == "v1beta")
    with pytest.raises(HttpError) as error:
        methods.exchangeDebugToken(app=name, body={"debugToken": "00000000-0000-4000-8000-000000000000"}).execute()
    assert error.value.status_code == 403


@pytest.mark.parametrize("limited", [False, True])
def test_device_check(anybody, apple, version, limited):
    exchange = anybody.projects().apps().exchangeDeviceCheckToken
    body = {"deviceToken": apple.device_token(f"{version} {limited}"), "limitedUse": limited}
    reply = exchange(app=APP, body=body).execute()
    assert reply["ttl"] == ("300s" if limited else "3600s")
    assert ("attestationToken" in reply) == (version == "v1beta")
    for token in [body["deviceToken"], encoded(b"made up")]:
        with pytest.raises(HttpError) as error:
            exchange(app=APP, body={"deviceToken": token}).execute()
        assert error.value.status_code == 403


@pytest.mark.parametrize("field", ["debug_tokn", "further"])
def test_an_unknown_field_is_named(resource, field):
    _, methods = resource
    with pytest.raises(HttpError) as error:
        methods.exchangeDebugToken(app=resource[0], body={"debugToken": DEBUG_TOKEN, field: "x"}).execute()
    assert error.value.status_code == 400 and f"unknown field '{field}'" in error.value.reason


def test_unknown_app(anybody):
    with pytest.raises(HttpError) as error:
        anybody.projects().apps().generateAppAttestChallenge(app="projects/none/apps/1:2:ios:ab", body={}).execute()
    assert error.value.status_code == 404


def test_key_set(anybody):
    keys = anybody.jwks().get(name="jwks").execute()["keys"]
    assert [(key["kty"], key["use"], key["alg"]) for key in keys] == [("RSA", "sig", "RS256")]
