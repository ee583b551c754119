package import AssayCore

/// What reference pages say about this transport.
package enum ExtAuthzReference {
    /// All metrics that it records.
    package static let metrics = OpenConnections.metrics + CallMetrics.all
}
