public import AssayYAML

/// A policy file's name and bytes.
public struct PolicyFile: Sendable {
    /// The name for messages.
    public let name: String
    public let bytes: [UInt8]

    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// A policy file from its text.
    public init(name: String, text: String) {
        self.init(name: name, bytes: Array(text.utf8))
    }
}

extension PolicySet {
    /// Loads policy files, which together are one set.
    ///
    /// - Throws: everything that is wrong in any of them, with file, line, column and the path of the key.
    public static func load(_ files: [PolicyFile]) throws(Diagnostics) -> PolicySet {
        let sink = DiagnosticSink()
        var loader = PolicyLoader(sink: sink)
        for file in files { loader.read(file) }
        try sink.throwIfAny()
        return loader.policies
    }
}
