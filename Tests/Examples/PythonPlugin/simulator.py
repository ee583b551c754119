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
                api.TestRequest(method="exchangeDeviceCode", challenge_method="generateDeviceCodeChallenge")
            ])

    def MakeRequest(self, request, context):
        index = request.client % len(KEYS)
        signature = hmac.new(KEYS[index], request.challenge, hashlib.sha256).digest()
        body = {
            "challenge": text(request.challenge), "serial": f"A{request.app.number}{index}",
            "signature": text(signature),
        }
        return api.MakeRequestResponse(body=json.dumps(body))


if __name__ == "__main__":
    device_code.main(lambda server: services.add_SimulatorServicer_to_server(Devices(), server))
