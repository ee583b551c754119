internal import AssayCore
internal import NIOHPACK
internal import NIOHTTP2

/// The reason why a call was ended before a service saw it.
enum CallRefusal: String, CaseIterable {
    /// A header field has characters other than visible ASCII.
    case malformedHead = "malformed_head"
    /// `grpc-timeout` has another form than gRPC gives it, or comes twice.
    case malformedTimeout = "malformed_timeout"
    /// The message, or its declared length, is too large.
    case tooLarge = "too_large"
    /// The call has no message, a part of one, or more than one.
    case notOneMessage = "not_one_message"
    /// The message did not arrive in time.
    case late
    /// The connection, or the process, has no bytes left in its budget.
    case noBytes = "no_bytes"
    /// The connection, or the process, has no room for another call.
    case noStreams = "no_streams"

    /// How the stream is ended: with a reset that says that the call was not begun and may be made again; otherwise
    /// with a gRPC status (`statuscodes.md`) and a reset that asks for no more bytes (RFC 9113, section 8.1).
    var status: (code: Int, message: String)? {
        switch self {
        case .malformedHead: (3, "A header field has characters other than visible ASCII.")
        case .malformedTimeout: (3, "grpc-timeout must be one to eight digits and one of H, M, S, m, u, n.")
        case .tooLarge: (8, "The message is too large.")
        case .notOneMessage: (3, "A call must have exactly one message.")
        case .late: (4, "The message did not arrive in time.")
        case .noBytes, .noStreams: nil
        }
    }

    /// The frames that end the stream.
    var frames: [HTTP2Frame.FramePayload] {
        guard let status else { return [.rstStream(.refusedStream)] }
        return CallRefusal.frames(code: status.code, status.message) + [.rstStream(.noError)]
    }

    /// An answer with nothing but a status.
    static func frames(code: Int, _ message: String) -> [HTTP2Frame.FramePayload] {
        let headers: HPACKHeaders = [
            ":status": "200", "content-type": "application/grpc", "grpc-status": String(code), "grpc-message": message,
        ]
        return [.headers(.init(headers: headers, endStream: true))]
    }
}

/// Counts refused calls.
struct CallMetrics: Sendable {
    private static let refused = Metric.counter(
        "ext_authz_calls_refused_total", "Calls of ext_authz that were ended before they were read, by reason.",
        labels: [.init("reason", CallRefusal.allCases.map(\.rawValue))])

    static let all = [refused]

    private let meter: Meter

    init(_ meter: Meter) {
        self.meter = meter
        for refusal in CallRefusal.allCases { meter.add(0, to: CallMetrics.refused, refusal.rawValue) }
    }

    func refused(_ refusal: CallRefusal) {
        meter.add(to: CallMetrics.refused, refusal.rawValue)
    }
}
