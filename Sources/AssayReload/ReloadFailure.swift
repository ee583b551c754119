internal import AssayCore
internal import AssayYAML
internal import Logging

/// The reason why a subject could not be reloaded.
struct ReloadFailure: Sendable {
    /// All text, to distinguish failures.
    let text: String
    /// The reason in `/readyz` for every caller: places, without their content.
    let summary: String
    private let problems: Diagnostics?
    private let action: ReloadAction

    init(_ error: any Error, of action: ReloadAction) {
        self.action = action
        text = "\(error)"
        problems = error as? Diagnostics
        guard let problems else {
            summary = "could not be \(action.past); see the log"
            return
        }
        let count = problems.all.count + problems.omitted
        let place = problems.all.first.flatMap { $0.location?.description ?? $0.file }
        summary = "\(count) problem\(count == 1 ? "" : "s")\(place.map { ", the first at \($0)" } ?? "")"
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
