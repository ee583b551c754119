internal import AssayEngine
internal import AssayState

/// What an operator wrote after `--state`.
struct StateName {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    private var descriptor: StorageDescriptor? {
        let scheme = text.prefix { $0 != ":" }
        return (try? AssayProgram.current.registry())?.storeDescriptors.first { $0.scheme == scheme }
    }

    /// Whether its location is not a path of this machine.
    var isOnServers: Bool { descriptor?.sharing == .servers }

    /// The name for messages: the location of a server may hold a password.
    var shown: String {
        guard let descriptor, descriptor.sharing == .servers else { return text }
        return "the state in \(descriptor.scheme)"
    }
}
