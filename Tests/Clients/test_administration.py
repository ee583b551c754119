"""What operators call, with Google's own API client."""

import re

import pytest
from google.auth.exceptions import GoogleAuthError
from googleapiclient.errors import HttpError

from server import APP, APP_ID, CLIENT, DEBUG_TOKEN, NUMBER, PROJECT

PARENT = f"projects/{NUMBER}"
SERVICES = f"{PARENT}/services"
OAUTH = f"{SERVICES}/oauth2.googleapis.com"
CONFIG = f"{PARENT}/apps/{APP_ID}/appAttestConfig"


def failure(request):
    with pytest.raises(HttpError) as caught:
        request.execute()
    return caught.value.status_code, caught.value.reason


def test_config(administrator):
    configs = administrator.projects().apps().appAttestConfig()
    config = {"name": CONFIG, "tokenTtl": "3600s"}
    assert configs.get(name=f"{APP}/appAttestConfig").execute() == config
    assert configs.batchGet(parent=PARENT).execute() == {"configs": [config]}
    # 100 names are too long for a request line: the client sends them as a form.
    assert configs.batchGet(parent=PARENT, names=[CONFIG] * 100).execute() == {"configs": [config] * 100}
    assert failure(configs.batchGet(parent=PARENT, names=[CONFIG] * 101))[0] == 400
    assert configs.patch(name=CONFIG, updateMask="tokenTtl", body=config).execute() == config
    status, reason = failure(configs.patch(name=CONFIG, updateMask="tokenTtl", body={"tokenTtl": "7200s"}))
    assert status == 400
    assert re.search(r"policy\.yaml:\d+:\d+", reason)


def test_services(administrator):
    services = administrator.projects().services()
    name = f"{SERVICES}/firestore.googleapis.com"
    before = services.get(name=name).execute()
    assert before["enforcementMode"] == "UNENFORCED"
    body = {"enforcementMode": "ENFORCED", "replayProtection": "UNENFORCED", "etag": before["etag"]}
    mask = "enforcementMode,replayProtection"
    changed = services.patch(name=name, updateMask=mask, body=body).execute()
    assert changed["replayProtection"] == "UNENFORCED"
    assert failure(services.patch(name=name, updateMask=mask, body=body))[0] == 409
    wrong = {"enforcementMode": "UNENFORCED", "replayProtection": "ENFORCED"}
    assert failure(services.patch(name=name, updateMask=mask, body=wrong))[0] == 400
    # As Terraform deletes: what the mask names and the body lacks goes back to OFF.
    reset = services.patch(name=name, updateMask=mask, body={}).execute()
    assert "enforcementMode" not in reset and "replayProtection" not in reset
    batch = {
        "updateMask": "enforcement_mode",
        "requests": [
            {"service": {"name": f"{SERVICES}/places.googleapis.com", "enforcementMode": "ENFORCED"}},
            {"service": {"name": name, "enforcementMode": "UNENFORCED"}},
        ],
    }
    reply = services.batchUpdate(parent=PARENT, body=batch).execute()
    assert [service["enforcementMode"] for service in reply["services"]] == ["ENFORCED", "UNENFORCED"]

    found, request = [], services.list(parent=f"projects/{PROJECT}", pageSize=2)
    while request is not None:
        page = request.execute()
        found += page.get("services", [])
        request = services.list_next(request, page)
    assert [service["name"].split("/")[-1] for service in found] == [
        "firestore.googleapis.com", "oauth2.googleapis.com", "orders.example.com", "places.googleapis.com",
    ]


def test_service_of_the_file(administrator):
    services = administrator.projects().services()
    for service in ["orders.example.com", "identitytoolkit.googleapis.com"]:
        status, reason = failure(
            services.patch(
                name=f"{SERVICES}/{service}", updateMask="enforcementMode", body={"enforcementMode": "UNENFORCED"}))
        assert status == 400
        assert re.search(r"policy\.yaml:\d+:\d+", reason)
    assert services.get(name=f"{SERVICES}/identitytoolkit.googleapis.com").execute()["updateTime"] == (
        "1970-01-01T00:00:00Z")
    assert failure(services.get(name=f"{SERVICES}/nobody.example.com"))[1].startswith("Service not supported")


def test_resource_policies(administrator):
    policies = administrator.projects().services().resourcePolicies()
    target = f"//oauth2.googleapis.com/{PARENT}/{CLIENT}"
    body = {"targetResource": target, "enforcementMode": "ENFORCED"}
    made = policies.create(parent=OAUTH, body=body).execute()
    name = made["name"]
    assert policies.get(name=name).execute() == made
    assert failure(policies.create(parent=OAUTH, body=body))[0] == 409
    for filter, count in [(f'enforcement_mode = ENFORCED AND target_resource = "{target}"', 1),
                          ("enforcement_mode = OFF", 0)]:
        assert len(policies.list(parent=OAUTH, filter=filter).execute().get("resourcePolicies", [])) == count
    assert failure(policies.list(parent=OAUTH, filter="name : x"))[0] == 400
    changed = policies.patch(name=name, updateMask="enforcementMode", body={}).execute()
    assert "enforcementMode" not in changed
    batch = {"requests": [{
        "updateMask": "enforcementMode", "resourcePolicy": {"name": name, "enforcementMode": "UNENFORCED"}}]}
    reply = policies.batchUpdate(parent=OAUTH, body=batch).execute()
    assert reply["resourcePolicies"][0]["enforcementMode"] == "UNENFORCED"
    assert failure(policies.delete(name=name, etag=made["etag"]))[0] == 409
    assert policies.delete(name=name, etag=reply["resourcePolicies"][0]["etag"]).execute() == {}
    assert failure(policies.get(name=name))[0] == 404


@pytest.mark.parametrize("body, ttl", [
    ({}, "3600s"), ({"tokenTtl": "7200s"}, "7200s"), ({"limitedUseConfig": {"jti": "an-order-0123456"}}, "300s"),
])
def test_mint(administrator, body, ttl):
    apps = administrator.projects().apps()
    reply = apps.mintAppCheckToken(app=APP, body=body).execute()
    assert set(reply) == {"token", "ttl"}
    assert reply["ttl"] == ttl
    assert failure(apps.mintAppCheckToken(app=APP, body={"tokenTtl": "60s"}))[0] == 400


def test_verify(administrator, anybody, version):
    if version == "v1":
        pytest.skip("the discovery document of v1 does not have the method")
    token = anybody.projects().apps().exchangeDebugToken(app=APP, body={"debugToken": DEBUG_TOKEN}).execute()["token"]
    projects = administrator.projects()
    for expected in [{}, {"alreadyConsumed": True}]:
        reply = projects.verifyAppCheckToken(project=PARENT, body={"appCheckToken": token}).execute()
        assert reply == expected
    request = projects.verifyAppCheckToken(project=PARENT, body={"appCheckToken": f"{token[:-8]}AAAAAAAA"})
    assert failure(request) == (403, "The App Check token is invalid.")
    request = anybody.projects().verifyAppCheckToken(project=PARENT, body={"appCheckToken": token})
    # google-auth takes a 401 for a call to fetch another token, which nobody has.
    with pytest.raises(GoogleAuthError):
        request.execute()


def test_not_offered(administrator, anybody, version):
    apps = anybody.projects().apps()
    requests = [
        apps.exchangeRecaptchaEnterpriseToken(app=APP, body={"recaptchaEnterpriseToken": "x"}),
        apps.exchangeRecaptchaV3Token(app=APP, body={"recaptchaV3Token": "x"}),
    ]
    for request in requests:
        # Offered, and not for this app.
        status, reason = failure(request)
        assert status == 400
        assert reason.startswith("App not registered")
    if version == "v1beta":
        status, reason = failure(administrator.projects().services().automations().list(parent=OAUTH))
        assert status == 501
        assert reason.startswith("This server does not offer the method")
