public import AssayCore
internal import AssayCrypto
internal import Synchronization

/// Google's Play Integrity, as far as it is documented: it makes classic and standard tokens, gives access tokens to a service account
/// (`/token`), decodes tokens (`:decodeIntegrityToken`), and keeps three bits of devices (`/deviceRecall:write`).
///
/// It answers in the process, as the `PluginHost.http` of a test, or behind a socket (module `AssayTestingHTTP`):
///
///     let play = try SimulatedPlayService(clock: clock.hostClock)
///     try await LocalServer { play.answer($0) }.run { port in … }
public final class SimulatedPlayService: OutboundHTTP {
    /// How the content of a classic token is signed.
    public enum Signing: Sendable, Hashable, CaseIterable {
        /// By the app's key.
        case verificationKey
        /// By another key on P-256.
        case otherKey
        /// Not at all: `none`.
        case none
    }

    private struct State {
        /// The payloads of the tokens that it made.
        var made: [ExactText: JSON] = [:]
        /// The devices of tokens that can still be used to write bits.
        var devices: [ExactText: String] = [:]
        var bits: [String: Bits] = [:]
    }

    /// What is kept of a device.
    private struct Bits {
        var values = [false, false, false]
        /// The months in which the bits were written, of those that are set.
        var months: [Int?] = [nil, nil, nil]
    }

    /// How old a token may be with which bits are written.
    private static let recallAge = Duration.seconds(14 * 86_400)
    private static let bitNames = ["bitFirst", "bitSecond", "bitThird"]

    private let decryption: SecretBytes
    private let signing: PrivateKey
    private let other: PrivateKey
    private let authority: SimulatedGoogleAuthority
    private let clock: HostClock
    private let scripted = RequestScript()
    private let state = Mutex(State())

    /// Makes keys for one app.
    public init(clock: HostClock) throws(SimulationError) {
        let keys = try SimulationError.wrapping { () throws(CryptoError) in
            (try PrivateKey.generate(.ec(.p256)), try PrivateKey.generate(.ec(.p256)))
        }
        self.clock = clock
        decryption = SecretBytes(Randomness.system.bytes(AES256KeyWrap.keyByteCount))
        (signing, other) = keys
        authority = try SimulatedGoogleAuthority(
            email: "play@example-project.iam.gserviceaccount.com",
            scope: "https://www.googleapis.com/auth/playintegrity", clock: clock)
    }

    /// The key file of the service account that may decode tokens.
    public var accountFile: String { authority.accountFile }

    /// The app's keys, as the Play Console gives them: two lines, `DECRYPTION_KEY=` and `VERIFICATION_KEY=`.
    public var keyFile: String {
        let pem = (try? signing.publicKey.pem()) ?? []
        let lines = String(decoding: pem, as: UTF8.self).split(onASCII: "\n")
        let verification = lines.filter { !$0.starts(withExactly: "-") }.joined()
        return "DECRYPTION_KEY=\(decryption.withUnsafeBytes { Base64.encode($0) })\nVERIFICATION_KEY=\(verification)\n"
    }

    // MARK: - Tokens

    /// A classic token: what it says, signed, then encrypted.
    public func classicToken(
        _ verdict: SimulatedPlayVerdict, signedBy signing: Signing = .verificationKey
    ) throws(SimulationError) -> String {
        let payload = self.payload(of: verdict)
        let token = try classicToken(holding: payload.encoded, signedBy: signing)
        if signing == .verificationKey { remember(token, payload, of: verdict.device) }
        return token
    }

    /// A classic token with any content.
    public func classicToken(
        holding payload: [UInt8], signedBy signing: Signing = .verificationKey
    ) throws(SimulationError) -> String {
        let token = try SimulationError.wrapping { () throws(CryptoError) in
            let content: String
            switch signing {
            case .verificationKey, .otherKey:
                let key = signing == .otherKey ? other : self.signing
                content = try JWSSigner(key: key, keyID: "play", algorithm: .es256).sign(payload: payload)
            case .none:
                content = "\(Base64.encodeURL(Array(#"{"alg":"none"}"#.utf8))).\(Base64.encodeURL(payload))."
            }
            return try KeyWrappedJWE.encrypt(Array(content.utf8), with: decryption)
        }
        let text = String(decoding: token, as: UTF8.self)
        if signing == .verificationKey, let json = try? JSON.parse(payload) { remember(text, json) }
        return text
    }

    /// A standard token, which only ``answer(_:)`` can decode.
    public func standardToken(_ verdict: SimulatedPlayVerdict) -> String {
        let text = "Cr0CARCn" + Base64.encodeURL(Randomness.system.bytes(300))
        remember(text, payload(of: verdict), of: verdict.device)
        return text
    }

    private func remember(_ token: String, _ payload: JSON, of device: String? = nil) {
        state.withLock { ($0.made[ExactText(token)], $0.devices[ExactText(token)]) = (payload, device) }
    }

    /// What a token says: of a device that has a name, with the bits that were written.
    private func payload(of verdict: SimulatedPlayVerdict) -> JSON {
        var verdict = verdict
        if let device = verdict.device, let bits = state.withLock({ $0.bits[device] }) {
            (verdict.recall, verdict.recallMonths) = (bits.values, bits.months)
        }
        return verdict.payload
    }

    // MARK: - Answers

    /// The stored requests, in the order of their arrival.
    public var requests: [OutboundRequest] { scripted.requests }

    /// What happens to the next requests, in their order; `.proceed` for its own answer.
    public func script(_ answers: [ScriptedAnswer]) {
        scripted.add(answers)
    }

    /// Ends all access tokens.
    public func forgetAccessTokens() {
        authority.forget()
    }

    /// What is done with a request.
    public func answer(_ request: OutboundRequest) -> ScriptedAnswer {
        let answer = scripted.answer(request)
        guard case .proceed = answer else { return answer }
        let path = request.url.path
        if path.ends(withExactly: "/token") { return .respond(authority.grant(request)) }
        return .respond(path.ends(withExactly: "/deviceRecall:write") ? write(request) : decode(request))
    }

    /// Answers as `PluginHost.http`.
    public func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        try await answer(request).outcome(of: request, clock: clock)
    }

    private func decode(_ request: OutboundRequest) -> OutboundResponse {
        let token = (try? JSON.parse(request.body))?["integrityToken"]?.string ?? ""
        guard authority.accepts(request) else { return Self.error(401, "UNAUTHENTICATED") }
        guard let payload = state.withLock({ $0.made[ExactText(token)] }),
            let package = payload["requestDetails"]?["requestPackageName"]?.string,
            request.url.path.ends(withExactly: "/v1/\(package):decodeIntegrityToken")
        else { return Self.error(400, "INVALID_ARGUMENT") }
        return SimulatedGoogleAuthority.json(200, ["tokenPayloadExternal": payload])
    }

    private func write(_ request: OutboundRequest) -> OutboundResponse {
        guard authority.accepts(request) else { return Self.error(401, "UNAUTHENTICATED") }
        let body = try? JSON.parse(request.body)
        let token = ExactText(body?["integrityToken"]?.string ?? "")
        let changes = Self.bitNames.map { body?["newValues"]?[$0]?.bool }
        let now = clock.now
        let digits = now.description.utf8.filter { (0x30...0x39).contains($0) }.prefix(6)
        let month = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return state.withLock { state in
            guard let details = state.made[token]?["requestDetails"],
                let package = details["requestPackageName"]?.string,
                request.url.path.ends(withExactly: "/v1/\(package)/deviceRecall:write"),
                let made = details["timestampMillis"]?.string.flatMap({ Int64($0) }),
                now - Instant(milliseconds: made) <= Self.recallAge, changes.contains(where: { $0 != nil }),
                // A token is good for one change.
                let device = state.devices.removeValue(forKey: token)
            else { return Self.error(400, "INVALID_ARGUMENT") }
            var bits = state.bits[device] ?? Bits()
            for (number, change) in changes.enumerated() {
                guard let change else { continue }
                (bits.values[number], bits.months[number]) = (change, change ? month : nil)
            }
            state.bits[device] = bits
            return SimulatedGoogleAuthority.json(200, [:])
        }
    }

    /// An error as Google's services write it.
    public static func error(_ code: Int, _ status: String) -> OutboundResponse {
        SimulatedGoogleAuthority.json(
            code,
            [
                "error": [
                    "code": .integer(Int64(code)), "message": .string("The simulated server says no."),
                    "status": .string(status),
                ]
            ])
    }
}
