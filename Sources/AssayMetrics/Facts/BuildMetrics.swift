internal import AssayKit

/// Which release runs: a gauge that is always 1, with the version in a label.
public enum BuildMetrics {
    public static func add(to registry: MetricRegistry) throws(MetricError) {
        let version = AssayVersion.text
        let family = try registry.declare(
            .gauge("build_info", "The release that runs.", labels: [.init("version", [version])]))
        family.series([version])?.set(1)
    }
}
