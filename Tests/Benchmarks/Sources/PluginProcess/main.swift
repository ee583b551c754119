import Foundation
import SwiftProtobuf

// A provider in a process of its own that refuses all evidence, and answers as fast as a process can: it reads and writes its socket itself,
// on one thread, and knows of HTTP/2 only what Assay's calls need. What remains of a call is Assay's part and the operating system's.

let description =
    try Assay_Plugin_V1_DescribeResponse.with { description in
        description.kind = .provider
        description.name = "outside"
        description.summary = "Refuses all evidence."
        description.reasons = [
            .with { ($0.code, $0.summary) = ("outside_refused", "It is evidence, which is refused.") }
        ]
        description.methods = [
            .with { method in
                (method.name, method.kind) = ("exchangeOutside", .exchange)
                method.request = [.with { ($0.name, $0.kind, $0.required) = ("evidence", .bytes, true) }]
            }
        ]
    }.serializedBytes() as [UInt8]
let handshake = try Assay_Plugin_V1_HandshakeResponse.with { $0.version = 1 }.serializedBytes() as [UInt8]
let refusal =
    try Assay_Plugin_V1_AppraiseResponse.with { $0.refused.reason = "outside_refused" }.serializedBytes()
    as [UInt8]

/// The answer to a method's request; the request of an appraisal is read as a whole.
func answer(_ method: Method, _ request: ArraySlice<UInt8>) -> [UInt8] {
    switch method {
    case .handshake: return handshake
    case .describe: return description
    case .appraise:
        guard let request = try? Assay_Plugin_V1_AppraiseRequest(serializedBytes: Array(request.dropFirst(5))),
            request.fields.first?.bytes.count == 6144
        else { exit(3) }
        return refusal
    case .shutdown: exit(0)
    case .other: return []
    }
}

enum Method {
    case handshake, describe, appraise, shutdown, other

    /// By a header block, in which Assay writes the path as it is.
    init(_ block: ArraySlice<UInt8>) {
        let text = String(decoding: block, as: UTF8.self)
        let names: [(String, Method)] = [
            ("/Appraise", .appraise), ("/Handshake", .handshake), ("/Describe", .describe), ("/Shutdown", .shutdown),
        ]
        self = names.first { text.contains($0.0) }?.1 ?? .other
    }
}

let head: [UInt8] = [0x88, 0x0F, 0x10, 16] + Array("application/grpc".utf8)
let trailers: [UInt8] = [0, 11] + Array("grpc-status".utf8) + [1] + Array("0".utf8)

func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }

func serve(_ client: CInt) {
    var reader = Frame.Reader()
    var open: [UInt32: (method: Method, body: [UInt8])] = [:]
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var preface = 24
    var consumed = 0
    var output: [UInt8] = []
    // Windows that hold many requests.
    Frame.write(.settings, stream: 0, [0, 4] + number(1 << 20), to: &output)
    Frame.write(.windowUpdate, stream: 0, number(1 << 24), to: &output)
    while true {
        if !output.isEmpty {
            let count = write(client, output, output.count)
            guard count > 0 else { return }
            output.removeFirst(count)
            continue
        }
        let count = read(client, &buffer, buffer.count)
        guard count > 0 else { return }
        let skipped = min(preface, count)
        preface -= skipped
        reader.append(buffer[skipped..<count])
        while let frame = (try? reader.next()) ?? nil {
            switch Frame.Kind(rawValue: frame.type) {
            case .headers: open[frame.stream] = (Method(frame.payload), [])
            case .data:
                consumed += frame.payload.count
                if consumed > 1 << 20 {
                    Frame.write(.windowUpdate, stream: 0, number(consumed), to: &output)
                    consumed = 0
                }
                open[frame.stream]?.body += frame.payload
                guard frame.has(Frame.Flags.endStream), let call = open.removeValue(forKey: frame.stream) else { break }
                let message = answer(call.method, call.body[...])
                Frame.write(.headers, Frame.Flags.endHeaders, stream: frame.stream, head, to: &output)
                Frame.write(.data, stream: frame.stream, [0] + number(message.count) + message, to: &output)
                Frame.write(
                    .headers, Frame.Flags.endHeaders | Frame.Flags.endStream, stream: frame.stream, trailers,
                    to: &output)
            case .settings where !frame.has(Frame.Flags.ack):
                Frame.write(.settings, Frame.Flags.ack, stream: 0, [], to: &output)
            case .ping where !frame.has(Frame.Flags.ack):
                Frame.write(.ping, Frame.Flags.ack, stream: 0, frame.payload, to: &output)
            default: break
            }
        }
    }
}

guard let path = ProcessInfo.processInfo.environment["ASSAY_PLUGIN_SOCKET"] else { exit(2) }
let listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
var address = sockaddr_un()
address.sun_family = sa_family_t(AF_UNIX)
withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
let isListening = withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listening, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(listening, 4) == 0
    }
}
guard isListening else { exit(2) }
while true {
    let client = accept(listening, nil, nil)
    if client >= 0 { serve(client) }
    close(client)
}
