internal import AssayCrypto
internal import AssayKit

/// Reads the names of signature algorithms in a policy.
enum AlgorithmNames {
    static func algorithms(
        _ names: [String]?, standard: Set<JWSAlgorithm>, at path: [ConfigurationError.Component],
        to problems: inout ConfigurationProblems
    ) -> Set<JWSAlgorithm> {
        guard let names else { return standard }
        if names.isEmpty { problems.report(at: path, "without an algorithm nothing is taken; leave the key out") }
        var algorithms: Set<JWSAlgorithm> = []
        for (index, name) in names.enumerated() {
            if let algorithm = JWSAlgorithm(rawValue: name) {
                algorithms.insert(algorithm)
            } else {
                let known = JWSAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
                problems.report(at: path + [.index(index)], "expected one of \(known)")
            }
        }
        return algorithms
    }
}

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
        guard let text, !(1...limit).contains(text.utf8.count) else { return }
        report(at: path, "expected 1 to \(limit) characters")
    }

    /// Names by which requests choose: not empty, and each once.
    mutating func check(audiences: [String], at path: [ConfigurationError.Component]) {
        if audiences.isEmpty { report(at: path, "expected at least one") }
        for (index, audience) in audiences.enumerated() {
            check(audience, upTo: 2048, at: path + [.index(index)])
            if audiences[..<index].contains(audience) { report(at: path + [.index(index)], "it stands here twice") }
        }
    }
}
