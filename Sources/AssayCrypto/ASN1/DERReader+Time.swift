package import AssayKit

extension DERReader {
    /// A time of a certificate or a signature, in the forms that RFC 5280, section 4.1.2.5, allows.
    ///
    /// Seconds are written and the zone is Z; years before 2050 are a UTCTime, later ones a GeneralizedTime.
    package mutating func time() throws(ASN1Error) -> Instant {
        let element = try next()
        let malformed = ASN1Error(.timeMalformed, at: element.encoded.startIndex)
        var digits = element.content
        guard digits.popLast() == UInt8(ascii: "Z"),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { throw malformed }

        func take(_ count: Int) -> Int {
            defer { digits = digits.dropFirst(count) }
            return digits.prefix(count).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }
        let year: Int
        switch element.tag {
        case .utcTime where digits.count == 12:
            let short = take(2)
            year = short < 50 ? 2000 + short : 1900 + short
        case .generalizedTime where digits.count == 14:
            year = take(4)
            guard year >= 2050 else { throw malformed }
        case .utcTime, .generalizedTime:
            throw malformed
        default:
            throw ASN1Error(.tagUnexpected, at: element.encoded.startIndex)
        }
        guard
            let instant = Instant(
                year: year, month: take(2), day: take(2), hour: take(2), minute: take(2), second: take(2))
        else { throw malformed }
        return instant
    }
}
