internal import AssayKit

/// Checks of values that several parts have.
extension ConfigurationProblems {
    mutating func check(
        _ duration: Duration?, in range: ClosedRange<Duration>, at path: [ConfigurationError.Component]
    ) {
        guard let duration else { return }
        guard range.contains(duration), duration == .seconds(duration.wholeSeconds) else {
            report(
                at: path,
                "expected whole seconds from \(range.lowerBound.wholeSeconds)s to \(range.upperBound.wholeSeconds)s")
            return
        }
    }

    mutating func check(_ text: String?, upTo limit: Int, at path: [ConfigurationError.Component]) {
        guard let text, !(1...limit).contains(text.unicodeScalars.count) else { return }
        report(at: path, "expected 1 to \(limit) characters")
    }

    /// A list that is there has at least one element.
    mutating func checkNotEmpty<Element>(_ list: [Element]?, at path: [ConfigurationError.Component]) {
        if list?.isEmpty == true { report(at: path, "expected at least one; leave the key out") }
    }

    /// Names by which requests choose: at least one, and each once.
    mutating func check(audiences: [AudienceName], at path: [ConfigurationError.Component]) {
        if audiences.isEmpty { report(at: path, "expected at least one") }
        for (index, audience) in audiences.enumerated() where audiences[..<index].contains(audience) {
            report(at: path + [.index(index)], "it stands here twice")
        }
    }
}
