#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Where a secret is: `env:NAME` or `file:PATH`.
///
/// Policies hold references, never secrets.
public struct SecretReference: Sendable, Hashable, Decodable, CustomStringConvertible {
    /// The kinds of places that hold secrets.
    @nonexhaustive public enum Place: Sendable, Equatable {
        case environment(String)
        case file(String)

        /// Compares names and paths by their UTF-8 bytes.
        public static func == (left: Place, right: Place) -> Bool {
            switch (left, right) {
            case (.environment(let left), .environment(let right)), (.file(let left), .file(let right)):
                left.isExactly(right)
            default: false
            }
        }
    }

    /// The place of the secret.
    public let place: Place

    /// Makes a reference to a place.
    public init(_ place: Place) {
        self.place = place
    }

    /// A reference from its text; nil when the text is not a reference.
    public init?(_ text: String) {
        if let name = text.dropping(prefix: "env:"), !name.isEmpty {
            place = .environment(name)
        } else if let path = text.dropping(prefix: "file:"), !path.isEmpty {
            place = .file(path)
        } else {
            return nil
        }
    }

    /// Decodes `env:NAME` or `file:PATH`; the error never repeats the text, which may be a secret.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let reference = SecretReference(try container.decode(String.self)) else {
            // The text is not repeated: it may be a secret that someone wrote here by mistake.
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "a policy must not contain a secret: refer to it as env:NAME or file:PATH")
        }
        self = reference
    }

    /// The same place, with a relative path that begins at a folder.
    func resolved(in folder: String) -> SecretReference {
        guard case .file(let path) = place, !path.starts(withExactly: "/") else { return self }
        return SecretReference(.file(folder.ends(withExactly: "/") ? folder + path : "\(folder)/\(path)"))
    }

    /// Compares references by their UTF-8 bytes.
    public static func == (left: SecretReference, right: SecretReference) -> Bool {
        left.description.isExactly(right.description)
    }

    /// Hashes the reference by its UTF-8 bytes.
    public func hash(into hasher: inout Hasher) {
        description.hashExactly(into: &hasher)
    }

    /// The reference as policies write it; it never holds the secret.
    public var description: String {
        switch place {
        case .environment(let name): "env:\(name)"
        case .file(let path): "file:\(path)"
        }
    }
}

/// Resolves references to secrets.
public struct SecretSource: Sendable {
    private let resolving: @Sendable (SecretReference, _ isSecret: Bool) throws(SecretError) -> [UInt8]?
    /// What was asked of a source that reads nothing; nil for one that reads.
    package internal(set) var withheld: WithheldSecrets?

    /// Makes a source from a closure, which returns nil for a secret that does not exist.
    public init(_ resolve: @escaping @Sendable (SecretReference) throws(SecretError) -> [UInt8]?) {
        self.resolving = { (reference, _) throws(SecretError) in try resolve(reference) }
    }

    init(_ resolve: @escaping @Sendable (SecretReference, _ isSecret: Bool) throws(SecretError) -> [UInt8]?) {
        self.resolving = resolve
    }

    /// The secret's bytes, without a trailing line end; nil when an environment variable is not set or empty.
    ///
    /// - Throws: ``SecretError`` when a file cannot be read, is larger than 64 KiB, or may be used by others; see
    ///   ``SecretFile``.
    public func resolve(_ reference: SecretReference) throws(SecretError) -> [UInt8]? {
        try resolving(reference, true)
    }

    /// The same source for references whose relative paths begin at a folder; the same one for no folder.
    package func relative(to folder: String?) -> SecretSource {
        guard let folder, withheld == nil else { return self }
        return SecretSource { [resolving] (reference, isSecret) throws(SecretError) in
            try resolving(reference.resolved(in: folder), isSecret)
        }
    }

    /// The bytes of a document that is not secret, such as a set of public keys; otherwise as ``resolve(_:)``.
    ///
    /// Its file may be readable by every user.
    public func document(_ reference: SecretReference) throws(SecretError) -> [UInt8]? {
        try resolving(reference, false)
    }
}

extension SecretSource {
    /// A source that reads as this one does, and calls a closure before it reads.
    public func noting(_ note: @escaping @Sendable (SecretReference) -> Void) -> SecretSource {
        let resolving = resolving
        var source = SecretSource { (reference, isSecret) throws(SecretError) in
            note(reference)
            return try resolving(reference, isSecret)
        }
        source.withheld = withheld
        return source
    }
}

/// Why a secret could not be read; never the secret.
public struct SecretError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong, for operators; it never holds the secret.
    @Exact public private(set) var message: String

    /// Makes an error with a message for operators.
    public init(_ message: String) {
        self.message = message
    }

    /// Same as ``message``.
    public var description: String { message }
}

extension StringProtocol {
    /// The text after a prefix; nil when the text does not start with it.
    package func dropping(prefix: String) -> String? {
        starts(withExactly: prefix) ? String(self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...]) : nil
    }
}

extension SecretSource {
    /// The process's environment and file system.
    ///
    /// Files of secrets are judged as ``SecretFile`` says.
    public static let system = SecretSource { (reference, isSecret) throws(SecretError) in
        switch reference.place {
        case .environment(let name):
            guard let value = getenv(name) else { return nil }
            let text = Array(String(cString: value).utf8)
            return text.isEmpty ? nil : text
        case .file(let path):
            var bytes = try SecretFile.read(path, limit: sizeLimit, isSecret: isSecret)
            while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
            return bytes
        }
    }

    private static let sizeLimit = 65_536
}
