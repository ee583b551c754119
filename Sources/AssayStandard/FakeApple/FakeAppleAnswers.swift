#if Simulator
internal import ArgumentParser
internal import AssayCore
internal import AssayTesting

/// What a simulated Apple answers instead of what a request deserves.
struct FakeAppleAnswers: ParsableArguments {
    @Option(help: ArgumentHelp("Answer every request with this status: 429, 503.", valueName: "status"))
    var answer: Int?

    @Option(help: ArgumentHelp("The header Retry-After of such answers.", valueName: "seconds"))
    var retryAfter: Int?

    @Flag(help: "Answer no request at all.")
    var silent = false

    func validate() throws {
        if let answer, !(200...599).contains(answer) {
            throw ValidationError("'\(answer)' is not a status: 200 to 599")
        }
        if let retryAfter, retryAfter < 0 { throw ValidationError("'\(retryAfter)' is not a number of seconds") }
        if retryAfter != nil, answer == nil { throw ValidationError("--retry-after needs --answer") }
        if silent, answer != nil { throw ValidationError("--silent and --answer cannot be combined") }
    }

    /// Nil where each request is answered as it deserves.
    var scripted: ScriptedAnswer? {
        if silent { return .silence }
        return answer.map { status in
            let headers = retryAfter.map { [OutboundHeader("Retry-After", "\($0)")] } ?? []
            return .respond(OutboundResponse(status: status, headers: headers))
        }
    }
}
#endif
