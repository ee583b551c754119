import AssayAppAttest
import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import Testing

/// A piece of evidence that a real device sent, with what is known of it.
struct Fixture: Sendable, CustomTestStringConvertible {
    let path: String
    private let fields: [String: JSON]

    init?(_ path: String) {
        let bytes = SharedFiles.bytes(path)
        guard let fields = try? JSONDecoder().decode([String: JSON].self, from: Data(bytes)) else { return nil }
        self.path = path
        self.fields = fields
    }

    var testDescription: String { String(path.split(separator: "/").last ?? "") }

    func text(_ name: String) -> String? { fields[name]?.text }
    func number(_ name: String) -> Int? { fields[name]?.number }
    func object(_ name: String) -> [String: JSON] { fields[name]?.object ?? [:] }
    func bytes(_ name: String) throws -> [UInt8] { try #require(Base64.decode(text(name) ?? "-")) }
    func instant(_ name: String) throws -> Instant { try #require(Instant(rfc3339: text(name) ?? "")) }

    /// The point of `public_key_pem`, which is the end of the structure.
    func publicKey() throws -> [UInt8] {
        let lines = try #require(text("public_key_pem")).split(separator: "\n").filter { !$0.hasPrefix("-") }
        return try #require(Base64.decode(lines.joined())).suffix(65)
    }

    static let isPresent = SharedFiles.has("fixtures/app-attest/attestations")
    static let attestations = load("attestations")
    static let assertions = load("assertions")
    static let receipts = load("receipts")
    static let damaged = load("damaged")

    static func attestation(_ mark: String) throws -> Fixture {
        try #require(attestations.first { $0.path.contains(mark) })
    }

    static func receipt(_ mark: String) throws -> [UInt8] {
        try #require(receipts.first { $0.path.contains(mark) }).bytes("receipt_base64")
    }

    private static func load(_ folder: String) -> [Fixture] {
        SharedFiles.list("fixtures/app-attest/\(folder)", ending: ".json").compactMap { Fixture($0) }
    }

    /// What the files' fields hold.
    enum JSON: Sendable, Decodable {
        case text(String)
        case number(Int)
        case object([String: JSON])
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let number = try? container.decode(Int.self) {
                self = .number(number)
            } else if let object = try? container.decode([String: JSON].self) {
                self = .object(object)
            } else {
                self = .other
            }
        }

        var text: String? { if case .text(let text) = self { text } else { nil } }
        var number: Int? { if case .number(let number) = self { number } else { nil } }
        var object: [String: JSON]? { if case .object(let object) = self { object } else { nil } }
    }
}
