internal import AssayCore
internal import AssayCrypto
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A simulated authority in a file, as `assay token authority` makes it: tests and `assay token` share one, whose roots a
/// server's policy trusts.
///
/// The file has the seed of the keys, which are the same whenever it is read. Certificates are made anew, so that they do
/// not expire; a policy trusts the names and keys. Everybody who has the file can simulate devices of every app that trusts
/// it: trust it in no policy of a server that real apps use.
public struct SimulatedAuthorityFile: Sendable {
    /// Where the file is.
    public let path: String

    private static let start = "assay-simulated-authority 1 "
    private static let seedCount = 32

    /// Names a file; reads nothing.
    public init(_ path: String) {
        self.path = path
    }

    /// The authority of devices with App Attest.
    ///
    /// - Throws: `SecretError` when there is no such file, or others may read it.
    public func authority() throws -> SimulatedAppleCA {
        try SimulatedAppleCA(at: HostClock.system.now, random: random())
    }

    /// The authority of devices with Android.
    ///
    /// - Throws: as ``authority()``.
    public func androidAuthority() throws -> SimulatedAndroidAuthority {
        try SimulatedAndroidAuthority(now: HostClock.system.now, random: random())
    }

    /// Makes the file where there is none, with mode 0600; replaces no file.
    ///
    /// - Throws: `SecretError` when it cannot be written.
    public func makeIfMissing() throws {
        if !FileManager.default.fileExists(atPath: path) {
            let text = Self.start + Hex.encode(Randomness.system.bytes(Self.seedCount)) + "\n"
            guard
                FileManager.default.createFile(
                    atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
            else { throw SecretError("\(path) cannot be written") }
        }
    }

    private func random() throws -> Randomness {
        let line = try SecretFile.read(path, limit: 1024)
        let text = String(decoding: line, as: UTF8.self).split(separator: "\n").first ?? ""
        guard text.starts(withExactly: Self.start),
            let seed = Hex.decode(String(text.dropFirst(Self.start.utf8.count))),
            seed.count == Self.seedCount
        else { throw SecretError("\(path) is no file of `token authority`") }
        return Self.stream(seed)
    }

    /// Random bytes that the seed decides: SHA-256 of it with a counter.
    private static func stream(_ seed: [UInt8]) -> Randomness {
        let counter = Counter()
        return Randomness { count in
            var bytes: [UInt8] = []
            while bytes.count < count { bytes += SHA256.hash(seed + counter.next().bigEndianBytes) }
            return Array(bytes.prefix(max(count, 0)))
        }
    }

    private final class Counter: Sendable {
        private let last = Mutex<UInt64>(0)

        func next() -> UInt64 {
            last.withLock { last in
                last &+= 1
                return last
            }
        }
    }
}
