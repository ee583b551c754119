"""Debug tokens that operators register, with Google's own API client."""

import re
import uuid

import pytest
from google.auth.exceptions import GoogleAuthError
from googleapiclient.errors import HttpError

from server import APP, APP_ID, CLIENT, DEBUG_TOKEN, NUMBER

LIMIT = 20
PREFIX = f"projects/{NUMBER}/apps/{APP_ID}/debugTokens/"


def failure(request):
    with pytest.raises(HttpError) as caught:
        request.execute()
    return caught.value.status_code, caught.value.reason


@pytest.fixture
def tokens(administrator):
    """The methods, and an app that has no registered tokens before and after."""
    methods = administrator.projects().apps().debugTokens()
    yield methods
    for token in everything(methods):
        if token["name"].split("/")[-1].startswith("policy-"):
            continue
        methods.delete(name=token["name"]).execute()


def everything(methods, size=None):
    found, request = [], methods.list(parent=APP, pageSize=size)
    while request is not None:
        page = request.execute()
        assert size is None or len(page.get("debugTokens", [])) <= size
        found += page.get("debugTokens", [])
        request = methods.list_next(request, page)
    return found


def register(methods, name, token=None):
    return methods.create(parent=APP, body={"displayName": name, "token": token or str(uuid.uuid4())}).execute()


def exchange(anybody, token, resource=APP):
    methods = anybody.projects().apps() if resource == APP else anybody.oauthClients()
    return methods.exchangeDebugToken(app=resource, body={"debugToken": token})


def test_life_of_a_token(tokens, anybody):
    text = str(uuid.uuid4()).upper()
    assert failure(exchange(anybody, text)) == (403, "App attestation failed.")
    made = register(tokens, "a tester's phone", text)
    assert set(made) == {"name", "displayName", "etag", "updateTime"}
    assert made["name"].startswith(PREFIX)
    assert made["displayName"] == "a tester's phone"
    assert re.fullmatch(r'"[\w-]+"', made["etag"])
    for resource in [APP, CLIENT]:
        assert exchange(anybody, text.lower(), resource).execute()["token"].count(".") == 2
    assert tokens.get(name=made["name"]).execute() == made
    assert made in everything(tokens)

    changed = tokens.patch(
        name=made["name"], updateMask="displayName", body={"displayName": "another", "etag": made["etag"]}).execute()
    assert changed["displayName"] == "another"
    assert changed["name"] == made["name"]
    assert changed["etag"] != made["etag"]
    stale = {"displayName": "a third", "etag": made["etag"]}
    assert failure(tokens.patch(name=made["name"], updateMask="displayName", body=stale))[0] == 409
    assert failure(tokens.delete(name=made["name"], etag=made["etag"]))[0] == 409
    assert exchange(anybody, text).execute()["ttl"] == "3600s"

    assert tokens.delete(name=made["name"], etag=changed["etag"]).execute() == {}
    for request in [
        tokens.get(name=made["name"]), tokens.delete(name=made["name"]),
        tokens.patch(name=made["name"], updateMask="displayName", body={"displayName": "b"}),
    ]:
        assert failure(request) == (404, "Requested entity was not found.")
    assert failure(exchange(anybody, text))[0] == 403


def test_limit_and_pages(tokens):
    for number in range(LIMIT):
        register(tokens, f"number {number}")
    assert failure(tokens.create(parent=APP, body={"displayName": "more", "token": str(uuid.uuid4())}))[0] == 429
    whole = everything(tokens)
    assert len(whole) == LIMIT + 1
    assert everything(tokens, 6) == whole
    assert failure(tokens.list(parent=APP, pageToken="none"))[0] == 400
    assert failure(tokens.list(parent=APP, pageSize=-1))[0] == 400


@pytest.mark.parametrize("body", [
    {}, {"displayName": "a"}, {"token": str(uuid.uuid4())}, {"displayName": "a", "token": "x"},
    {"displayName": "a", "token": str(uuid.uuid1())}, {"displayName": "a" * 257, "token": str(uuid.uuid4())},
])
def test_wrong_token(tokens, body):
    assert failure(tokens.create(parent=APP, body=body))[0] == 400


def test_wrong_update(tokens):
    text = str(uuid.uuid4())
    made = register(tokens, "a", text)
    for mask, body in [
        ("token", {"token": text}), ("displayName", {}), ("displayName", {"displayName": "b", "token": text}),
    ]:
        assert failure(tokens.patch(name=made["name"], updateMask=mask, body=body))[0] == 400
    assert tokens.get(name=made["name"]).execute() == made
    assert failure(tokens.create(parent=APP, body={"displayName": "b", "token": text}))[0] == 409


def test_token_of_the_file(tokens):
    [listed] = everything(tokens)
    assert listed["displayName"] == "of the environment"
    assert tokens.get(name=listed["name"]).execute() == listed
    for request in [
        tokens.patch(name=listed["name"], updateMask="displayName", body={"displayName": "mine"}),
        tokens.delete(name=listed["name"], etag=listed["etag"]),
    ]:
        status, reason = failure(request)
        assert status == 400
        assert re.search(r"policy\.yaml:\d+:\d+", reason)
    status, reason = failure(tokens.create(parent=APP, body={"displayName": "again", "token": DEBUG_TOKEN}))
    assert status == 409
    assert re.search(r"policy\.yaml:\d+:\d+", reason)


def test_nobody_else(anybody, tokens):
    made = register(tokens, "a")
    methods = anybody.projects().apps().debugTokens()
    for request in [
        methods.create(parent=APP, body={"displayName": "b", "token": str(uuid.uuid4())}), methods.list(parent=APP),
        methods.get(name=made["name"]), methods.delete(name=made["name"]),
        methods.patch(name=made["name"], updateMask="displayName", body={"displayName": "b"}),
    ]:
        # google-auth takes a 401 for a call to fetch another token, which nobody has.
        with pytest.raises(GoogleAuthError):
            request.execute()
    assert tokens.get(name=made["name"]).execute() == made


def test_nowhere_in_the_log(server, tokens, anybody):
    text = str(uuid.uuid4())
    name = f"a name like no other {uuid.uuid4()}"
    made = register(tokens, name, text)
    exchange(anybody, text).execute()
    tokens.patch(name=made["name"], updateMask="displayName", body={"displayName": f"{name} 2"}).execute()
    written = [path.read_bytes().lower() for path in server.folder.iterdir() if path.is_file()]
    assert any(name.encode() in data for data in written)
    for data in written:
        assert text.encode() not in data
