"""Proofs of single requests, as the article *Prove requests* describes them, made with other libraries than Assay's own."""

import base64
import hashlib

COVERED = '("@method" "@authority" "@request-target" "content-digest")'


def content_digest(content):
    return f"sha-256=:{base64.b64encode(hashlib.sha256(content).digest()).decode()}:"


def parameters(created):
    return f'{COVERED};created={created};tag="appcheck-request"'


def signature_base(method, authority, target, digest, created):
    return "\n".join([
        f'"@method": {method}',
        f'"@authority": {authority}',
        f'"@request-target": {target}',
        f'"content-digest": {digest}',
        f'"@signature-params": {parameters(created)}',
    ])


def proof(device, method, authority, target, content, created):
    """The three header fields of a request."""
    digest = content_digest(content)
    base = signature_base(method, authority, target, digest, created)
    assertion = device.assertion(base.encode())
    return {
        "Content-Digest": digest,
        "Signature-Input": f"appcheck={parameters(created)}",
        "Signature": f"appcheck=:{base64.b64encode(assertion).decode()}:",
    }
