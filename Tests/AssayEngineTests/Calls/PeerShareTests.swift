import AssayCore
import AssayDebug
import AssayKit
import AssayPolicy
import AssayTesting
import Testing

@testable import AssayEngine

@Suite("What strangers share with genuine devices")
struct PeerShareTests {
    fileprivate static let app = TestService.app

    /// An engine with a debug provider, a clock that stands still, and a limit for each hour.
    private struct Service {
        let clock = ManualClock()
        let engine: Engine

        init(_ limit: String) throws {
            let text = """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        rate_limit: \(limit)
                        providers:
                          debug: {tokens: [{name: a, sha256: \(Hex.encode(DebugToken.hash(of: TestService.debugToken)))}]}
                """
            engine = try Engine(
                registry: Registry([.provider(DebugProvider.self)]),
                policies: .load([PolicyFile(name: "test.yaml", text: text)]), keys: .pooled(),
                host: PluginHost(
                    clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock), logger: TestService.silent),
                sink: RecordingSink())
        }

        func call(from peer: String?, token: String = "junk") async -> StatusCode? {
            await engine.handle(
                Call(
                    "exchangeDebugToken", resource: PeerShareTests.app, body: ["debugToken": .string(token)], peer: peer
                )
            ).result.error?.status
        }

        func isServed(_ peer: String) async -> Bool {
            await call(from: peer, token: TestService.debugToken) == nil
        }

        /// Calls until one is refused; how many are not.
        func drain(_ peer: String?) async -> Int {
            var count = 0
            while count < 10_000, await call(from: peer) != .resourceExhausted { count += 1 }
            return count
        }
    }

    @Test(
        "a peer alone has all of an app's burst, as behind a proxy that is not known",
        arguments: [nil, "10.0.0.1", "192.0.2.1"])
    func alone(peer: String?) async throws {
        #expect(try await Service("{requests: 40, interval: 1h}").drain(peer) == 40)
    }

    @Test("a stranger that uses up an app's burst leaves others their share")
    func burst() async throws {
        let service = try Service("{requests: 40, interval: 1h}")
        #expect(await service.drain("192.0.2.1") == 40)
        #expect(await service.isServed("198.51.100.1"))
        #expect(await service.call(from: "192.0.2.1") == .resourceExhausted)
    }

    @Test("all of a /48 together leave others their share")
    func site() async throws {
        let service = try Service("{requests: 40, interval: 1h}")
        var served = 0
        for number in 0..<200
        where await service.call(from: "2001:db8:1:\(String(number, radix: 16))::1") != .resourceExhausted {
            served += 1
        }
        #expect(served == 42)
        for number in 1...8 { #expect(await service.isServed("198.51.100.\(number)")) }
        #expect(await !service.isServed("198.51.100.9"))
    }

    @Test("all addresses of a /64 are one stranger")
    func prefix() async throws {
        let service = try Service("{requests: 40, interval: 1h}")
        var served = 0
        for number in 0..<200
        where await service.call(from: "2001:db8::\(String(number, radix: 16))") != .resourceExhausted {
            served += 1
        }
        #expect(served == 40)
        #expect(await service.isServed("2001:db8:0:1::1"))
    }

    @Test("many strangers leave a peer that was verified before its share, and all together do not raise the rate")
    func verified() async throws {
        let service = try Service("{requests: 40, interval: 1h}")
        #expect(await service.isServed("198.51.100.1"))
        service.clock.advance(by: .seconds(3600))
        for number in 1...200 { _ = await service.drain("203.0.113.\(number)") }
        #expect(await service.isServed("198.51.100.1"))
        #expect(await !service.isServed("198.51.100.2"))
        // What was taken ahead of the rate has to be waited for.
        service.clock.advance(by: .seconds(3600))
        var served = 0
        for number in 1...200 { served += await service.drain("203.0.113.\(number)") }
        #expect((30...40).contains(served))
    }

    @Test("verified peers are remembered for a day, each for its app, and across a reload")
    func memory() {
        let peers = VerifiedPeers()
        peers.remember(PeerGroup("192.0.2.1"), of: "a", at: .seconds(1))
        #expect(peers.contains(PeerGroup("192.0.2.1"), of: "a", at: .seconds(86_400)))
        #expect(!peers.contains(PeerGroup("192.0.2.1"), of: "a", at: .seconds(86_401)))
        #expect(!peers.contains(PeerGroup("192.0.2.1"), of: "b", at: .seconds(1)))
        #expect(!peers.contains(PeerGroup("192.0.2.2"), of: "a", at: .seconds(1)))
    }

    @Test("a client with a genuine device and a whole /48 displaces few of the verified peers")
    func displacement() {
        let peers = VerifiedPeers(capacity: 16_384)
        let others = (0..<1000).map { PeerGroup("198.\($0 >> 8).\($0 & 255).1") }
        for peer in others { peers.remember(peer, of: "a", at: .zero) }
        for number in 0..<65_536 {
            peers.remember(PeerGroup("2001:db8:1:\(String(number, radix: 16))::1"), of: "a", at: .seconds(1))
        }
        #expect(others.count { peers.contains($0, of: "a", at: .seconds(2)) } >= 950)
    }

    @Test("a stranger's failed challenges displace its own, and not those of other networks")
    func failedChallenges() {
        let failed = ChallengeMemory()
        func mark(_ kind: UInt8, _ number: Int) -> [UInt8] {
            [UInt8](repeating: 0, count: 32) + [kind] + UInt32(number).bytes + [UInt8](repeating: 0, count: 32)
        }
        for number in 0..<640 {
            failed.remember(mark(1, number), of: PeerGroup("198.51.\(number & 255).\(number >> 8)"))
        }
        for number in 0..<200_000 {
            failed.remember(mark(2, number), of: PeerGroup("2001:db8:1:\(String(number & 0xFFFF, radix: 16))::1"))
        }
        #expect(failed.contains(mark(2, 199_999)))
        #expect(!failed.contains(mark(2, 0)))
        #expect((0..<640).count { failed.contains(mark(1, $0)) } >= 550)
    }

    @Test("however many challenges fail, no more are remembered than there is memory for")
    func failedChallengesBound() {
        let failed = ChallengeMemory(capacity: 640)
        func mark(_ number: Int) -> [UInt8] {
            [UInt8](repeating: 0, count: 33) + UInt32(number).bytes + [UInt8](repeating: 0, count: 32)
        }
        for number in 0..<20_000 {
            failed.remember(mark(number), of: PeerGroup("198.\(number & 127).\(number >> 7 & 255).1"))
        }
        #expect((0..<20_000).count { failed.contains(mark($0)) } <= 640)
    }
}

extension UInt32 {
    fileprivate var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) } }
}

extension Result where Failure == CallFailure {
    fileprivate var error: CallFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
