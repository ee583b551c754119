public import AssayCore
public import AssayCrypto

/// Policy files with a version as one signed document, which servers may fetch from a place that they do not trust.
///
/// It is a JWS in compact form (RFC 7515) of the type ``type``, signed with ES256, ES384 or RS256; `kid` is the thumbprint
/// of the key (RFC 7638). The payload is a JSON object of these members, and no others: `version` (a whole number that
/// grows), `iat` and optionally `exp` (when it was signed, and from when it is out of date; seconds since 1970), and `files`
/// (an object of the names of the files and their texts).
public struct PolicyBundle: Sendable {
    /// The `typ` of the header, which no token has.
    public static let type = "assay-policy-bundle"
    /// The largest bundle, in bytes.
    public static let byteLimit = 16 << 20
    /// The most files of a bundle.
    public static let fileLimit = 1024
    /// The greatest version: the greatest whole number that every reader of JSON has (RFC 8259, section 6).
    public static let greatestVersion: Int64 = 1 << 53 - 1

    /// Greater than the version of every earlier bundle.
    public let version: Int64
    /// When it was signed, to the second.
    public let issued: Instant
    /// From when it is out of date; nil for never.
    public let expires: Instant?
    /// The files in the order of their names, which have no folder.
    public let files: [PolicyFile]

    /// Makes a bundle of files; their folders are left out.
    ///
    /// The same files in any order, with the same numbers, make the same payload.
    ///
    /// - Throws: ``PolicyBundleError`` (`content`) for no file, for more files or bytes than a bundle may have, for a name that
    ///   ``PolicyBundleName`` refuses, for a text that is not UTF-8, and for a version outside of 1 to ``greatestVersion``.
    public init(
        _ files: [PolicyFile], version: Int64, issued: Instant, expires: Instant? = nil
    ) throws(PolicyBundleError) {
        let named = files.map { file in
            PolicyFile(name: String(file.name.split(onASCII: "/").last ?? ""), bytes: file.bytes)
        }
        try self.init(
            checking: named, version: version, issued: Instant(seconds: issued.seconds),
            expires: expires.map { Instant(seconds: $0.seconds) })
        let room = Self.byteLimit / 4 * 3 - 8192
        guard payload.count <= room else {
            throw PolicyBundleError(
                .content,
                "the files are too large: \(payload.count) bytes as JSON, of which a bundle has room for \(room)")
        }
    }

    private init(
        checking files: [PolicyFile], version: Int64, issued: Instant, expires: Instant?
    ) throws(PolicyBundleError) {
        guard (1...Self.greatestVersion).contains(version) else {
            throw PolicyBundleError(.content, "the version \(version) is not in 1 to \(Self.greatestVersion)")
        }
        guard !files.isEmpty else { throw PolicyBundleError(.content, "it has no policy file") }
        guard files.count <= Self.fileLimit else {
            throw PolicyBundleError(.content, "it has more than \(Self.fileLimit) files")
        }
        var seen: Set<ExactText> = []
        for file in files {
            if let problem = PolicyBundleName.problem(file.name) { throw PolicyBundleError(.content, problem) }
            guard seen.insert(ExactText(file.name.lowercasedASCII)).inserted else {
                throw PolicyBundleError(
                    .content, "two files have the name `\(file.name)`, in upper or lower case: rename one")
            }
            guard !String(validating: file.bytes, as: UTF8.self).isNil else {
                throw PolicyBundleError(.content, "the text of `\(file.name)` is not UTF-8")
            }
        }
        self.version = version
        self.issued = issued
        self.expires = expires
        self.files = files.sorted { $0.name.precedesExactly($1.name) }
    }

    /// The SHA-256 of the names and texts of the files, in hexadecimal.
    public var digest: String { Hex.encode(SHA256.hash(content.encoded)) }

    /// The policies of the files.
    ///
    /// - Parameter label: what the bundle is called in messages: a problem in `a.yaml` is at `LABEL/a.yaml:LINE:COLUMN`.
    public func policies(in label: String) -> PolicySet {
        PolicySet.read(files.map { PolicyFile(name: "\(label)/\($0.name)", bytes: $0.bytes) })
    }

    /// The bundle as bytes that ``open(_:trusting:)`` takes.
    ///
    /// - Throws: `CryptoError` when OpenSSL fails.
    public func signed(with key: PrivateKey) throws(CryptoError) -> [UInt8] {
        let signer = try JWSSigner(
            key: key, keyID: JWK(key.publicKey).thumbprint, algorithm: JWSAlgorithm(for: key.publicKey))
        return Array(try signer.sign(payload: payload, type: Self.type).utf8)
    }

    private var content: JSON {
        .object(files.map { JSONMember($0.name, .string(String(decoding: $0.bytes, as: UTF8.self))) })
    }

    private var payload: [UInt8] {
        var members = [JSONMember("version", .integer(version)), JSONMember("iat", .integer(issued.seconds))]
        if let expires { members.append(JSONMember("exp", .integer(expires.seconds))) }
        return JSON.object(members + [JSONMember("files", content)]).encoded
    }
}

extension PolicyBundle {
    /// Verifies the signature of a bundle, and then reads it; nothing of an unsigned one is read but its header.
    ///
    /// Line ends after the bundle are left out. Whether it is newer than another one, or out of date, is for the caller to judge.
    ///
    /// - Parameter keys: the keys that may have signed it, any of them.
    /// - Throws: ``PolicyBundleError``: any of its codes.
    public static func open(
        _ bytes: some Collection<UInt8>, trusting keys: [PublicKey]
    ) throws(PolicyBundleError) -> PolicyBundle {
        guard bytes.count <= byteLimit else {
            throw PolicyBundleError(.notABundle, "it is larger than \(byteLimit >> 20) MiB")
        }
        var token = Array(bytes)[...]
        while token.last == UInt8(ascii: "\n") || token.last == UInt8(ascii: "\r") { token.removeLast() }
        let signed: CompactJWS
        do throws(JWSError) {
            signed = try CompactJWS.parse(utf8: token, limit: byteLimit)
        } catch {
            throw PolicyBundleError(
                .notABundle, "it is not a policy bundle (\(error)): make one with `policy bundle create`")
        }
        guard signed.header.type.isExactly(type) else {
            let found = signed.header.type.map { "`\(LogField.words($0, limit: 40))`" } ?? "none"
            throw PolicyBundleError(
                .notABundle,
                "it is signed, and not as a policy bundle: its `typ` is \(found), and not `\(type)`")
        }
        let known = keys.map { (key: $0, id: JWK($0).thumbprint) }
        guard let id = signed.header.keyID, let key = known.first(where: { $0.id.isExactly(id) })?.key else {
            let found = signed.header.keyID.map { "`\(LogField.words($0, limit: 60))`" } ?? "no key that it names"
            throw PolicyBundleError(
                .unknownKey,
                "it is signed by the key \(found), which is not trusted here: trusted is "
                    + known.map { "`\($0.id)`" }.joined(separator: ", ")
                    + "; sign it with that one, or trust the public key of the other (`serve --bundle-key FILE`)")
        }
        do throws(JWSError) {
            try signed.verify(with: key)
        } catch {
            throw PolicyBundleError(
                .badSignature,
                "its signature is wrong (\(error)): it was changed or damaged after it was signed; upload it again")
        }
        return try PolicyBundle(payload: signed.payload)
    }

    private init(payload: [UInt8]) throws(PolicyBundleError) {
        // The values are the members of the root and the files.
        let limits = JSON.Limits(
            bytes: Self.byteLimit, depth: 2, values: Self.fileLimit + 8, allowsRepeatedNames: false)
        let json: JSON
        do throws(JSONError) {
            json = try JSON.parse(payload, limits: limits)
        } catch {
            throw PolicyBundleError(.content, "its signed content cannot be read: \(error)")
        }
        for member in json.members ?? [] where !["version", "iat", "exp", "files"].contains(exactly: member.name) {
            throw PolicyBundleError(
                .content,
                "its content has the unknown member `\(LogField.words(member.name, limit: 60))`: it is for another version "
                    + "of this program")
        }
        guard let version = json["version"]?.integer, let issued = Self.time(json["iat"]),
            let files = json["files"]?.members
        else {
            throw PolicyBundleError(.content, "its content is not an object with `version`, `iat` and `files`")
        }
        let expires = Self.time(json["exp"])
        guard expires != nil || json["exp"] == nil else {
            throw PolicyBundleError(.content, "its `exp` is not a time in seconds since 1970")
        }
        var read: [PolicyFile] = []
        for file in files {
            guard let text = file.value.string else {
                throw PolicyBundleError(
                    .content, "the content of `\(LogField.words(file.name, limit: 60))` is not a text")
            }
            read.append(PolicyFile(name: file.name, text: text))
        }
        try self.init(checking: read, version: version, issued: issued, expires: expires)
    }

    /// A time of four digits for the year.
    private static func time(_ value: JSON?) -> Instant? {
        guard let seconds = value?.integer, (0...253_402_300_799).contains(seconds) else { return nil }
        return Instant(seconds: seconds)
    }
}

/// Why a bundle is refused.
public struct PolicyBundleError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of reasons.
    @nonexhaustive public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The bytes are not a bundle.
        case notABundle = "not_a_bundle"
        /// Its header names none of the trusted keys.
        case unknownKey = "unknown_key"
        /// The signature is not the key's over these bytes.
        case badSignature = "bad_signature"
        /// It is signed, and what it says is not a bundle of policies.
        case content
    }

    /// What kind of reason it is.
    public let code: Code
    /// The reason and what to do, as a clause about the bundle: `its signature is wrong: …`.
    @Exact public private(set) var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Same as ``message``.
    public var description: String { message }
}
