internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayHosting
internal import ServiceLifecycle

/// How many requests of strangers the log and the audit file have one by one.
struct RecordOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How many requests a second about no known app and without a valid credential are logged and audited one by "
                + "one; the others are summed.", valueName: "number"))
    var recordRate = RecordLimits().strangersPerSecond

    @Option(
        help: ArgumentHelp(
            "The same for requests about one known app without valid evidence: refused evidence, challenges.",
            valueName: "number"))
    var recordRateApp = RecordLimits().appPerSecond

    @Option(
        help: ArgumentHelp("The same for both kinds from one address (IPv6: one /64).", valueName: "number"))
    var recordRatePeer = RecordLimits().peerPerSecond

    @Option(help: ArgumentHelp("How long requests are summed before the sum is recorded.", valueName: "seconds"))
    var recordInterval = Int(RecordLimits().interval.components.seconds)

    func validate() throws {
        let rates = [
            ("--record-rate", recordRate), ("--record-rate-app", recordRateApp), ("--record-rate-peer", recordRatePeer),
        ]
        for (name, rate) in rates where !(1...100_000).contains(rate) {
            throw ValidationError("\(name) takes a number from 1 to 100000")
        }
        guard (1...3600).contains(recordInterval) else {
            throw ValidationError("--record-interval takes a number from 1 to 3600")
        }
    }

    var limits: RecordLimits {
        RecordLimits(
            strangersPerSecond: recordRate, appPerSecond: recordRateApp, peerPerSecond: recordRatePeer,
            interval: .seconds(recordInterval))
    }
}

/// Passes sums of decisions on when their time has come, and what is left at the end.
///
/// It comes behind the audit file among the services, and so ends before it.
struct RecordService: Service {
    let decisions: SampledDecisions

    func run() async {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: .seconds(1))) != nil { decisions.flush() }
        }
        decisions.close()
    }
}
