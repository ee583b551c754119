"""The statuses that the article *Connect an SDK* lists, by which SDKs of App Check choose their pauses, asked of a real server."""

import pathlib
import re

import requests

from server import APP, PROJECT

ARTICLE = pathlib.Path(__file__).parent.parent.parent / "Sources/AssayEngine/AssayEngine.docc/SDKs.md"

# A request for each cause that needs no load and no outage.
CAUSES = {
    "400 `FAILED_PRECONDITION`": (f"{APP}:exchangeCustomToken", {"customToken": "a.b.c"}),
    "400 `INVALID_ARGUMENT`": (f"{APP}:exchangeDebugToken", {}),
    "403 `PERMISSION_DENIED`": (f"{APP}:exchangeDebugToken", {"debugToken": "nobody registered this one"}),
    "404 `NOT_FOUND`": (f"projects/{PROJECT}/apps/1:1:ios:a:exchangeDebugToken", {"debugToken": "any"}),
}
# What a test of this kind cannot bring about: every exchange is offered by a program with all plugins.
OTHERS = {"429 `RESOURCE_EXHAUSTED`", "501 `UNIMPLEMENTED`", "503 `UNAVAILABLE`"}


def test_each_cause_has_the_status_that_the_article_says(server):
    text = ARTICLE.read_text().split("| status | cause |")[1].split("\n\n")[0]
    listed = set(re.findall(r"^\| (\d+ `\w+`) \|", text, re.M))
    assert listed == CAUSES.keys() | OTHERS
    for status, (path, body) in CAUSES.items():
        reply = requests.post(f"{server.address}/v1/{path}", json=body, timeout=30)
        assert f"{reply.status_code} `{reply.json()['error']['status']}`" == status


def test_a_base_url_that_ends_in_a_slash_finds_nothing(server):
    """So the article warns of it: Google's SDKs are silent for a day after 404."""
    for slash, status in [("", 200), ("/", 404)]:
        url = f"{server.address}/v1{slash}/{APP}:generateAppAttestChallenge"
        assert requests.post(url, timeout=30).status_code == status
