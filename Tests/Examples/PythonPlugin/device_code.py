#!/usr/bin/env python3
"""A provider of Assay in Python: a device signs a challenge with a key that it shares with the factory.

Assay starts this file as a process, which serves the contract `assay.plugin.v1` on the Unix socket that the environment
names. The modules plugin_pb2 and plugin_pb2_grpc are made from plugin.proto, see README.md.
"""

import concurrent.futures
import hashlib
import hmac
import json
import os
import signal
import threading

import grpc
import plugin_pb2 as api
import plugin_pb2_grpc as services

Field, Method, Key = api.Field, api.Method, api.Key

DESCRIPTION = api.DescribeResponse(
    kind=api.DescribeResponse.PROVIDER,
    name="device_code",
    version="1.0.0",
    summary="A device signs a challenge with a key that it shares with the factory.",
    stability=api.DescribeResponse.STABLE,
    proves="The request comes from a device whose key the factory knows.",
    trusts=["the factory, which keeps the keys"],
    reasons=[
        api.Reason(
            code="device_code_unknown", summary="No device with this serial is known.",
            advice="Add the device to the section's `devices`."),
        api.Reason(
            code="device_code_wrong", summary="The signature is not the device's.",
            advice="Check that the device and the policy have the same key."),
        api.Reason(
            code="device_code_retired", summary="The device has used up its exchanges.",
            advice="Raise `exchanges`, or replace the device."),
    ],
    facts=[
        api.FactName(name="device_serial", type=api.FactName.TEXT),
        api.FactName(name="device_exchanges", type=api.FactName.INTEGER),
    ],
    # Of many exchanges at once, each tries several numbers.
    limits=api.Limits(store_writes=100),
    methods=[
        Method(name="generateDeviceCodeChallenge", kind=Method.CHALLENGE),
        Method(
            name="exchangeDeviceCode", kind=Method.EXCHANGE, challenge_field="challenge",
            request=[
                Field(name="challenge", kind=Field.BYTES, required=True),
                Field(name="serial", kind=Field.TEXT, required=True),
                Field(name="signature", kind=Field.BYTES, required=True),
            ]),
    ],
    keys=[
        Key(
            name="devices", kind=Key.MAPPING, list=True, required=True, summary="The devices that are known.",
            keys=[
                Key(name="serial", kind=Key.TEXT, required=True, summary="The device's serial number."),
                Key(name="key", kind=Key.SECRET, required=True, summary="The location of the device's key."),
            ]),
        Key(
            name="exchanges", kind=Key.INTEGER, minimum=1, maximum=1_000_000,
            summary="How many tokens one device may get; 1000 when absent."),
    ],
)


class Instance:
    """What one app's section says."""

    def __init__(self, section):
        self.devices = {device["serial"]: device["key"] for device in section["devices"]}
        self.exchanges = section.get("exchanges", 1000)


def problems(section):
    """What is wrong with a section whose keys and types Assay has checked."""
    found, seen = [], set()
    for index, device in enumerate(section["devices"]):
        path = ["devices", str(index), "serial"]
        if not device["serial"].isalnum():
            found.append(api.Problem(path=path, message="a serial number is letters and digits"))
        elif device["serial"] in seen:
            found.append(api.Problem(path=path, message="another device has this serial number"))
        seen.add(device["serial"])
    return found


class DeviceCode(services.PluginServicer):
    def __init__(self):
        self.host = None
        self.instances = {}
        self.ended = threading.Event()

    def Handshake(self, request, context):
        if not request.oldest_version <= 1 <= request.newest_version:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "this plugin speaks version 1 of the contract")
        self.host = services.HostStub(grpc.insecure_channel("unix:" + request.host_socket))
        return api.HandshakeResponse(version=1)

    def Describe(self, request, context):
        return DESCRIPTION

    def Validate(self, request, context):
        return api.ConfigureResponse(errors=problems(json.loads(request.section)))

    def Configure(self, request, context):
        section = json.loads(request.section)
        errors = problems(section)
        if not errors:
            self.instances[request.instance] = Instance(section)
        return api.ConfigureResponse(errors=errors)

    def Release(self, request, context):
        self.instances.pop(request.instance, None)
        return api.ReleaseResponse()

    def Appraise(self, request, context):
        instance = self.instances[request.context.instance]
        fields = {field.name: field for field in request.fields}
        serial = fields["serial"].text
        reference = instance.devices.get(serial)
        if reference is None:
            return refused("device_code_unknown")
        key = self.host.Secret(api.SecretRequest(instance=request.context.instance, reference=reference)).value
        # Assay has found the challenge genuine and unused.
        expected = hmac.new(key, request.challenge, hashlib.sha256).digest()
        if not hmac.compare_digest(expected, fields["signature"].bytes):
            return refused("device_code_wrong", fact("device_serial", text=serial))
        number = self.count(request.context.call, serial)
        facts = [fact("device_serial", text=serial), fact("device_exchanges", integer=number)]
        if number > instance.exchanges:
            return refused("device_code_retired", *facts)
        return api.AppraiseResponse(verified=api.Verified(facts=facts, holder=serial))

    def count(self, call, serial):
        """Counts an exchange of a device: of several at once, each gets a number of its own."""
        found = self.host.Store(api.StoreRequest(call=call, get="count " + serial))
        number = int(found.value or b"0") + 1
        while not self.host.Store(
            api.StoreRequest(call=call, advance=api.StoreRequest.Advance(name="exchanges " + serial, value=number))
        ).done:
            number += 1
        entry = api.StoreRequest.Entry(name="count " + serial, value=str(number).encode())
        self.host.Store(api.StoreRequest(call=call, put=entry))
        return number

    def Health(self, request, context):
        return api.HealthResponse()

    def Shutdown(self, request, context):
        self.ended.set()
        return api.ShutdownResponse()


def fact(name, **value):
    return api.Fact(name=name, **value)


def refused(reason, *facts):
    return api.AppraiseResponse(refused=api.Refused(reason=reason, facts=facts))


def main(*more_services):
    plugin = DeviceCode()
    signal.signal(signal.SIGTERM, lambda *_: plugin.ended.set())
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=8))
    services.add_PluginServicer_to_server(plugin, server)
    for add in more_services:
        add(server)
    server.add_insecure_port("unix:" + os.environ["ASSAY_PLUGIN_SOCKET"])
    server.start()
    print("device_code is ready", flush=True)
    plugin.ended.wait()
    server.stop(grace=1)


if __name__ == "__main__":
    main()
