import AssayCore
import AssayCrypto
import AssayTesting
import DoorLock
import Testing

/// Simulated clients, from whose evidence the suite derives hostile evidence.
@Suite("The contract of the provider door_lock")
struct DoorLockConformanceTests {
    /// The key of a client of an app.
    private static func key(_ app: TestApp, _ number: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(16 * (app.rawValue + 1) + number), count: 32)
    }

    /// The secrets that the sections name.
    private static let secrets = TestApp.allCases.flatMap { app in
        (0..<2).map { (name: "CLIENT_\(app.rawValue)_\($0)", key: key(app, $0)) }
    }

    /// The request of a genuine client, or with another key, another challenge, or more bytes in its code.
    private static func body(
        _ client: TestDevice, key: [UInt8]? = nil, challenge: [UInt8]? = nil, more: [UInt8] = []
    ) -> JSON {
        let number = client.number % 2
        let code = HMACSHA256(key: key ?? self.key(client.app, number))
            .authenticate((challenge ?? client.challenge)[...])
        return [
            "client": .string("client-\(number)"), "challenge": .string(Base64.encode(client.challenge)),
            "code": .string(Base64.encode(code + more)),
        ]
    }

    private static let subject = ProviderSubject(
        exchanges: [
            ProviderSubject.Exchange(
                "exchangeDoorLockCode", challengeMethod: "generateDoorLockChallenge",
                // What only you can make: authentic, and wrong in one respect. Or why there is no such evidence.
                adversaries: [
                    .wrongAuthority: .impossible("no authority certifies a client: the policy lists its key"),
                    .otherKey: .request(DoorLockProvider.wrongCode) { body($0, key: key($0.app, 9)) },
                    .otherApp: .request(DoorLockProvider.wrongCode) { body($0, key: key(.second, $0.number % 2)) },
                    .untrustedDevice: .impossible("a code says nothing of the client's state"),
                    .otherChallenge: .request(DoorLockProvider.wrongCode) { client in
                        try await body(client, challenge: client.makeChallenge("generateDoorLockChallenge"))
                    },
                    .expired: .impossible("a code has no time but that of its challenge"),
                    .future: .impossible("a code has no time but that of its challenge"),
                    .malformed: .request { body($0, more: [0]) },
                    .downgraded: .impossible("a code has one algorithm"),
                    Adversary("unknown-client", "a client that the policy does not list gets no token"): .request(
                        DoorLockProvider.unknownClient
                    ) { client in
                        ["client": "nobody", "challenge": .string(Base64.encode(client.challenge)), "code": "AAAA"]
                    },
                ]
            ) { body($0) }
        ],
        section: { app in
            """
            clients:
              - {name: client-0, key: env:CLIENT_\(app.rawValue)_0}
              - {name: client-1, key: env:CLIENT_\(app.rawValue)_1}
            """
        },
        wrongSections: [
            """
            clients:
              - {name: client-0, key: env:CLIENT_0_0}
              - {name: client-1, key: env:MISSING} # wrong
            """
        ],
        secrets: SecretSource { reference in
            secrets.first { reference.place == .environment($0.name) }?.key
        })

    @Test("The provider keeps every rule")
    func conformance() async {
        let failures = await AttestationProviderSuite(DoorLockProvider.self, Self.subject).report(.quick).failures
        #expect(failures == [])
    }
}
