"""Assay's JavaScript client in Chromium without a window and in Node, with a real server and with servers that lie."""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import textwrap
import time

import jwt
import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import ec

from server import DEBUG_TOKEN, Server

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE / "javascript"))

import chromium  # noqa: E402
import servers  # noqa: E402
from chromium import wait  # noqa: E402
from servers import APP, MODULE  # noqa: E402

TESTS = HERE / "javascript/tests"
NODE = shutil.which("node") or shutil.which("nodejs")
in_chromium = pytest.mark.skipif(not chromium.PROGRAM, reason="there is no Chromium")
in_node = pytest.mark.skipif(not NODE, reason="there is no Node")
POLICY = """\
callers:
  administrator: {token: "env:ASSAY_ADMIN_TOKEN", permissions: [admin]}
projects:
  - number: NUMBER
    id: PROJECT
    verification: {accept_development: true}
    apps:
      - id: THE_WEB_ONE
        providers:
          custom:
            issuers: [{issuer: "https://login.example.com/", audiences: ["https://assay.example.com"], jwks: "file:THE_KEYS"}]
          debug:
            tokens: [{name: of the environment, token: "env:ASSAY_DEBUG_TOKEN"}]
      - id: "1:1234567890:web:pages"
        web: {origins: ["https://www.example.com"]}
        providers:
          turnstile: {secret: "env:ASSAY_DEBUG_TOKEN", base_url: THE_SERVICE}
          hcaptcha: {secret: "env:ASSAY_DEBUG_TOKEN", base_url: THE_SERVICE}
          recaptcha_v3: {site_secret: "env:ASSAY_DEBUG_TOKEN", base_url: THE_SERVICE}
      - id: "1:1234567890:web:limited"
        rate_limit: {requests: 2, interval: 1m}
        providers:
          debug:
            tokens: [{name: of the environment, token: "env:ASSAY_DEBUG_TOKEN"}]
"""


def names(file):
    return re.findall(r"^export async function (\w+)\(", (TESTS / f"{file}.js").read_text(), re.M)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Web:
    """A site, a scripted server, and a real one: three origins."""

    def __init__(self, folder, authority, apple):
        self.site, self.scripted = servers.Site(), servers.Scripted()
        key = ec.generate_private_key(ec.SECP256R1())
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key()))
        (folder / "keys.json").write_text(json.dumps({"keys": [{**public, "kid": "1", "alg": "ES256", "use": "sig"}]}))
        text = POLICY.replace("THE_WEB_ONE", '"1:1234567890:web:321abc456def7890"').replace("THE_KEYS", str(folder / "keys.json"))
        text = text.replace("THE_SERVICE", servers.Threaded(servers.Siteverify).address)
        (folder / "server").mkdir()
        self.server = Server(folder / "server", authority, apple, text)
        self.server.start()
        now = int(time.time())
        self.custom = jwt.encode(
            {"iss": "https://login.example.com/", "sub": "somebody", "aud": "https://assay.example.com", "app_id": APP.split("/")[-1],
             "iat": now, "exp": now + 1800}, key, "ES256", {"kid": "1"})
        port = self.scripted.address.rpartition(":")[2]
        self.site.servers = [self.server.address, self.scripted.address, f"http://localhost:{port}"]

    def settings(self):
        return {"scripted": self.scripted.address, "endpoint": self.server.address, "app": APP, "secret": DEBUG_TOKEN, "custom": self.custom}

    def restart(self):
        self.server.arguments = ("--listen", self.server.address.removeprefix("http://"))
        self.server.start()

    def issued(self):
        """How many tokens the server has issued."""
        text = requests.get(f"{self.server.address}/metrics", timeout=30).text
        return int(sum(float(count) for count in re.findall(r'^assay_decisions_total\{[^}]*outcome="issued"[^}]*\} (\S+)', text, re.M)))

    def verify(self, token):
        """The claims of a token, by the keys of the server."""
        keys = jwt.PyJWKClient(f"{self.server.address}/v1/jwks")
        return jwt.decode(token, keys.get_signing_key_from_jwt(token).key, ["RS256"], audience="projects/1234567890")


@pytest.fixture(scope="module")
def web(authority, apple, tmp_path_factory):
    web = Web(tmp_path_factory.mktemp("web"), authority, apple)
    yield web
    assert web.server.stop() == 0


# In Node


def run(web, tests, environment=None):
    result = subprocess.run(
        [NODE, HERE / "javascript/runner.js", json.dumps(web.settings()), *tests], capture_output=True, text=True, timeout=300,
        env={**os.environ, **(environment or {})})
    found = dict(re.findall(r"^(?:ok|failed) (\S+) (.*)$", result.stdout, re.M))
    assert result.returncode == 0, result.stderr[-2000:]
    return {name: json.loads(end) for name, end in found.items()}


EVERYWHERE = [f"{file}.{name}" for file in ("tokens", "replies", "fetching", "providers", "serving") for name in names(file)]


@pytest.fixture(scope="module")
def node(web):
    return run(web, EVERYWHERE)


@in_node
@pytest.mark.parametrize("name", EVERYWHERE)
def test_in_node(node, name):
    assert node.get(name) == "ok"


@in_node
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
@pytest.mark.parametrize("hours", [-5, 5])
def test_in_node_with_a_clock_that_is_wrong_by_hours(web, tmp_path, hours):
    library = tmp_path / "clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "java/clock.c", "-ldl"], check=True)
    wrong = {"LD_PRELOAD": str(library), "WRONG_BY": str(hours * 3600)}
    shown = subprocess.run([NODE, "-p", "Date.now()"], check=True, capture_output=True, text=True, timeout=60, env={**os.environ, **wrong})
    assert abs(int(shown.stdout) / 1000 - time.time() - hours * 3600) < 600
    tests = [f"serving.{name}" for name in names("serving")]
    assert run(web, tests, wrong) == dict.fromkeys(tests, "ok")


@in_node
def test_a_program_in_node_ends_when_it_has_nothing_else_to_do(web):
    program = f"""
        import {{ AppCheck, debug }} from {json.dumps(str(MODULE / "app-check.js"))};
        const check = new AppCheck({{ endpoint: {json.dumps(web.server.address)}, app: {json.dumps(APP)}, provider: debug({json.dumps(DEBUG_TOKEN)}) }});
        check.onTokenChanged(() => {{}});
        console.log((await check.getToken()).token);
        globalThis.fetch = undefined;
    """
    result = subprocess.run([NODE, "--input-type=module", "-e", program], check=True, capture_output=True, text=True, timeout=60)
    assert web.verify(result.stdout.strip())["sub"] == APP.split("/")[-1]


# In Chromium


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chromium")
    extension = folder / "extension"
    shutil.copytree(HERE / "javascript/extension", extension)
    shutil.copy(MODULE / "app-check.js", extension)
    shutil.copy(HERE / "javascript/site/outcome.js", extension)
    browser = chromium.Chromium(folder, extension)
    yield browser
    browser.close()


@pytest.fixture
def context(browser):
    context = browser.context()
    yield context
    context.close()


def open_page(web, context, before="", query=""):
    return context.page(f"{web.site.address}/site/page.html{query}", before)


def make(web, name="check", **options):
    """The expression that makes a client of the real server."""
    options = {"endpoint": web.server.address, "app": APP, **options}
    return f"globalThis.{name} = new module.AppCheck({{...{json.dumps(options)}, provider: module.debug({json.dumps(DEBUG_TOKEN)})}})"


def token_of(page, call="check.getToken()"):
    outcome = page.run(f"outcome({call})")
    assert "value" in outcome, outcome
    return outcome["value"]["token"]


IN_PAGES = [*EVERYWHERE, *(f"sharing.{name}" for name in names("sharing"))]


@pytest.fixture(scope="module")
def paged(web, browser):
    """What became of each test in a page, whose policy allows no script but those of its site."""
    context = browser.context()
    page = open_page(web, context)
    files = list(dict.fromkeys(name.split(".")[0] for name in IN_PAGES))
    page.run(f"""globalThis.found = {{}}; (async () => {{
        const {{ run, scene }} = await import("/tests/scene.js");
        Object.assign(scene, {json.dumps(web.settings())}, {{ module }});
        for (const file of {json.dumps(files)}) await run(file, await import(`/tests/${{file}}.js`), {json.dumps(IN_PAGES)}, found);
        globalThis.isDone = true;
    }})(); 0""")
    # What is not done then has failed.
    with contextlib.suppress(TimeoutError):
        wait(lambda: page.run("globalThis.isDone === true"), 300)
    found = page.run("({ ...found, violations })")
    context.close()
    return found


@in_chromium
@pytest.mark.parametrize("name", IN_PAGES)
def test_in_a_page(paged, name):
    assert paged.get(name) == "ok"


@in_chromium
def test_no_policy_of_a_page_is_violated(paged):
    assert paged["violations"] == []


@in_chromium
def test_a_page_of_another_origin_gets_a_token_that_is_genuine(web, context):
    page = open_page(web, context)
    page.run(make(web))
    claims = web.verify(token_of(page))
    assert claims["sub"] == APP.split("/")[-1]
    # A page that is loaded again finds it.
    token, count = token_of(page), web.issued()
    page.go(f"{web.site.address}/site/page.html?again")
    page.run(make(web))
    assert token_of(page) == token
    assert web.issued() == count


@in_chromium
def test_two_tabs_make_one_exchange(web, context):
    pages, count = [open_page(web, context) for _ in range(3)], web.issued()
    for page in pages:
        page.run(make(web))
    assert len({token_of(page) for page in pages}) == 1
    # All at once, each with an object that knows nothing yet.
    for page in pages:
        page.run("globalThis.told = []; check.onTokenChanged(each => told.push(each.token))")
    pages[0].run("indexedDB.deleteDatabase('assay-app-check'); check.getToken(true).then(each => each.token)")
    last = token_of(pages[0])
    for page in pages:
        wait(lambda: page.run("told.at(-1)") == last)
    assert web.issued() == count + 2


@in_chromium
@pytest.mark.parametrize("kind", ["dedicated", "shared", "service"])
def test_a_worker_gets_tokens(web, context, kind):
    page = open_page(web, context)
    message = json.dumps({"endpoint": web.server.address, "app": APP, "secret": DEBUG_TOKEN})
    ways = {
        "dedicated": f"const worker = new Worker(addressOf('/site/worker.js'), {{ type: 'module' }}); worker.onmessage = take; worker.onerror = give; worker.postMessage({message})",
        "shared": f"const {{ port }} = new SharedWorker(addressOf('/site/worker.js'), {{ type: 'module' }}); port.onmessage = take; port.postMessage({message})",
        "service": f"""const {{ port1, port2 }} = new MessageChannel(); port1.onmessage = take;
            navigator.serviceWorker.register(addressOf('/site/worker.js'), {{ type: 'module' }}).then(() => navigator.serviceWorker.ready).then(
                found => found.active.postMessage({message}, [port2])).catch(give)""",
    }
    outcome = page.run(f"""new Promise((resolve, reject) => {{
        const take = event => resolve(event.data), give = error => reject(new Error(error.message ?? "the worker did not start"));
        {ways[kind]};
    }})""")
    session, again, single = outcome.get("tokens") or pytest.fail(str(outcome))
    assert session == again != single
    assert web.verify(session)["sub"] == web.verify(single)["sub"] == APP.split("/")[-1]
    # The page and its worker share it.
    page.run(make(web))
    assert token_of(page) == session


@in_chromium
def test_an_extension_gets_tokens(web, browser):
    # Chromium names one that is not packed by its folder, in letters for hex digits.
    name = hashlib.sha256(str(browser.extension).encode()).hexdigest()[:32].translate(str.maketrans("0123456789abcdef", "abcdefghijklmnop"))
    page = browser.page(f"chrome-extension://{name}/page.html")
    message = json.dumps({"endpoint": web.server.address, "app": APP, "secret": DEBUG_TOKEN})
    outcome = page.run(f"chrome.runtime.sendMessage({message})")
    assert "value" in outcome, outcome
    session, single = (each["token"] for each in outcome["value"])
    assert web.verify(session)["sub"] == web.verify(single)["sub"] == APP.split("/")[-1]
    assert session != single
    # Its pages share the token of its worker.
    count = web.issued()
    page.run(make(web))
    assert token_of(page) == session
    assert web.issued() == count
    page.close()


@in_chromium
def test_a_page_without_storage_gets_tokens(web, context):
    page = open_page(web, context, query="?sandbox")
    denied = page.run("""(async () => [
        self.origin, ...await Promise.all([() => indexedDB.open("a"), () => navigator.locks.request("a", () => 0)].map(
            async work => { try { await work(); return "allowed"; } catch (error) { return error.name; } }))])()""")
    assert denied == ["null", "SecurityError", "SecurityError"]
    page.run(make(web))
    token = token_of(page)
    assert token_of(page) == token
    assert token_of(page, "check.getToken(true)") != token
    assert page.run("violations") == []


@in_chromium
@pytest.mark.parametrize("hours", [-5, 5])
def test_the_clock_of_a_page_may_be_wrong_by_hours(web, context, hours):
    page = open_page(web, context, f"const genuine = Date.now; Date.now = () => genuine() + {hours * 3600_000};")
    assert abs(page.run("Date.now()") / 1000 - time.time() - hours * 3600) < 600
    page.run(make(web))
    token, count = token_of(page), web.issued()
    for _ in range(3):
        assert token_of(page) == token
    page.go(f"{web.site.address}/site/page.html?again")
    page.run(make(web))
    assert token_of(page) == token
    assert web.issued() == count
    web.verify(token)


@in_chromium
def test_a_page_that_was_frozen_for_a_day_gets_a_new_token(web, context):
    page = open_page(web, context, """
        globalThis.slept = 0;
        const genuine = Date.now;
        Date.now = () => genuine() + slept;""")
    page.run(make(web))
    page.run("check.onTokenChanged(() => {})")
    token, count = token_of(page), web.issued()
    page.call("Page.setWebLifecycleState", state="frozen")
    page.run("slept = 86400000; 0")
    page.call("Page.setWebLifecycleState", state="active")
    assert token_of(page) != token
    assert web.issued() == count + 1


@in_chromium
def test_a_server_that_was_away_is_asked_again(web, context):
    page = open_page(web, context)
    page.run(make(web))
    web.server.process.kill()
    web.server.process.wait(timeout=30)
    assert page.run("outcome(check.getToken())")["code"] == "unreachable"
    assert page.run("outcome(check.getLimitedUseToken())")["code"] == "unreachable"
    web.restart()
    assert web.verify(token_of(page))["sub"] == APP.split("/")[-1]


@in_chromium
def test_a_page_reads_how_long_the_server_wants_to_be_left_alone(web, context):
    page = open_page(web, context)
    page.run(make(web, app="projects/example-project/apps/1:1234567890:web:limited"))
    for _ in range(50):
        outcome = page.run("outcome(check.getLimitedUseToken())")
        if "value" not in outcome:
            break
    assert (outcome["code"], outcome["status"]) == ("throttled", 429)
    # Longer than any pause without Retry-After after one failure.
    assert 3001 < outcome["retryAfterMillis"] <= 90_000
    assert outcome["decision"]
    # Another tab is told.
    other = open_page(web, context)
    other.run(make(web, app="projects/example-project/apps/1:1234567890:web:limited"))
    assert other.run("outcome(check.getLimitedUseToken())")["decision"] == outcome["decision"]


@in_chromium
def test_a_page_that_the_server_does_not_allow_gets_nothing(web, context, authority, apple, tmp_path):
    server = Server(
        tmp_path, authority, apple, (web.server.folder / "policies/policy.yaml").read_text(), ("--allow-origin", "https://app.example.com"))
    server.start()
    try:
        web.site.servers.append(server.address)
        page = open_page(web, context)
        page.run(make(web, endpoint=server.address))
        outcome = page.run("outcome(check.getToken())")
        assert outcome["code"] == "unreachable" and "origins" in outcome["message"]
    finally:
        assert server.stop() == 0


@in_chromium
def test_the_example_shows_tokens_and_errors(web, context, tmp_path):
    page = context.page(f"{web.site.address}/example/index.html", "globalThis.isReady = true")
    text = lambda selector: f"document.querySelector({json.dumps(selector)}).textContent"  # noqa: E731
    wait(lambda: page.run("document.readyState === 'complete'"))
    page.run("""globalThis.open = fields => {
        for (const [name, value] of Object.entries(fields)) document.querySelector(`[name=${name}]`).value = value;
        document.querySelector("#server button").click();
    }; 0""")
    fields = {"endpoint": web.server.address, "app": APP, "secret": DEBUG_TOKEN, "url": f"{web.server.address}/v1/jwks"}
    page.run(f"open({json.dumps(fields)})")
    wait(lambda: "until" in page.run(text("#token")))
    page.run("document.querySelector('#single').click()")
    wait(lambda: "kept nowhere" in page.run(text("#events")))
    page.run("document.querySelector('#call button').click()")
    wait(lambda: page.run(text("#answer")).startswith("200 "))
    page.run("open({ secret: 'wrong' })")
    page.run("document.querySelector('#renew').click()")
    wait(lambda: "refused" in page.run(text("#events .error")))
    for width in (360, 900):
        picture = page.picture(width, 900)
        (tmp_path / f"{width}.png").write_bytes(picture)
        assert struct.unpack(">II", picture[16:24]) == (width, 900)
        # On a phone too, nothing is cut off at the side.
        assert page.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


# The files


def code(path):
    """Without comments."""
    return re.sub(r"/\*.*?\*/|^\s*//.*$", "", path.read_text(), flags=re.S | re.M)


def test_the_module_evaluates_no_text_and_loads_nothing():
    text = code(MODULE / "app-check.js")
    for forbidden in (r"\beval\b", r"\bFunction\b", r"\bimport\b", r"\brequire\b", r"\bdocument\b", r"\bimportScripts\b", r"\binnerHTML\b", r"\bXMLHttpRequest\b"):
        assert not re.search(forbidden, text), forbidden
    # A timer with text would be evaluated.
    assert not re.search(r"setTimeout\(\s*[\"'`]", text)
    package = json.loads((MODULE / "package.json").read_text())
    assert not [key for key in package if "ependencies" in key or key in ("scripts", "bin")]


@pytest.mark.skipif(not shutil.which("esbuild"), reason="there is no esbuild")
@in_node
def test_it_is_small_and_runs_when_it_is_minified(web, tmp_path):
    small = tmp_path / "app-check.mjs"
    subprocess.run(
        ["esbuild", "--bundle", "--minify", "--format=esm", f"--outfile={small}", MODULE / "app-check.js"], check=True, capture_output=True, timeout=120)
    assert small.stat().st_size <= 12 * 1000
    program = f"""
        import {{ AppCheck, debug }} from {json.dumps(str(small))};
        const check = new AppCheck({{ endpoint: {json.dumps(web.server.address)}, app: {json.dumps(APP)}, provider: debug({json.dumps(DEBUG_TOKEN)}) }});
        console.log((await check.getToken()).token);
    """
    result = subprocess.run([NODE, "--input-type=module", "-e", program], check=True, capture_output=True, text=True, timeout=60)
    assert web.verify(result.stdout.strip())["sub"] == APP.split("/")[-1]


@pytest.mark.skipif(not shutil.which("tsc"), reason="there is no TypeScript")
def test_the_types_are_those_of_the_programs_of_the_readme(tmp_path):
    shutil.copy(MODULE / "app-check.d.ts", tmp_path)
    programs = re.findall(r"```js\n(.*?)```", textwrap.dedent(re.sub(r"^   ", "", (MODULE / "README.md").read_text(), flags=re.M)), re.S)
    assert len(programs) == 4
    page, call, firebase, program = programs
    declared = """
        declare const app: unknown, backend: { signedToken(): Promise<string> };
        declare function initializeAppCheck(app: unknown, options: object): void;
        declare class CustomProvider { constructor(options: { getToken: () => Promise<{ readonly token: string, readonly expireTimeMillis: number }> }) }
    """
    (tmp_path / "page.ts").write_text(page + declared + call + firebase)
    (tmp_path / "program.ts").write_text(program.replace("const orders", "declare const backend: { signedToken(): Promise<string> };\nconst orders") + "export {}")
    (tmp_path / "wrong.ts").write_text(page.replace("sitekey", "siteKey"))
    options = ["tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "es2022", "--moduleResolution", "node", "--lib", "es2022,dom"]
    result = subprocess.run([*options, "page.ts", "program.ts"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stdout) == (0, "")
    assert subprocess.run([*options, "wrong.ts"], cwd=tmp_path, capture_output=True, text=True, timeout=120).returncode != 0


def test_every_export_has_a_type():
    exported = set(re.findall(r"^export (?:class|const|function|async function) (\w+)", (MODULE / "app-check.js").read_text(), re.M))
    typed = set(re.findall(r"^export (?:declare )?(?:class|const|function) (\w+)", (MODULE / "app-check.d.ts").read_text(), re.M))
    assert exported == typed != set()
    # Every code that is made is a code of the type.
    made = set(re.findall(r'(?:fail|AppCheckError)\(\s*"(\w+)"', (MODULE / "app-check.js").read_text()))
    made |= set(re.findall(r"^  (\w+): \"", (MODULE / "app-check.js").read_text(), re.M))
    union = re.search(r"type AppCheckErrorCode =(.*?);", (MODULE / "app-check.d.ts").read_text(), re.S)[1]
    assert made == set(re.findall(r'"(\w+)"', union))
