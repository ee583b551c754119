internal import AssayCore
internal import AssayYAML

/// Policies of suites, as text.
enum PolicyText {
    /// The mark at the end of a line whose error is expected.
    static let mark = "# wrong"

    static func indented(_ text: String, by count: Int) -> String {
        text.split(onASCII: "\n").filter { !$0.isEmpty }
            .map { String(repeating: " ", count: count) + $0 }.joined(separator: "\n")
    }

    /// A section with a key that nobody knows.
    static func withUnknownKey(_ section: String) -> String {
        let key = "nobody_knows_this: 1 \(mark)"
        let isEmpty = section.utf8.allSatisfy { " \n{}".utf8.contains($0) }
        return isEmpty ? key : "\(section)\n\(key)"
    }

    /// Expects that a policy is refused, with an error in the line that is marked.
    static func check(_ policy: String, _ run: ConformanceRun, load: (String) throws -> Void) {
        let lines = policy.split(onASCII: "\n")
        guard let wrong = lines.firstIndex(where: { $0.hasSuffix(mark) }) else {
            return run.expect(false, "a wrong section has no line that ends with \(mark)")
        }
        let words = lines[wrong].dropLast(mark.count).trimmedASCII
        do {
            try load(policy)
            run.expect(false, "accepted: \(words)")
        } catch let error as Diagnostics {
            let found = error.all.filter { $0.severity == .error }
            run.expect(
                found.contains { $0.location?.line == wrong + 1 },
                "the error of `\(words)` is not at its line: \(found.first.map(\.description) ?? "none")")
        } catch {
            run.expect(false, "the error of `\(words)` has no place: \(error)")
        }
    }
}

extension Substring {
    fileprivate var trimmedASCII: Substring {
        var text = self
        while text.utf8.first == 0x20 { text = text.dropFirst() }
        while text.utf8.last == 0x20 { text = text.dropLast() }
        return text
    }
}
