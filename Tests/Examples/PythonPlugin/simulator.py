#!/usr/bin/env python3
"""The provider of device_code.py with simulated devices, for `assay conformance`: never for a server."""

import base64
import hashlib
import hmac
import json

import device_code
import plugin_pb2 as api
import plugin_pb2_grpc as services

KEYS = [b"the-factory-made-this-key", b"and-also-this-one"]


def text(data):
    return base64.b64encode(data).decode()


# What is wrong with a request that must be refused, or why there is none.
ADVERSARIES = [
    api.TestAdversary(name="wrong-authority", impossible="the policy lists each device, and no authority certifies one"),
    api.TestAdversary(name="other-key"),
    api.TestAdversary(name="other-app", impossible="a device does not say which app it serves: the policy of the app lists it"),
    api.TestAdversary(name="untrusted-device", impossible="a code says nothing of the device's state"),
    api.TestAdversary(name="other-challenge"),
    api.TestAdversary(name="expired", impossible="a code has no time but that of its challenge"),
    api.TestAdversary(name="future", impossible="a code has no time but that of its challenge"),
    api.TestAdversary(name="malformed"),
    api.TestAdversary(name="downgraded", impossible="a code has one algorithm"),
]


def section(app):
    devices = "\n".join(
        f'  - {{serial: A{app.number}{index}, key: "env:DEVICE_KEY_{index}"}}' for index in range(len(KEYS)))
    return f"devices:\n{devices}\nexchanges: 1000"


class Devices(services.SimulatorServicer):
    def Subject(self, request, context):
        return api.SubjectResponse(
            sections=[section(app) for app in request.apps],
            wrong_sections=[
                'devices: [{serial: "A-1", key: "env:DEVICE_KEY_0"}] # wrong',
                'devices:\n  - {serial: A1, key: "env:DEVICE_KEY_0"}\n  - {serial: A1, key: "env:DEVICE_KEY_1"} # wrong',
                'devices: []\nexchanges: 0 # wrong',
            ],
            secrets=[
                api.TestSecret(reference=f"env:DEVICE_KEY_{index}", value=key) for index, key in enumerate(KEYS)
            ],
            requests=[
                api.TestRequest(
                    method="exchangeDeviceCode", challenge_method="generateDeviceCodeChallenge",
                    adversaries=ADVERSARIES)
            ])

    def MakeRequest(self, request, context):
        index = request.client % len(KEYS)
        key = b"the-factory-never-saw-this" if request.adversary == "other-key" else KEYS[index]
        signed = b"another challenge" if request.adversary == "other-challenge" else request.challenge
        signature = hmac.new(key, signed, hashlib.sha256).digest()
        if request.adversary == "malformed":
            signature += b"more"
        body = {
            "challenge": text(request.challenge), "serial": f"A{request.app.number}{index}",
            "signature": text(signature),
        }
        return api.MakeRequestResponse(body=json.dumps(body))


if __name__ == "__main__":
    device_code.main(lambda server: services.add_SimulatorServicer_to_server(Devices(), server))
