/// Why a JWT is not good for any of the callers of its issuer, each explanation once.
struct JWTRefusals: Sendable {
    private var explanations: [(text: String, callers: [String])] = []

    mutating func add(_ text: String, for caller: String) {
        if let index = explanations.firstIndex(where: { $0.text.utf8.elementsEqual(text.utf8) }) {
            explanations[index].callers.append(caller)
        } else {
            explanations.append((text, [caller]))
        }
    }

    /// `the JWT is no good for deployer: ...; for auditor: ...`.
    var text: String {
        "the JWT is no good "
            + explanations.map { "for \($0.callers.joined(separator: ", ")): \($0.text)" }.joined(separator: "; ")
    }
}
