import pytest
from google.auth.credentials import AnonymousCredentials
from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build

from device import Authority
from server import ADMIN_TOKEN, Apple, Server


@pytest.fixture(scope="session")
def authority():
    return Authority()


@pytest.fixture(scope="session")
def apple(tmp_path_factory):
    apple = Apple(tmp_path_factory.mktemp("apple"))
    yield apple
    assert apple.stop() == 0


@pytest.fixture(scope="session")
def server(authority, apple, tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("assay"), authority, apple)
    server.start()
    yield server
    assert server.stop() == 0


def client(server, version, credentials):
    return build(
        "firebaseappcheck", version, static_discovery=True, credentials=credentials,
        client_options={"api_endpoint": server.address},
    )


@pytest.fixture(scope="session", params=["v1", "v1beta"])
def version(request):
    return request.param


@pytest.fixture(scope="session")
def anybody(server, version):
    """Google's API client, as an app uses it."""
    return client(server, version, AnonymousCredentials())


@pytest.fixture(scope="session")
def administrator(server, version):
    """Google's API client, as an operator uses it."""
    return client(server, version, Credentials(ADMIN_TOKEN))
