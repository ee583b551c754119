internal import AssayCore
internal import AssayEngine
package import AssayKit

/// What an operator wrote after `--state`.
package struct StateName {
    private let text: String
    private let descriptor: StorageDescriptor?

    /// - Parameter stores: the stores that there are.
    package init(_ text: String, among stores: [StorageDescriptor]) {
        self.text = text
        let scheme = Self.scheme(of: text)
        descriptor = stores.first { $0.scheme.isExactly(scheme) || $0.aliases.contains(exactly: scheme) }
    }

    private static func scheme(of text: String) -> String {
        String(text.prefix(upTo: text.firstIndex(ofASCII: ":") ?? text.endIndex))
    }

    /// Whether its location is not known to be a path of this machine.
    var isOnServers: Bool { descriptor.map { $0.sharing == .servers } ?? true }

    /// The name for messages: the location of a server may hold a password.
    package var shown: String {
        let scheme = Self.scheme(of: text)
        return isOnServers && !scheme.isExactly(text) ? "the state in \(descriptor?.scheme ?? scheme)" : text
    }
}
