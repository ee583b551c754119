import AssayCBOR
import AssayCore
import AssayTestSupport
import Testing

/// RFC 8949, appendix A.
///
/// Skipped where the public vectors do not lie beside the checkout.
@Suite(.enabled(if: AppendixAVector.isPresent, Comment(rawValue: SharedFiles.absence)))
struct CBORVectorTests {
    private static let decoder = CBORDecoder(limits: .generic, profile: .generic)

    /// What the vectors give in diagnostic notation only.
    private static let diagnosed: [String: CBORValue] = [
        "f97c00": .float(.infinity), "f9fc00": .float(-.infinity),
        "fa7f800000": .float(.infinity), "faff800000": .float(-.infinity),
        "fb7ff0000000000000": .float(.infinity), "fbfff0000000000000": .float(-.infinity),
        "f97e00": .float(.nan), "fa7fc00000": .float(.nan), "fb7ff8000000000000": .float(.nan),
        "f7": .undefined, "f0": .simple(16), "f8ff": .simple(255),
        "c074323031332d30332d32315432303a30343a30305a": .tag(0, .text("2013-03-21T20:04:00Z")),
        "c11a514b67b0": .tag(1, .unsigned(1_363_896_240)),
        "c1fb41d452d9ec200000": .tag(1, .float(1_363_896_240.5)),
        "d74401020304": .tag(23, .bytes([1, 2, 3, 4])),
        "d818456449455446": .tag(24, .bytes([0x64, 0x49, 0x45, 0x54, 0x46])),
        "d82076687474703a2f2f7777772e6578616d706c652e636f6d": .tag(32, .text("http://www.example.com")),
        "40": .bytes([]), "4401020304": .bytes([1, 2, 3, 4]),
        "a201020304": [1: 2, 3: 4].sortedMap, "5f42010243030405ff": .bytes([1, 2, 3, 4, 5]),
    ]

    @Test func `All examples are there`() {
        #expect(AppendixAVector.all.count == 82)
    }

    @Test(arguments: AppendixAVector.all)
    func `An example decodes to its value, and encodes back where it is preferred`(_ vector: AppendixAVector) throws {
        if vector.hex == "f818" {
            // Well-formed for RFC 7049, whose example it was; RFC 8949, section 3.3, asks for 32 or more.
            #expect(throws: CBORError(.malformed, at: 0)) { try Self.decoder.decode(bytes(vector.hex)) }
            return
        }
        let value = try Self.decoder.decode(bytes(vector.hex))
        if let decoded = vector.decoded {
            #expect(decoded.matches(value))
        } else if vector.diagnostic == nil {
            #expect(value == .null)
        } else {
            #expect(value == Self.diagnosed[vector.hex])
        }
        if vector.roundtrip {
            #expect(CBOREncoder().encode(value) == bytes(vector.hex))
        }
    }

    @Test(arguments: AppendixAVector.all)
    func `Every example cut short is refused as truncated`(_ vector: AppendixAVector) {
        let whole = bytes(vector.hex)
        for length in whole.indices {
            #expect(throws: CBORError.self) { try Self.decoder.decode(Array(whole.prefix(length))) }
            do {
                _ = try Self.decoder.decode(Array(whole.prefix(length)))
            } catch {
                #expect(error.code == .truncated, "\(length) bytes")
            }
        }
    }
}

extension [UInt64: UInt64] {
    fileprivate var sortedMap: CBORValue {
        .map(sorted { $0.key < $1.key }.map { CBORPair(.unsigned($0.key), .unsigned($0.value)) })
    }
}
