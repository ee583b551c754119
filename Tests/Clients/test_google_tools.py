"""Google's CLI and Terraform's provider, by their requests, with what the article *Use Google's tools* says of each."""

import os
import pathlib
import re
import subprocess
import uuid

import pytest

import tokens
from google_tools import CLI, Refused, Terraform
from proxies import Backend, Caddy
from server import ADMIN_TOKEN, APP, APP_ID, CLIENT, NUMBER, POLICY, PROJECT, Server

HERE = pathlib.Path(__file__).parent
ARTICLE = HERE.parent.parent / "Sources/AssayEngine/AssayEngine.docc/GoogleTools.md"
WEB, ANDROID = "1:1234567890:web:321abc456def7890", "1:1234567890:android:321abc456def7890"
DOOR = "firebase-cli.Caddyfile"
MORE = f"""\
      - id: {ANDROID}
        token_ttl: 2h
        providers: {{debug: {{managed: {{}}}}}}
      - id: {WEB}
        providers: {{debug: {{managed: {{}}}}}}
"""


@pytest.fixture(scope="module")
def own(authority, apple, tmp_path_factory):
    text = POLICY.replace("    oauth_clients:\n", f"{MORE}    oauth_clients:\n")
    server = Server(tmp_path_factory.mktemp("tools"), authority, apple, text)
    server.start()
    yield server
    assert server.stop() == 0


class Door(Caddy):
    configuration = DOOR


@pytest.fixture(scope="module")
def cli(own):
    """The CLI behind the article's door, which replaces its token."""
    if Door.path() is None:
        pytest.skip("caddy is not installed")
    backend = Backend()
    door = Door("127.0.0.1:1", backend, changes={"https://assay.example.com": own.address, "{$CALLER_TOKEN}": ADMIN_TOKEN})
    yield CLI(f"http://{door.address}", NUMBER)
    door.stop()
    backend.stop()


@pytest.fixture(scope="module")
def terraform(own):
    return Terraform(own.address, ADMIN_TOKEN, PROJECT)


def refusal(call, *arguments, **named):
    with pytest.raises(Refused) as caught:
        call(*arguments, **named)
    return caught.value.status, caught.value.error["status"]


def exchanged(server, secret, app=APP):
    return tokens.debug(server, app, secret).count(".") == 2


def test_the_token_of_the_cli_is_nobodys(own):
    """So it needs a door: it sends the word `owner`, which no policy can have."""
    assert refusal(CLI(own.address, NUMBER).services_list) == (401, "UNAUTHENTICATED")


def test_debugtokens_of_the_cli(cli, own):
    secret = str(uuid.uuid4())
    made = cli.debugtokens_create(APP_ID, secret, "CLI Debug Token (laptop)")
    assert made["displayName"] == "CLI Debug Token (laptop)" and made["name"].startswith(f"projects/{NUMBER}/apps/{APP_ID}/debugTokens/")
    assert made in cli.debugtokens_list(APP_ID)
    assert exchanged(own, secret)
    # The same name once more replaces it.
    other = str(uuid.uuid4())
    again = cli.debugtokens_create(APP_ID, other, "CLI Debug Token (laptop)", force=True)
    names = [token["name"] for token in cli.debugtokens_list(APP_ID)]
    assert again["name"] in names and made["name"] not in names
    assert exchanged(own, other)
    assert cli.debugtokens_delete(again["name"]) == {}
    assert refusal(cli.debugtokens_delete, again["name"]) == (404, "NOT_FOUND")
    # No list is an empty list.
    assert cli.get(f"{cli.project}/apps/{WEB}/debugTokens") == {}
    assert cli.debugtokens_list(WEB) == []


def test_debugtokens_of_the_cli_over_several_pages(cli):
    made = [cli.debugtokens_create(ANDROID, str(uuid.uuid4()), f"phone {number}") for number in range(5)]
    pages = cli.get(f"{cli.project}/apps/{ANDROID}/debugTokens", pageSize=2)
    assert len(pages["debugTokens"]) == 2 and pages["nextPageToken"]
    assert {token["name"] for token in cli.debugtokens_list(ANDROID)} >= {token["name"] for token in made}
    for token in made:
        cli.debugtokens_delete(token["name"])


def test_services_of_the_cli(cli):
    assert {service["name"].rpartition("/")[2] for service in cli.services_list()} >= {"firestore.googleapis.com"}
    unused = cli.services_get("identitytoolkit.googleapis.com")
    assert "enforcementMode" not in unused and unused["updateTime"].startswith("1970-01-01")
    assert cli.services_set("firestore.googleapis.com", "ENFORCED")["enforcementMode"] == "ENFORCED"
    both = cli.services_set("firestore.googleapis.com", "ENFORCED", "UNENFORCED")
    assert (both["enforcementMode"], both["replayProtection"]) == ("ENFORCED", "UNENFORCED")
    # The mask leaves replay protection as it is.
    assert cli.services_set("firestore.googleapis.com", "UNENFORCED")["replayProtection"] == "UNENFORCED"
    assert "enforcementMode" not in cli.services_set("firestore.googleapis.com", "OFF", "OFF")
    assert refusal(cli.services_set, "places.googleapis.com", "UNENFORCED", "ENFORCED")[0] == 400
    assert refusal(cli.services_set, "orders.example.com", "OFF") == (400, "FAILED_PRECONDITION")


@pytest.mark.parametrize("app, platform", [(APP_ID, "IOS"), (ANDROID, "ANDROID"), (WEB, "WEB")])
def test_providers_of_the_cli(cli, app, platform):
    """It asks for the settings of every provider of a platform, and an error of one would end it."""
    found = cli.providers_list(app, platform)
    for name, config in found.items():
        assert config.pop("name") == f"projects/{NUMBER}/apps/{app}/{name}"
    standard = {"tokenTtl": "3600s"}
    expected = {
        "appAttestConfig": standard, "playIntegrityConfig": standard,
        "deviceCheckConfig": standard | {"keyId": "SIMULATED1", "privateKeySet": True},
        "recaptchaEnterpriseConfig": standard | {"riskAnalysis": {"minValidScore": 0.5}},
        "recaptchaV3Config": {"tokenTtl": "86400s", "minValidScore": 0.5},
    }
    assert found == {name: expected[name] for name in CLI.configs[platform]}


def test_apps_list_of_the_cli(cli):
    found = cli.apps_list()
    assert {name: [config["name"].split("/")[3] for config in configs] for name, configs in found.items()} == {
        "appAttestConfig": [APP_ID], "deviceCheckConfig": [APP_ID], "playIntegrityConfig": [], "recaptchaEnterpriseConfig": [],
        "recaptchaV3Config": []}


def test_providers_set_changes_no_file(cli):
    """What the file has already succeeds; the refusal of all else names the file."""
    assert cli.providers_set(APP_ID, "appAttestConfig", {"tokenTtl": "3600s"}, ["tokenTtl"])["tokenTtl"] == "3600s"
    with pytest.raises(Refused, match=r"policy\.yaml:\d+:\d+"):
        cli.providers_set(APP_ID, "appAttestConfig", {"tokenTtl": "7200s"}, ["tokenTtl"])
    for app, name, update, mask in [
        (APP_ID, "deviceCheckConfig", {"keyId": "SIMULATED1", "privateKey": "a"}, ["keyId", "privateKey"]),
        (WEB, "recaptchaV3Config", {"siteSecret": "a", "minValidScore": 0.7}, ["siteSecret", "minValidScore"]),
        (WEB, "recaptchaEnterpriseConfig", {"siteKey": "a", "riskAnalysis": {"minValidScore": 0.7}}, ["siteKey", "riskAnalysis.minValidScore"]),
        (ANDROID, "playIntegrityConfig", {"accountDetails": {"requireLicensed": True}}, ["accountDetails.requireLicensed"]),
    ]:
        assert refusal(cli.providers_set, app, name, update, mask) == (400, "FAILED_PRECONDITION"), name


def test_debug_tokens_of_terraform(terraform, own):
    path, secret = terraform.config(APP_ID, "debugTokens"), str(uuid.uuid4())
    found = terraform.create(path, {"displayName": "CI", "token": secret})
    assert found["displayName"] == "CI" and "token" not in found
    own_path = f"{path}/{found['name'].rpartition('/')[2]}"
    assert terraform.update(own_path, {"displayName": "CI 2"}, ["displayName"])["displayName"] == "CI 2"
    assert exchanged(own, secret)
    assert terraform.ask("DELETE", own_path) == {}
    # What was deleted otherwise leaves the state of Terraform.
    assert refusal(terraform.ask, "GET", own_path) == (404, "NOT_FOUND")
    assert refusal(terraform.ask, "DELETE", own_path) == (404, "NOT_FOUND")


def test_services_of_terraform(terraform):
    path = f"{terraform.project}/services/places.googleapis.com"
    assert terraform.create(path, {"enforcementMode": "UNENFORCED"}, "enforcementMode")["enforcementMode"] == "UNENFORCED"
    assert terraform.update(path, {"enforcementMode": "ENFORCED"}, ["enforcementMode"])["enforcementMode"] == "ENFORCED"
    # It deletes by an update with nothing in it.
    assert "enforcementMode" not in terraform.ask("PATCH", path, {}, updateMask="enforcementMode")


def test_resource_policies_of_terraform(terraform):
    # With a slash behind the collection.
    path = f"{terraform.project}/services/oauth2.googleapis.com/resourcePolicies/"
    target = f"//oauth2.googleapis.com/projects/{NUMBER}/oauthClients/{CLIENT.split('/')[1]}"
    found = terraform.create(path, {"targetResource": target, "enforcementMode": "UNENFORCED"})
    assert (found["targetResource"], found["enforcementMode"]) == (target, "UNENFORCED")
    own_path = path + found["name"].rpartition("/")[2]
    changed = terraform.update(own_path, {"targetResource": target, "enforcementMode": "ENFORCED"}, ["enforcementMode"])
    assert changed["enforcementMode"] == "ENFORCED"
    assert terraform.ask("DELETE", own_path) == {}
    # The slash is for nothing else.
    assert refusal(terraform.ask, "GET", path) == (404, "NOT_FOUND")
    assert refusal(terraform.ask, "POST", f"{terraform.config(APP_ID, '')[:-1]}:exchangeDebugToken/", {"debugToken": "x"}) == (404, "NOT_FOUND")


@pytest.mark.parametrize("app, name, body, mask", [
    (APP_ID, "appAttestConfig", {}, "tokenTtl"), (APP_ID, "appAttestConfig", {"tokenTtl": "3600s"}, "tokenTtl"),
    (ANDROID, "playIntegrityConfig", {}, "tokenTtl"), (WEB, "recaptchaEnterpriseConfig", {"tokenTtl": "3600s"}, "tokenTtl"),
])
def test_settings_of_terraform_that_the_file_has(terraform, app, name, body, mask):
    assert terraform.create(terraform.config(app, name), body, mask)["tokenTtl"] == "3600s"


@pytest.mark.parametrize("app, name, body, mask", [
    (APP_ID, "appAttestConfig", {"tokenTtl": "7200s"}, "tokenTtl"),
    (APP_ID, "deviceCheckConfig", {"keyId": "SIMULATED1", "privateKey": "a"}, "tokenTtl,keyId,privateKey"),
    (WEB, "recaptchaV3Config", {"siteSecret": "a"}, "tokenTtl,siteSecret"),
    (WEB, "recaptchaEnterpriseConfig", {"siteKey": "a"}, "tokenTtl,siteKey"),
])
def test_settings_of_terraform_that_the_file_does_not_have(terraform, app, name, body, mask):
    assert refusal(terraform.create, terraform.config(app, name), body, mask) == (400, "FAILED_PRECONDITION")


def test_a_wrong_token_of_terraform(own):
    stranger = Terraform(own.address, "stranger-0123456789", PROJECT)
    assert refusal(stranger.ask, "GET", stranger.config(APP_ID, "appAttestConfig")) == (401, "UNAUTHENTICATED")


def test_the_article_has_the_door_and_its_policy_is_valid(tmp_path):
    text = ARTICLE.read_text()
    [door] = re.findall(r"```caddyfile\n(.*?)```", text, re.S)
    assert door == (HERE / "proxies" / DOOR).read_text()
    [policy] = re.findall(r"```yaml\n(.*?)```", text, re.S)
    (tmp_path / "policy.yaml").write_text(policy)
    done = subprocess.run(
        [os.environ["ASSAY"], "policy", "check", tmp_path], capture_output=True, text=True, env=dict(os.environ, CALLER_TOKEN=ADMIN_TOKEN))
    assert done.returncode == 0, done.stdout + done.stderr
