import AssayCore
import AssayKit
import AssayTesting
import AssayWeb
import Testing

@Suite("What the tokens of one stranger cost")
struct WebCostTests {
    private static let stranger = "198.51.100.7"

    /// How a stranger gets no session token, though the service was asked.
    enum Vain: String, CaseIterable, Sendable {
        case otherHost, old, otherKey, strangeStatus

        func token(_ scene: WebScene) -> String {
            switch self {
            case .otherHost: return scene.token { $0.hostname = "attacker.example.com" }
            case .old: return scene.token { $0.made = $0.made - .seconds(600) }
            case .otherKey:
                scene.script([scene.service == .enterprise ? .invalid("KEY_MISMATCH") : .codes("invalid-input-secret")])
            case .strangeStatus: scene.script([.json(403, "<html>")])
            }
            return scene.token()
        }
    }

    @Test(
        "However a token gets no session token: after ten of a stranger the service is not asked about any more",
        arguments: PageService.allCases, Vain.allCases)
    func vain(_ service: PageService, _ kind: Vain) async throws {
        let scene = try WebScene(service)
        for number in 1...30 {
            let asked = scene.requests.count
            let reply = await scene.send(kind.token(scene), from: Self.stranger)
            #expect(!reply.isAccepted)
            if reply.failure?.reason == service.reasons[.limited] {
                #expect(number > 5 && scene.requests.count == asked)
                // The answer that was not asked for.
                _ = await scene.send(scene.token(), from: "203.0.113.9")
                let other = await scene.send(scene.token(), from: "203.0.113.9")
                #expect(other.isAccepted, "\(number): \(scene.detail(other))")
                return
            }
        }
        Issue.record("never limited: \(scene.requests.count) questions")
    }

    @Test("A token that was exchanged here costs no further question", arguments: PageService.sites)
    func exchanged(_ service: PageService) async throws {
        let scene = try WebScene(service, isForgetful: true)
        let token = scene.token()
        #expect(await scene.send(token).isAccepted)
        let asked = scene.requests.count
        for _ in 0..<5 { #expect(await scene.send(token).failure?.reason == service.reasons[.used]) }
        #expect(scene.requests.count == asked)
    }

    @Test(
        "A token has visible characters of ASCII only, so that no service takes two of them for one",
        arguments: PageService.allCases, [" ", "\n", "\0", "\t", "\u{200B}", "\u{FEFF}", "é", "\u{7F}"])
    func characters(_ service: PageService, _ character: String) async throws {
        let scene = try WebScene(service)
        let token = scene.token()
        for text in [token + character, character + token] {
            #expect(await scene.send(text).failure?.reason == service.reasons[.refused])
        }
        #expect(scene.requests.isEmpty)
    }
}
