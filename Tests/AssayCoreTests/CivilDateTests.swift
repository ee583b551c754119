import AssayCore
import AssayKit
import Testing

@Suite("Calendar dates")
struct CivilDateTests {
    @Test("Days count on from one date to the next, over 1,200 years and both sides of 1970")
    func everyDay() {
        var day = CivilDate(year: 1400, month: 1, day: 1).daysSinceEpoch
        for year in 1400..<2600 {
            for month in 1...12 {
                for number in 1...CivilDate.daysIn(month: month, year: year) {
                    let date = CivilDate(year: year, month: month, day: number)
                    guard date.daysSinceEpoch == day, CivilDate(daysSinceEpoch: day) == date else {
                        Issue.record("\(date) is not day \(day)")
                        return
                    }
                    day += 1
                }
            }
        }
    }

    @Test("An instant is of the day that has begun")
    func instants() {
        #expect(CivilDate(of: Instant(milliseconds: 0)) == CivilDate(year: 1970, month: 1, day: 1))
        #expect(CivilDate(of: Instant(milliseconds: -1)) == CivilDate(year: 1969, month: 12, day: 31))
        #expect(CivilDate(of: Instant(seconds: 1_709_164_800)) == CivilDate(year: 2024, month: 2, day: 29))
    }
}
