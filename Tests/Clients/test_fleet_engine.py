"""Tokens for Fleet Engine: read by Google's auth library, and used with Google's clients against a local Fleet Engine."""

import time

import google.auth.crypt
import google.auth.jwt
import pytest
from google.api_core.exceptions import PermissionDenied, Unauthenticated

from fleet import AUDIENCE, PERMISSIONS, Account, Backend, Clients, FleetEngine, FleetServer, Users


@pytest.fixture(scope="module")
def accounts():
    return {role: Account(role) for role in PERMISSIONS}


@pytest.fixture(scope="module")
def users():
    return Users()


@pytest.fixture(scope="module")
def backend():
    backend = Backend()
    yield backend
    backend.stop()


@pytest.fixture(scope="module")
def fleet(accounts, users, backend, tmp_path_factory):
    server = FleetServer(tmp_path_factory.mktemp("fleet"), accounts, users, backend)
    server.start()
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module")
def engine(accounts):
    engine = FleetEngine(accounts)
    yield engine
    engine.stop()


@pytest.fixture(scope="module")
def app_token(fleet):
    return fleet.app_token()


@pytest.fixture(scope="module")
def user(users):
    """One who may have everything in the tables here."""
    return users.token(
        groups=["dispatch"], vehicles=["v", "d", "d2"], trips=["t"], parcels=["x"], tasks=["a", "b"])


EVERYTHING = {"deliveryvehicleid": "*", "taskid": "*", "trackingid": "*"}

# A role, what is asked for, and the private claims of the token.
ROLES = [
    ("server", [], {"vehicleid": "*", "tripid": "*"}),
    ("driver", ["vehicles/v"], {"vehicleid": "v"}),
    ("consumer", ["trips/mine%201"], {"tripid": "mine 1"}),
    ("delivery_server", [], EVERYTHING),
    ("delivery_server", ["tasks/a", "tasks/b"], {"taskids": ["a", "b"]}),
    ("delivery_server", ["tasks/a"], {"taskids": ["a"]}),
    ("delivery_consumer", ["taskTrackingInfo/x"], {"trackingid": "x"}),
    ("delivery_consumer", ["tasks/a"], {"taskid": "a"}),
    ("untrusted_delivery_driver", ["deliveryVehicles/d"], {"deliveryvehicleid": "d"}),
    ("trusted_delivery_driver", ["deliveryVehicles/d"], {"deliveryvehicleid": "d"}),
    ("trusted_delivery_driver", ["deliveryVehicles/d", "tasks/a"], {"deliveryvehicleid": "d", "taskid": "a"}),
    ("delivery_fleet_reader", [], EVERYTHING),
    ("fleet_reader", [], {**EVERYTHING, "vehicleid": "*", "tripid": "*"}),
    ("custom", ["vehicles/v", "trips/t"], {"vehicleid": "v", "tripid": "t"}),
]


def test_every_role_is_in_the_table():
    assert {role for role, _, _ in ROLES} == set(PERMISSIONS)


@pytest.mark.parametrize(("role", "resources", "claims"), ROLES)
def test_google_auth_verifies_the_token_of_each_role(fleet, accounts, app_token, user, role, resources, claims):
    reply = fleet.exchange(app_token, user, role, resources)
    assert reply.status_code == 200, reply.text
    assert reply.headers["cache-control"] == "no-store"
    body = reply.json()
    account = accounts[role]
    # It knows keys by their kid, takes no list as aud, and no iat in the future.
    verified = google.auth.jwt.decode(
        body["access_token"], certs={account.key_id: account.public_pem}, audience=AUDIENCE)
    assert verified["iss"] == verified["sub"] == account.email
    assert verified["authorization"] == claims
    assert set(verified) == {"iss", "sub", "aud", "iat", "exp", "authorization"}
    assert google.auth.jwt.decode_header(body["access_token"]) == {"alg": "RS256", "typ": "JWT", "kid": account.key_id}
    assert 300 <= body["expires_in"] <= 3600
    assert abs(verified["exp"] - time.time() - body["expires_in"]) < 30
    with pytest.raises(ValueError):
        google.auth.jwt.decode(body["access_token"], certs={account.key_id: accounts_other(accounts, role).public_pem})


def accounts_other(accounts, role):
    return next(account for name, account in accounts.items() if name != role)


# Google's java-fleetengine-auth, the scripts in sample/…/validation: what a token must be good for, and what not.
MATRIX = [
    (
        "server", [],
        [
            ("CreateVehicle", "v"), ("GetVehicle", "v"), ("CreateTrip", "t"), ("GetTrip", "t"), ("SearchVehicles", "t"),
            ("UpdateTrip", "t"), ("UpdateVehicle", "v"),
        ],
        [("GetTaskTrackingInfo", "x")],
    ),
    (
        "driver", ["vehicles/v"], [("GetVehicle", "v"), ("UpdateVehicle", "v")],
        [("GetVehicle", "other"), ("UpdateVehicle", "other"), ("CreateVehicle", "v")],
    ),
    (
        "consumer", ["trips/mine"], [("GetTrip", "mine"), ("SearchVehicles", "mine")],
        [("GetTrip", "other"), ("SearchVehicles", "other"), ("CreateTrip", "mine")],
    ),
    (
        "delivery_server", [],
        [("CreateDeliveryVehicle", "d"), ("GetDeliveryVehicle", "d"), ("CreateTask", "a"), ("UpdateTask", "a")],
        [("BatchCreateTasks", "a", "b")],
    ),
    (
        "delivery_server", ["tasks/a", "tasks/b"], [("BatchCreateTasks", "a", "b"), ("BatchCreateTasks", "b", "a")],
        [("BatchCreateTasks", "a"), ("BatchCreateTasks", "a", "b", "c"), ("CreateTask", "a"), ("GetDeliveryVehicle", "d")],
    ),
    (
        "delivery_consumer", ["taskTrackingInfo/x"], [("GetTaskTrackingInfo", "x")],
        [("GetTaskTrackingInfo", "y"), ("GetDeliveryVehicle", "d")],
    ),
    (
        "untrusted_delivery_driver", ["deliveryVehicles/d"], [("GetDeliveryVehicle", "d"), ("UpdateDeliveryVehicle", "d")],
        [("GetDeliveryVehicle", "other"), ("CreateDeliveryVehicle", "d")],
    ),
    (
        "trusted_delivery_driver", ["deliveryVehicles/d"], [("GetDeliveryVehicle", "d")],
        [("GetDeliveryVehicle", "other"), ("CreateTask", "a")],
    ),
    ("trusted_delivery_driver", ["deliveryVehicles/d2"], [("CreateDeliveryVehicle", "d2")], [("GetDeliveryVehicle", "d")]),
    (
        "trusted_delivery_driver", ["deliveryVehicles/d", "tasks/a"], [("CreateTask", "a"), ("UpdateDeliveryVehicle", "d")],
        [("CreateTask", "b")],
    ),
    (
        "delivery_fleet_reader", [], [("GetTaskTrackingInfo", "x"), ("GetTaskTrackingInfo", "any")],
        [("CreateTask", "a"), ("GetTrip", "t")],
    ),
    (
        "fleet_reader", [],
        [("GetTrip", "t"), ("SearchVehicles", "t"), ("GetTaskTrackingInfo", "x"), ("GetDeliveryVehicle", "d")],
        [("CreateTrip", "t"), ("UpdateVehicle", "v")],
    ),
]


@pytest.mark.parametrize(("role", "resources", "good", "denied"), MATRIX)
def test_googles_clients_may_do_what_the_role_is_for(fleet, engine, app_token, user, role, resources, good, denied):
    reply = fleet.exchange(app_token, user, role, resources)
    assert reply.status_code == 200, reply.text
    clients = Clients(engine, reply.json()["access_token"])
    for call in good:
        clients.call(*call)
    for call in denied:
        with pytest.raises(PermissionDenied):
            clients.call(*call)


# What the reference signer of Google's library makes, changed: the local Fleet Engine must know the difference.
FORGERIES = [
    ({}, None),
    ({"aud": [AUDIENCE]}, Unauthenticated), ({"aud": AUDIENCE[:-1]}, Unauthenticated),
    ({"iat": -700, "exp": 2000}, Unauthenticated), ({"exp": 3700}, Unauthenticated), ({"exp": -1}, Unauthenticated),
    ({"iat": -500, "exp": 3500}, Unauthenticated), ({"sub": "somebody@example.com"}, Unauthenticated),
    ({"authorization": {}}, PermissionDenied), ({"authorization": None}, PermissionDenied),
    ({"authorization": {"vehicleid": "other"}}, PermissionDenied), ({"authorization": {"tripid": "v"}}, PermissionDenied),
]


@pytest.mark.parametrize(("changes", "error"), FORGERIES)
def test_the_local_fleet_engine_judges_the_tokens_of_googles_library(engine, accounts, changes, error):
    account, now = accounts["driver"], int(time.time())
    signer = google.auth.crypt.RSASigner.from_string(account.pem, account.key_id)
    claims = {
        "iss": account.email, "sub": account.email, "aud": AUDIENCE, "iat": now, "exp": now + 3600,
        "authorization": {"vehicleid": "v"},
    }
    for name, value in changes.items():
        claims[name] = now + value if name in ("iat", "exp") else value
    clients = Clients(engine, google.auth.jwt.encode(signer, claims).decode())
    if error is None:
        clients.call("GetVehicle", "v")
    else:
        with pytest.raises(error):
            clients.call("GetVehicle", "v")


DOORS = [
    ("/token/driver/v", "driver", {"vehicleid": "v"}), ("/token/consumer/mine%201", "consumer", {"tripid": "mine 1"}),
    ("/token/server", "server", {"vehicleid": "*", "tripid": "*"}),
    ("/token/delivery_driver/d", "untrusted_delivery_driver", {"deliveryvehicleid": "d"}),
    ("/token/delivery_consumer/x", "delivery_consumer", {"trackingid": "x"}),
    ("/token/fleet_reader", "delivery_fleet_reader", EVERYTHING),
]


@pytest.mark.parametrize(("path", "role", "claims"), DOORS)
def test_sample_apps_of_both_families_read_the_reply(fleet, accounts, app_token, user, path, role, claims):
    reply = fleet.open(path, app_token, user)
    assert reply.status_code == 200, reply.text
    assert reply.headers["cache-control"] == "no-store"
    body = reply.json()
    account = accounts[role]
    verified = google.auth.jwt.decode(body["jwt"], certs={account.key_id: account.public_pem}, audience=AUDIENCE)
    assert verified["authorization"] == claims
    assert body["token"] == body["jwt"]
    now = time.time() * 1000
    for created, expires in [
        ("creationTimestamp", "expirationTimestamp"), ("creation_timestamp_ms", "expiration_timestamp_ms"),
    ]:
        assert type(body[created]) is int and type(body[expires]) is int
        assert now - 3_600_000 <= body[created] <= now
        assert now + 300_000 <= body[expires] == verified["exp"] * 1000
    for seconds in ["expires_in", "expiresInSeconds"]:
        assert type(body[seconds]) is int
        assert abs(body[seconds] - (verified["exp"] - time.time())) < 30


def test_an_app_that_asks_again_gets_the_same_token(fleet, app_token, user):
    first, second = (fleet.open("/token/driver/v", app_token, user).json()["jwt"] for _ in range(2))
    assert first == second
    assert fleet.exchange(app_token, user, resources=["vehicles/v"]).json()["access_token"] == first


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/token/driver/other", 403), ("/token/driver/*", 403), ("/token/driver/%2A", 403), ("/token/driver/a%2Fb", 400),
        ("/token/driver/a%3Ab", 400), ("/token/driver/e%CC%81", 400), ("/token/driver/" + "a" * 65, 400),
        ("/token/consumer/theirs", 403), ("/token/consumer/unknown", 503), ("/token/driver/", 404),
        ("/token/pilot/v", 404),
    ])
def test_what_is_not_the_users_is_refused(fleet, app_token, user, path, status):
    assert fleet.open(path, app_token, user).status_code == status


def test_nobody_gets_a_token_without_the_apps_and_the_users(fleet, users, app_token, user):
    assert fleet.open("/token/driver/v", None, user).status_code == 401
    assert fleet.open("/token/driver/v", app_token + "x", user).status_code == 401
    assert fleet.open("/token/driver/v", app_token).status_code == 403
    assert fleet.open("/token/driver/v", app_token, Users().token(vehicles=["v"])).status_code == 401
    assert fleet.open("/token/server", app_token, users.token(vehicles=["v"])).status_code == 403


@pytest.mark.parametrize(
    ("role", "resources", "error"),
    [
        (None, ["boats/b"], "invalid_target"), (None, ["tasks/a"], "invalid_scope"), ("pilot", [], "invalid_scope"),
        ("driver", ["trips/t"], "invalid_target"), ("driver", ["vehicles/v", "vehicles/w"], "invalid_target"),
        ("driver", ["vehicles/e%CC%81"], "invalid_target"), ("driver", [], "invalid_target"),
        ("driver", ["../other-project/vehicles/v"], "invalid_target"),
    ])
def test_token_exchange_says_in_the_words_of_oauth_what_is_wrong(fleet, app_token, user, role, resources, error):
    reply = fleet.exchange(app_token, user, role, resources)
    assert (reply.status_code, reply.json()["error"]) == (400, error)


def test_the_backend_is_told_what_it_decides_about(fleet, backend, app_token, user):
    backend.questions.clear()
    assert fleet.exchange(app_token, user, resources=["trips/mine%202"]).status_code == 200
    (question,) = backend.questions
    assert question["role"] == "consumer"
    assert question["ids"] == {"trip": ["mine 2"]}
    assert question["actor"] == {"iss": "https://login.example.com/", "sub": "user-1"}
    assert question["app"] == "1:1234567890:ios:321abc456def7890"
    assert question["decision"] and question["jti"]
