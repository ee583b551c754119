import AssayCBOR
import AssayCore
import Testing

struct CBORRefusalTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        let hex: String
        let code: CBORError.Code
        let offset: Int
        let testDescription: String

        init(_ hex: String, _ code: CBORError.Code, at offset: Int, _ reason: String) {
            self.hex = hex
            self.code = code
            self.offset = offset
            testDescription = "\(reason): \(hex)"
        }
    }

    /// Refused in both profiles.
    static let always: [Refusal] = [
        Refusal("", .truncated, at: 0, "nothing"),
        Refusal("0000", .trailingBytes, at: 1, "a second item"),
        Refusal("6161ff", .trailingBytes, at: 2, "a break behind the item"),
        Refusal("1c", .malformed, at: 0, "a reserved head"),
        Refusal("81fc", .malformed, at: 1, "a reserved head within an array"),
        Refusal("1f", .malformed, at: 0, "an integer of indefinite length"),
        Refusal("df00", .malformed, at: 0, "a tag of indefinite number"),
        Refusal("ff", .malformed, at: 0, "a lone break"),
        Refusal("81ff", .malformed, at: 1, "a break in an array of definite length"),
        Refusal("a2616101616102", .duplicateKey, at: 4, "the same text key"),
        Refusal("a201020103", .duplicateKey, at: 3, "the same integer key"),
        Refusal("a2810102810103", .duplicateKey, at: 4, "the same array as a key"),
        Refusal("a301026161034130", .truncated, at: 8, "a missing value"),
        Refusal("61ff", .invalidUTF8, at: 0, "a byte that UTF-8 never has"),
        Refusal("62c080", .invalidUTF8, at: 0, "an overlong encoding"),
        Refusal("63eda080", .invalidUTF8, at: 0, "a surrogate"),
        Refusal("61c3", .invalidUTF8, at: 0, "half a character"),
        Refusal("8261ff00", .invalidUTF8, at: 1, "bad text within an array"),
        Refusal("9bffffffffffffffff00", .truncated, at: 0, "a huge array"),
        Refusal("9b7fffffffffffffff00", .truncated, at: 0, "the greatest signed count"),
        Refusal("bbffffffffffffffff00", .truncated, at: 0, "a huge map"),
        Refusal("bb7fffffffffffffff00", .truncated, at: 0, "a map whose parts overflow"),
        Refusal("bb400000000000000000", .truncated, at: 0, "a map whose parts just overflow"),
        Refusal("5bffffffffffffffff00", .truncated, at: 0, "a huge byte string"),
        Refusal("5bfffffffffffffff700", .truncated, at: 0, "a byte string whose end wraps around"),
        Refusal("7bffffffffffffffff00", .truncated, at: 0, "a huge text"),
        Refusal("4200", .truncated, at: 0, "a byte string longer than the input"),
        Refusal("8200", .truncated, at: 0, "an array longer than the input"),
        Refusal("a200", .truncated, at: 0, "a map longer than the input"),
    ]

    /// Refused as evidence though well-formed, and accepted in general.
    static let strict: [Refusal] = [
        Refusal("9f00ff", .indefiniteLength, at: 0, "an array"),
        Refusal("bfff", .indefiniteLength, at: 0, "a map"),
        Refusal("815f4100ff", .indefiniteLength, at: 1, "a byte string"),
        Refusal("7f6161ff", .indefiniteLength, at: 0, "a text"),
        Refusal("1817", .nonShortestHead, at: 0, "an integer in two bytes"),
        Refusal("1900ff", .nonShortestHead, at: 0, "an integer in three"),
        Refusal("1a0000ffff", .nonShortestHead, at: 0, "an integer in five"),
        Refusal("1b00000000ffffffff", .nonShortestHead, at: 0, "an integer in nine"),
        Refusal("3800", .nonShortestHead, at: 0, "a negative integer"),
        Refusal("580100", .nonShortestHead, at: 0, "a byte string's length"),
        Refusal("780161", .nonShortestHead, at: 0, "a text's length"),
        Refusal("980100", .nonShortestHead, at: 0, "an array's count"),
        Refusal("b8010000", .nonShortestHead, at: 0, "a map's count"),
        Refusal("c000", .unsupported, at: 0, "a tag"),
        Refusal("81d8ff00", .unsupported, at: 1, "a longer tag"),
        Refusal("f90000", .unsupported, at: 0, "a half"),
        Refusal("fa00000000", .unsupported, at: 0, "a single"),
        Refusal("fb0000000000000000", .unsupported, at: 0, "a double"),
        Refusal("f7", .unsupported, at: 0, "undefined"),
        Refusal("e0", .unsupported, at: 0, "a simple value"),
        Refusal("f8ff", .unsupported, at: 0, "a simple value of two bytes"),
    ]

    /// Refused in the generic profile, which alone knows what they are made of.
    static let generic: [Refusal] = [
        Refusal("5f00ff", .malformed, at: 1, "a chunk that is no string"),
        Refusal("5f6161ff", .malformed, at: 1, "a text as a chunk of bytes"),
        Refusal("7f4161ff", .malformed, at: 1, "bytes as a chunk of text"),
        Refusal("5f5f4100ffff", .malformed, at: 1, "chunks within a chunk"),
        Refusal("7f61c361a9ff", .invalidUTF8, at: 1, "a character divided between chunks"),
        Refusal("bf00ff", .malformed, at: 2, "a break instead of a value"),
        Refusal("c1ff", .malformed, at: 1, "a break instead of a tag's content"),
        Refusal("9f00", .truncated, at: 2, "a missing break"),
        Refusal("f800", .malformed, at: 0, "a simple value in two bytes that needs one"),
        Refusal("f81f", .malformed, at: 0, "the greatest such"),
        Refusal("f8", .truncated, at: 0, "half a simple value"),
        Refusal("a2f97e0000f97e0000", .duplicateKey, at: 5, "not a number, twice"),
        Refusal("a201001801 00", .duplicateKey, at: 3, "the same key in another width"),
        Refusal("bf010001 00ff", .duplicateKey, at: 3, "the same key in a map of indefinite length"),
    ]

    @Test(arguments: always)
    func `Bad input is refused in both profiles`(_ refusal: Refusal) {
        for profile in [CBORProfile.strict, .generic] {
            #expect(throws: CBORError(refusal.code, at: refusal.offset)) {
                try CBORDecoder(limits: .generic, profile: profile).decode(bytes(refusal.hex))
            }
        }
    }

    @Test(arguments: strict)
    func `Evidence has definite lengths, shortest heads and few types`(_ refusal: Refusal) throws {
        #expect(throws: CBORError(refusal.code, at: refusal.offset)) {
            try CBORDecoder().decode(bytes(refusal.hex))
        }
        _ = try CBORDecoder(profile: .generic).decode(bytes(refusal.hex))
    }

    @Test(arguments: generic)
    func `What only the generic profile reads is still checked`(_ refusal: Refusal) {
        #expect(throws: CBORError(refusal.code, at: refusal.offset)) {
            try CBORDecoder(profile: .generic).decode(bytes(refusal.hex))
        }
    }

    @Test(arguments: [CBORProfile.strict, .generic])
    func `Evidence cut short at any byte is truncated`(_ profile: CBORProfile) {
        let whole = CBOREncoder().encode(["fmt": "apple-appattest", "attStmt": ["x5c": [.bytes([1, 2])]]])
        for length in whole.indices {
            #expect { try CBORDecoder(profile: profile).decode(Array(whole.prefix(length))) } throws: {
                ($0 as? CBORError)?.code == .truncated
            }
        }
    }

    @Test func `Random bytes are decoded or refused, never more`() {
        var generator = SeededGenerator(seed: 20_261_121)
        var accepted = 0
        for _ in 0..<20_000 {
            let input = (0..<Int.random(in: 0...48, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            for profile in [CBORProfile.strict, .generic] {
                guard let (value, count) = try? CBORDecoder(profile: profile).decodeFirst(input[...]) else { continue }
                accepted += 1
                #expect(count <= input.count)
                // What strictly decoded is what the encoder writes.
                if profile == .strict { #expect(CBOREncoder().encode(value) == Array(input.prefix(count))) }
            }
        }
        #expect(accepted > 1000)
    }

    @Test func `A changed byte in good evidence is decoded or refused, never more`() throws {
        let good = CBOREncoder().encode(
            ["fmt": "apple-appattest", "authData": .bytes(Array(0..<64)), "n": [1, -2, true, .null]])
        #expect(try CBORDecoder().decode(good)["n"]?.array?.count == 4)
        var outcomes: Set<String> = []
        for index in good.indices {
            for byte in UInt8.min...UInt8.max {
                var input = good
                input[index] = byte
                do {
                    let value = try CBORDecoder().decode(input)
                    #expect(CBOREncoder().encode(value) == input)
                    outcomes.insert("decoded")
                } catch {
                    outcomes.insert(error.code.rawValue)
                }
            }
        }
        #expect(outcomes.isSuperset(of: ["decoded", "truncated", "trailingBytes", "invalidUTF8", "unsupported"]))
    }
}
