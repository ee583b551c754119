internal import AssayCore
internal import AssayEngine
internal import AssayYAML
internal import Logging

/// The reason why a subject could not be reloaded.
struct ReloadFailure: Sendable {
    /// All text, to distinguish failures.
    let text: String
    /// The reason in `/readyz`, which only the pages of operators show: the first problem with its place.
    let summary: String
    private let problems: Diagnostics?
    /// The most characters of a message in the summary.
    private static let longest = 300
    private let action: ReloadAction

    init(_ error: any Error, of action: ReloadAction) {
        self.action = action
        text = "\(error)"
        problems = error as? Diagnostics
        guard let problems else {
            summary = "could not be \(action.past): \(SafeText.of(text, limit: Self.longest))"
            return
        }
        let count = problems.all.count + problems.omitted
        let first = problems.all.first
        let place = (first?.location?.description ?? first?.file).map { place in
            count == 1 ? " at \(place)" : ", the first at \(place)"
        }
        let words = first.map { ": \(SafeText.of($0.message, limit: Self.longest))" }
        summary = "\(count.counting("problem"))\(place ?? "")\(words ?? "")"
    }

    /// One line for each problem.
    func log(_ name: String, to logger: Logger) {
        guard let problems else {
            logger.error(
                "\(name) cannot be \(action.past): no change is applied", metadata: ["error": "\(text)"])
            return
        }
        logger.error(
            "\(name) cannot be \(action.past): no change is applied",
            metadata: ["problems": "\(problems.all.count + problems.omitted)"])
        for problem in problems.all {
            var metadata: Logger.Metadata = ["problem": "\(problem.message)"]
            metadata["place"] = (problem.location?.description ?? problem.file).map { "\($0)" }
            metadata["path"] = problem.path.isEmpty ? nil : "\(problem.path)"
            metadata["hint"] = problem.hint.map { "\($0)" }
            logger.error("wrong in \(name)", metadata: metadata)
        }
    }
}
