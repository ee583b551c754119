public import AssayCore
public import AssayYAML

/// One difference between two sets of policies.
public struct PolicyChange: Sendable {
    /// What happened.
    @nonexhaustive public enum Kind: String, Sendable, Hashable, CaseIterable {
        case added
        case removed
        case changed
    }

    /// What kind of thing differs.
    @nonexhaustive public enum Subject: String, Sendable, Hashable, CaseIterable {
        /// How tokens are signed.
        case tokens
        /// A caller of methods that demand a permission.
        case caller
        /// A project without its services, consumers and apps.
        case project
        /// A service that App Check protects.
        case service
        /// A consumer of a project's tokens.
        case consumer
        /// An app.
        case app
        /// An OAuth client.
        case oauthClient = "oauth_client"
        /// Another section of the root, such as a list.
        case section
    }

    /// A value with its place.
    public struct Value: Sendable {
        /// The value on one line, cut to 160 characters; secrets are references.
        @Exact public private(set) var text: String
        /// Where it is stated; nil for a default.
        public let location: SourceLocation?

        init(_ text: String, at location: SourceLocation?) {
            self.text = text
            self.location = location
        }
    }

    /// What kind of thing differs.
    public let subject: Subject
    /// The name of the thing: `projects/1/apps/1:1:ios:a`, `oauthClients/ID`, `projects/1/services/orders.example.com`, a caller's name;
    /// empty for ``Subject/tokens``.
    @Exact public private(set) var name: String
    /// What happened to it, or to the value in it.
    public let kind: Kind
    /// The way to the value within the thing, such as `providers.debug.token_ttl`; empty if it is about the whole thing.
    @Exact public private(set) var path: String
    /// The value before; nil for what was added.
    public let old: Value?
    /// The value after; nil for what was removed.
    public let new: Value?

    init(subject: Subject, name: String, kind: Kind, path: String, old: Value?, new: Value?) {
        self.subject = subject
        self.name = name
        self.kind = kind
        self.path = path
        self.old = old
        self.new = new
    }
}

extension PolicyChange: CustomStringConvertible {
    /// One line: `app projects/1/apps/1:1:ios:a: providers.debug.token_ttl: 1h -> 2h (old/a.yaml:9:31 -> new/a.yaml:9:31)`.
    public var description: String {
        let what = path.isEmpty ? "\(head):" : "\(head): \(path):"
        switch (old, new) {
        case (let old?, let new?):
            return "\(what) \(old.text) -> \(new.text) (\(Self.place(old)) -> \(Self.place(new)))"
        case (let old?, nil): return "\(what) removed\(Self.text(old)) (\(Self.place(old)))"
        case (nil, let new?): return "\(what) added\(Self.text(new)) (\(Self.place(new)))"
        case (nil, nil): return "\(what) \(kind.rawValue)"
        }
    }

    /// The kind and the name of the thing, in words.
    var head: String {
        let word = subject == .oauthClient ? "OAuth client" : subject.rawValue
        return name.isEmpty ? word : "\(word) \(name)"
    }

    private static func text(_ value: Value) -> String { value.text.isEmpty ? "" : " \(value.text)" }

    private static func place(_ value: Value) -> String { value.location?.description ?? "default" }
}

extension PolicyChange {
    /// The change for programs: `subject`, `name`, `change`, `path`, `old`, `new`, and the places of both, `old_place` and `new_place`; a
    /// member without a value is null.
    public var json: JSON {
        [
            "subject": .string(subject.rawValue), "name": .string(name), "change": .string(kind.rawValue),
            "path": .string(path), "old": Self.json(old), "new": Self.json(new), "old_place": Self.place(of: old),
            "new_place": Self.place(of: new),
        ]
    }

    private static func json(_ value: Value?) -> JSON { value.map { .string($0.text) } ?? .null }

    private static func place(of value: Value?) -> JSON {
        guard let location = value?.location else { return .null }
        return [
            "file": .string(location.file), "line": .integer(Int64(location.line)),
            "column": .integer(Int64(location.column)),
        ]
    }
}
