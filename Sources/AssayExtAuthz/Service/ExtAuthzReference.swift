package import AssayCore

/// What reference pages say of this transport.
package enum ExtAuthzReference {
    /// All metrics that it records.
    package static let metrics = OpenConnections.metrics + CallMetrics.all
}
