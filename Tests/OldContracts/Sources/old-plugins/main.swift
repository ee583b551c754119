// A provider, a consumer and a store that were written for the contract before the present one, in an engine of today: prints the
// registry's warnings, then exchanges evidence for a token and the token for a pass, on the old store.
import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import Contract2
import Logging

struct Missing: Error {
    let what: String
}

let key = [UInt8](repeating: 7, count: 32)
let app = "projects/example-project/apps/1:1234567890:web:321abc456def7890"
let policy = PolicyFile(
    name: "policy.yaml",
    text: """
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: 1:1234567890:web:321abc456def7890
                providers:
                  door_lock: {clients: [{name: client-1, key: env:CLIENT_1_KEY}]}
            consumers:
              visitor_pass: {audience: "https://desk.example.com", purposes: [delivery], lifetime: 5m}
        """)

let registry = try Registry([
    .provider(DoorLockProvider.self), .consumer(VisitorPassConsumer.self), .store(PaperTrailStore.self),
])
for warning in registry.warnings { print("warning: \(warning)") }

let path = CommandLine.arguments[1]
let keys = KeyStore.ephemeral()
for attempt in ["first", "second"] {
    let store = try await registry.openStore("paper_trail:\(path)")
    let engine = try Engine(
        registry: registry, policies: .load([policy]), keys: keys,
        host: PluginHost(
            store: store.store, secrets: SecretSource { _ in key },
            logger: Logger(label: "old-plugins") { _ in SwiftLogNoOpLogHandler() }))

    func call(_ method: String, _ body: JSON, token: PresentedToken? = nil, of resource: String = app) async throws
        -> JSON
    {
        try await engine.handle(Call(method, resource: resource, body: body, token: token)).result.get()
    }

    guard let challenge = try await call("generateDoorLockChallenge", [:])["challenge"]?.string,
        let bytes = Base64.decode(challenge)
    else { throw Missing(what: "a challenge") }
    let evidence: JSON = [
        "client": "client-1", "challenge": .string(challenge),
        "code": .string(Base64.encode(HMACSHA256(key: key).authenticate(bytes[...]))),
    ]
    guard let token = try await call("exchangeDoorLockCode", evidence)["token"]?.string else {
        throw Missing(what: "a token")
    }
    do {
        _ = try await call("exchangeDoorLockCode", evidence)
        throw Missing(what: "a refusal of the second exchange")
    } catch let failure as CallFailure {
        print("\(attempt): once more: \(failure.status.rawValue)")
    }
    guard try await call("issueVisitorPass", ["purpose": "delivery"], token: .one(token), of: "")["pass"]?.string != nil
    else {
        throw Missing(what: "a pass")
    }
    print("\(attempt): a token and a pass")
    await store.close()
}
