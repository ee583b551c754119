import AssayCore
import Testing

@Suite("Problems in a plugin's section")
struct ConfigurationProblemsTests {
    @Test("Nothing is thrown where nothing was found")
    func none() throws {
        var problems = ConfigurationProblems()
        let value = problems.attempt { 7 }
        #expect(value == 7)
        #expect(problems.isEmpty)
        try problems.throwIfAny()
    }

    @Test("All problems are thrown at once, in the order in which they were found, each at its own path")
    func order() throws {
        var problems = ConfigurationProblems()
        problems.report(at: ["a"], "first")
        let value: Int? = problems.attempt { () throws(ConfigurationError) in
            throw ConfigurationError(at: ["b", 1], "second")
        }
        problems.report("third")
        #expect(value == nil)
        let error = try #require(throws: ConfigurationError.self) { try problems.throwIfAny() }
        #expect(error.all.map(\.message) == ["first", "second", "third"])
        #expect(error.all.map(\.path) == [["a"], ["b", 1], []])
    }

    @Test("Problems of a section within another one keep their paths below it, however deep")
    func within() throws {
        var inner = ConfigurationProblems()
        inner.report(at: ["key"], "one")
        inner.report(at: [2], "two")
        let error = try #require(throws: ConfigurationError.self) { try inner.throwIfAny() }
        var outer = ConfigurationProblems()
        outer.report(error.within(["section", 0]))
        let all = try #require(throws: ConfigurationError.self) { try outer.throwIfAny() }
        #expect(all.within(["top"]).all.map(\.path) == [["top", "section", 0, "key"], ["top", "section", 0, 2]])
    }

    @Test("No more than 100 problems are kept, also when one error brings more")
    func limit() throws {
        var problems = ConfigurationProblems()
        for number in 0..<60 { problems.report("\(number)") }
        let sixty = try #require(throws: ConfigurationError.self) { try problems.throwIfAny() }
        problems.report(sixty)
        problems.report("last")
        let error = try #require(throws: ConfigurationError.self) { try problems.throwIfAny() }
        #expect(error.all.count == 100)
        #expect(!error.all.map(\.message).contains(exactly: "last"))
    }

    @Test("An unknown word stays known as one when its problem is collected and placed")
    func choice() throws {
        var problems = ConfigurationProblems()
        problems.report("before")
        problems.report(ConfigurationError(at: ["mode"], "no mode", found: "enforce", known: ["ENFORCED", "OFF"]))
        let error = try #require(throws: ConfigurationError.self) { try problems.throwIfAny() }
        let choices = error.within(["service"]).all.map(\.choice)
        #expect(choices[0] == nil)
        #expect(choices[1]?.found.isExactly("enforce") == true)
        #expect(choices[1]?.known.isExactly(["ENFORCED", "OFF"]) == true)
    }

    @Test("Keys of paths are the same by their bytes, and a key is no index")
    func components() {
        typealias Component = ConfigurationError.Component
        #expect(Component.key("\u{E9}") != .key("e\u{301}"))
        #expect(Component.key("1") != 1)
        #expect(Set<Component>(["a", "a", 1, 1, "\u{E9}", "e\u{301}"]).count == 4)
    }
}
