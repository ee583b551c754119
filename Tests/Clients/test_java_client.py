"""The client library for Android and the JVM: compiled for Java 11, and run against a real server and scripted ones.

The tests are Java's, `java/tests`. The sources for Android, Firebase and OkHttp are compiled against small declarations of what they use,
`java/stubs`. A security provider in software stands in for Android's key store.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from authorities import Issuer
from server import DEBUG_TOKEN, Server

HERE = pathlib.Path(__file__).parent
LIBRARY = HERE.parent.parent / "Sources/Clients/Java"
TESTS = HERE / "java/tests/assay/appcheck"
sys.path.append(str(HERE / "java"))

from makers import Maker  # noqa: E402

pytestmark = pytest.mark.skipif(not shutil.which("javac"), reason="there is no Java compiler")

ANDROID = "1:1234567890:android:321abc456def7890"
POLICY = """\
callers:
  administrator: {token: "env:ASSAY_ADMIN_TOKEN", permissions: [admin]}
projects:
  - number: NUMBER
    id: PROJECT
    verification: {accept_development: true}
    apps:
      - id: THE_ANDROID_ONE
        android: {package: com.example.app, signing_digests: ["THE_DIGEST"]}
        providers:
          android_key:
            key_in_tokens: true
            roots: THE_ROOT
            revocation: {list: "THE_LIST", stale: accept}
          custom:
            issuers: [{issuer: "https://login.example.com/", audiences: ["https://assay.example.com"], jwks: "file:THE_KEYS"}]
          debug:
            tokens: [{name: of the environment, token: "env:ASSAY_DEBUG_TOKEN"}]
    consumers:
      custom_backend:
        tokens: {accept_development: true}
        backends:
          orders:
            original_request: x-original
            request_proof: {authorities: [api.example.com, "127.0.0.1:THE_PORT"]}
          payments: {tokens: {limited_use: true}}
"""


def names(file):
    return re.findall(r"public static void (\w+)\(\)", (TESTS / f"{file}.java").read_text())


def javac(folder, *sources, classes=None):
    files = [path for source in sources for path in sorted(source.rglob("*.java"))]
    options = ["-cp", classes] if classes else ["-Xlint:all", "-Xlint:-serial", "-Werror"]
    subprocess.run(
        ["javac", "--release", "11", *options, "-d", folder, *files], check=True, stdin=subprocess.DEVNULL, timeout=300)


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classes")
    javac(folder, *(LIBRARY / part for part in ("library", "android", "firebase", "okhttp")), HERE / "java/stubs")
    javac(folder, HERE / "java/tests", classes=folder)
    return folder


class Phones:
    """A server whose policy trusts a maker of devices, and what Java is told of it."""

    def __init__(self, folder, authority, apple, arguments=()):
        maker, stranger = Maker(folder / "maker"), Maker(folder / "stranger")
        key = ec.generate_private_key(ec.SECP256R1())
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key()))
        (folder / "keys.json").write_text(json.dumps({"keys": [{**public, "kid": "1", "alg": "ES256", "use": "sig"}]}))
        (folder / "revoked.json").write_text('{"entries": {}}')
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        values = {
            "THE_ANDROID_ONE": ANDROID, "THE_DIGEST": hashlib.sha256(b"the certificate of the app").hexdigest(),
            "THE_ROOT": json.dumps(maker.root_pem), "THE_LIST": str(folder / "revoked.json"), "THE_KEYS": str(folder / "keys.json"),
            "THE_PORT": str(port),
        }
        (folder / "server").mkdir()
        self.server = Server(
            folder / "server", authority, apple, re.sub("|".join(values), lambda match: values[match.group()], POLICY), arguments)
        self.server.start()
        now = int(time.time())
        custom = jwt.encode(
            {"iss": "https://login.example.com/", "sub": "somebody", "aud": "https://assay.example.com", "app_id": ANDROID,
             "iat": now, "exp": now + 1800}, key, "ES256", {"kid": "1"})
        self.settings = {
            "authority": maker.folder, "stranger": stranger.folder, "proxy": port, "custom": custom, "debug": DEBUG_TOKEN}

    def answer(self, what):
        """Does what Java asks for."""
        if what == "kill":
            self.server.process.kill()
            self.server.process.wait(timeout=30)
        elif what == "start":
            self.server.arguments = ("--listen", self.server.address.removeprefix("http://"))
            self.server.start()
        else:
            decision, end = what.removeprefix("recorded "), time.monotonic() + 30
            while decision not in (self.server.folder / "log").read_text():
                if time.monotonic() > end:
                    return "no"
                time.sleep(0.05)
            return "yes"
        return "done"


def run(classes, tests, phones=None, environment=None, options=()):
    """What became of each test."""
    settings = {"server": phones.server.address, **phones.settings} if phones else {}
    process = subprocess.Popen(
        ["java", "-ea", "-cp", classes, *options, *(f"-Dassay.{name}={value}" for name, value in settings.items()), "assay.appcheck.Runner", *tests],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
    watchdog = threading.Timer(300, process.kill)
    watchdog.start()
    found = {}
    with contextlib.closing(process.stdout):
        for line in process.stdout:
            word, _, rest = line.strip().partition(" ")
            if word == "ask":
                process.stdin.write(phones.answer(rest) + "\n")
                process.stdin.flush()
            elif word in ("ok", "failed"):
                name, _, why = rest.partition(" ")
                found[name] = word if word == "ok" else why
    watchdog.cancel()
    assert process.wait(timeout=30) == 0
    return found


@pytest.fixture(scope="module")
def phones(authority, apple, tmp_path_factory):
    phones = Phones(tmp_path_factory.mktemp("phones"), authority, apple)
    # Proofs that are made in the first seconds of a state could have been used before it.
    phones.server.age()
    yield phones
    assert phones.server.stop() == 0


ALONE = ["WireTests", "TokenTests", "ReplyTests", "ProviderTests", "AdapterTests"]


@pytest.fixture(scope="module")
def alone(classes):
    return run(classes, ALONE)


@pytest.mark.parametrize("name", [f"{file}.{name}" for file in ALONE for name in names(file)])
def test_alone(alone, name):
    assert alone.get(name) == "ok"


@pytest.fixture(scope="module")
def served(classes, phones):
    return run(classes, ["ServerTests", "AttestationTests", "OutageTests"], phones)


@pytest.mark.parametrize("name", [f"{file}.{name}" for file in ("ServerTests", "AttestationTests", "OutageTests") for name in names(file)])
def test_with_a_server(served, name):
    assert served.get(name) == "ok"


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
@pytest.mark.parametrize("hours", [-5, 5])
def test_a_clock_that_is_wrong_by_hours_makes_no_difference(classes, phones, tmp_path, hours):
    library = tmp_path / "clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "java/clock.c", "-ldl"], check=True)
    tests = [f"ServerTests.{name}" for name in (
        "aKeyIsAttestedOnceAndAssertsThen", "aProofIsAcceptedOnce", "anExpiredSessionIsReplaced", "aLimitedUseTokenIsConsumedOnce")]
    found = run(
        classes, [*tests, "ClockTests"], phones, {"LD_PRELOAD": str(library), "WRONG_BY": str(hours * 3600)})
    assert found.pop("ClockTests.theTimeOfDayIsWrong") == "ok"
    assert found == dict.fromkeys(tests, "ok")


@pytest.mark.skipif(not shutil.which("keytool"), reason="there is no keytool")
def test_tls(classes, authority, apple, tmp_path):
    issuer = Issuer("Example")
    certificate, key = issuer.issue("localhost", server=True)
    for name, content in (("server.pem", certificate), ("server.key", key), ("ca.pem", issuer.pem)):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "server.key").chmod(0o600)
    store = tmp_path / "trusted.p12"
    subprocess.run(
        ["keytool", "-importcert", "-noprompt", "-alias", "example", "-storetype", "PKCS12", "-storepass", "changeit",
         "-keystore", store, "-file", tmp_path / "ca.pem"], check=True, capture_output=True, timeout=60)
    phones = Phones(
        tmp_path, authority, apple, ("--tls-certificate", tmp_path / "server.pem", "--tls-key", tmp_path / "server.key"))
    try:
        phones.settings["server"] = "https://localhost:" + phones.server.address.rpartition(":")[2]
        tests = [f"TlsTests.{name}" for name in names("TlsTests")]
        trust = (f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=changeit")
        assert run(classes, tests[:2], phones, options=trust) == dict.fromkeys(tests[:2], "ok")
        assert run(classes, tests[2:], phones) == dict.fromkeys(tests[2:], "ok")
    finally:
        assert phones.server.stop() == 0


# What of Java the library uses. To our knowledge Android 7 (API level 24) has each line; the SDK itself was not at hand.
PLATFORM = HERE / "java/platform.txt"
# They use more: one is for systems that have `java.nio.file`, and Firebase's SDK compares with the time of day.
EXCEPT = {"PrivateFiles$Check": "java/nio/file/Files.readAttributes", "FirebaseToken": "java/lang/System.currentTimeMillis"}


def test_nothing_is_newer_than_android_7_and_nothing_reads_the_time_of_day(tmp_path):
    javac(tmp_path, *(LIBRARY / part for part in ("library", "android", "firebase", "okhttp")), HERE / "java/stubs")
    files = sorted((tmp_path / "assay").rglob("*.class"))
    assert len(files) > 60
    text = subprocess.run(["javap", "-c", "-p", *files], check=True, capture_output=True, text=True).stdout
    used = set()
    for part in re.split(r"^Compiled from .*$", text, flags=re.M)[1:]:
        name = re.search(r"(?:class|interface|enum) ([\w.$]+)", part)[1].rpartition(".")[2]
        found = set(re.findall(r"(?:Method|Field) (javax?/[\w/$]+\.[^:\s]+):", part))
        assert EXCEPT.get(name) in found | {None}
        used |= set() if name in EXCEPT else found
    assert used - set(PLATFORM.read_text().split()) == set()
    assert not [one for one in used if one.startswith(("java/time", "java/net/http", "java/nio/file", "java/util/Base64")) or "currentTime" in one]


def test_every_public_declaration_says_what_it_is_for(tmp_path):
    files = [path for part in ("library", "android", "firebase", "okhttp") for path in sorted((LIBRARY / part).rglob("*.java"))]
    stubs = tmp_path / "stubs"
    javac(stubs, HERE / "java/stubs")
    result = subprocess.run(
        ["javac", "--release", "11", "-cp", stubs, "-Xdoclint:all/protected", "-Xmaxwarns", "10000", "-d", tmp_path, *files],
        capture_output=True, text=True)
    found = [line for line in result.stderr.splitlines() if "warning: no comment" in line or ": error:" in line]
    assert result.returncode == 0 and found == []
    assert max(len(file.read_text().splitlines()) for file in files) <= 300


def test_a_jar_is_made_of_the_same_bytes_twice(tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(LIBRARY, copy)
    for source in copy.rglob("*.java"):
        os.utime(source, (1, 1))
    jars = []
    for folder in (LIBRARY, copy):
        jars.append(tmp_path / f"{len(jars)}.jar")
        subprocess.run([folder / "build", "--output", jars[-1]], check=True, stdout=subprocess.DEVNULL, timeout=300)
    assert jars[0].read_bytes() == jars[1].read_bytes()
    print(f"java: the jar has {jars[0].stat().st_size} bytes")


def test_the_program_of_the_readme_compiles(tmp_path, classes):
    [program] = re.findall(r"```java\n(.*?)```", (LIBRARY / "README.md").read_text(), re.S)
    imports = "".join(f"import assay.appcheck{part}.*; " for part in ("", ".calls", ".provider", ".storage", ".transport"))
    (tmp_path / "Readme.java").write_text(
        f"import java.io.*; {imports}\nclass Readme {{ interface Backend {{ String signedToken(); }}\n"
        f"static void main(Backend backend) throws Exception {{\n{program}}} }}\n")
    javac(tmp_path / "out", tmp_path, classes=classes)
