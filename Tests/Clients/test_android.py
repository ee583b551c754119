"""What `assay verify android-key` says of real and of changed chains, and what a second implementation says."""

import base64
import datetime
import json
import os
import pathlib
import random
import re
import subprocess

import pytest

import android

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


def verdicts(chains):
    """What Assay says of each: a reason, or None for what it accepts."""
    result = subprocess.run(
        [ASSAY, "verify", "android-key", "--batch", "-"], input="\n".join(map(line, chains)), capture_output=True,
        text=True, timeout=600)
    assert result.returncode in (0, 1), result.stderr
    found = [json.loads(text) for text in result.stdout.splitlines()]
    assert [one["line"] for one in found] == list(range(1, len(chains) + 1))
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
    chains = list(samples())
    assert len(chains) > 60
    for sample, reason in zip(chains, verdicts(chains)):
        assert (reason is None) == sample["accepted"], (sample["name"], reason)
        assert (second(sample) is None) == sample["accepted"], (sample["name"], second(sample))


def changed(random, chains):
    """A chain with one change, or two."""
    sample = dict(random.choice(chains))
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
            chain.insert(random.randrange(len(chain) + 1), random.choice(random.choice(chains)["chain"]))
        else:
            other = random.choice(chains)
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
    chains = [changed(chooser, accepted) for _ in range(NUMBER)]
    found = verdicts(chains)
    passed = 0
    for sample, reason in zip(chains, found):
        other = second(sample)
        assert (reason is None) == (other is None), (seed, sample["name"], reason, other, line(sample))
        passed += reason is None
    print(f"android: {len(chains)} changed chains, seed {seed}, {passed} accepted by both")
