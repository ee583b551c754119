public import AssayCore
internal import AssayCrypto

/// The claims of a JWT (RFC 7519, section 4), those registered as values, the others as JSON.
public struct JWTClaims: Sendable, Hashable {
    /// All claims, each once.
    public let json: JSON
    /// `iss`: the issuer, according to the token.
    @Exact public private(set) var issuer: String?
    /// `sub`: the subject of the token.
    @Exact public private(set) var subject: String?
    /// One or several; empty when absent.
    @Exact public private(set) var audience: [String]
    /// `exp`: from when on it is invalid; nil when absent.
    public let expires: Instant?
    /// `nbf`: before when it is invalid; nil when absent.
    public let notBefore: Instant?
    /// `iat`: when it was made; nil when absent.
    public let issued: Instant?
    /// `jti`: its identifier, which is unique for its issuer; nil when absent.
    @Exact public private(set) var id: String?

    private static let limits = JSON.Limits(bytes: 16_384, depth: 16, values: 1024, allowsRepeatedNames: false)

    /// - Throws: ``JWTFault/malformed`` when the payload is not a JSON object, repeats a claim, or has a registered
    ///   claim of the wrong type.
    public init(payload: [UInt8]) throws(JWTFault) {
        guard let json = try? JSON.parse(payload, limits: JWTClaims.limits), json.members != nil else {
            throw .malformed
        }
        self.json = json
        issuer = try JWTClaims.text("iss", json)
        subject = try JWTClaims.text("sub", json)
        id = try JWTClaims.text("jti", json)
        expires = try JWTClaims.time("exp", json)
        notBefore = try JWTClaims.time("nbf", json)
        issued = try JWTClaims.time("iat", json)
        switch json["aud"] {
        case nil: audience = []
        case .string(let text)?: audience = [text]
        case .array(let elements)?:
            audience = elements.compactMap(\.string)
            guard audience.count == elements.count else { throw .malformed }
        default: throw .malformed
        }
    }

    /// The issuer that a token claims, read before anything is verified: it only selects the rules for judging the
    /// token.
    public static func issuer(ofUnverified token: String) -> String? {
        guard let signed = try? CompactJWS.parse(utf8: Array(token.utf8)[...]) else { return nil }
        return try? JWTClaims(payload: signed.payload).issuer
    }

    /// A claim that is a text, found by a path with dots for nested claims; nil when it is absent or not a text.
    public func text(at path: String) -> String? {
        var value: JSON? = json
        for name in path.split(onASCII: ".") where !name.isEmpty { value = value?[String(name)] }
        return value?.string
    }

    private static func text(_ name: String, _ json: JSON) throws(JWTFault) -> String? {
        guard let value = json[name] else { return nil }
        guard let text = value.string else { throw .malformed }
        return text
    }

    /// A NumericDate (RFC 7519, section 2): seconds since 1970, perhaps with a fraction.
    private static func time(_ name: String, _ json: JSON) throws(JWTFault) -> Instant? {
        switch json[name] {
        case nil: return nil
        case .integer(let seconds)?:
            guard (0...253_402_300_799).contains(seconds) else { throw .malformed }
            return Instant(seconds: seconds)
        case .number(let seconds)?:
            guard seconds >= 0, seconds <= 253_402_300_799 else { throw .malformed }
            return Instant(milliseconds: Int64(seconds * 1000))
        default: throw .malformed
        }
    }
}
