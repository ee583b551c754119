"""The Firebase Admin SDK as a relying party."""

import firebase_admin
import pytest
from firebase_admin import app_check, credentials
from google.oauth2.credentials import Credentials

from server import ADMIN_TOKEN, APP, APP_ID, DEBUG_TOKEN, PROJECT
from conftest import client
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import GoogleAuthError


class Bearer(credentials.Base):
    def __init__(self, token):
        self.token = token

    def get_credential(self):
        return Credentials(self.token)


@pytest.fixture(scope="module")
def sdk(server):
    app_check._AppCheckService._JWKS_URL = f"{server.address}/v1/jwks"
    app_check._AppCheckService._VERIFY_URL_FORMAT = (
        server.address + "/v1beta/projects/{project_id}:verifyAppCheckToken"
    )
    app = firebase_admin.initialize_app(Bearer(ADMIN_TOKEN), {"projectId": PROJECT})
    yield app
    firebase_admin.delete_app(app)


@pytest.fixture
def token(server):
    apps = client(server, "v1", AnonymousCredentials()).projects().apps()
    return apps.exchangeDebugToken(app=APP, body={"debugToken": DEBUG_TOKEN}).execute()["token"]


def test_verify(sdk, token):
    claims = app_check.verify_token(token, sdk)
    assert claims["app_id"] == claims["sub"] == APP_ID
    assert claims["provider"] == "debug"


def test_altered(sdk, token):
    head, payload, signature = token.split(".")
    with pytest.raises(ValueError):
        app_check.verify_token(f"{head}.{payload}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}", sdk)


def test_consume(sdk, token):
    assert app_check.verify_token(token, sdk, consume=True)["already_consumed"] is False
    assert app_check.verify_token(token, sdk, consume=True)["already_consumed"] is True
    assert "already_consumed" not in app_check.verify_token(token, sdk)


def test_consume_minted(sdk, server):
    apps = client(server, "v1", Credentials(ADMIN_TOKEN)).projects().apps()
    minted = apps.mintAppCheckToken(app=APP, body={"limitedUseConfig": {}}).execute()
    assert minted["ttl"] == "300s"
    claims = app_check.verify_token(minted["token"], sdk, consume=True)
    assert claims["app_id"] == APP_ID
    assert claims["provider"] == "mint"
    assert claims["already_consumed"] is False


def test_consume_by_a_stranger(sdk, token):
    app = firebase_admin.initialize_app(Bearer("stranger-0123456789"), {"projectId": PROJECT}, "stranger")
    # google-auth takes a 401 for a call to fetch another token, which these credentials cannot.
    with pytest.raises(GoogleAuthError):
        app_check.verify_token(token, app, consume=True)
    firebase_admin.delete_app(app)
    assert app_check.verify_token(token, sdk, consume=True)["already_consumed"] is False
