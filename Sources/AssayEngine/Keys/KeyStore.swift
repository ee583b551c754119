public import AssayKit
internal import AssayCrypto
internal import AssayPolicy
internal import Synchronization

/// Where the keys of a service are kept: those that sign tokens, and those that seal artifacts.
///
/// Losing them is worse than losing state: clients of App Attest never recover from an artifact that does not open.
public final class KeyStore: Sendable {
    private enum Place: Sendable {
        case file(PrivateFile)
        case memory
    }

    private let place: Place
    /// What a store in memory holds.
    private let held = Mutex<KeyRing?>(nil)

    private init(_ place: Place) {
        self.place = place
    }

    /// Keys in a folder: one file that only its owner may read, made when there is none, replaced as a whole.
    ///
    /// Several processes may share the folder.
    public static func directory(_ path: String) -> KeyStore {
        KeyStore(.file(PrivateFile(directory: path, name: "keys.json")))
    }

    /// Keys that are gone with the process: for tests.
    public static func ephemeral() -> KeyStore {
        KeyStore(.memory)
    }

    /// Makes a new sealing key, which seals from the next snapshot on; what earlier ones sealed still opens.
    public func rotateSealingKey(now: Instant, randomness: Randomness = .system) throws(KeyError) {
        _ = try update { (ring) throws(CryptoError) in
            try ring.addingSealingKey(now: now, randomness: randomness)
        }
    }

    /// The ring, with what a policy needs: keys that are missing are made and stored first.
    func ring(for policy: TokenPolicy, now: Instant, randomness: Randomness) throws(KeyError) -> KeyRing {
        try update { (ring) throws(CryptoError) in
            try ring.completed(for: policy, now: now, randomness: randomness)
        }
    }

    /// Replaces the ring by what `change` makes of it, unless that is nil; returns the ring that is stored then.
    private func update(_ change: (KeyRing) throws(CryptoError) -> KeyRing?) throws(KeyError) -> KeyRing {
        switch place {
        case .memory:
            return try held.withLock { (held: inout KeyRing?) throws(KeyError) -> KeyRing in
                let ring = held ?? KeyRing(signing: [], sealing: [])
                let changed = try KeyStore.explained { () throws(CryptoError) in try change(ring) } ?? ring
                held = changed
                return changed
            }
        case .file(let file):
            return try file.locked { () throws(KeyError) -> KeyRing in
                var ring = KeyRing(signing: [], sealing: [])
                if var bytes = try file.read() {
                    defer { SecretBytes.wipe(&bytes) }
                    ring = try KeyRing(decoding: bytes)
                }
                guard let changed = try KeyStore.explained({ () throws(CryptoError) in try change(ring) }) else {
                    return ring
                }
                var bytes = try KeyStore.explained { () throws(CryptoError) in try changed.encoded() }
                defer { SecretBytes.wipe(&bytes) }
                try file.write(bytes)
                return changed
            }
        }
    }

    private static func explained<Value>(_ operation: () throws(CryptoError) -> Value) throws(KeyError) -> Value {
        do throws(CryptoError) {
            return try operation()
        } catch {
            throw KeyError("a key cannot be made: \(error.description)")
        }
    }
}
