internal import ArgumentParser
internal import AssayCore
internal import AssayKit

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
}
