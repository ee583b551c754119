import AssayCore
import AssayTesting
import Testing

@Suite("Apple's simulated servers refuse what Apple's refuse", .timeLimit(.minutes(20)))
struct SimulatedAppleServerTests {
    private let clock = ManualClock()
    private let team: SimulatedAppleTeam
    private let authority: SimulatedAppleCA

    init() throws {
        team = try SimulatedAppleTeam(teamID: "ABCDE12345")
        authority = try SimulatedAppleCA(at: clock.now)
    }

    private func server(
        _ form: SimulatedAppleServer.AuthorizationForm = .either, takesTokensOnce: Bool = false,
        requestLimit: Int = 10_000
    ) -> SimulatedAppleServer {
        SimulatedAppleServer(
            authority: authority, teams: [team], form: form, takesTokensOnce: takesTokensOnce,
            requestLimit: requestLimit, clock: clock.hostClock)
    }

    /// A request that each server answers well, unless something of it is changed.
    private func question(
        _ path: String = "/v1/query_two_bits", host: String = "https://api.devicecheck.apple.com",
        device: String = SimulatedAppleServer.deviceToken(of: "phone"), authorization: String? = nil,
        fields: [JSONMember] = []
    ) throws -> OutboundRequest {
        let authorization = try authorization ?? team.token(at: clock.now)
        var members = [
            JSONMember("device_token", .string(device)), JSONMember("transaction_id", "t"),
            JSONMember("timestamp", .integer(clock.now.milliseconds)),
        ]
        members += fields
        return OutboundRequest(
            .post, try #require(EndpointURL(host + path)), headers: [OutboundHeader("Authorization", authorization)],
            body: JSON.object(members).encoded)
    }

    private func words(_ response: OutboundResponse) -> String {
        "\(response.status) \(String(decoding: response.body, as: UTF8.self))"
    }

    @Test("A device's bits are unset at first, kept one by one, and the same for each of its tokens")
    func bits() async throws {
        let server = server()
        #expect(words(try await server.send(try question())) == "200 Failed to find bit state")
        let first = try question("/v1/update_two_bits", fields: [JSONMember("bit1", true)])
        #expect(try await server.send(first).status == 200)
        let second = try question(
            "/v1/update_two_bits", device: SimulatedAppleServer.deviceToken(of: "phone", number: 2),
            fields: [JSONMember("bit0", true)])
        #expect(try await server.send(second).status == 200)
        let kept = try JSON.parse(try await server.send(try question()).body)
        #expect(kept == ["bit0": true, "bit1": true, "last_update_time": "2026-11"])
        let other = try question(device: SimulatedAppleServer.deviceToken(of: "tablet"))
        #expect(words(try await server.send(other)) == "200 Failed to find bit state")
        let wrong = try question("/v1/update_two_bits", fields: [JSONMember("bit0", 1)])
        #expect(words(try await server.send(wrong)) == "400 Missing or incorrectly formatted bits")
    }

    @Test("The team's token stands where its form says, and is good for an hour from its time on")
    func authorization() async throws {
        let token = try team.token(at: clock.now)
        func statuses(_ form: SimulatedAppleServer.AuthorizationForm) async throws -> [Int] {
            var statuses: [Int] = []
            for text in [token, "Bearer \(token)"] {
                statuses.append(try await server(form).send(try question(authorization: text)).status)
            }
            return statuses
        }
        #expect(try await statuses(.bare) == [200, 401])
        #expect(try await statuses(.bearer) == [401, 200])
        #expect(try await statuses(.either) == [200, 200])
        let late = try question(authorization: token)
        clock.advance(by: .seconds(3599))
        #expect(try await server().send(late).status == 200)
        clock.advance(by: .seconds(1))
        #expect(try await server().send(late).status == 401)
        clock.advance(by: .seconds(-3601))
        #expect(try await server().send(late).status == 401)
    }

    @Test("Tokens of other teams, by other keys, and what is no token are refused alike")
    func strangers() async throws {
        let sameNames = try SimulatedAppleTeam(teamID: team.teamID)
        let otherTeam = try SimulatedAppleTeam(teamID: "OTHER12345", keyID: "OTHERKEY01")
        let sameKey = try SimulatedAppleTeam(
            teamID: "OTHER12345", keyID: team.keyID, privateKeyPEM: team.privateKeyPEM)
        for text in [
            try sameNames.token(at: clock.now), try otherTeam.token(at: clock.now), try sameKey.token(at: clock.now),
            "", "Bearer ", "a.b.c", String(try team.token(at: clock.now).dropLast(4)),
        ] {
            let response = try await server().send(try question(authorization: text))
            #expect(words(response) == "401 Unable to verify authorization token")
        }
    }

    @Test("A device token is of one environment, and hosts and paths tell which is asked")
    func environments() async throws {
        let production = SimulatedAppleServer.deviceToken(of: "phone")
        let development = SimulatedAppleServer.deviceToken(of: "phone", in: .development)
        let hosts = [
            ("https://api.devicecheck.apple.com", production), ("http://localhost:1/production", production),
            ("https://api.development.devicecheck.apple.com", development),
            ("http://localhost:1/development", development),
        ]
        for (host, good) in hosts {
            for token in [production, development] {
                let question = try question("/v1/validate_device_token", host: host, device: token)
                let response = try await server().send(question)
                #expect(response.status == (token.isExactly(good) ? 200 : 400))
            }
        }
    }

    @Test("Where tokens are good for one question, the second one with the same token is refused, and others are not")
    func once() async throws {
        let server = server(takesTokensOnce: true)
        #expect(try await server.send(try question()).status == 200)
        #expect(try await server.send(try question()).status == 400)
        let fresh = try question(device: SimulatedAppleServer.deviceToken(of: "phone", number: 1))
        #expect(try await server.send(fresh).status == 200)
    }

    @Test(
        "A question without a transaction, without a time, or of no device is refused",
        arguments: ["{}", "[]", "", "{\"transaction_id\": \"\", \"timestamp\": 1, \"device_token\": \"AAAA\"}"])
    func malformed(_ body: String) async throws {
        var question = try question()
        question.body = Array(body.utf8)
        #expect(try await server().send(question).status == 400)
    }

    @Test("Other paths, hosts and methods are told apart from what is served")
    func routes() async throws {
        #expect(try await server().send(try question("/v1/other")).status == 404)
        #expect(try await server().send(try question(host: "https://example.com")).status == 404)
        for path in ["/v1/attestationData", "/v1/query_two_bits"] {
            var question = try question(path)
            question.method = .get
            #expect(try await server().send(question).status == 405)
        }
        #expect(words(try await server().send(try question("/v1/attestationData"))) == "400 Bad Payload")
    }

    @Test("A script is followed answer by answer, and can be forgotten")
    func script() async throws {
        let server = server()
        let teapot = OutboundResponse(status: 418, body: [1, 2, 3])
        server.script([.respond(teapot), .hangUp, .respond(teapot), .respond(teapot)])
        #expect(try await server.send(try question()) == teapot)
        let question = try question()
        let hungUp = await #expect(throws: OutboundFailure.self) { try await server.send(question) }
        #expect(hungUp?.code == .interrupted)
        var small = question
        small.responseLimit = 2
        let tooLarge = await #expect(throws: OutboundFailure.self) { try await server.send(small) }
        #expect(tooLarge?.code == .tooLarge)
        server.forgetScript()
        #expect(try await server.send(question).status == 200)
    }

    @Test("Silence lasts until the caller's time is over by the clock, or its task is cancelled")
    func silence() async throws {
        let server = server()
        let question = try question()
        for ending in [OutboundFailure.Code.timedOut, .cancelled] {
            server.script([.silence])
            let call = Task { try await server.send(question) }
            await clock.waitForSleepers(1)
            if ending == .cancelled { call.cancel() } else { clock.advance(by: question.timeLimit) }
            let failure = await #expect(throws: OutboundFailure.self) { _ = try await call.value }
            #expect(failure?.code == ending)
        }
    }

    @Test("So many requests are kept as were asked for, the first ones", arguments: [-1, 0, 2])
    func kept(_ limit: Int) async throws {
        let server = server(requestLimit: limit)
        for path in ["/v1/a", "/v1/b", "/v1/c"] { _ = try await server.send(try question(path)) }
        #expect(server.requests.map(\.url.path) == Array(["/v1/a", "/v1/b"].prefix(max(limit, 0))))
    }
}
