import AssayCore
import AssayKit
import AssayTestSupport
import Synchronization
import Testing

@testable import AssayServer

@Suite("The readiness as a metric and in the log")
struct ReadinessServiceTests {
    @Test("Each change is logged once with its reason, and the metric has the present state")
    func changes() async throws {
        let answers: [Readiness] = [
            .ready, .degraded("the bundle is out of date"), .degraded("the bundle is out of date"),
            .notReady("no store"), .ready, .ready,
        ]
        let log = RecordingLog()
        let registry = MetricRegistry()
        let pages = Mutex<[String]>([])
        let (done, finish) = AsyncStream<Void>.makeStream()
        let service = ReadinessService(
            handler: FakeHandler(),
            checks: [
                {
                    let count = pages.withLock { pages in
                        pages.append(String(decoding: registry.page(.prometheusText), as: UTF8.self))
                        return pages.count
                    }
                    if count > answers.count { finish.finish() }
                    return answers[min(count, answers.count) - 1]
                }
            ], meter: registry.meter, logger: log.logger, interval: .milliseconds(1))
        let task = Task { await service.run() }
        for await _ in done {}
        task.cancel()
        await task.value
        #expect(
            log.lines == [
                "the readiness has changed reason=\"the bundle is out of date\" state=degraded",
                "the readiness has changed reason=\"no store\" state=not_ready",
                "the readiness has changed state=ready",
            ])
        let states = pages.withLock { pages in
            pages.dropFirst().prefix(answers.count).map { page in
                ["ready", "degraded", "not_ready"].filter { page.contains("assay_readiness{state=\"\($0)\"} 1\n") }
            }
        }
        #expect(states == [["ready"], ["degraded"], ["degraded"], ["not_ready"], ["ready"], ["ready"]])
    }
}
