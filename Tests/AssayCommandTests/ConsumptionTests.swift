import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import Testing

@Suite("Consuming tokens with a server that may be killed")
struct ConsumptionTests {
    @Test("Of fifty verifications of one token, one is the first; after a kill and a restart none is")
    func once() async throws {
        try await withTemporaryFolder { folder in
            let first = try await AdminServer(in: folder)
            let token = try await first.mint()
            #expect(await first.verify(token, times: 50) == [false: 1, true: 49])
            await first.kill()

            let second = try await AdminServer(in: folder)
            #expect(await second.verify(token, times: 10) == [true: 10])
            #expect(await second.isConsumed(try await second.mint()) == false)
            #expect(await second.server.end(SIGTERM).status == 0)
        }
    }

    @Test("A server that is killed among verifications never lets one token be first twice")
    func killed() async throws {
        try await withTemporaryFolder { folder in
            var server = try await AdminServer(in: folder)
            for round in 0..<4 {
                let token = try await server.mint()
                let running = server
                async let before = running.verify(token, times: 50)
                // After a different number of verifications each time; how many is not known, and does not matter.
                for _ in 0..<(round * 3) { _ = await running.isConsumed(token) }
                await running.kill()
                let found = await before
                server = try await AdminServer(in: folder)
                let after = await server.verify(token, times: 50)
                #expect(after[nil] == nil)
                // The loop's own verifications are in neither count, so that one of them may have been the first.
                #expect(found[false, default: 0] + after[false, default: 0] <= 1)
                if found[true] != nil { #expect(after[false] == nil) }
            }
            await server.kill()
        }
    }
}
