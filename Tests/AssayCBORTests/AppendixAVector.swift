import AssayCBOR
import AssayCore
import AssayTestSupport
import Foundation
import Testing

/// One of the examples of RFC 8949, appendix A, as the public vectors write them.
struct AppendixAVector: Decodable, Sendable, CustomTestStringConvertible {
    let hex: String
    let roundtrip: Bool
    let decoded: Expected?
    let diagnostic: String?

    var testDescription: String { hex }

    static let isPresent = SharedFiles.has("vectors/cbor-appendix_a.json")
    static let all: [AppendixAVector] =
        (try? JSONDecoder().decode(
            [AppendixAVector].self, from: Data(SharedFiles.bytes("vectors/cbor-appendix_a.json")))) ?? []

    /// A value as JSON can write it.
    enum Expected: Decodable, Sendable {
        case null
        case bool(Bool)
        case number(Double)
        case text(String)
        case array([Expected])
        case object([String: Expected])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else if let value = try? container.decode(String.self) {
                self = .text(value)
            } else if let value = try? container.decode([Expected].self) {
                self = .array(value)
            } else {
                self = .object(try container.decode([String: Expected].self))
            }
        }

        func matches(_ value: CBORValue) -> Bool {
            switch (self, value) {
            case (.null, .null): true
            case (.bool(let expected), .bool(let found)): expected == found
            case (.number(let expected), .unsigned(let found)): expected == Double(found)
            case (.number(let expected), .negative(let found)): expected == -1 - Double(found)
            case (.number(let expected), .float(let found)): expected == found
            case (.number(let expected), .tag(2, .bytes(let found))): expected == Self.magnitude(found)
            case (.number(let expected), .tag(3, .bytes(let found))): expected == -1 - Self.magnitude(found)
            case (.text(let expected), .text(let found)): expected == found
            case (.array(let expected), .array(let found)):
                expected.count == found.count && zip(expected, found).allSatisfy { $0.matches($1) }
            case (.object(let expected), .map(let found)):
                expected.count == found.count
                    && expected.allSatisfy { key, element in value[key].map(element.matches) ?? false }
            default: false
            }
        }

        private static func magnitude(_ bytes: [UInt8]) -> Double { bytes.reduce(0) { $0 * 256 + Double($1) } }
    }
}
