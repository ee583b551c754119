internal import AssayCore
internal import AssayEngine
internal import AssayState

/// What an operator wrote after `--state`.
struct StateName {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    private var scheme: String { String(text.prefix(upTo: text.firstIndex(ofASCII: ":") ?? text.endIndex)) }

    private var descriptor: StorageDescriptor? {
        (try? AssayProgram.current.registry())?.storeDescriptors.first {
            $0.scheme.isExactly(scheme) || $0.aliases.contains(exactly: scheme)
        }
    }

    /// Whether its location is not known to be a path of this machine.
    var isOnServers: Bool { descriptor.map { $0.sharing == .servers } ?? true }

    /// The name for messages: the location of a server may hold a password.
    var shown: String {
        isOnServers && !scheme.isExactly(text) ? "the state in \(descriptor?.scheme ?? scheme)" : text
    }
}
