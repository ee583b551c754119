"""The examples of the article *Verify a token*, taken from it and run against a server in the languages that are installed."""

import http.server
import re
import threading

import pytest
import requests

from languages import ARTICLE, EXAMPLES, ask, sections
from proxies import QuietServer, free_port
from server import ADMIN_TOKEN, APP, APP_ID, APPLE_ID, DEBUG_TOKEN
from tokens import Forger, attested, debug


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda example: example.title)
def example(request):
    if request.param.missing:
        pytest.skip(request.param.missing)
    return request.param


@pytest.fixture(scope="module")
def backend(example, server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("backend")
    command = example.command(server.address, folder)

    def answers(tokens, once=False):
        return ask(command, folder, [{"token": token, "once": once} for token in tokens], ADMIN_TOKEN)

    return answers


@pytest.fixture(scope="module")
def good(server, authority):
    return attested(server, authority, APP, APPLE_ID)


def test_a_session_token_is_valid_for_all_of_its_time(backend, good):
    assert backend([good, good]) == [{"app": APP_ID}] * 2


def test_a_limited_use_token_is_valid_once(backend, server, authority):
    token = attested(server, authority, APP, APPLE_ID, limited=True)
    first, second = backend([token, token], once=True)
    assert first == {"app": APP_ID}
    assert "used before" in second["error"]


def test_tokens_that_prove_nothing_are_refused(backend, example, server, good):
    forger = Forger(server, good)
    tokens = forger.unacceptable() | {
        "for another app": forger.token(sub="1:1234567890:ios:fedcba9876543210"),
        "without an app": forger.token(sub=None),
        "without an issuer": forger.token(iss=None),
        "without an audience": forger.token(aud=None),
        "for development": debug(server, APP, DEBUG_TOKEN),
        "that names another algorithm": forger.token({"alg": "PS256"}),
        "by an unknown key": forger.token({"kid": "unknown"}),
        "without the name of a key, by another algorithm": forger.token({"alg": "HS256", "kid": None}, secret=forger.public_pem),
        "whose algorithm is spelled otherwise": forger.token({"alg": "nOnE"}).rsplit(".", 1)[0] + ".",
    }
    if example.title == "firebase-admin for Python":
        # It knows the beginning of the issuer only, as the article says.
        assert backend([tokens.pop("of another issuer")]) == [{"app": APP_ID}]
    answers = dict(zip(tokens, backend([*tokens.values(), good])))
    assert [name for name, answer in answers.items() if "error" not in answer] == []
    assert backend([forger.token()]) == [{"app": APP_ID}]


class KeySets:
    """The key set of a server at another address, which counts how often it is fetched."""

    def __init__(self, server):
        counter = self
        self.count = 0
        answer = requests.get(f"{server.address}/v1/jwks", timeout=30)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                counter.count += 1
                self.send_response(200 if self.path == "/v1/jwks" else 404)
                for name in ("content-type", "cache-control", "etag"):
                    self.send_header(name, answer.headers[name])
                self.send_header("content-length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

            def log_message(self, *_):
                pass

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def test_a_key_set_is_fetched_rarely_and_no_token_can_have_it_fetched_often(example, server, good, tmp_path):
    keys, forger = KeySets(server), Forger(server, good)
    try:
        unknown = [forger.token({"kid": f"unknown{number}"}) for number in range(20)]
        command = example.command(keys.address, tmp_path)
        answers = ask(command, tmp_path, [{"token": token, "once": False} for token in [good, *unknown, good]], ADMIN_TOKEN)
        assert (answers[0], answers[-1]) == ({"app": APP_ID}, {"app": APP_ID})
        assert [answer for answer in answers[1:-1] if "error" not in answer] == []
        # Once, and perhaps once more for the first unknown key.
        assert 1 <= keys.count <= 2
    finally:
        keys.server.shutdown()
        keys.server.server_close()


def test_nothing_is_accepted_without_a_key_set(example, good, tmp_path):
    command = example.command(f"http://127.0.0.1:{free_port()}", tmp_path)
    [answer] = ask(command, tmp_path, [{"token": good, "once": False}], ADMIN_TOKEN)
    assert "error" in answer


def test_a_token_is_refused_where_its_consumption_is_not_known(example, backend, server, authority, tmp_path):
    """Such as by a caller without the permission."""
    token = attested(server, authority, APP, APPLE_ID, limited=True)
    command = example.command(server.address, tmp_path)
    [answer] = ask(command, tmp_path, [{"token": token, "once": True}], "stranger-0123456789")
    assert "error" in answer
    assert backend([token], once=True) == [{"app": APP_ID}]


def test_examples_are_short():
    """At most 25 lines each without imports; what talks to the server stands beside it where a library does not."""
    found = 0
    for title, blocks in sections().items():
        for language, block in blocks:
            lines = [line for line in re.sub(r"^import \(.*?^\)\n", "", block, flags=re.S | re.M).splitlines() if line.strip()]
            lines = [line for line in lines if not re.match(r"import |from \S+ import |using |require '|<\?php|use ", line.strip()) or "=" in line]
            found += 1
            assert len(lines) <= 25, (title, language, len(lines))
    assert found == 15


def test_the_article_says_which_examples_are_run():
    rows = dict(re.findall(r"^\| \[(.*?)\]\(.*?\) \| (.*?) \|$", ARTICLE.read_text(), re.M))
    tested = [name for name, words in rows.items() if words != "not tested"]
    assert len(tested) == len(EXAMPLES)
    assert len(rows) == len([title for title, blocks in sections().items() if blocks])
