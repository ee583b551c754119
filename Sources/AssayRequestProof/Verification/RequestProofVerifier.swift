public import AssayCore
internal import AssayCrypto

/// Verifies that the device of a token made a request.
///
/// It judges each proof by itself. A caller that accepts one must also remember that it was used
/// (``VerifiedRequestProof/id``), and compare the content with ``VerifiedRequestProof/contentSHA256``.
public struct RequestProofVerifier: Sendable {
    /// How long a proof is good after it was made, unless something else is said: one minute.
    public static let maximumAge: Duration = .seconds(60)
    /// How far the client's clock may be ahead: five seconds.
    public static let skew: Duration = .seconds(5)
    /// The most names of one server: each may cost the verification of a signature.
    public static let authorityLimit = 8

    /// The server's hosts as clients write them, in lower case, with a port other than the scheme's own.
    public let authorities: [String]
    /// How long a proof is good after it was made.
    public let maximumAge: Duration

    /// Makes a verifier of the requests to one server.
    ///
    /// - Parameters:
    ///   - authorities: its hosts, such as `api.example.com` and `localhost:8443`; 1 to 8.
    ///   - maximumAge: how long a proof is good after it was made; one second to ten minutes.
    /// - Returns: nil for hosts or an age of another form.
    public init?(authorities: [String], maximumAge: Duration = RequestProofVerifier.maximumAge) {
        guard (1...Self.authorityLimit).contains(authorities.count), authorities.allSatisfy(Self.isAuthority),
            Self.ages.contains(maximumAge)
        else { return nil }
        self.authorities = authorities
        self.maximumAge = maximumAge
    }

    /// How long after it was made a proof can be good at most, whoever judges it: it must be remembered for as long, because
    /// another backend, or the policy after a change, may accept older proofs than the one that accepts it now.
    public static let longestLife: Duration = ages.upperBound + skew

    /// The ages that may be asked for.
    public static let ages: ClosedRange<Duration> = .seconds(1) ... .seconds(600)

    /// Whether a text is a host as ``authorities`` has it.
    public static func isAuthority(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let host: ArraySlice<UInt8>
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
            host = bytes[...end]
            let address = host.dropFirst().dropLast()
            guard address.contains(UInt8(ascii: ":")), address.allSatisfy(isOfAddress) else { return false }
        } else {
            host = bytes.prefix { $0 != UInt8(ascii: ":") }
            let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard labels.allSatisfy(isLabel) else { return false }
        }
        guard (1...253).contains(host.count) else { return false }
        let port = bytes[host.endIndex...]
        return port.isEmpty || isPort(port)
    }

    private static func isOfAddress(_ byte: UInt8) -> Bool {
        byte.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte) || ":.".utf8.contains(byte)
    }

    private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
        (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
            && label.allSatisfy { byte in
                byte.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || "-_".utf8.contains(byte)
            }
    }

    /// A port after its colon, other than those that clients leave out.
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        let digits = text.dropFirst()
        guard text.first == UInt8(ascii: ":"), (1...5).contains(digits.count), digits.allSatisfy(\.isASCIIDigit),
            digits.first != UInt8(ascii: "0"), let port = Int(String(decoding: digits, as: UTF8.self))
        else { return false }
        return port <= 65_535 && port != 80 && port != 443
    }

    /// What a proof turned out to be.
    public enum Outcome: Sendable {
        case verified(VerifiedRequestProof)
        case refused(Reason, detail: String? = nil)
    }

    /// Verifies a proof.
    ///
    /// - Parameters:
    ///   - key: the key that the request's token names; nil when it names none.
    ///   - now: the time at which the request is judged.
    public func verify(
        _ headers: RequestProofHeaders, of request: ProvenRequest, by key: ConfirmationKey?, now: Instant
    ) -> Outcome {
        guard !headers.areAbsent else { return .refused(RequestProofReasons.missing) }
        guard let key else { return .refused(RequestProofReasons.keyMissing) }
        guard let field = headers.contentDigest, let digest = ContentDigest.sha256(in: field) else {
            return .refused(RequestProofReasons.malformed, detail: "Content-Digest")
        }
        guard let member = headers.signatureInput.flatMap({ DictionaryField.member(SignatureInput.label, of: $0) }),
            let input = SignatureInput(member)
        else { return .refused(RequestProofReasons.malformed, detail: "Signature-Input") }
        guard let member = headers.signature.flatMap({ DictionaryField.member(SignatureInput.label, of: $0) }),
            let assertion = ByteSequence.decode(member).flatMap(DeviceAssertion.init)
        else { return .refused(RequestProofReasons.malformed, detail: "Signature") }
        let created = Instant(seconds: input.created)
        guard created <= now + Self.skew else {
            return .refused(RequestProofReasons.notYetValid, detail: "created \(created), now \(now)")
        }
        guard now <= created + maximumAge else {
            return .refused(RequestProofReasons.tooOld, detail: "created \(created), now \(now)")
        }
        guard assertion.relyingPartyHash == key.relyingPartyHash else {
            return .refused(RequestProofReasons.otherApp)
        }
        guard isSigned(assertion, request, field, input, key) else {
            return .refused(
                RequestProofReasons.signature,
                detail:
                    "the key \(key.identifier) has not signed \(request.method) \(request.path) with this digest for "
                    + authorities.joined(separator: ", "))
        }
        return .verified(
            VerifiedRequestProof(
                id: Self.id(key, assertion.counter), counter: assertion.counter, created: created,
                isGoodUntil: created + Self.longestLife, contentSHA256: digest))
    }

    private func isSigned(
        _ assertion: DeviceAssertion, _ request: ProvenRequest, _ contentDigest: String, _ input: SignatureInput,
        _ key: ConfirmationKey
    ) -> Bool {
        authorities.contains { authority in
            let base = request.signatureBase(
                authority: authority, contentDigest: contentDigest, created: input.created)
            return assertion.isSigned(by: key.publicKey, over: SHA256.hash(Array(base.utf8)))
        }
    }

    /// A key makes no two assertions with one counter.
    private static func id(_ key: ConfirmationKey, _ counter: UInt32) -> String {
        Base64.encodeURL(SHA256.hash(key.publicKey, withUnsafeBytes(of: counter.bigEndian) { Array($0) }))
    }
}

/// A proof whose signature is good.
public struct VerifiedRequestProof: Sendable, Hashable {
    /// What the proof is remembered by: a text of 43 characters, the same for one counter of one key.
    @Exact public private(set) var id: String
    /// The counter of the device's key.
    public let counter: UInt32
    /// When the client made it.
    public let created: Instant
    /// Until when it must be remembered: as long as any verifier can accept it.
    public let isGoodUntil: Instant
    /// The SHA-256 of the content that the client signed.
    public let contentSHA256: [UInt8]

    /// Whether it is certain that the proof was made after a time, as when the memory of used proofs began: a client's
    /// clock may be ahead.
    public func isMade(after beginning: Instant) -> Bool { created >= beginning + RequestProofVerifier.skew }
}
