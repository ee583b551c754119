internal import ArgumentParser
internal import AssayServer

/// Where decisions are sent in addition to the log and the audit file.
struct SinkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A sink that receives the record of each decision, such as webhook:URL; may be given several times. Decisions \
            do not wait for it.
            """, valueName: "scheme:location"))
    var sink: [String] = []

    @Flag(
        help: """
            Answer with "unavailable", and report "not ready", while a sink cannot take records. Without this, decisions \
            continue; /readyz, /metrics and the log report the loss.
            """)
    var sinkRequired = false

    private static let limit = 8

    func validate() throws {
        if sinkRequired, sink.isEmpty { throw ValidationError("--sink-required needs --sink SCHEME:LOCATION") }
        guard sink.count <= Self.limit else { throw ValidationError("--sink may be given \(Self.limit) times") }
    }

    var sinks: RecordSinks {
        var sinks = RecordSinks()
        sinks.names = sink
        sinks.isRequired = sinkRequired
        return sinks
    }
}
