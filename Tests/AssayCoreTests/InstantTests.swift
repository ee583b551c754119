import AssayCore
import AssayKit
import Testing

@Suite("Instants")
struct InstantTests {
    @Test(
        "RFC 3339 is read and written",
        arguments: [
            ("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"),
            ("2026-10-08T07:25:21.624Z", 1_791_444_321_624, "2026-10-08T07:25:21.624Z"),
            ("2020-09-03T09:17:15.86Z", 1_599_124_635_860, "2020-09-03T09:17:15.860Z"),
            ("2026-10-08T09:25:21+02:00", 1_791_444_321_000, "2026-10-08T07:25:21Z"),
            ("1969-12-31T23:59:59.999Z", -1, "1969-12-31T23:59:59.999Z"),
            ("2000-02-29t12:00:00z", 951_825_600_000, "2000-02-29T12:00:00Z"),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000, "0001-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000, "9999-12-31T23:59:59Z"),
        ] as [(String, Int64, String)])
    func rfc3339(_ text: String, _ milliseconds: Int64, _ written: String) {
        #expect(Instant(rfc3339: text)?.milliseconds == milliseconds)
        #expect(Instant(milliseconds: milliseconds).description == written)
    }

    @Test(
        "What is no such time is refused",
        arguments: [
            "", "2026-10-08", "2026-10-08T07:25:21", "2026-10-08 07:25:21Z", "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-00-10T00:00:00Z", "2026-04-31T00:00:00Z",
            "2026-10-08T24:00:00Z", "2026-10-08T07:60:00Z", "2026-10-08T07:25:60Z", "2026-10-08T07:25:21.Z",
            "2026-10-08T07:25:21.1234567890Z", "2026-10-08T07:25:21+2:00", "2026-10-08T07:25:21+24:00",
            "2026-10-08T07:25:21Z ", "+2026-10-08T07:25:21Z", "２026-10-08T07:25:21Z",
        ])
    func refused(_ text: String) {
        #expect(Instant(rfc3339: text) == nil)
    }

    @Test("Arithmetic saturates and never traps")
    func saturation() {
        #expect(Instant(seconds: .max).milliseconds == .max)
        #expect(Instant(seconds: .min).milliseconds == .min)
        #expect(Instant(milliseconds: .max) + .seconds(1) == Instant(milliseconds: .max))
        #expect(Instant(milliseconds: .min) - .seconds(1) == Instant(milliseconds: .min))
        #expect(Instant(milliseconds: .max) - Instant(milliseconds: .min) > .zero)
        #expect(!Instant(milliseconds: .min).description.isEmpty)
        #expect(!Instant(milliseconds: .max).description.isEmpty)
    }

    @Test("Seconds are rounded down", arguments: [(-1, -1), (-1000, -1), (-1001, -2), (0, 0), (999, 0), (1000, 1)])
    func seconds(_ milliseconds: Int64, _ seconds: Int64) {
        #expect(Instant(milliseconds: milliseconds).seconds == seconds)
    }
}
