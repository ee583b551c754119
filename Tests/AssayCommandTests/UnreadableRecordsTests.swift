import Testing

@testable import AssayCommand

@Suite("Captured evidence that cannot be read")
struct UnreadableRecordsTests {
    @Test("Each problem is said once, with the first place and the number of the others")
    func once() {
        var records = UnreadableRecords()
        #expect(records.lines == [] && records.count == 0)
        records.add("wrong key", at: "a:1")
        #expect(records.lines == ["a:1: wrong key"])
        records.add("cut", at: "a:2")
        records.add("wrong key", at: "a:3")
        #expect(records.lines == ["a:1 and 1 other record: wrong key", "a:2: cut"])
        for line in 4..<46 { records.add("wrong key", at: "a:\(line)") }
        #expect(records.lines == ["a:1 and 43 other records: wrong key", "a:2: cut"])
        #expect(records.count == 45)
    }

    @Test("Only some different problems are kept, and the others are counted")
    func bound() {
        var records = UnreadableRecords()
        for number in 0..<21 { records.add("problem \(number)", at: "a:\(number)") }
        #expect(records.lines.count == 21)
        #expect(records.lines.last == "1 further record cannot be read for other reasons")
        records.add("problem 3", at: "a:99")
        #expect(records.lines[3] == "a:3 and 1 other record: problem 3" && records.count == 22)
    }
}
