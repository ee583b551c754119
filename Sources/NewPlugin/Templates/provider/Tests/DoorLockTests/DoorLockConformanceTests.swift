import AssayCore
import AssayCrypto
import AssayTesting
import DoorLock
import Testing

/// Simulated clients, from whose evidence the suite derives hostile evidence.
@Suite("The contract of the provider door_lock")
struct DoorLockConformanceTests {
    private static let keys = [[UInt8](repeating: 7, count: 32), [UInt8](repeating: 8, count: 32)]

    private static let subject = ProviderSubject(
        exchanges: [
            ProviderSubject.Exchange(
                "exchangeDoorLockCode", challengeMethod: "generateDoorLockChallenge"
            ) { client in
                let number = client.number % keys.count
                let code = HMACSHA256(key: keys[number]).authenticate(client.challenge[...])
                return [
                    "client": .string("client-\(number)"), "challenge": .string(Base64.encode(client.challenge)),
                    "code": .string(Base64.encode(code)),
                ]
            }
        ],
        section: { _ in "clients: [{name: client-0, key: env:CLIENT_0}, {name: client-1, key: env:CLIENT_1}]" },
        wrongSections: [
            """
            clients:
              - {name: client-0, key: env:CLIENT_0}
              - {name: client-1, key: env:MISSING} # wrong
            """
        ],
        secrets: SecretSource { reference in
            switch reference.place {
            case .environment("CLIENT_0"): keys[0]
            case .environment("CLIENT_1"): keys[1]
            default: nil
            }
        })

    @Test("The provider keeps every rule")
    func conformance() async {
        let failures = await AttestationProviderSuite(DoorLockProvider.self, Self.subject).report(.quick).failures
        #expect(failures == [])
    }
}
