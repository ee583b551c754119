internal import AssayCore
internal import Logging

/// One entry of the log, with the metadata of all of its sources.
struct LogEntry: Sendable {
    let time: Instant
    let level: Logger.Level
    let label: String
    let source: String
    let message: String
    let metadata: Logger.Metadata

    /// The most bytes that a line may have, its end not counted.
    ///
    /// What is more is left out, and the line says so.
    static let lineLimit = 16_384
    /// About how many bytes are shown of a message or a value.
    static let valueLimit = 4096
    /// How deep dictionaries and arrays of metadata may be nested.
    static let depthLimit = 4

    /// The metadata in the order of the names.
    var fields: [(name: String, value: Logger.MetadataValue)] {
        metadata.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
