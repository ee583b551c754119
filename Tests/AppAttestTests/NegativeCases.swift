import AssayAppAttest
import AssayCBOR
import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting
import Testing

typealias Reasons = AppAttestReasons

/// A row of a table: what is done to a scene, and what must come of it.
struct NegativeCase<Scene: Sendable>: Sendable, CustomTestStringConvertible {
    let rule: String
    /// Nil where the evidence must be accepted anyway.
    let reason: Reason?
    let arrange: @Sendable (inout Scene) throws -> Void

    static func refused(
        _ reason: Reason, _ rule: String, _ arrange: @escaping @Sendable (inout Scene) throws -> Void
    ) -> Self {
        Self(rule: rule, reason: reason, arrange: arrange)
    }

    static func accepted(_ rule: String, _ arrange: @escaping @Sendable (inout Scene) throws -> Void) -> Self {
        Self(rule: rule, reason: nil, arrange: arrange)
    }

    var testDescription: String { "\(reason?.code ?? "accepted"): \(rule)" }
}

/// What scenes have in common: a time, an app, an authority that is made once.
enum Simulation {
    /// The time of all scenes: 2026-11-21T10:00:00Z.
    static let now = Instant(seconds: 1_795_255_200)
    static let app = SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .development)
    static let clientDataHash = SHA256.hash(Array("a challenge".utf8))

    static func authority() throws -> SimulatedAppleCA { try made.get() }
    /// Another authority with the same names.
    static func impostor() throws -> SimulatedAppleCA { try madeImpostor.get() }

    private static let made = Result { try SimulatedAppleCA(at: now, random: .seeded(1)) }
    private static let madeImpostor = Result { try SimulatedAppleCA(at: now, random: .seeded(2)) }
}

extension [UInt8] {
    /// The bytes with the first occurrence of some replaced; unchanged, and so no negative case, without one.
    func replacingFirst(_ pattern: [UInt8], with replacement: [UInt8]) -> [UInt8] {
        guard
            let start = indices.first(where: { self[$0...].starts(with: pattern) })
        else { return self }
        return Array(self[..<start]) + replacement + self[(start + pattern.count)...]
    }

    /// The bytes with the lowest bit of one flipped; a negative index counts from the end.
    func flipping(_ index: Int) -> [UInt8] {
        var copy = self
        copy[index < 0 ? count + index : index] ^= 1
        return copy
    }
}

extension [CBORPair] {
    /// Changes the byte string under a key.
    mutating func changeBytes(_ key: String, _ change: ([UInt8]) -> [UInt8]) {
        guard case .bytes(let bytes) = self[key] else { return }
        self[key] = .bytes(change(bytes))
    }
}
