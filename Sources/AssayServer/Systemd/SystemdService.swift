internal import AssayCore
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Tells systemd when the server is ready, reloads and ends (`Type=notify`), and that it lives (`WatchdogSec=`).
///
/// It comes last among the services, and so is the first to know that the server ends. A message that cannot be sent is
/// logged, and has no other effect.
final class SystemdService: Service {
    private let socket: SystemdSocket
    private let interval: Duration?
    private let state: Mutex<SystemdState>
    private let logger: Logger

    /// Nil without `NOTIFY_SOCKET`.
    ///
    /// - Parameters:
    ///   - listeners: how many of them must listen before the server is ready.
    ///   - environment: reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    init?(
        listeners: Int, environment: (String) -> String? = { getenv($0).map { String(cString: $0) } },
        process: Int32 = getpid(), logger: Logger
    ) {
        guard let name = environment("NOTIFY_SOCKET"), !name.isEmpty else { return nil }
        guard let socket = SystemdSocket(name) else {
            logger.warning("systemd cannot be notified", metadata: ["socket": "\(name)"])
            return nil
        }
        self.socket = socket
        self.logger = logger
        interval = Self.interval(environment, process: process)
        state = Mutex(SystemdState(listeners: listeners))
    }

    /// How often a sign of life is due: twice in the time that systemd waits; nil when it waits for none of this process.
    static func interval(_ environment: (String) -> String?, process: Int32) -> Duration? {
        guard let time = environment("WATCHDOG_USEC").flatMap({ UInt64($0) }), time > 0 else { return nil }
        if let owner = environment("WATCHDOG_PID"), Int32(owner) != process { return nil }
        return .microseconds(Int64(min(max(time / 2, 10_000), 86_400_000_000)))
    }

    /// Sends what an event leads to.
    func report(_ event: SystemdState.Event) async {
        guard let message = state.withLock({ $0.take(event) }) else { return }
        if await !socket.send(message) {
            let line = message.split(onASCII: "\n").first.map(String.init) ?? message
            logger.warning("systemd could not be notified", metadata: ["message": "\(line)"])
        }
    }

    /// Says that a reload begins.
    func reportReload() async {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let seconds = UInt64(clamping: time.tv_sec)
        await report(.reloading(at: seconds &* 1_000_000 &+ UInt64(clamping: time.tv_nsec) / 1000))
    }

    /// Gives signs of life until the server ends.
    func run() async {
        if let interval {
            // From the pool of threads that requests are answered on: one that is stuck gives none.
            try? await cancelWhenGracefulShutdown { [socket] in
                while true {
                    try await Task.sleep(for: interval)
                    _ = await socket.send(SystemdState.alive)
                }
            }
        } else {
            try? await gracefulShutdown()
        }
        await report(.stopping)
    }
}
