internal import AssayCore

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The system's facts about this process, under the names that Prometheus' own client libraries use.
///
/// Read from `/proc` for each page; without `/proc`, only the limit and the processor time are shown.
public enum ProcessMetrics {
    /// Declares the metrics, and reads them before each page.
    public static func add(to registry: MetricRegistry) throws(MetricError) {
        let declare = { (metric: Metric) throws(MetricError) in
            try registry.declare(metric, isStandard: true)
        }
        let processor = try declare(
            .counter("process_cpu_seconds_total", "Processor time, of the user and the system.")
        ).series([])
        let maximum = try declare(
            .gauge("process_max_fds", "How many file descriptors may be open.")
        ).series([])
        registry.beforeEachPage {
            processor?.mirror(processorTime())
            maximum?.set(descriptorLimit())
        }
        guard ProcessStatus.read() != nil else { return }
        let open = try declare(.gauge("process_open_fds", "File descriptors that are open.")).series([])
        let resident = try declare(.gauge("process_resident_memory_bytes", "Resident memory.")).series([])
        let virtual = try declare(.gauge("process_virtual_memory_bytes", "Virtual memory.")).series([])
        let start = try declare(
            .gauge("process_start_time_seconds", "When the process began, in Unix time.")
        ).series([])
        registry.beforeEachPage {
            if let descriptors = ProcessStatus.openDescriptors() { open?.set(Double(descriptors)) }
            guard let status = ProcessStatus.read() else { return }
            resident?.set(status.residentBytes)
            virtual?.set(status.virtualBytes)
            if let time = status.startTime { start?.set(time) }
        }
    }

    private static func processorTime() -> Double {
        var usage = rusage()
        guard getrusage(ownUsage, &usage) == 0 else { return 0 }
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1_000_000 }
    }

    private static func descriptorLimit() -> Double {
        var limit = rlimit()
        return getrlimit(openFiles, &limit) == 0 ? Double(limit.rlim_cur) : 0
    }
}

/// Which release runs: a gauge that is always 1, with the version in a label.
public enum BuildMetrics {
    /// Declares `build_info` and sets it to 1.
    public static func add(to registry: MetricRegistry) throws(MetricError) {
        let version = AssayVersion.text
        let family = try registry.declare(
            .gauge("build_info", "The running release.", labels: [.init("version", [version])]))
        family.series([version])?.set(1)
    }
}

// Glibc declares these as enumerations, and takes integers for them.

#if canImport(Glibc)
private let ownUsage = RUSAGE_SELF.rawValue
private let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
#else
private let ownUsage = RUSAGE_SELF
private let openFiles = RLIMIT_NOFILE
#endif
