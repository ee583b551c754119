#if Simulator
internal import AssayCore
internal import NIOCore

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// How much of the processor a process used.
struct LoadUsage: Sendable {
    /// What a process had used at a moment.
    struct Reading: Sendable {
        let at: UInt64
        /// User and system time, in microseconds.
        let processor: UInt64
        /// Resident memory, in bytes; 0 when it is not known.
        let memory: UInt64

        /// This process.
        static func ownProcess() -> Reading {
            var time = timespec()
            guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else {
                return Reading(at: NIODeadline.now().uptimeNanoseconds, processor: 0, memory: 0)
            }
            return Reading(
                at: NIODeadline.now().uptimeNanoseconds,
                processor: UInt64(max(0, Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)), memory: 0)
        }
    }

    var seconds = 0.0
    /// User and system time, in microseconds.
    var processor: UInt64 = 0
    var memory: UInt64 = 0

    init() {}

    init(from before: Reading, to after: Reading) {
        seconds = after.at > before.at ? Double(after.at - before.at) / 1e9 : 0
        processor = after.processor > before.processor ? after.processor - before.processor : 0
        memory = after.memory
    }

    /// The use in percent of one core.
    var percent: Double { seconds > 0 ? Double(processor) / seconds / 10_000 : 0 }
}

/// A process of this machine, as Linux describes it under `/proc`.
struct LoadProcess: Sendable {
    let id: Int

    /// What it has used; nil where that cannot be read.
    func reading() -> LoadUsage.Reading? {
        guard let bytes = try? SecretFile.read("/proc/\(id)/stat", limit: 4096, isSecret: false),
            // The name of the program may have spaces and parentheses.
            let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " ")).map {
            UInt64(String(decoding: $0, as: UTF8.self))
        }
        guard fields.count > 21, let user = fields[11], let system = fields[12], let pages = fields[21] else {
            return nil
        }
        let ticks = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
        return LoadUsage.Reading(
            at: NIODeadline.now().uptimeNanoseconds, processor: (user &+ system) &* 1_000_000 / ticks,
            memory: pages &* UInt64(max(1, sysconf(Int32(_SC_PAGESIZE)))))
    }
}
#endif
