internal import AssayKit
internal import Synchronization

/// The keys that policies in force name, so that ten thousand apps of one team read their key once. A key goes with the
/// last instance that uses it.
final class AppleServerKeys: Sendable {
    struct Name: Hashable {
        @Exact private(set) var teamID: String
        @Exact private(set) var keyID: String
        /// SHA-256 of the file: another key in the same place is another key.
        let digest: [UInt8]
    }

    private struct Held {
        weak var key: AppleServerKey?
    }

    static let shared = AppleServerKeys()

    private let held = Mutex<[Name: Held]>([:])

    func key(
        _ name: Name, make: () throws(ConfigurationError) -> AppleServerKey
    ) throws(ConfigurationError) -> AppleServerKey {
        try held.withLock { (held: inout [Name: Held]) throws(ConfigurationError) -> AppleServerKey in
            if let key = held[name]?.key { return key }
            let key = try make()
            held = held.filter { $0.value.key != nil }
            held[name] = Held(key: key)
            return key
        }
    }
}
