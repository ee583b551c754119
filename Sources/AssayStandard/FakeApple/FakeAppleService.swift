#if Simulator
internal import AssayCommand
internal import AssayCore
internal import AssayTesting
internal import AssayTestingHTTP
internal import ServiceLifecycle

/// A simulated Apple, and what a person needs to try it by hand.
struct FakeApple: Sendable {
    let server: SimulatedAppleServer
    let team: SimulatedAppleTeam
    /// What a request may carry in the header `Authorization`, for an hour.
    let authorization: String
}

/// Why a simulated Apple cannot be set up.
struct FakeAppleError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Serves a simulated Apple until the program ends.
struct FakeAppleService: Service {
    let apple: FakeApple
    let folder: FakeAppleFolder
    let port: Int
    let answers: FakeAppleAnswers

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await LocalServer { answer($0) }.run(port: port) { port in
                try Terminal.say(introduction(base: "http://127.0.0.1:\(port)"))
                while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
            }
        }
    }

    private func answer(_ request: OutboundRequest) -> ScriptedAnswer {
        let answer = answers.scripted ?? apple.server.answer(request)
        var result = "no answer"
        if case .respond(let response) = answer {
            let text = response.body.count <= 100 ? String(decoding: response.body, as: UTF8.self) : "\u{2026}"
            result = "\(response.status) \(text)"
        }
        // A reader that has left misses only these lines.
        try? Terminal.say("\(request.method.rawValue) \(request.url.path) \(result)")
        return answer
    }

    private func introduction(base: String) -> String {
        let time = HostClock.system.now.milliseconds
        // Each can be used for one question.
        let tokens = (1...4).map { SimulatedAppleServer.deviceToken(of: "example", number: $0) }
        let questions = tokens.map { #"{"device_token":"\#($0)","transaction_id":"1","timestamp":\#(time)"# }
        let call = "curl -s -H 'Authorization: Bearer \(apple.authorization)' \(base)/production/v1"
        return """
            A simulated Apple listens on \(base), under /production and /development. In a policy:

              apple: {team_id: \(apple.team.teamID), bundle_id: com.example.app}
              providers:
                device_check:
                  key_id: \(apple.team.keyID)
                  private_key: file:\(folder.keyFile)
                  base_url: \(base)/production

            A device's token is `device-token:production:` and any text in Base 64, such as \(tokens[0]). It is good for
            one question; what follows a `#` tells tokens of one device apart. Try:

              \(call)/validate_device_token -d '\(questions[1])}'
              \(call)/update_two_bits -d '\(questions[2]),"bit0":true}'
              \(call)/query_two_bits -d '\(questions[3])}'
              \(call)/attestationData -d @\(folder.receiptFile)

            Requests, until interrupted:
            """
    }
}
#endif
