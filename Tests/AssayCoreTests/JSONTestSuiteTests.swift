import AssayCore
import AssayKit
import AssayTestSupport
import Testing

private let folder = "vectors/json-test-suite/test_parsing"

/// The public JSON test suite, read where it lies; without it these tests are skipped.
@Suite("JSON test suite", .enabled(if: SharedFiles.has(folder), Comment(rawValue: SharedFiles.absence)))
struct JSONTestSuiteTests {
    private static let limits = JSON.Limits(bytes: 1 << 20)

    private static func files(_ prefix: String) -> [String] {
        SharedFiles.list(folder, ending: ".json").filter { $0.hasPrefix("\(folder)/\(prefix)") }
    }

    @Test("the suite is whole")
    func count() {
        #expect(Self.files("y_").count == 95)
        #expect(Self.files("n_").count == 188)
        #expect(Self.files("i_").count == 35)
    }

    @Test("what is JSON is accepted, and is the same after writing and reading again", arguments: files("y_"))
    func accepted(file: String) throws {
        let json = try JSON.parse(SharedFiles.bytes(file), limits: Self.limits)
        #expect(try JSON.parse(json.encoded, limits: Self.limits) == json)
    }

    @Test("what is not JSON is refused, with an offset within the text", arguments: files("n_"))
    func refused(file: String) {
        let bytes = SharedFiles.bytes(file)
        let error = #expect(throws: JSONError.self) { try JSON.parse(bytes, limits: Self.limits) }
        #expect((0...bytes.count).contains(error?.offset ?? -1))
    }

    @Test("what may be either ends", arguments: files("i_"))
    func either(file: String) {
        // Accepted or refused; a crash or a loop would fail the run.
        let bytes = SharedFiles.bytes(file)
        do throws(JSONError) {
            let json = try JSON.parse(bytes, limits: Self.limits)
            #expect((try? JSON.parse(json.encoded, limits: Self.limits)) == json)
        } catch {
            #expect((0...bytes.count).contains(error.offset))
        }
    }
}
