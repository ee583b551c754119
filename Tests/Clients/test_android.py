"""What `assay verify android-key` says of real and of changed chains, and what a second implementation says."""

import base64
import collections
import datetime
import itertools
import json
import os
import pathlib
import random
import re
import subprocess

import pytest
import requests

import android
import chains
from server import Server

ASSAY = os.environ["ASSAY"]
SHARED = pathlib.Path(os.environ.get("ASSAY_SHARED", pathlib.Path(__file__).parents[3] / "shared")) / "fixtures/android"
NUMBER = int(os.environ.get("ASSAY_ANDROID_CHAINS", "20000"))

pytestmark = pytest.mark.skipif(not SHARED.exists(), reason="the public fixtures are not beside this checkout")


def blocks(text):
    return [base64.b64decode(found) for found in re.findall(r"-----BEGIN CERTIFICATE-----(.*?)-----END", text, re.S)]


def samples():
    for path in sorted((SHARED / "chains").glob("*.pem")):
        facts = json.loads(path.with_suffix(".json").read_text())
        description = facts.get("key_description")
        if not isinstance(description, dict):
            continue
        application = description.get("softwareEnforced", {}).get("attestationApplicationId")
        if not application or not application["signatureDigests"]:
            continue
        yield {
            "name": path.stem, "chain": blocks(path.read_text()), "package": application["packages"][0]["name"],
            "signing_digests": application["signatureDigests"],
            "challenge": base64.b64decode(description["attestationChallenge_base64"]),
            "valid_at": facts["valid_at"] or "2026-11-28T12:00:00Z",
            # The list of revoked certificates is no matter of these tests.
            "accepted": facts["expected"].startswith("accept") or facts.get("refuse_because") == ["revoked serial"],
        }


def line(sample):
    return json.dumps({
        "chain_base64": [base64.b64encode(der).decode() for der in sample["chain"]], "package": sample["package"],
        "signing_digests": sample["signing_digests"],
        "challenge_base64": base64.b64encode(sample["challenge"]).decode(), "valid_at": sample["valid_at"],
    })


def verdicts(samples):
    """What Assay says of each: a reason, or None for what it accepts."""
    result = subprocess.run(
        [ASSAY, "verify", "android-key", "--batch", "-"], input="\n".join(map(line, samples)), capture_output=True,
        text=True, timeout=600)
    assert result.returncode in (0, 1), result.stderr
    found = [json.loads(text) for text in result.stdout.splitlines()]
    assert [one["line"] for one in found] == list(range(1, len(samples) + 1))
    return [None if one["verdict"] == "verified" else one["reason"] for one in found]


def second(sample):
    """What the second implementation says."""
    try:
        android.judge(
            sample["chain"], sample["package"], [bytes.fromhex(one) for one in sample["signing_digests"]],
            sample["challenge"], datetime.datetime.fromisoformat(sample["valid_at"].replace("Z", "+00:00")))
    except android.Refused as refused:
        return f"{refused}"
    return None


@pytest.fixture(scope="module", autouse=True)
def roots():
    android.trust([blocks(text)[0] for text in json.loads((SHARED / "roots/google-roots.json").read_text())])


def test_real_chains_are_judged_alike():
    found = list(samples())
    assert len(found) > 60
    for sample, reason in zip(found, verdicts(found)):
        assert (reason is None) == sample["accepted"], (sample["name"], reason)
        assert (second(sample) is None) == sample["accepted"], (sample["name"], second(sample))


def changed(random, genuine):
    """A chain with one change, or two."""
    sample = dict(random.choice(genuine))
    chain = list(sample["chain"])
    for _ in range(random.choice([1, 1, 1, 2])):
        index = random.randrange(len(chain))
        kind = random.randrange(10)
        if kind < 5 and chain[index]:
            der = bytearray(chain[index])
            der[random.randrange(len(der))] ^= 1 << random.randrange(8)
            chain[index] = bytes(der)
        elif kind == 5:
            chain[index] = chain[index][:random.randrange(len(chain[index]) + 1)]
        elif kind == 6 and len(chain) > 1:
            other = random.randrange(len(chain))
            chain[index], chain[other] = chain[other], chain[index]
        elif kind == 7 and len(chain) > 1:
            del chain[index]
        elif kind == 8:
            chain.insert(random.randrange(len(chain) + 1), random.choice(random.choice(genuine)["chain"]))
        else:
            other = random.choice(genuine)
            chain[index:] = other["chain"][index:]
    if random.random() < 0.2:
        days = random.choice([-3000, -400, 400, 3000])
        at = datetime.datetime.fromisoformat(sample["valid_at"].replace("Z", "+00:00"))
        sample["valid_at"] = (at + datetime.timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
    sample["chain"] = chain
    return sample


def test_changed_chains_are_judged_alike():
    seed = int(os.environ.get("ASSAY_ANDROID_SEED", "20261128"))
    chooser = random.Random(seed)
    accepted = [sample for sample in samples() if sample["accepted"]]
    made = [changed(chooser, accepted) for _ in range(NUMBER)]
    found = verdicts(made)
    passed = 0
    for sample, reason in zip(made, found):
        other = second(sample)
        assert (reason is None) == (other is None), (seed, sample["name"], reason, other, line(sample))
        passed += reason is None
    print(f"android: {len(made)} changed chains, seed {seed}, {passed} accepted by both")


def put_together(genuine):
    """Chains that an attacker can make of genuine ones."""
    for number, sample in enumerate(genuine):
        chain = sample["chain"]
        made = [chains.forged(chain, sample["challenge"]), chains.extended(chain, sample["challenge"]), chains.moved(chain)]
        # Neighbours in the list are often of one maker; one of another is farther away.
        made += [chains.spliced(chain, genuine[(number + step) % len(genuine)]["chain"]) for step in (1, 2, 17)]
        for name, chain in itertools.chain(*made):
            yield sample, name, chain


def for_challenge(chain, challenge):
    """Those that are made for a challenge, and the genuine chain moved around one that is."""
    yield from chains.forged(chain, challenge)
    yield from chains.extended(chain, challenge)
    forged = next(chains.forged(chain, challenge))[1]
    yield from itertools.islice(chains.moved(forged), 0, None, 5)


def test_no_chain_that_was_put_together_is_accepted():
    """Each at the time of the genuine one, under a policy without settings, which the genuine ones pass."""
    genuine = [sample for sample in samples() if sample["accepted"]]
    made = [
        (name, dict(sample, chain=chain), chains.says_the_same(chain, sample["chain"]))
        for sample, name, chain in put_together(genuine) if chain and chain != sample["chain"]]
    found = verdicts([sample for _, sample, _ in made])
    accepted = 0
    for (name, sample, is_genuine), reason in zip(made, found):
        # Without its root, or with another certificate of the root's key, a chain says what it said.
        assert reason or is_genuine, (sample["name"], name, line(sample))
        accepted += not reason
    assert len(made) > 8_000 and accepted < len(made) // 20
    print(f"android: {len(made)} chains put together, {accepted} the same as genuine ones, the others refused")


POLICY = """\
projects:
  - number: NUMBER
    id: PROJECT
    apps:
APPS"""


def test_a_server_accepts_no_chain_that_was_put_together(authority, apple, tmp_path):
    """As an attacker has it: with challenges of the server, and leaves that are made for them."""
    genuine = [sample for sample in samples() if sample["accepted"]]
    apps = sorted({(sample["package"], tuple(sorted(sample["signing_digests"]))) for sample in genuine})
    text = "".join(
        f"""\
      - id: 1:1234567890:android:{index:016x}
        android: {{package: {package}, signing_digests: {json.dumps(digests)}}}
        providers:
          android_key: {{revocation: {{list: {json.dumps(str(tmp_path / "status.json"))}}}}}
""" for index, (package, digests) in enumerate(apps))
    (tmp_path / "status.json").write_text('{"entries": {}}')
    server = Server(tmp_path, authority, apple, text=POLICY.replace("APPS", text))
    server.start()
    session = requests.Session()
    statuses = collections.Counter()
    try:
        names = {}
        for index, (package, digests) in enumerate(apps):
            names[package, digests] = f"{server.address}/v1/projects/1234567890/apps/1:1234567890:android:{index:016x}"
        for sample in genuine[::3]:
            app = names[sample["package"], tuple(sorted(sample["signing_digests"]))]
            # As many as there are; each is made anew for its challenge.
            for number in range(sum(1 for _ in for_challenge(sample["chain"], b""))):
                challenge = session.post(f"{app}:generateAndroidKeyChallenge", json={}).json()["challenge"]
                made = for_challenge(sample["chain"], base64.b64decode(challenge))
                name, chain = next(itertools.islice(made, number, None))
                reply = session.post(
                    f"{app}:exchangeAndroidKeyAttestation",
                    json={"attestationChain": [base64.b64encode(der).decode() for der in chain], "challenge": challenge})
                assert reply.status_code in (400, 403), (sample["name"], name, reply.text)
                statuses[reply.status_code] += 1
    finally:
        assert server.stop() == 0
    assert statuses[403] > 500
    print(f"android: {sum(statuses.values())} exchanges with a server, {dict(statuses)}")
