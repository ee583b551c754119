"""A local Fleet Engine, which judges tokens by itself, and a server of ours that gives such tokens."""

import json
import threading
import time
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
import jwt
import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from google.maps import fleetengine_delivery_v1 as delivery
from google.maps import fleetengine_v1 as rides
from google.maps.fleetengine_delivery_v1.services.delivery_service.transports import DeliveryServiceGrpcTransport
from google.maps.fleetengine_v1.services.trip_service.transports import TripServiceGrpcTransport
from google.maps.fleetengine_v1.services.vehicle_service.transports import VehicleServiceGrpcTransport

from server import APP, APP_ID, DEBUG_TOKEN, NUMBER, PROJECT, Server

AUDIENCE = "https://fleetengine.googleapis.com/"
PROVIDER = f"providers/{PROJECT}"
ISSUER = "https://login.example.com/"
JWT = "urn:ietf:params:oauth:token-type:jwt"

RIDES = {"CreateVehicle", "GetVehicle", "UpdateVehicle", "SearchVehicles", "CreateTrip", "GetTrip", "UpdateTrip"}
DELIVERIES = {
    "CreateDeliveryVehicle", "GetDeliveryVehicle", "UpdateDeliveryVehicle", "CreateTask", "BatchCreateTasks",
    "UpdateTask", "GetTaskTrackingInfo",
}

# What the role of a service account in Google Cloud lets its tokens call: Google's java-fleetengine-auth, the scripts in
# sample/…/validation.
PERMISSIONS = {
    "server": RIDES,
    "driver": {"GetVehicle", "UpdateVehicle"},
    "consumer": {"GetTrip", "SearchVehicles"},
    "delivery_server": DELIVERIES,
    "delivery_consumer": {"GetTaskTrackingInfo"},
    "untrusted_delivery_driver": {"GetDeliveryVehicle", "UpdateDeliveryVehicle"},
    "trusted_delivery_driver": {
        "CreateDeliveryVehicle", "GetDeliveryVehicle", "UpdateDeliveryVehicle", "CreateTask", "BatchCreateTasks",
        "UpdateTask",
    },
    "delivery_fleet_reader": {"GetDeliveryVehicle", "GetTaskTrackingInfo"},
    "fleet_reader": {"GetTrip", "GetVehicle", "SearchVehicles", "GetTaskTrackingInfo", "GetDeliveryVehicle"},
    "custom": RIDES | DELIVERIES,
}


class Account:
    """A service account, one for each role."""

    def __init__(self, role):
        self.email = f"{role.replace('_', '-')}@{PROJECT}.iam.gserviceaccount.com"
        self.key_id = role.encode().hex()
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def pem(self):
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()

    @property
    def public_pem(self):
        return self.key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()

    @property
    def key_file(self):
        return json.dumps({
            "type": "service_account", "project_id": PROJECT, "private_key_id": self.key_id, "private_key": self.pem,
            "client_email": self.email, "token_uri": "https://oauth2.googleapis.com/token",
        })


class Denied(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class FleetEngine:
    """Takes the calls of Google's clients, and answers those that their token allows."""

    def __init__(self, accounts):
        self.accounts = {account.email: (role, account) for role, account in accounts.items()}
        self.server = grpc.server(futures.ThreadPoolExecutor(4))
        self.server.add_generic_rpc_handlers([
            self._service("maps.fleetengine.v1.VehicleService", {
                "CreateVehicle": (rides.CreateVehicleRequest, rides.Vehicle, self._is("vehicleid", "vehicle_id")),
                "GetVehicle": (rides.GetVehicleRequest, rides.Vehicle, self._is("vehicleid", "name")),
                "UpdateVehicle": (rides.UpdateVehicleRequest, rides.Vehicle, self._is("vehicleid", "name")),
                "SearchVehicles": (
                    rides.SearchVehiclesRequest, rides.SearchVehiclesResponse, self._is("tripid", "trip_id")),
            }),
            self._service("maps.fleetengine.v1.TripService", {
                "CreateTrip": (rides.CreateTripRequest, rides.Trip, self._is("tripid", "trip_id")),
                "GetTrip": (rides.GetTripRequest, rides.Trip, self._is("tripid", "name")),
                "UpdateTrip": (rides.UpdateTripRequest, rides.Trip, self._is("tripid", "name")),
            }),
            self._service("maps.fleetengine.delivery.v1.DeliveryService", {
                "CreateDeliveryVehicle": (
                    delivery.CreateDeliveryVehicleRequest, delivery.DeliveryVehicle,
                    self._is("deliveryvehicleid", "delivery_vehicle_id")),
                "GetDeliveryVehicle": (
                    delivery.GetDeliveryVehicleRequest, delivery.DeliveryVehicle, self._is("deliveryvehicleid", "name")),
                "UpdateDeliveryVehicle": (
                    delivery.UpdateDeliveryVehicleRequest, delivery.DeliveryVehicle,
                    self._is("deliveryvehicleid", "delivery_vehicle.name")),
                "CreateTask": (delivery.CreateTaskRequest, delivery.Task, self._is("taskid", "task_id")),
                "BatchCreateTasks": (
                    delivery.BatchCreateTasksRequest, delivery.BatchCreateTasksResponse, self._batch),
                "UpdateTask": (delivery.UpdateTaskRequest, delivery.Task, self._is("taskid", "task.name")),
                "GetTaskTrackingInfo": (
                    delivery.GetTaskTrackingInfoRequest, delivery.TaskTrackingInfo, self._is("trackingid", "name")),
            }),
        ])
        self.address = f"127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()

    def stop(self):
        self.server.stop(None).wait()

    # The private claims, and the requests that they allow.

    @staticmethod
    def _is(claim, path):
        def allows(claims, request):
            value = request
            for name in path.split("."):
                value = getattr(value, name)
            return bool(value) and claims.get(claim) in ("*", value.split("/")[-1])
        return allows

    @staticmethod
    def _batch(claims, request):
        allowed = claims.get("taskids")
        return isinstance(allowed, list) and (
            allowed == ["*"] or sorted(allowed) == sorted(each.task_id for each in request.requests))

    def _service(self, name, methods):
        handlers = {}
        for method, (request, reply, allows) in methods.items():
            def answer(message, context, method=method, reply=reply, allows=allows):
                try:
                    self._judge(dict(context.invocation_metadata()), method, message, allows)
                except Denied as denied:
                    context.abort(denied.code, str(denied))
                made = reply()
                if hasattr(made, "name"):
                    made.name = getattr(message, "name", "") or "providers/made"
                return made
            handlers[method] = grpc.unary_unary_rpc_method_handler(
                answer, request_deserializer=request.deserialize, response_serializer=reply.serialize)
        return grpc.method_handlers_generic_handler(name, handlers)

    def _judge(self, metadata, method, message, allows):
        scheme, _, token = metadata.get("authorization", "").partition(" ")
        if scheme != "Bearer":
            raise Denied(grpc.StatusCode.UNAUTHENTICATED, "no bearer token")
        role, claims = self.verify(token)
        if method not in PERMISSIONS[role]:
            raise Denied(grpc.StatusCode.PERMISSION_DENIED, f"{role} may not call {method}")
        if not allows(claims, message):
            raise Denied(grpc.StatusCode.PERMISSION_DENIED, f"{method} is not for {claims}")

    def verify(self, token):
        """The role of the account that signed a token, and its private claims."""
        unauthenticated = grpc.StatusCode.UNAUTHENTICATED
        try:
            header = jwt.get_unverified_header(token)
            found = self.accounts.get(jwt.decode(token, options={"verify_signature": False}).get("iss"))
            if not found:
                raise Denied(unauthenticated, "an unknown account")
            role, account = found
            claims = jwt.decode(
                token, account.public_pem, algorithms=["RS256"], audience=AUDIENCE, leeway=600,
                options={"require": ["exp", "iat", "aud", "iss", "sub"]})
        except jwt.InvalidTokenError as error:
            raise Denied(unauthenticated, str(error)) from error
        now = time.time()
        rules = {
            "typ": header.get("typ") == "JWT", "kid": header.get("kid") == account.key_id,
            "sub": claims["sub"] == claims["iss"], "aud": isinstance(claims["aud"], str),
            "times": type(claims["iat"]) is int and type(claims["exp"]) is int,
            "iat": abs(now - claims["iat"]) <= 600, "expired": claims["exp"] > now,
            "exp": claims["exp"] <= now + 3600 and claims["exp"] - claims["iat"] <= 3600,
        }
        for name, holds in rules.items():
            if not holds:
                raise Denied(unauthenticated, f"the token's {name} is wrong")
        private = claims.get("authorization")
        if not isinstance(private, dict) or not private:
            raise Denied(grpc.StatusCode.PERMISSION_DENIED, "JWT does not contain any scopes.")
        return role, private


class _Bearer(grpc.UnaryUnaryClientInterceptor):
    def __init__(self, token):
        self.token = token

    def intercept_unary_unary(self, continuation, details, request):
        metadata = [*(details.metadata or []), ("authorization", f"Bearer {self.token}")]
        return continuation(details._replace(metadata=metadata), request)


class Clients:
    """Google's clients, which send one token."""

    def __init__(self, engine, token):
        self.channel = grpc.intercept_channel(grpc.insecure_channel(engine.address), _Bearer(token))
        self.vehicles = rides.VehicleServiceClient(transport=VehicleServiceGrpcTransport(channel=self.channel))
        self.trips = rides.TripServiceClient(transport=TripServiceGrpcTransport(channel=self.channel))
        self.delivery = delivery.DeliveryServiceClient(transport=DeliveryServiceGrpcTransport(channel=self.channel))

    def call(self, method, *ids):
        return CALLS[method](self, *ids)


def _vehicle(vehicle_id):
    return rides.Vehicle(name=f"{PROVIDER}/vehicles/{vehicle_id}")


def _batch(ids):
    return delivery.BatchCreateTasksRequest(
        parent=PROVIDER,
        requests=[delivery.CreateTaskRequest(parent=PROVIDER, task_id=task, task=delivery.Task()) for task in ids])


CALLS = {
    "CreateVehicle": lambda clients, i: clients.vehicles.create_vehicle(
        rides.CreateVehicleRequest(parent=PROVIDER, vehicle_id=i, vehicle=rides.Vehicle())),
    "GetVehicle": lambda clients, i: clients.vehicles.get_vehicle(
        rides.GetVehicleRequest(name=f"{PROVIDER}/vehicles/{i}")),
    "UpdateVehicle": lambda clients, i: clients.vehicles.update_vehicle(
        rides.UpdateVehicleRequest(
            name=f"{PROVIDER}/vehicles/{i}", vehicle=_vehicle(i), update_mask={"paths": ["vehicle_state"]})),
    "SearchVehicles": lambda clients, i: clients.vehicles.search_vehicles(
        rides.SearchVehiclesRequest(parent=PROVIDER, trip_id=i)),
    "CreateTrip": lambda clients, i: clients.trips.create_trip(
        rides.CreateTripRequest(parent=PROVIDER, trip_id=i, trip=rides.Trip())),
    "GetTrip": lambda clients, i: clients.trips.get_trip(rides.GetTripRequest(name=f"{PROVIDER}/trips/{i}")),
    "UpdateTrip": lambda clients, i: clients.trips.update_trip(
        rides.UpdateTripRequest(
            name=f"{PROVIDER}/trips/{i}", trip=rides.Trip(), update_mask={"paths": ["trip_status"]})),
    "CreateDeliveryVehicle": lambda clients, i: clients.delivery.create_delivery_vehicle(
        delivery.CreateDeliveryVehicleRequest(
            parent=PROVIDER, delivery_vehicle_id=i, delivery_vehicle=delivery.DeliveryVehicle())),
    "GetDeliveryVehicle": lambda clients, i: clients.delivery.get_delivery_vehicle(
        delivery.GetDeliveryVehicleRequest(name=f"{PROVIDER}/deliveryVehicles/{i}")),
    "UpdateDeliveryVehicle": lambda clients, i: clients.delivery.update_delivery_vehicle(
        delivery.UpdateDeliveryVehicleRequest(
            delivery_vehicle=delivery.DeliveryVehicle(name=f"{PROVIDER}/deliveryVehicles/{i}"),
            update_mask={"paths": ["last_location"]})),
    "CreateTask": lambda clients, i: clients.delivery.create_task(
        delivery.CreateTaskRequest(parent=PROVIDER, task_id=i, task=delivery.Task())),
    "BatchCreateTasks": lambda clients, *ids: clients.delivery.batch_create_tasks(_batch(ids)),
    "UpdateTask": lambda clients, i: clients.delivery.update_task(
        delivery.UpdateTaskRequest(
            task=delivery.Task(name=f"{PROVIDER}/tasks/{i}"), update_mask={"paths": ["task_outcome"]})),
    "GetTaskTrackingInfo": lambda clients, i: clients.delivery.get_task_tracking_info(
        delivery.GetTaskTrackingInfoRequest(name=f"{PROVIDER}/taskTrackingInfo/{i}")),
}


class Users:
    """Those who sign the apps' users in."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())

    @property
    def key_set(self):
        key = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
        return json.dumps({"keys": [dict(key, kid="u1", use="sig", alg="ES256")]})

    def token(self, **claims):
        now = int(time.time())
        standard = {"iss": ISSUER, "sub": "user-1", "aud": "https://assay.example.com", "iat": now, "exp": now + 600}
        return jwt.encode({**standard, **claims}, self.key, algorithm="ES256", headers={"kid": "u1"})


class Backend:
    """The operator's own, which is asked about trips: those that begin with `mine` are the user's."""

    TOKEN = "callback-0123456789"

    def __init__(self):
        self.questions = []
        backend = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                backend.questions.append(body)
                if self.headers["Authorization"] != f"Bearer {backend.TOKEN}":
                    return self.send_error(401)
                trip = body["ids"]["trip"][0]
                if trip == "unknown":
                    return self.send_error(404)
                answer = json.dumps({"allow": trip.startswith("mine")}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/fleet-engine"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


RULES = {
    "server": {"actor": {"claim": "groups", "values": ["dispatch"]}},
    "driver": {"vehicle": {"claim": "vehicles"}},
    "consumer": {"callback": True},
    "delivery_server": {"actor": {"claim": "groups", "values": ["dispatch"]}},
    "delivery_consumer": {"tracking": {"claim": "parcels"}, "task": {"claim": "tasks"}},
    "untrusted_delivery_driver": {"delivery_vehicle": {"claim": "vehicles"}},
    "trusted_delivery_driver": {"delivery_vehicle": {"claim": "vehicles"}, "task": {"claim": "tasks"}},
    "delivery_fleet_reader": {"actor": {"claim": "groups", "values": ["dispatch"]}},
    "fleet_reader": {"actor": {"claim": "groups", "values": ["dispatch"]}},
    "custom": {"vehicle": {"claim": "vehicles"}, "trip": {"claim": "trips"}},
}


class FleetServer(Server):
    """`assay serve` with a service account for each role."""

    def __init__(self, folder, accounts, users, backend):
        self.folder = folder
        self.process = None
        self.address = None
        (folder / "policies").mkdir()
        (folder / "users.json").write_text(users.key_set)
        (folder / "callback").write_text(backend.TOKEN)
        (folder / "callback").chmod(0o600)
        for role, account in accounts.items():
            (folder / f"{role}.json").write_text(account.key_file)
            (folder / f"{role}.json").chmod(0o600)
        policy = {
            "projects": [{
                "number": int(NUMBER), "id": PROJECT,
                "apps": [{
                    "id": APP_ID,
                    "providers": {"debug": {"tokens": [{"name": "local", "token": "env:ASSAY_DEBUG_TOKEN"}]}},
                }],
                "consumers": {"fleet_engine": {
                    "tokens": {"accept_development": True},
                    "actors": [{
                        "issuer": ISSUER, "audiences": ["https://assay.example.com"],
                        "jwks": f"file:{folder / 'users.json'}",
                    }],
                    "callback": {"url": backend.url, "token": f"file:{folder / 'callback'}"},
                    "roles": {
                        role: {"account": f"file:{folder / role}.json", **rule} for role, rule in RULES.items()
                    },
                }},
            }],
        }
        # JSON is YAML, too.
        (folder / "policies" / "policy.yaml").write_text(json.dumps(policy))

    def app_token(self):
        reply = requests.post(
            f"{self.address}/v1/{APP}:exchangeDebugToken", json={"debugToken": DEBUG_TOKEN}, timeout=30)
        reply.raise_for_status()
        return reply.json()["token"]

    def exchange(self, app_token, user=None, role=None, resources=(), **fields):
        """RFC 8693: `resources` are `vehicles/ID` and the like."""
        form = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"), ("subject_token", app_token),
            ("subject_token_type", JWT), ("audience", AUDIENCE),
            *(("resource", f"{AUDIENCE}v1/{PROVIDER}/{each}") for each in resources), *fields.items(),
        ]
        if role:
            form.append(("scope", role))
        if user:
            form += [("actor_token", user), ("actor_token_type", JWT)]
        return requests.post(f"{self.address}/token", data=form, timeout=30)

    def open(self, path, app_token=None, user=None):
        """What sample apps call."""
        headers = {}
        if app_token:
            headers["X-Firebase-AppCheck"] = app_token
        if user:
            headers["Authorization"] = f"Bearer {user}"
        return requests.get(f"{self.address}{path}", headers=headers, timeout=30)
