internal import Synchronization

extension ECPublicKey {
    /// The key of an uncompressed point, made once and kept as long as it is used often: a device shows the same key with
    /// each of its requests, and to make a key costs a fifth of what it costs to verify a signature by it.
    ///
    /// The process keeps 1,024 keys at least and twice as many at most, of about 3 KiB each.
    ///
    /// - Throws: as ``init(curve:x963:)``.
    public static func kept(curve: EllipticCurve, x963: [UInt8]) throws(CryptoError) -> ECPublicKey {
        let name = KeptKeys.Name(curve: curve, point: x963)
        if let key = KeptKeys.all.withLock({ $0.key(name) }) { return key }
        let key = try ECPublicKey(curve: curve, x963: x963)
        KeptKeys.all.withLock { $0.keep(key, name) }
        return key
    }
}

/// The keys that were used lately, in two generations.
private struct KeptKeys {
    struct Name: Hashable {
        let curve: EllipticCurve
        let point: [UInt8]
    }

    static let all = Mutex(KeptKeys())
    private static let capacity = 1024

    private var recent: [Name: ECPublicKey] = [:]
    private var older: [Name: ECPublicKey] = [:]

    mutating func key(_ name: Name) -> ECPublicKey? {
        if let key = recent[name] { return key }
        guard let key = older[name] else { return nil }
        keep(key, name)
        return key
    }

    mutating func keep(_ key: ECPublicKey, _ name: Name) {
        if recent.count >= Self.capacity {
            older = recent
            recent = [:]
        }
        recent[name] = key
    }
}
