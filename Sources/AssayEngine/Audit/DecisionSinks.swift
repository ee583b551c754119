public import AssayKit

/// Several sinks as one: a log, metrics and an audit file, for instance.
public struct DecisionSinks: DecisionSink {
    private let sinks: [any DecisionSink]

    public init(_ sinks: [any DecisionSink]) {
        self.sinks = sinks
    }

    public func record(_ record: DecisionRecord) {
        for sink in sinks { sink.record(record) }
    }

    public func record(_ summary: DecisionSummary) {
        for sink in sinks { sink.record(summary) }
    }
}
