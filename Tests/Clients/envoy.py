"""What Envoy's external authorization and gRPC's health service look like on the wire.

The messages are made here from the numbers and types of the published definitions, and from nothing of this repository.
"""

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

Field = descriptor_pb2.FieldDescriptorProto
SCALARS = {"string": Field.TYPE_STRING, "bytes": Field.TYPE_BYTES, "int32": Field.TYPE_INT32, "int64": Field.TYPE_INT64}
pool = descriptor_pool.DescriptorPool()


def define(package, **messages):
    """Messages as name={field: (number, type)}; a type in brackets is repeated, `map` is one of strings."""
    file = descriptor_pb2.FileDescriptorProto(name=package.replace(".", "/") + ".proto", package=package, syntax="proto3")
    used = set()
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            proto = message.field.add(name=field, number=number, label=Field.LABEL_OPTIONAL)
            if kind == "map":
                entry = message.nested_type.add(name="".join(w.title() for w in field.split("_")) + "Entry")
                entry.options.map_entry = True
                for key, place in (("key", 1), ("value", 2)):
                    entry.field.add(name=key, number=place, label=Field.LABEL_OPTIONAL, type=Field.TYPE_STRING)
                proto.label, proto.type = Field.LABEL_REPEATED, Field.TYPE_MESSAGE
                proto.type_name = f".{package}.{name}.{entry.name}"
                continue
            if isinstance(kind, list):
                proto.label, kind = Field.LABEL_REPEATED, kind[0]
            if kind in SCALARS:
                proto.type = SCALARS[kind]
            else:
                proto.type = Field.TYPE_MESSAGE
                kind = kind if "." in kind else f"{package}.{kind}"
                proto.type_name = "." + kind
                used.add(kind.rpartition(".")[0])
    file.dependency.extend(sorted(other.replace(".", "/") + ".proto" for other in used - {package}))
    pool.Add(file)


define("google.rpc", Status={"code": (1, "int32"), "message": (2, "string")})
define("envoy.type.v3", HttpStatus={"code": (1, "int32")})
define(
    "envoy.config.core.v3",
    SocketAddress={"address": (2, "string"), "port_value": (3, "int32")},
    Address={"socket_address": (1, "SocketAddress")},
    HeaderValue={"key": (1, "string"), "value": (2, "string"), "raw_value": (3, "bytes")},
    HeaderMap={"headers": (1, ["HeaderValue"])},
    HeaderValueOption={"header": (1, "HeaderValue"), "append_action": (3, "int32")},
)
define(
    "envoy.service.auth.v3",
    Peer={"address": (1, "envoy.config.core.v3.Address"), "service": (2, "string"), "principal": (4, "string")},
    HttpRequest={
        "id": (1, "string"), "method": (2, "string"), "headers": (3, "map"), "path": (4, "string"), "host": (5, "string"),
        "scheme": (6, "string"), "size": (9, "int64"), "protocol": (10, "string"),
        "header_map": (13, "envoy.config.core.v3.HeaderMap"),
    },
    Request={"http": (2, "HttpRequest")},
    AttributeContext={
        "source": (1, "Peer"), "destination": (2, "Peer"), "request": (4, "Request"), "context_extensions": (10, "map"),
    },
    CheckRequest={"attributes": (1, "AttributeContext")},
    DeniedHttpResponse={
        "status": (1, "envoy.type.v3.HttpStatus"), "headers": (2, ["envoy.config.core.v3.HeaderValueOption"]),
        "body": (3, "string"),
    },
    OkHttpResponse={
        "headers": (2, ["envoy.config.core.v3.HeaderValueOption"]), "headers_to_remove": (5, ["string"]),
        "response_headers_to_add": (6, ["envoy.config.core.v3.HeaderValueOption"]),
    },
    CheckResponse={
        "status": (1, "google.rpc.Status"), "denied_response": (2, "DeniedHttpResponse"),
        "ok_response": (3, "OkHttpResponse"), "error_response": (5, "DeniedHttpResponse"),
    },
)
define("grpc.health.v1", HealthCheckRequest={"service": (1, "string")}, HealthCheckResponse={"status": (1, "int32")})


def message(name):
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


CheckRequest = message("envoy.service.auth.v3.CheckRequest")
CheckResponse = message("envoy.service.auth.v3.CheckResponse")
HealthCheckRequest = message("grpc.health.v1.HealthCheckRequest")
HealthCheckResponse = message("grpc.health.v1.HealthCheckResponse")


class Envoy:
    """Asks as Envoy does."""

    def __init__(self, target, credentials=None):
        options = [("grpc.ssl_target_name_override", "localhost")] if credentials else []
        self.channel = (
            grpc.secure_channel(target, credentials, options) if credentials else grpc.insecure_channel(target))
        self._check = self.channel.unary_unary(
            "/envoy.service.auth.v3.Authorization/Check", request_serializer=CheckRequest.SerializeToString,
            response_deserializer=CheckResponse.FromString)
        self._health = self.channel.unary_unary(
            "/grpc.health.v1.Health/Check", request_serializer=HealthCheckRequest.SerializeToString,
            response_deserializer=HealthCheckResponse.FromString)
        self._watch = self.channel.unary_stream(
            "/grpc.health.v1.Health/Watch", request_serializer=HealthCheckRequest.SerializeToString,
            response_deserializer=HealthCheckResponse.FromString)

    def check(self, *arguments, **named):
        return self._check(self.question(*arguments, **named), timeout=30, wait_for_ready=True)

    @staticmethod
    def question(headers=(), raw=(), method="GET", path="/", backend=None, extensions=None):
        """Headers are pairs: the merged ones, and those that are told as they came."""
        request = CheckRequest()
        attributes = request.attributes
        attributes.source.address.socket_address.address = "192.0.2.7"
        attributes.source.address.socket_address.port_value = 40000
        http = attributes.request.http
        http.id, http.method, http.path, http.host = "1", method, path, "orders.example.com"
        http.scheme, http.protocol, http.size = "https", "HTTP/2", -1
        http.headers.update({":path": path, **dict(headers)})
        for name, value in raw:
            http.header_map.headers.add(key=name, raw_value=value.encode())
        attributes.context_extensions.update(extensions or {})
        if backend:
            attributes.context_extensions["backend"] = backend
        return request

    def health(self, service=""):
        # A client that is refused in the handshake does not become ready.
        return self._health(HealthCheckRequest(service=service), timeout=30).status

    def watch(self, service=""):
        return self._watch(HealthCheckRequest(service=service), wait_for_ready=True)

    def close(self):
        self.channel.close()
