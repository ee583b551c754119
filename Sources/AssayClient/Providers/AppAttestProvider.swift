/// Attests a key of the device once, and asserts by it for each token.
///
/// The identifier of the key and the server's artifact are kept together, on this device alone. Where either is lost,
/// refused or of another device, a new key is made, once: after a restored backup, a reinstallation or a lost database,
/// users need not do anything.
public struct AppAttestProvider: AppCheckProvider {
    let device: any AttestingDevice

    /// Makes a provider for a device.
    public init(device: any AttestingDevice) {
        self.device = device
    }

    /// A token by an assertion, or by an attestation where there is no attested key.
    public func token(_ request: TokenRequest) async throws -> IssuedToken {
        guard device.isSupported else { throw Self.unsupported(nil) }
        let isInVain = request.storage.load(Self.inVain) != nil
        do {
            let token = try await attempt(request)
            if isInVain { request.storage.remove(Self.inVain) }
            return token
        } catch let lost as KeyLost {
            // The next call begins with a new key, after a pause.
            request.storage.remove(AttestedKey.name)
            guard !isInVain else { throw lost.error }
            request.notice("A new App Attest key is made. \(lost.error)")
        }
        do {
            return try await attempt(request)
        } catch let lost as KeyLost {
            request.storage.remove(AttestedKey.name)
            request.storage.save([1], as: Self.inVain)
            throw lost.error
        }
    }

    /// What is stored after a new key was of no help: until a token comes, each call makes one key and not two.
    private static let inVain = "app-attest-new-key-in-vain"

    /// The key that is stored is of no use any more.
    private struct KeyLost: Error {
        let error: AppCheckError
    }

    private func attempt(_ request: TokenRequest) async throws -> IssuedToken {
        let key = try await key(request)
        return if let artifact = key.artifact {
            try await assert(key.identifier, artifact, request)
        } else {
            try await attest(key.identifier, request)
        }
    }

    private func key(_ request: TokenRequest) async throws -> AttestedKey {
        if let key = request.storage.load(AttestedKey.name).flatMap(AttestedKey.init) { return key }
        do throws(DeviceError) {
            let key = AttestedKey(identifier: try await device.generateKey(), artifact: nil)
            // Before it is attested: a key that is lost meanwhile would be one more of this device to the server.
            request.storage.save(key.encoded, as: AttestedKey.name)
            return key
        } catch {
            throw Self.failure(error, "make a key")
        }
    }

    private func attest(_ keyID: String, _ request: TokenRequest) async throws -> IssuedToken {
        let challenge = try await request.service.challenge("generateAppAttestChallenge")
        let statement: [UInt8]
        do throws(DeviceError) {
            statement = try await device.attestKey(keyID, clientDataHash: SHA256Digest.hash(challenge))
        } catch {
            let failure = Self.failure(error, "attest its key")
            // Apple asks to try the same key again when its own server is the reason.
            guard error.kind != .serverUnavailable, error.kind != .unsupported else { throw failure }
            throw KeyLost(error: failure)
        }
        let reply: ServiceReply
        do {
            reply = try await request.service.call(
                "exchangeAppAttestAttestation",
                ["key_id": .text(keyID), "attestation_statement": .bytes(statement), "challenge": .bytes(challenge)],
                isLimitedUse: request.isLimitedUse)
        } catch {
            guard error.code == .refused else { throw error }
            throw KeyLost(error: error)
        }
        guard let artifact = reply.bytes("artifact"), (1...ClientLimits.artifact).contains(artifact.count) else {
            throw reply.malformed("`artifact` is not Base 64 of 1 to \(ClientLimits.artifact) bytes")
        }
        let token = try reply.token("appCheckToken")
        request.storage.save(AttestedKey(identifier: keyID, artifact: artifact).encoded, as: AttestedKey.name)
        return token
    }

    private func assert(_ keyID: String, _ artifact: [UInt8], _ request: TokenRequest) async throws -> IssuedToken {
        let challenge = try await request.service.challenge("generateAppAttestChallenge")
        guard !RequestProof.isBegun(by: artifact + challenge) else {
            throw KeyLost(
                error: AppCheckError(
                    .malformedReply,
                    "The server wants a signature that would prove a request. Somebody else may answer in its place."))
        }
        let assertion: [UInt8]
        do throws(DeviceError) {
            assertion = try await device.generateAssertion(
                keyID, clientDataHash: SHA256Digest.hash(artifact, challenge))
        } catch {
            let failure = Self.failure(error, "sign with its key")
            guard error.kind != .serverUnavailable, error.kind != .unsupported else { throw failure }
            throw KeyLost(error: failure)
        }
        do {
            return try await request.service.exchange(
                "exchangeAppAttestAssertion",
                ["artifact": .bytes(artifact), "assertion": .bytes(assertion), "challenge": .bytes(challenge)],
                isLimitedUse: request.isLimitedUse)
        } catch {
            // Refused, or an artifact that the server cannot read: only a new attestation leads on.
            guard error.code == .refused || error.code == .rejected && error.status == 400 else { throw error }
            throw KeyLost(error: error)
        }
    }

    static func failure(_ error: DeviceError, _ action: String) -> AppCheckError {
        switch error.kind {
        case .unsupported: unsupported(error)
        case .serverUnavailable:
            AppCheckError(
                .deviceFailed,
                "Apple's server did not help the device to \(action). The same key is tried again later.",
                cause: error)
        case .invalidKey, .invalidInput, .failed:
            AppCheckError(
                .deviceFailed, "The device could not \(action). A new key is made with the next try.", cause: error)
        }
    }

    private static func unsupported(_ cause: (any Error)?) -> AppCheckError {
        AppCheckError(
            .unsupportedDevice,
            "This device has no App Attest: simulators, app extensions and old Macs have none. Use the debug provider "
                + "while you develop, and DeviceCheck for such devices.", cause: cause)
    }
}

#if canImport(DeviceCheck)
extension AppAttestProvider {
    /// Makes a provider for this device.
    public init() {
        self.init(device: AppAttestDevice())
    }
}
#endif

/// What is kept of a key: its identifier, and the server's artifact when it was attested.
struct AttestedKey: Sendable {
    static let name = "app-attest-key"

    let identifier: String
    let artifact: [UInt8]?

    init(identifier: String, artifact: [UInt8]?) {
        self.identifier = identifier
        self.artifact = artifact
    }

    /// Nil for anything but what ``encoded`` makes.
    init?(_ bytes: [UInt8]) {
        guard let value = JSONValue.read(bytes), case .integer(1)? = value["version"],
            let identifier = value["key"]?.text, (1...256).contains(identifier.utf8.count)
        else { return nil }
        let artifact = value["artifact"]?.text.map { Base64Text.decode($0.utf8) }
        // An artifact that cannot be read means that all of it is damaged.
        if let artifact, artifact == nil { return nil }
        self.init(identifier: identifier, artifact: artifact ?? nil)
    }

    var encoded: [UInt8] {
        var members: [(String, BodyValue)] = [("version", .integer(1)), ("key", .text(identifier))]
        if let artifact { members.append(("artifact", .bytes(artifact))) }
        return JSONText.object(members)
    }
}
