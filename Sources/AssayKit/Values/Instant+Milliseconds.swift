extension Instant {
    /// RFC 3339 in UTC, always with three digits behind the point, so that lines line up and sort as text.
    package var textWithMilliseconds: String {
        let text = description
        let hasFraction = text.utf8.suffix(5).first == UInt8(ascii: ".")
        return hasFraction ? text : "\(text.dropLast()).000Z"
    }
}
