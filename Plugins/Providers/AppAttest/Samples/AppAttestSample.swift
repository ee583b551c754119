public import AssayCore
internal import AssayCrypto

/// A stored piece of evidence, with the values that it must agree with.
struct AppAttestSample {
    enum Kind: String, CaseIterable {
        case attestation
        case assertion
        case receipt
    }

    let kind: Kind
    /// Its source: from the file, otherwise the file's name.
    let source: String
    private let fields: JSON

    init(_ fields: JSON, place: String) throws(AppAttestSampleError) {
        self.fields = fields
        guard let kind = fields["kind"]?.string.flatMap({ Kind(exactly: $0) }) else {
            throw AppAttestSampleError("`kind` must be attestation, assertion or receipt")
        }
        if let (name, meant) = Self.misspelled(fields) {
            throw AppAttestSampleError("`\(name)` is not read; is `\(meant)` meant?")
        }
        self.kind = kind
        source = fields["source"]?.string ?? place
    }

    private static let names = [
        "kind", "source", "app_id", "attestation_base64", "assertion_base64", "receipt_base64", "key_id_base64",
        "key_id_hex", "client_data_hash_base64", "client_data_hash_hex", "client_data_hash_is", "challenge_base64",
        "challenge_utf8", "client_data_base64", "client_data_utf8", "environment", "valid_at", "public_key_pem",
        "previous_counter", "created", "fields", "challenge", "counter",
    ]

    /// An unknown field whose name is similar to a known one.
    ///
    /// Other fields are notes, and are ignored.
    private static func misspelled(_ fields: JSON) -> (name: String, meant: String)? {
        for member in fields.members ?? [] where !names.contains(exactly: member.name) {
            let name = Array(member.name.utf8)
            guard name.count <= 40, let meant = names.first(where: { distance(name, Array($0.utf8)) <= 2 }) else {
                continue
            }
            return (member.name, meant)
        }
        return nil
    }

    /// How many bytes must be changed, added or removed to turn one into the other (Levenshtein).
    private static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        // In bounds: a row has one place more than `other`.
        var row = Array(0...other.count)
        for (index, byte) in one.enumerated() {
            var corner = row[0]
            row[0] = index + 1
            for column in other.indices {
                let present = row[column + 1]
                row[column + 1] = min(row[column], present, corner - (byte == other[column] ? 1 : 0)) + 1
                corner = present
            }
        }
        return row[other.count]
    }

    /// A required text.
    func text(_ name: String) throws(AppAttestSampleError) -> String {
        guard let text = fields[name]?.string else { throw AppAttestSampleError("`\(name)` is missing") }
        return text
    }

    /// An optional text; a value that is none is not taken for an absent one.
    func optionalText(_ name: String) throws(AppAttestSampleError) -> String? {
        guard let value = fields[name], value != .null else { return nil }
        guard let text = value.string else { throw AppAttestSampleError("`\(name)` is not a text") }
        return text
    }

    /// Required Base 64.
    func bytes(_ name: String) throws(AppAttestSampleError) -> [UInt8] {
        guard let bytes = Base64.decode(try text(name)) else { throw AppAttestSampleError("`\(name)` is not Base 64") }
        return bytes
    }

    /// The identifier of a key, in Base 64 or as 64 hexadecimal digits.
    ///
    /// Such digits would be Base 64 as well, of 48 bytes, which no key identifier has.
    func keyID() throws(AppAttestSampleError) -> [UInt8] {
        let (standard, digits) = (try optionalText("key_id_base64"), try optionalText("key_id_hex"))
        let name = standard.isNil && !digits.isNil ? "key_id_hex" : "key_id_base64"
        let text = try text(name)
        let identifier =
            Hex.decode(text).flatMap { $0.count == SHA256.byteCount ? $0 : nil }
            ?? (name.isExactly("key_id_base64")
                ? Base64.decode(text) ?? Base64.decodeURL(utf8: Array(text.utf8)[...]) : nil)
        guard let identifier, identifier.count == SHA256.byteCount else {
            throw AppAttestSampleError(
                "`\(name)` is not a key identifier: 32 bytes in Base 64, as `generateKey` returns them, or 64 hexadecimal digits"
            )
        }
        return identifier
    }

    /// What the client gave as client data hash: as it is in the sample, or the digest of what the sample has in its
    /// place.
    func clientDataHash() throws(AppAttestSampleError) -> [UInt8] {
        let given = try oneOf(["client_data_hash_base64", "client_data_hash_hex"])
        let usage = try optionalText("client_data_hash_is")
        let isRaw = usage.isExactly(Self.challengeItself)
        let isKnown = isRaw || usage.isExactly(Self.challengeHashed)
        let challenge = try oneOf(["challenge_base64", "challenge_utf8"])
        if let given {
            if isKnown, let challenge, given != (isRaw ? challenge : SHA256.hash(challenge)) {
                throw AppAttestSampleError("the client data hash and the challenge do not agree")
            }
            return given
        }
        if let clientData = try oneOf(["client_data_base64", "client_data_utf8"]) { return SHA256.hash(clientData) }
        guard let challenge else {
            let other = (fields["challenge"]?.string).isNil ? "" : "; `challenge` is not read"
            throw AppAttestSampleError(
                "`client_data_hash_base64` is missing, and so are `challenge_utf8`, `challenge_base64`, `client_data_utf8` "
                    + "and `client_data_base64`, which are hashed\(other)")
        }
        guard isKnown || usage.isNil else {
            throw AppAttestSampleError(
                "`client_data_hash_is` must be `\(Self.challengeHashed)`, which is the default, or `\(Self.challengeItself)`"
            )
        }
        return isRaw ? challenge : SHA256.hash(challenge)
    }

    private static let challengeHashed = "sha256(challenge)"
    private static let challengeItself = "challenge"

    /// The bytes under one of several names, which end with their encoding; if two are present, they must agree.
    private func oneOf(_ names: [String]) throws(AppAttestSampleError) -> [UInt8]? {
        var found: (name: String, bytes: [UInt8])?
        for name in names {
            guard let value = fields[name], value != .null else { continue }
            let text = try text(name)
            let bytes =
                if name.ends(withExactly: "_utf8") {
                    Array(text.utf8) as [UInt8]?
                } else if name.ends(withExactly: "_hex") {
                    Hex.decode(text)
                } else {
                    Base64.decode(text)
                }
            guard let bytes else {
                throw AppAttestSampleError(
                    "`\(name)` is not \(name.ends(withExactly: "_hex") ? "hexadecimal" : "Base 64")")
            }
            if let found, found.bytes != bytes {
                throw AppAttestSampleError("`\(found.name)` and `\(name)` do not agree")
            }
            found = found ?? (name, bytes)
        }
        return found?.bytes
    }

    /// A counter; 0 when absent.
    func counter(_ name: String) throws(AppAttestSampleError) -> UInt32 {
        guard let value = fields[name], value != .null else { return 0 }
        guard let counter = value.integer.flatMap(UInt32.init(exactly:)) else {
            throw AppAttestSampleError("`\(name)` must be a number from 0 to \(UInt32.max)")
        }
        return counter
    }

    /// When a receipt was made, by the fields that were read off it.
    var created: String? {
        fields["created"]?.string ?? fields["fields"]?["12"]?.string
    }

    /// A required time in RFC 3339.
    func time(_ text: String?) throws(AppAttestSampleError) -> Instant {
        guard let text else { throw AppAttestSampleError("`valid_at` is missing; give a time with --at") }
        guard let instant = Instant(rfc3339: text) else {
            throw AppAttestSampleError("`\(text)` is not an RFC 3339 time")
        }
        return instant
    }
}

/// The reason why a sample cannot be verified at all: a missing or malformed part.
public struct AppAttestSampleError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The error in the sample.
    @Exact public private(set) var description: String

    init(_ description: String) {
        self.description = description
    }
}
