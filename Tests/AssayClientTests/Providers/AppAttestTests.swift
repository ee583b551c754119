import AssayCore
import AssayTesting
import Testing

@testable import AssayClient

@Suite("App Attest")
struct AppAttestTests {
    private static let attestation = ["generateAppAttestChallenge", "exchangeAppAttestAttestation"]
    private static let assertion = ["generateAppAttestChallenge", "exchangeAppAttestAssertion"]

    private func appCheck(
        _ transport: any ClientTransport, _ device: SimulatedAttestingDevice, _ storage: any ClientStorage,
        clock: FakeClock = FakeClock()
    ) throws -> AppCheck {
        var options = AppCheckOptions(transport: transport, storage: storage)
        options.clock = clock
        options.notice = { _ in }
        return try AppCheck(
            app: FakeToken.app, endpoint: "https://assay.example.com", provider: AppAttestProvider(device: device),
            options: options)
    }

    @Test("the first token is by an attestation, the others by assertions, also when the program starts again")
    func attestsOnce() async throws {
        let server = try ServerInProcess()
        let (device, storage) = (SimulatedAttestingDevice(server), MemoryStorage())
        let first = try appCheck(server, device, storage)
        _ = try await first.token()
        #expect(server.methods == Self.attestation)
        _ = try await first.limitedUseToken()
        _ = try await appCheck(server, device, storage).token(forcingRefresh: true)
        #expect(server.methods == Self.attestation + Self.assertion + Self.assertion)
        #expect(device.keysMade == 1)
    }

    @Test("the token is the server's, for this app, and limited where it was asked for")
    func token() async throws {
        let server = try ServerInProcess()
        let appCheck = try appCheck(server, SimulatedAttestingDevice(server), MemoryStorage())
        for (token, lifetime) in [(try await appCheck.token(), 60), (try await appCheck.limitedUseToken(), 5)] {
            #expect(token.lifetime == .minutes(Int64(lifetime)))
            let payload = token.text.split(separator: ".").dropFirst().first ?? ""
            let claims = try #require(Base64.decode(payload))
            #expect(try JSON.parse(claims)["provider"]?.string == "app_attest")
        }
    }

    @Test("many callers at once get a token for one use each, whose counters rise in order")
    func manyAtOnce() async throws {
        let server = try ServerInProcess()
        let appCheck = try appCheck(server, SimulatedAttestingDevice(server), MemoryStorage())
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<12 { group.addTask { try await appCheck.limitedUseToken().text } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens.count == 12)
        #expect(server.methods.count { $0 == "exchangeAppAttestAttestation" } == 1)
    }

    @Test("a server that has lost its keys and its state gets a new attestation by itself")
    func serverLost() async throws {
        let server = try ServerInProcess()
        let (device, storage) = (SimulatedAttestingDevice(server), MemoryStorage())
        _ = try await appCheck(server, device, storage).token()
        let next = try ServerInProcess(authority: server.authority)
        _ = try await appCheck(next, device, storage).token(forcingRefresh: true)
        #expect(next.methods == Self.assertion + Self.attestation)
        #expect(device.keysMade == 2)
    }

    @Test("a device that was restored from another's backup makes a key of its own")
    func restoredBackup() async throws {
        let server = try ServerInProcess()
        let storage = MemoryStorage()
        _ = try await appCheck(server, SimulatedAttestingDevice(server), storage).token()
        let other = SimulatedAttestingDevice(server)
        _ = try await appCheck(server, other, storage).token(forcingRefresh: true)
        #expect(other.keysMade == 1)
        // The device noticed before anything but a challenge was sent.
        #expect(server.methods == Self.attestation + ["generateAppAttestChallenge"] + Self.attestation)
    }

    @Test("a key whose attestation was answered, but whose artifact was lost on the way, is replaced")
    func lostArtifact() async throws {
        let server = try ServerInProcess()
        let device = SimulatedAttestingDevice(server)
        let appCheck = try appCheck(server, device, MemoryStorage())
        server.loseReplies(of: "exchangeAppAttestAttestation")
        #expect(await clientError { _ = try await appCheck.token() }?.code == .unreachable)
        server.findReplies()
        _ = try await appCheck.token()
        #expect(device.keysMade == 2)
    }

    @Test(
        "a device's failure makes a new key once; Apple's own outage keeps it",
        arguments: [
            ([.invalidKey], 2, nil), ([.invalidInput], 2, nil), ([.failed], 2, nil),
            ([.invalidKey, .invalidKey], 2, .deviceFailed), ([.serverUnavailable], 1, .deviceFailed),
            ([.unsupported], 1, .unsupportedDevice),
        ] as [([DeviceError.Kind], Int, AppCheckError.Code?)])
    func deviceFailures(kinds: [DeviceError.Kind], keys: Int, code: AppCheckError.Code?) async throws {
        let server = try ServerInProcess()
        let device = SimulatedAttestingDevice(server)
        let clock = FakeClock()
        let appCheck = try appCheck(server, device, MemoryStorage(), clock: clock)
        device.fail(kinds)
        do {
            _ = try await appCheck.token()
            #expect(code == nil)
        } catch {
            #expect(error.code == code)
            #expect(error.cause is DeviceError)
        }
        #expect(device.keysMade == keys)
        clock.advance(by: .minutes(1))
        _ = try await appCheck.token()
        if kinds == [.serverUnavailable] { #expect(device.keysMade == 1) }
    }

    @Test("an attestation that is refused makes a new key once, and then waits")
    func refused() async throws {
        let server = try ServerInProcess()
        let device = SimulatedAttestingDevice(server, appID: "ABCDE12345.com.example.another")
        let clock = FakeClock()
        let appCheck = try appCheck(server, device, MemoryStorage(), clock: clock)
        let error = try #require(await clientError { _ = try await appCheck.token() })
        #expect(error.code == .refused)
        #expect(server.methods == Self.attestation + Self.attestation)
        #expect(device.keysMade == 2)
        let decision = try #require(error.decision)
        #expect(server.hasDecided(decision))
        #expect(error.retryAfter != nil)
        #expect(await clientError { _ = try await appCheck.token() }?.code == .refused)
        #expect(device.keysMade == 2)
        // After the pause one more, and not two.
        clock.advance(by: .minutes(1))
        #expect(await clientError { _ = try await appCheck.token() }?.code == .refused)
        #expect(device.keysMade == 3)
    }

    @Test("a device without App Attest says so, and nothing is sent")
    func unsupported() async throws {
        let server = try ServerInProcess()
        let appCheck = try appCheck(server, SimulatedAttestingDevice(server, isSupported: false), MemoryStorage())
        #expect(await clientError { _ = try await appCheck.token() }?.code == .unsupportedDevice)
        #expect(server.methods == [])
    }

    @Test(
        "what is stored of a key that is damaged is not used",
        arguments: [
            "", "{}", #"{"version":1,"key":""}"#, #"{"version":1,"key":"abc","artifact":"*"}"#,
            #"{"version":9,"key":"abc"}"#,
        ])
    func damaged(stored: String) async throws {
        let server = try ServerInProcess()
        let (device, storage) = (SimulatedAttestingDevice(server), MemoryStorage())
        storage.save(
            Array(stored.utf8),
            as: StorageKey(app: FakeToken.app, server: "https://assay.example.com", name: AttestedKey.name))
        _ = try await appCheck(server, device, storage).token()
        #expect(server.methods == Self.attestation)
        #expect(device.keysMade == 1)
    }

    @Test("what is stored of a key is read again as it was", arguments: [nil, [1, 2, 3]] as [[UInt8]?])
    func stored(artifact: [UInt8]?) throws {
        let key = try #require(AttestedKey(AttestedKey(identifier: "abc+/=", artifact: artifact).encoded))
        #expect(key.identifier == "abc+/=")
        #expect(key.artifact == artifact)
    }

    @Test("an attestation without a readable artifact is no success", arguments: ["", "*", "7"])
    func wrongArtifact(artifact: String) async throws {
        let device = SimulatedAttestingDevice(try ServerInProcess())
        let service = FakeService { request in
            guard request.url.hasSuffix("Attestation") else { return .json(200, ["challenge": "AQID"]) }
            return .json(
                200,
                [
                    "artifact": artifact == "7" ? 7 : .string(artifact),
                    "appCheckToken": ["token": .string(FakeToken.text(number: 1)), "ttl": "3600s"],
                ])
        }
        let error = await clientError { _ = try await appCheck(service, device, MemoryStorage()).token() }
        #expect(error?.code == .malformedReply)
    }
}
