import AssayCore
import Testing

@Suite("Field masks")
struct FieldMaskTests {
    @Test(
        "A mask is 1 to 64 names, none of them empty",
        arguments: ["", ",", "a,", ",a", "a,,b", "a b", "a-b", "ä", "a\0"])
    func refused(_ text: String) {
        #expect(throws: InvalidRequest.self) { try FieldMask(text) }
    }

    @Test("The 65th name and the 8193rd byte are refused, also where they say nothing new")
    func limits() throws {
        let names = (1...64).map { "f\($0)" }
        #expect(try FieldMask(names.joined(separator: ",")).paths.count == 64)
        #expect(throws: InvalidRequest.self) { try FieldMask((names + ["f1"]).joined(separator: ",")) }
        #expect(try FieldMask(String(repeating: "a", count: 8192)).paths.count == 1)
        #expect(throws: InvalidRequest.self) { try FieldMask(String(repeating: "a", count: 8193)) }
    }

    @Test("A name that is there in both spellings is one name")
    func once() throws {
        #expect(try FieldMask("display_name,displayName,display__name").paths == ["displayName"])
    }

    @Test("A star alone is everything; beside other names it still contains each")
    func star() throws {
        #expect(try FieldMask("*").isEverything)
        #expect(try !FieldMask("*,a").isEverything)
        #expect(try FieldMask("a,*").contains("other.part"))
        #expect(try FieldMask("*").unknown(among: []).isEmpty)
    }

    @Test("A name contains what is below it, and not what merely begins with the same letters")
    func parts() throws {
        let mask = try FieldMask("risk")
        #expect(mask.contains("risk") && mask.contains("risk.score"))
        #expect(!mask.contains("riskScore") && !mask.contains("ris"))
    }

    @Test("A name is unknown unless it equals, contains or is within a known one")
    func unknown() throws {
        let mask = try FieldMask("ttl,risk,risk.score.low,riskScore,tt")
        #expect(mask.unknown(among: ["ttl", "risk.score"]) == ["riskScore", "tt"])
    }
}
