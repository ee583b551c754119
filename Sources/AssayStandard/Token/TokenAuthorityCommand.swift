#if Simulator
internal import ArgumentParser
internal import AssayCommand
internal import AssayCore
internal import AssayCrypto
internal import AssayTesting
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// `assay token authority`.
struct TokenAuthorityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authority", abstract: "Print what a policy needs to trust simulated devices.",
        discussion: """
            Makes the file if it does not exist. Everybody who has it can simulate devices of every app that trusts \
            it: trust it in no policy of a server that real apps use.
            """)

    @Argument(help: "The file of the authority, which has mode 0600.", completion: .file())
    var file: String

    @Option(help: "Whose devices the policy is to trust.")
    var platform = Platform.apple

    /// Kinds of simulated devices.
    enum Platform: String, ExpressibleByArgument, CaseIterable {
        case apple, android
    }

    func run() throws {
        do {
            let authority = SimulatedAuthorityFile(path: file)
            try authority.makeIfMissing()
            let trust = "Trusts the simulated devices of \(Self.shown(file)), and no others."
            let section: [String]
            switch platform {
            case .apple:
                section =
                    [
                        "# Under `providers` of the app. \(trust)", "app_attest:",
                        "  receipts: ignored  # those of the simulated devices have another root each time",
                    ] + Self.lines("trust_anchor", try authority.authority().rootCertificatePEM)
            case .android:
                let digest = Hex.encode(SimulatedAndroidState().signingDigest)
                section =
                    [
                        "# Under `providers` of an app whose section `android` has `signing_digests: [\"\(digest)\"]`. \(trust)",
                        "android_key:",
                    ] + Self.lines("roots", try authority.androidAuthority().rootPEM)
            }
            for line in section { try Terminal.say(line) }
        } catch let error where !(error is OutputError) {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }

    private static func lines(_ key: String, _ pem: String) -> [String] {
        ["  \(key): |"] + pem.split(separator: "\n").map { "    \($0)" }
    }

    /// The name in a comment, on one line.
    private static func shown(_ file: String) -> String {
        String(decoding: file.utf8.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}

/// A simulated authority in a file: the seed of its keys, which are the same whenever it is read.
///
/// Certificates are made anew, so that they do not expire; a policy trusts the names and keys.
struct SimulatedAuthorityFile: Sendable {
    let path: String

    private static let start = "assay-simulated-authority 1 "
    private static let seedCount = 32

    /// The authority.
    ///
    /// - Throws: `SecretError` when there is no such file, or others may read it.
    func authority() throws -> SimulatedAppleCA {
        try SimulatedAppleCA(at: HostClock.system.now, random: random())
    }

    /// The authority of devices with Android.
    ///
    /// - Throws: as ``authority()``.
    func androidAuthority() throws -> SimulatedAndroidAuthority {
        try SimulatedAndroidAuthority(now: HostClock.system.now, random: random())
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

    /// Makes the file where there is none.
    ///
    /// A file is never replaced.
    func makeIfMissing() throws {
        if !FileManager.default.fileExists(atPath: path) {
            let text = Self.start + Hex.encode(Randomness.system.bytes(Self.seedCount)) + "\n"
            guard
                FileManager.default.createFile(
                    atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
            else { throw SecretError("\(path) cannot be written") }
        }
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
#endif
