public import AssayCore

/// Why the provider refuses evidence.
public enum AndroidKeyReasons {
    /// There are too few or too many certificates, or too many bytes.
    public static let chainSize = Reason(
        "android_chain_size", "There are not 2 to 10 certificates of at most 64 KiB together.",
        advice: "Send what `KeyStore.getCertificateChain` gives: each certificate in DER, the key's own first.")
    /// A certificate cannot be read.
    public static let certificateMalformed = Reason(
        "android_certificate_malformed", "A certificate does not have the required form.",
        advice: """
            The detail says which one, and where. The evidence was altered, or devices have certificates that this version does not know: \
            if all devices of a kind fail, update Assay.
            """)
    /// The key's certificate says nothing of the key.
    public static let descriptionMissing = Reason(
        "android_description_missing", "The key's certificate does not describe the key.",
        advice: """
            The app made its key without `setAttestationChallenge`, or the device cannot attest keys: an emulator, or a device before \
            Android 8.
            """)
    /// What it says cannot be read.
    public static let descriptionMalformed = Reason(
        "android_description_malformed", "The description of the key does not have the required form.",
        advice:
            "The evidence was altered, or a new version of Android has another form: if all devices of a kind fail, update Assay."
    )
    /// An attested key has issued a certificate.
    public static let chainExtended = Reason(
        "android_chain_extended", "Another certificate than the key's own describes a key.",
        advice: "Somebody signed a certificate with an attested key: an attack. Nothing needs to be done.")
    /// The root is none of those that are trusted.
    public static let rootUntrusted = Reason(
        "android_root_untrusted", "The certificates do not lead to a trusted root.",
        advice: """
            The key was made in software, as on an emulator, or the certificates were made by somebody else. For devices of another \
            authority, or for simulated ones, set `roots`.
            """)
    /// A certificate was not signed by the next one's key.
    public static let signatureInvalid = Reason(
        "android_signature_invalid", "A certificate was not signed by the key of the next one.",
        advice: "A certificate was altered or forged: an attack. Nothing needs to be done.")
    /// A certificate that is renewed has ended.
    public static let certificateExpired = Reason(
        "android_certificate_expired", "A certificate of the device's authority has expired.",
        advice: """
            The app sent an old attestation; it should make a new key. If new devices fail, correct the clock of this server. Certificates \
            that a factory put into devices do not expire here.
            """)
    /// A certificate is not valid yet.
    public static let certificateNotYetValid = Reason(
        "android_certificate_not_yet_valid", "A certificate is not valid yet.",
        advice: "Correct the clock of this server.")
    /// The certificates do not form a path.
    public static let pathInvalid = Reason(
        "android_path_invalid", "The certificates do not form a path from the key to a root.",
        advice: "The detail says which rule is broken. Certificates in another order, or of two devices, end here.")
    /// The key was made for another challenge.
    public static let challengeMismatch = Reason(
        "android_challenge_mismatch", "The key was made for another challenge.",
        advice: """
            Give the challenge's bytes as the server gave them, decoded from Base64, to `setAttestationChallenge`, and make a new key for \
            each attestation. Old attestations that are sent again fail like this.
            """)
    /// The key, or its attestation, was made in software.
    public static let software = Reason(
        "android_software_key", "The key, or its attestation, is not from secure hardware.",
        advice: "The device is an emulator, or has no secure hardware that can attest keys.")
    /// Two places say different things of the hardware.
    public static let levelContradicted = Reason(
        "android_security_level_contradicted", "The description and the certificates name different hardware.",
        advice:
            "The detail has both. A trusted execution environment claims to be a chip of its own: an attack, or a broken device."
    )
    /// A chip of its own is demanded.
    public static let levelTooLow = Reason(
        "android_security_level_too_low", "The key is not in a chip of its own (StrongBox).",
        advice:
            "The app should make its key with `setIsStrongBoxBacked(true)`; devices without such a chip are refused.")
    /// The key is not what the policy demands.
    public static let keyProperties = Reason(
        "android_key_properties", "The key was not made as it should be.",
        advice: """
            The detail says how. The app makes the key in the key store for signing alone (`PURPOSE_SIGN`), not for attesting others, \
            and with the properties that the policy demands.
            """)
    /// The key is of a kind that cannot sign requests here.
    public static let keyKind = Reason(
        "android_key_kind", "The key is not on P-256.",
        advice: "The app should make its key with `ECGenParameterSpec(\"secp256r1\")`.")
    /// The key is of a kind that cannot be verified yet.
    public static let keyPostQuantum = Reason(
        "android_key_ml_dsa", "Signatures of the key cannot be verified: it is an ML-DSA key.",
        advice: "The app should make its key with `ECGenParameterSpec(\"secp256r1\")`.")
    /// The device does not say what it has booted.
    public static let bootUnknown = Reason(
        "android_boot_unknown", "The device does not say what it has booted.",
        advice:
            "Secure hardware of all devices since Android 7 says it: the evidence was altered, or the device is broken."
    )
    /// The boot loader is unlocked.
    public static let unlocked = Reason(
        "android_bootloader_unlocked", "The boot loader is unlocked.",
        advice: "The owner has unlocked the device; whatever runs on it may have been changed.")
    /// What was booted is not what the policy accepts.
    public static let bootNotAccepted = Reason(
        "android_boot_not_accepted", "The system that was booted is not one that the policy accepts.",
        advice: """
            The detail has the state and the key. To accept a system with a key of its own, such as GrapheneOS, set \
            `verified_boot: self_signed` and list its keys in `boot_keys`.
            """)
    /// The system does not know the app.
    public static let applicationUnknown = Reason(
        "android_application_unknown", "The device could not say which app made the key.",
        advice:
            "A fault of the system that Android 17 repairs: the user should restart the device, and the app make a new key."
    )
    /// Another app made the key.
    public static let packageMismatch = Reason(
        "android_package_mismatch", "Another app made the key.",
        advice: "Compare the detail with `package` in the app's `android` section.")
    /// The app is signed with a certificate that the policy does not list.
    public static let signerMismatch = Reason(
        "android_signer_mismatch", "The app is not signed with one of the certificates that the policy lists.",
        advice: """
            The app was changed and signed anew, or `signing_digests` has the certificate of the upload key: take the one of the app signing \
            key from the Play Console.
            """)
    /// The app is too old.
    public static let versionTooLow = Reason(
        "android_version_too_low", "The version of the app is below the policy's.",
        advice: "The user should update the app.")
    /// The system is too old.
    public static let systemTooOld = Reason(
        "android_os_too_old", "The version of Android is below the policy's.",
        advice: "The user should update the system.")
    /// A security update is too old.
    public static let patchTooOld = Reason(
        "android_patch_too_old", "The last security update is older than the policy accepts.",
        advice: "The detail says which part. The user should update the system; the maker may have ended its support.")
    /// A security update is not known.
    public static let patchUnknown = Reason(
        "android_patch_unknown", "The device does not say when its last security update was.",
        advice:
            "The detail says which part. Some makers state none for the vendor's part: leave it out of `patch_age` then."
    )
    /// A security update is in the future.
    public static let patchInFuture = Reason(
        "android_patch_in_future", "The last security update is more than a month in the future.",
        advice: "Correct the clock of this server, or the device states what cannot be.")
    /// The attestation key was put into the device in the factory.
    public static let notRemote = Reason(
        "android_not_remotely_provisioned", "The device's certificate is from a factory.",
        advice: "The policy demands `provisioning: remote`: devices before about Android 12 cannot have it.")
    /// A certificate is revoked.
    public static let revoked = Reason(
        "android_certificate_revoked", "A certificate of the device is revoked.",
        advice: "The key of the device has become known, or the device is broken. The detail has the serial number.")
    /// The artifact was not made here.
    public static let artifactInvalid = Reason(
        "android_artifact_invalid", "The artifact was not made by this service for this app.",
        advice:
            "The app should attest a new key. After a change of the sealing keys or of the project this is expected.")
    /// The artifact is of a root that is no longer trusted.
    public static let artifactRootUntrusted = Reason(
        "android_artifact_root_untrusted", "The key was attested under a root that the policy does not trust any more.",
        advice: "The app should attest a new key.")
    /// The assertion cannot be read.
    public static let assertionMalformed = Reason(
        "android_assertion_malformed", "The assertion does not have the required form.",
        advice:
            "An assertion is a CBOR map of `signature` and `authenticatorData`: compare the client with the article on Android keys."
    )
    /// The assertion is for another app.
    public static let assertionOtherApp = Reason(
        "android_assertion_other_app", "The assertion was made for another app.",
        advice: "The authenticator data begins with the SHA-256 of the package's name.")
    /// The signature is wrong.
    public static let assertionSignature = Reason(
        "android_assertion_signature", "The assertion was not signed by the attested key, or is for other data.",
        advice:
            "The client signs for the artifact and the challenge that it sends: compare it with the article on Android keys."
    )
    /// The counter was used.
    public static let counterUsed = Reason(
        "android_counter_not_advanced", "The counter of the assertion is not above the last one.",
        advice: "An assertion was sent again, or an app was restored from a backup: it should attest a new key.")

    /// All of them.
    public static let all: [Reason] = [
        chainSize, certificateMalformed, descriptionMissing, descriptionMalformed, chainExtended, rootUntrusted,
        signatureInvalid, certificateExpired, certificateNotYetValid, pathInvalid, challengeMismatch, software,
        levelContradicted, levelTooLow, keyProperties, keyKind, keyPostQuantum, bootUnknown, unlocked, bootNotAccepted,
        applicationUnknown, packageMismatch, signerMismatch, versionTooLow, systemTooOld, patchTooOld, patchUnknown,
        patchInFuture, notRemote, revoked, artifactInvalid, artifactRootUntrusted, assertionMalformed,
        assertionOtherApp,
        assertionSignature, counterUsed,
    ]
}
