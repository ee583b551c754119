import AssayCore
import AssayKit
import Testing

@Suite("Reading fields of further types")
struct RequestFieldTypeTests {
    @Test("a whole number may stand in quotation marks", arguments: [JSON.integer(7), "7"])
    func integers(value: JSON) throws {
        #expect(try RequestFields(["pageSize": value]).integer("pageSize") == 7)
        #expect(try RequestFields([:]).integer("pageSize") == nil)
    }

    @Test("what is no whole number is refused", arguments: ["", "7.5", "+7", "x", true, [7]] as [JSON])
    func notIntegers(value: JSON) throws {
        let fields = try RequestFields(["n": value])
        #expect(throws: InvalidRequest.self) { try fields.integer("n") }
    }

    @Test(
        "durations are seconds with up to nine digits behind the point",
        arguments: [
            ("3600s", .seconds(3600)), ("0s", .zero), ("1.5s", .milliseconds(1500)),
            ("3.000000001s", .seconds(3) + .nanoseconds(1)),
        ] as [(String, Duration)])
    func durations(text: String, duration: Duration) throws {
        #expect(try RequestFields(["ttl": .string(text)]).duration("ttl") == duration)
    }

    @Test(
        "what is no duration is refused",
        arguments: ["3600", "s", "-1s", ".5s", "1.s", "1.0000000001s", "1e3s", "1m", "9999999999999s", " 1s"])
    func notDurations(text: String) throws {
        #expect(throws: InvalidRequest.self) { try RequestFields(["ttl": .string(text)]).duration("ttl") }
    }

    @Test("a list of texts may be one text, as a query has it")
    func strings() throws {
        #expect(try RequestFields(["names": ["a", "b"]]).strings("names") == ["a", "b"])
        #expect(try RequestFields(["names": "a"]).strings("names") == ["a"])
        #expect(try RequestFields([:]).strings("names") == [])
        #expect(throws: InvalidRequest.self) { try RequestFields(["names": ["a", 1]]).strings("names") }
    }

    @Test("messages within a message are read by the same rules")
    func messages() throws {
        let fields = try RequestFields(["debug_token": ["display_name": "x"], "requests": [["a": "1"], ["a": "2"]]])
        #expect(try fields.message("debugToken")?.string("displayName") == "x")
        #expect(try fields.messages("requests").map { try $0.string("a") } == ["1", "2"])
        #expect(try fields.message("none") == nil)
        #expect(throws: InvalidRequest.self) { try fields.message("requests") }
        #expect(throws: InvalidRequest.self) { try fields.messages("debugToken") }
    }

    @Test("a field mask is read in both spellings, and knows parts and wholes")
    func masks() throws {
        let mask = try #require(
            try RequestFields(["update_mask": "display_name,riskAnalysis.min_valid_score"]).fieldMask())
        #expect(mask.paths == ["displayName", "riskAnalysis.minValidScore"])
        #expect(mask.contains("displayName"))
        #expect(!mask.contains("riskAnalysis"))
        #expect(try FieldMask("risk_analysis").contains("riskAnalysis.minValidScore"))
        #expect(try FieldMask("*").contains("anything"))
        #expect(mask.unknown(among: ["displayName", "riskAnalysis"]) == [])
        #expect(mask.unknown(among: ["displayName"]) == ["riskAnalysis.minValidScore"])
        for text in [",", "a,,b", "a b", "a/b", "é", ""] {
            #expect(throws: InvalidRequest.self) { try FieldMask(text) }
        }
    }
}
