/// Where a secret is to be found: `env:NAME` or `file:PATH`. Policies hold references, never secrets.
public struct SecretReference: Sendable, Hashable, Decodable, CustomStringConvertible {
    public enum Place: Sendable, Equatable {
        case environment(String)
        case file(String)

        public static func == (left: Place, right: Place) -> Bool {
            switch (left, right) {
            case (.environment(let left), .environment(let right)), (.file(let left), .file(let right)):
                left.isExactly(right)
            default: false
            }
        }
    }

    public let place: Place

    public init(_ place: Place) {
        self.place = place
    }

    /// A reference from its text; nil for anything that is none.
    public init?(_ text: String) {
        if let name = text.dropping(prefix: "env:"), !name.isEmpty {
            place = .environment(name)
        } else if let path = text.dropping(prefix: "file:"), !path.isEmpty {
            place = .file(path)
        } else {
            return nil
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let reference = SecretReference(try container.decode(String.self)) else {
            // The text is not repeated: it may be a secret that someone wrote here by mistake.
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "a secret must not stand in a policy: refer to it as env:NAME or file:PATH")
        }
        self = reference
    }

    public static func == (left: SecretReference, right: SecretReference) -> Bool {
        left.description.isExactly(right.description)
    }

    public func hash(into hasher: inout Hasher) {
        description.hashExactly(into: &hasher)
    }

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

    public init(_ resolve: @escaping @Sendable (SecretReference) throws(SecretError) -> [UInt8]?) {
        self.resolving = { (reference, _) throws(SecretError) in try resolve(reference) }
    }

    init(_ resolve: @escaping @Sendable (SecretReference, _ isSecret: Bool) throws(SecretError) -> [UInt8]?) {
        self.resolving = resolve
    }

    /// The secret's bytes, without a line end behind them; nil when an environment variable is not set or empty.
    ///
    /// - Throws: ``SecretError`` when a file cannot be read, is larger than 64 KiB, or may be used by others; see
    ///   ``SecretFile``.
    public func resolve(_ reference: SecretReference) throws(SecretError) -> [UInt8]? {
        try resolving(reference, true)
    }

    /// The bytes of a document that a reference leads to and that is no secret, such as a set of public keys; otherwise as
    /// ``resolve(_:)``. Everybody may read its file.
    public func document(_ reference: SecretReference) throws(SecretError) -> [UInt8]? {
        try resolving(reference, false)
    }
}

/// Why a secret could not be read; never the secret.
public struct SecretError: Error, Sendable, Equatable, CustomStringConvertible {
    @Exact public private(set) var message: String

    public init(_ message: String) {
        self.message = message
    }

    public var description: String { message }
}

extension StringProtocol {
    /// The text behind a prefix; nil when it does not begin so.
    package func dropping(prefix: String) -> String? {
        starts(withExactly: prefix) ? String(self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...]) : nil
    }
}
