internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayRecords
internal import ServiceLifecycle

/// How many requests of strangers the log and the audit file have one by one.
struct RecordOptions: ParsableArguments {
    @Option(
        help:
            "How many requests a second about no known app and without a valid credential this server logs and audits one by one; "
            + "the others are summed.", valueName: "number", reading: rate)
    var recordRate = RecordLimits().strangersPerSecond

    @Option(
        help: "The same for requests about one known app without valid evidence: refused evidence, challenges.",
        valueName: "number", reading: rate)
    var recordRateApp = RecordLimits().appPerSecond

    @Option(
        help: "The same for both kinds from one address (IPv6: one /64).", valueName: "number", reading: rate)
    var recordRatePeer = RecordLimits().peerPerSecond

    @Option(
        help: "How long requests are summed before the sum is recorded.", valueName: "seconds",
        reading: .number(1...3600))
    var recordInterval = Int(RecordLimits().interval.components.seconds)

    private static let rate = ArgumentReader.number(1...100_000)

    var limits: RecordLimits {
        RecordLimits(
            strangersPerSecond: recordRate, appPerSecond: recordRateApp, peerPerSecond: recordRatePeer,
            interval: .seconds(recordInterval))
    }

    /// The log, each audit file, and the queues of other servers, each with limits of its own: what one of them cannot write is
    /// missing there alone.
    ///
    /// - Parameter reasonOfQueues: why the queues cannot take more; nil when nothing depends on them.
    func samples(
        _ log: DecisionLog, _ files: [AuditFile], _ queues: [SinkQueue], reasonOfQueues: (@Sendable () -> String?)?
    ) -> [SampledDecisions] {
        var samples = [SampledDecisions([log], limits: limits)]
        for file in files { samples.append(SampledDecisions([file], limits: limits) { file.blockingReason != nil }) }
        if !queues.isEmpty {
            samples.append(SampledDecisions(queues, limits: limits) { reasonOfQueues?() != nil })
        }
        return samples
    }
}

/// Passes sums of decisions on when their time has come, and what is left at the end.
///
/// It comes behind the audit file among the services, and so ends before it.
struct RecordService: Service {
    let decisions: [SampledDecisions]

    func run() async {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: .seconds(1))) != nil { for sample in decisions { sample.flush() } }
        }
        for sample in decisions { sample.close() }
    }
}
