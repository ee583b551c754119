"""A server that has a method of every plugin, and Envoy's listener."""

import base64
import datetime
import http.server
import json
import os
import re
import subprocess
import threading
import time

import jwt
import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

import hostile
import operations
from fleet import AUDIENCE, Account
from server import ADMIN_TOKEN, APP, APP_ID, CLIENT, DEBUG_TOKEN, NUMBER, PROJECT, Apple, Server

AUTHORITY = "https://login.example.com"
ANDROID_ID = "1:1234567890:android:321abc456def7890"
ANDROID_METHODS = [
    "generateAndroidKeyChallenge", "exchangeAndroidKeyAttestation", "exchangeAndroidKeyAssertion", "getAndroidKeyConfig",
    "updateAndroidKeyConfig", "generatePlayIntegrityChallenge", "exchangePlayIntegrityToken", "getPlayIntegrityConfig",
    "updatePlayIntegrityConfig"]
WEB_ID = "1:1234567890:web:321abc456def7890"
# What comes before the numbers of a key of 2048 bits with the identifier id-RSASSA-PSS (RFC 9578, section 6.5).
PSS_KEY = bytes.fromhex(
    "30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d010108300b0609608648016503040202"
    "a2030201300382010f00")
WEB_METHODS = [
    "exchangeTurnstileToken", "exchangeHcaptchaToken", "exchangeRecaptchaV3Token", "exchangeRecaptchaToken",
    "getRecaptchaV3Config", "updateRecaptchaV3Config", "exchangeRecaptchaEnterpriseToken", "getRecaptchaEnterpriseConfig",
    "updateRecaptchaEnterpriseConfig", "generatePrivacyPassChallenge", "exchangePrivacyPassToken", "exchangeCachedPrivacyPassToken"]
# As many as a set may have, and as many callers as an issuer.
KEYS, CALLERS = 64, 16
LINKED = CLIENT.split("/")[1]


class Pages(http.server.BaseHTTPRequestHandler):
    """The services that judge tokens of pages: they refuse each."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        answer = {"tokenProperties": {"valid": False, "invalidReason": "MALFORMED"}} if self.path.endswith("/assessments") else {
            "success": False, "error-codes": ["invalid-input-response"]}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class AmplifiedServer(Server):
    arguments = ("--ext-authz-listen", "127.0.0.1:0")
    # In place of `public`: what is for operators has an address of its own.
    operations_place = "127.0.0.1:0"

    def __init__(self, folder, authority, apple):
        super().__init__(folder, authority, apple)
        account, users = Account("server"), ec.generate_private_key(ec.SECP256R1())
        (folder / "account.json").write_text(account.key_file)
        (folder / "account.json").chmod(0o600)
        key = dict(json.loads(jwt.algorithms.ECAlgorithm.to_jwk(users.public_key())), kid="k", use="sig", alg="ES256")
        # What a token without a name may be signed with costs the most with these keys.
        others = [
            dict(
                json.loads(jwt.algorithms.ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP384R1()).public_key())),
                kid=f"other-{index}", use="sig", alg="ES384") for index in range(KEYS - 1)]
        (folder / "users.json").write_text(json.dumps({"keys": [key, *others]}))
        (folder / "revoked.json").write_text('{"entries": {}}')
        spki = ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        keys = {"DECRYPTION_KEY": os.urandom(32), "VERIFICATION_KEY": spki}
        (folder / "play-keys").write_text("".join(f"{name}={base64.b64encode(key).decode()}\n" for name, key in keys.items()))
        (folder / "play-keys").chmod(0o600)
        play = f"file:{folder / 'play-keys'}"
        (folder / "page-secret").write_text("secret-of-pages")
        (folder / "page-secret").chmod(0o600)
        self.pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        threading.Thread(target=self.pages.serve_forever, daemon=True).start()
        secret = f"file:{folder / 'page-secret'}"
        service = {"base_url": f"http://127.0.0.1:{self.pages.server_port}"}
        blind = rsa.generate_private_key(65537, 2048)
        (folder / "blind-key").write_bytes(blind.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        (folder / "blind-key").chmod(0o600)
        numbers = blind.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.PKCS1)
        token_key = base64.urlsafe_b64encode(PSS_KEY + numbers).decode()
        issuer = {
            "issuer": hostile.ISSUER, "audiences": ["https://assay.example.com"],
            "jwks": f"file:{folder / 'users.json'}",
        }
        actor = {"claim": "groups", "values": ["dispatch"]}
        policy = {
            "callers": {
                "administrator": {"token": "env:ASSAY_ADMIN_TOKEN", "permissions": ["admin"]},
                "user": {"jwt": {**issuer, "subjects": ["s"]}, "permissions": ["admin"]},
                **{
                    f"user-{index}": {"jwt": {**issuer, "subjects": [f"s{index}"]}, "permissions": ["admin"]}
                    for index in range(1, CALLERS)},
            },
            "projects": [{
                "number": int(NUMBER), "id": PROJECT, "verification": {"accept_development": True},
                "services": {
                    "firestore.googleapis.com": {"enforcement": "UNENFORCED", "editable": True},
                    "oauth2.googleapis.com": {"editable": True},
                },
                "apps": [{
                    "id": APP_ID, "apple": {"team_id": "ABCDE12345", "bundle_id": "com.example.app"},
                    "providers": {
                        "app_attest": {"trust_anchor": authority.root_pem},
                        "device_check": {
                            "key_id": "SIMULATED1", "private_key": f"file:{apple.key_file}", "base_url": apple.url},
                        "debug": {
                            "managed": {"limit": 20}, "tokens": [{"name": "local", "token": "env:ASSAY_DEBUG_TOKEN"}]},
                        "custom": {
                            "issuers": [{**issuer, "app_claim": "app_id"}],
                            "service_accounts": [{"key_file": f"file:{folder / 'account.json'}"}],
                        },
                    },
                }, {
                    "id": ANDROID_ID,
                    "android": {"package": "com.example.app", "signing_digests": ["ab" * 32]},
                    "providers": {
                        "android_key": {"revocation": {"list": str(folder / "revoked.json")}},
                        "play_integrity": {
                            "response_keys": [{"decryption_key": play, "verification_key": play}]},
                    },
                }, {
                    "id": WEB_ID, "web": {"origins": ["https://example.com"]},
                    "providers": {
                        "turnstile": {"secret": secret, **service}, "hcaptcha": {"secret": secret, **service},
                        "recaptcha_v3": {"site_secret": secret, **service},
                        "recaptcha_enterprise": {"site_key": "key", "api_key": secret, **service},
                        "privacy_pass": {
                            "issuers": [{"name": "issuer.example.com", "keys": [{"token_key": token_key}]}],
                            "origins": ["app.example.com"], "contexts": ["per_challenge", "none"]},
                    },
                }],
                "oauth_clients": [{"id": LINKED, "app": APP_ID}],
                "consumers": {
                    "custom_backend": {
                        "tokens": {"accept_development": True},
                        "backends": {
                            "orders": {
                                "original_request": "x-original",
                                "routes": [{
                                    "path": "/pay/*", "methods": ["POST"], "tokens": {"limited_use": True}}],
                            },
                            "forwarded": {"original_request": "x-forwarded"},
                            "envoy": {"original_request": "transport", "routes": [{
                                "path": "/pay/*", "methods": ["POST"], "tokens": {"limited_use": True}}]},
                        },
                    },
                    "private_token": {
                        "issuer": "issuer.example.com", "keys": [{"private_key": f"file:{folder / 'blind-key'}"}],
                        "accept_unbound_tokens": True, "tokens": {"accept_development": True}},
                    "oauth_client": {
                        "authorization_servers": [AUTHORITY], "tokens": {"accept_development": True}, "attester": {},
                        "verifier": {}, "client_assertion": {"accept_development": True, "limited_use": False},
                        "introspection": {"accept_development": True},
                        "ear": {"audiences": ["https://relying-party.example.com"]},
                    },
                    "fleet_engine": {
                        "tokens": {"accept_development": True}, "account": f"file:{folder / 'account.json'}",
                        "actors": [issuer],
                        "roles": {
                            "server": {"actor": actor}, "driver": {"vehicle": {"claim": "vehicles"}},
                            "consumer": {"trip": {"claim": "trips"}},
                            "untrusted_delivery_driver": {"delivery_vehicle": {"claim": "vehicles"}},
                            "delivery_consumer": {"tracking": {"claim": "parcels"}},
                            "delivery_fleet_reader": {"actor": actor}, "fleet_reader": {"actor": actor},
                        },
                    },
                },
            }],
        }
        (folder / "policies" / "policy.yaml").write_text(json.dumps(policy))
        self.users, self.public = users, key
        self.starts = 0

    def target(self):
        """Where Envoy asks; of several starts, the last."""
        for _ in range(600):
            log = (self.folder / "log").read_text(errors="replace")
            found = re.findall(r"address=(\S+) .*listening for ext_authz", log)
            if len(found) == self.starts:
                return found[-1]
            time.sleep(0.05)
        raise RuntimeError("Envoy's listener did not start")

    def start(self):
        super().start()
        self.starts += 1

    def operators(self):
        """Where operators ask; of several starts, the last."""
        for _ in range(600):
            log = (self.folder / "log").read_text(errors="replace")
            found = re.findall(r"address=(\S+) .*listening for operators", log)
            if len(found) == self.starts:
                return found[-1]
            time.sleep(0.05)
        raise RuntimeError("the listener for operators did not start")

    # What requests hold beside the text that is tried.

    def user_token(self):
        now = int(datetime.datetime.now(datetime.UTC).timestamp())
        claims = {
            "iss": hostile.ISSUER, "sub": "s", "aud": "https://assay.example.com", "iat": now, "exp": now + 3600,
            "groups": ["dispatch"], "vehicles": ["text"], "trips": ["text"], "parcels": ["text"], "app_id": APP_ID}
        return jwt.encode(claims, self.users, algorithm="ES256", headers={"kid": "k"})

    def app_token(self):
        reply = requests.post(
            f"{self.address}/v1/{APP}:exchangeDebugToken", json={"debugToken": DEBUG_TOKEN}, timeout=30)
        reply.raise_for_status()
        return reply.json()["token"]

    def operations(self):
        printed = subprocess.run(
            [os.environ["ASSAY"], "methods", "--format", "openapi", "--policies", self.folder / "policies"],
            check=True, capture_output=True).stdout
        token, user = self.app_token(), self.user_token()
        samples = {
            "project": PROJECT, "app": APP_ID, "oauthClient": LINKED, "serviceId": "oauth2.googleapis.com",
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": token,
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "actor_token": user,
            "actor_token_type": "urn:ietf:params:oauth:token-type:jwt", "audience": AUTHORITY, "resource": "",
            "scope": "", "requested_token_type": "", "appCheckToken": token, "token": token, "client_assertion": token,
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:appcheck", "client_id": LINKED,
            "method": "POST", "uri": f"{AUTHORITY}/token", "clientAttestation": [user], "clientAttestationPop": [user],
            "dpop": [user], "customToken": user, "challenge": "AAAA", "artifact": "AAAA", "assertion": "AAAA",
            "attestationStatement": "AAAA", "keyId": "A" * 43 + "=", "deviceToken": Apple.device_token("amplified"),
            "jwk": {name: self.public[name] for name in ("kty", "crv", "x", "y")}, "etag": None,
            "verifyRequest.backend": "orders", "exchangeToken.audience": AUDIENCE, "exchangeToken.scope": "server",
            "createDebugToken.token": "5A1C0A36-6F1B-4C8E-9D2A-0B7F3E4D5C6B", "expireTime": None,
            "name": f"projects/{NUMBER}/services/oauth2.googleapis.com", "updateMask": "enforcementMode",
            "requestId": "0123456789abcdef0123456789abcdef", "tokenTtl": "3600s", "attestationChain": ["AAAA"],
            **{f"{method}.app": ANDROID_ID for method in ANDROID_METHODS},
            **{f"{method}.app": WEB_ID for method in WEB_METHODS},
        }
        credentials = {"Authorization": f"Bearer {ADMIN_TOKEN}", "X-Firebase-AppCheck": token}
        return operations.operations(json.loads(printed), samples, credentials)
