public import AssayCore

extension AppAttestReasons {
    /// The evidence is longer than any that Apple produces.
    public static let evidenceTooLarge = Reason(
        "evidence_too_large", "The evidence is longer than any that Apple produces.",
        advice: """
            No Apple device makes such evidence. Check that the client sends only the object and encodes it once; \
            otherwise an attacker probes the server.
            """)
    /// The evidence is not CBOR.
    public static let cborMalformed = Reason(
        "cbor_malformed", "The evidence is not CBOR.",
        advice: """
            Check that the client sends the bytes of `attestKey` or `generateAssertion` unchanged, in standard \
            Base64. Evidence of simulators and of other libraries is refused, too.
            """)
    /// The evidence ends before its CBOR item does.
    public static let cborTruncated = Reason(
        "cbor_truncated", "The evidence ends before its CBOR item does.",
        advice: """
            Something on the way cuts the evidence. Check the client's buffer, and the size limits of proxies.
            """)
    /// Bytes follow the CBOR item.
    public static let cborTrailingBytes = Reason(
        "cbor_trailing_bytes", "Bytes follow the CBOR item.",
        advice: """
            Check that the client sends one object, and appends nothing, such as a line break within the Base64.
            """)
    /// A CBOR map has a key twice.
    public static let cborDuplicateKey = Reason(
        "cbor_duplicate_key", "A CBOR map has a key twice.",
        advice: """
            No Apple device makes such evidence: an attacker made or altered it. Nothing needs to be done.
            """)
    /// A CBOR length or number is indefinite, or not in its shortest form.
    public static let cborNotDeterministic = Reason(
        "cbor_not_deterministic", "A CBOR length or number is indefinite, or not in its shortest form.",
        advice: """
            No Apple device makes such evidence; a client or proxy that decodes and encodes it again does. Let it \
            send the bytes unchanged.
            """)
    /// CBOR items are nested too deeply, too many or too long.
    public static let cborLimitExceeded = Reason(
        "cbor_limit_exceeded", "CBOR items are nested too deeply, too many or too long.",
        advice: "No Apple device makes such evidence: it is a probe. Nothing needs to be done.")
    /// A CBOR map has a key that is not text.
    public static let cborUnknownKey = Reason(
        "cbor_unknown_key", "A CBOR map has a key that is not text.",
        advice: """
            No Apple device makes such evidence: an attacker made or altered it. If all devices of a new system \
            release fail, update Assay.
            """)
    /// A CBOR item has an unexpected type.
    public static let cborTypeUnexpected = Reason(
        "cbor_type_unexpected", "A CBOR item has an unexpected type.",
        advice: """
            No Apple device makes such evidence: an attacker made or altered it. If all devices of a new system \
            release fail, update Assay.
            """)
    /// The attestation object does not name its format.
    public static let formatMissing = Reason(
        "format_missing", "The attestation object does not name its format.",
        advice: "Check that the client does not send an assertion where an attestation is expected.")
    /// The format of the attestation object is not apple-appattest.
    public static let formatUnknown = Reason(
        "format_unknown", "The format of the attestation object is not apple-appattest.",
        advice: """
            The evidence is of another kind, such as a WebAuthn passkey. Let the client use `DCAppAttestService`.
            """)
    /// The attestation object has no statement.
    public static let statementMissing = Reason(
        "statement_missing", "The attestation object has no statement.",
        advice: "The attestation is incomplete: check that the client sends the bytes of `attestKey` unchanged.")
    /// The attestation statement has no certificates.
    public static let certificatesMissing = Reason(
        "x5c_missing", "The attestation statement has no certificates.",
        advice: "The attestation is incomplete: check that the client sends the bytes of `attestKey` unchanged.")
    /// The attestation statement does not have two certificates, or these and the trusted root.
    public static let certificateCount = Reason(
        "x5c_count", "The attestation statement does not have two certificates, or these and the trusted root.",
        advice: """
            Check whether Apple changed the chain: verify a kept sample with `assay verify app-attest --explain`, \
            and update Assay. A single case is altered evidence.
            """)
    /// The attestation statement has no receipt.
    public static let receiptMissing = Reason(
        "receipt_missing", "The attestation statement has no receipt.",
        advice: """
            The attestation is incomplete: check that the client sends the bytes of `attestKey` unchanged. If all devices \
            of a new system release fail, set `receipts: recorded`, and update Assay.
            """)
    /// The evidence has no authenticator data.
    public static let authenticatorDataMissing = Reason(
        "authenticator_data_missing", "The evidence has no authenticator data.",
        advice: """
            The evidence is incomplete. Check that the client does not mix up attestations and assertions, and sends \
            the bytes unchanged.
            """)
    /// The assertion has no signature.
    public static let assertionSignatureMissing = Reason(
        "assertion_signature_missing", "The assertion has no signature.",
        advice: "Check that the client sends an assertion of `generateAssertion`, and not an attestation.")

    static let encoding: [Reason] = [
        evidenceTooLarge, cborMalformed, cborTruncated, cborTrailingBytes, cborDuplicateKey, cborNotDeterministic,
        cborLimitExceeded, cborUnknownKey, cborTypeUnexpected, formatMissing, formatUnknown, statementMissing,
        certificatesMissing, certificateCount, receiptMissing, authenticatorDataMissing, assertionSignatureMissing,
    ]
}

extension AppAttestReasons {
    /// The authenticator data ends too early.
    public static let authenticatorDataTruncated = Reason(
        "authenticator_data_truncated", "The authenticator data ends too early.",
        advice: """
            The evidence was altered: no Apple device makes it. Check that the client sends the bytes unchanged.
            """)
    /// Bytes follow the authenticator data.
    public static let authenticatorDataTrailingBytes = Reason(
        "authenticator_data_trailing_bytes", "Bytes follow the authenticator data.",
        advice: """
            The evidence was altered: no Apple device makes it. If all devices of a new system release fail, update \
            Assay.
            """)
    /// The authenticator data has no attested credential.
    public static let attestedDataMissing = Reason(
        "attested_data_missing", "The authenticator data has no attested credential.",
        advice: "Check that the client does not send an assertion where an attestation is expected.")
    /// The credential identifier does not have 32 bytes.
    public static let credentialIDLength = Reason(
        "credential_id_length", "The credential identifier does not have 32 bytes.",
        advice: "The evidence was altered: no Apple device makes it.")
    /// The credential identifier is not the key identifier.
    public static let credentialIDMismatch = Reason(
        "credential_id_mismatch", "The credential identifier is not the key identifier.",
        advice: """
            The client named another key than the attested one. Check that it sends the `keyId` that `generateKey` \
            gave for this attestation.
            """)
    /// The credential key is not an ES256 key on P-256.
    public static let coseKeyMalformed = Reason(
        "cose_key_malformed", "The credential key is not an ES256 key on P-256.",
        advice: "The evidence was altered: no Apple device makes it.")
    /// The credential key is not the certified key.
    public static let coseKeyMismatch = Reason(
        "cose_key_mismatch", "The credential key is not the certified key.",
        advice: "The evidence was put together from two attestations: it is an attack. Nothing needs to be done.")
    /// The bytes after the credential or the counter are not a valid map of extensions.
    public static let extensionMapMalformed = Reason(
        "extension_map_malformed",
        "The bytes after the credential or the counter are not a valid map of extensions.",
        advice: """
            If all devices of a new system release fail, verify a kept sample with `assay verify app-attest \
            --explain` and update Assay. A single case is altered evidence.
            """)
    /// The evidence is for another App ID.
    public static let appIDMismatch = Reason(
        "app_id_mismatch", "The evidence is for another App ID.",
        advice: """
            Compare `apple.team_id` and `apple.bundle_id` of the app with the build. An older app may have an App ID prefix that is \
            not its team: set `apple.app_id_prefix`. An app clip has the App ID of its full app; an extension has its own.
            """)
    /// The counter of the attestation is not zero.
    public static let counterNotZero = Reason(
        "counter_not_zero", "The counter of the attestation is not zero.",
        advice: """
            The client attested a key that was used already, or sent an assertion's data. Let it attest each key \
            once, right after it generated it.
            """)
    /// The AAGUID is not one of App Attest's two.
    public static let aaguidUnknown = Reason(
        "aaguid_unknown", "The AAGUID is not one of App Attest's two.",
        advice: """
            The evidence is not from App Attest's production or development environment. If a new system release has \
            another one, update Assay.
            """)
    /// The key was made in an App Attest environment that is not allowed.
    public static let environmentNotAllowed = Reason(
        "environment_not_allowed", "The key was made in an App Attest environment that is not allowed.",
        advice: """
            Add `development` to `environments` for builds that Xcode installs, on a test system. Builds of \
            TestFlight and the App Store are `production`.
            """)

    static let authenticatorData: [Reason] = [
        authenticatorDataTruncated, authenticatorDataTrailingBytes, attestedDataMissing, credentialIDLength,
        credentialIDMismatch, coseKeyMalformed, coseKeyMismatch, extensionMapMalformed, appIDMismatch, counterNotZero,
        aaguidUnknown, environmentNotAllowed,
    ]
}
