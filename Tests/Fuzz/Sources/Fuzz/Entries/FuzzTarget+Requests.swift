@_spi(Fuzzing) internal import AssayHTTPServer
internal import AssayCore
internal import AssayEngine
internal import AssayKit

extension FuzzTarget {
    /// Accepted is what reaches the kernel, with the parameters that a plain reading of the form finds.
    func judgeForm(_ input: [UInt8]) async throws -> FuzzVerdict {
        let head = """
            POST /form HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n\
            Content-Length: \(input.count)\r\n\r\n
            """
        let outcome = try await FuzzServer.outcome(.http1, Array(head.utf8) + input)
        try BrokenPromise.unless(outcome.statuses.count == 1, "a request has one response")
        let expected = FormReading(input)
        guard let call = outcome.calls.first else {
            try BrokenPromise.unless(outcome.statuses != ["200"], "what succeeds was asked")
            try BrokenPromise.unless(
                expected == nil || input.count > HTTPLimits().bodyBytes, "a form that is in order reaches the kernel")
            return .refused(outcome.statuses[0])
        }
        guard let expected else { throw BrokenPromise("not so: a form that is not in order is refused") }
        let found = (call.body.members ?? []).flatMap { member -> [FormReading.Parameter] in
            let values = member.value.array ?? [member.value]
            return values.map { FormReading.Parameter(Array(member.name.utf8), Array(($0.string ?? "").utf8)) }
        }
        try BrokenPromise.unless(
            found.sorted() == expected.parameters.sorted(), "the kernel gets each parameter, byte by byte")
        let names = (call.body.members ?? []).map { Array($0.name.utf8) }
        try BrokenPromise.unless(Set(names).count == names.count, "a name is there once, with all its values")
        return .accepted
    }

    /// Accepted is a connection with a request that reached the kernel.
    func judgeHTTP2(_ input: [UInt8]) async throws -> FuzzVerdict {
        let outcome = try await FuzzServer.outcome(.http2, input)
        let frames = try FrameReading(outcome.output)
        // Each takes a frame of 9 bytes at least, and has a head that bears it.
        try BrokenPromise.unless(outcome.calls.count <= input.count / 10, "a request takes some bytes")
        try BrokenPromise.unless(
            outcome.output.count <= 4096 + 512 * (input.count / 9 + 1), "what is sent is in proportion to what came")
        for call in outcome.calls {
            try BrokenPromise.unless(
                call.resource.utf8.count <= HTTPLimits().headerBytes, "a resource is within the limit on heads")
        }
        if !outcome.calls.isEmpty { return .accepted }
        if let code = frames.goodbye, code != 0 { return .refused("goaway_\(code)") }
        return .refused(frames.hasResponse ? "response" : frames.isReset ? "reset" : "incomplete")
    }

    /// Accepted is a path that a backend's request may pass with, though it shows no token: none that the route on `/bank`
    /// protects, however a backend might read it.
    func judgePath(_ input: [UInt8]) async throws -> FuzzVerdict {
        guard !input.isEmpty, input.count <= 8192, input.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            return .refused("bytes")
        }
        let outcome = try await FuzzServer.outcome(
            .http1, Array("GET ".utf8) + input + Array(" HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        try BrokenPromise.unless(outcome.calls.count <= 1, "a request line asks once")
        if let call = outcome.calls.first { try judge(call, of: input) }
        guard let text = String(validating: input, as: UTF8.self) else { return .refused("text") }
        let reply = try await FuzzKernel.shared.engine.handle(
            Call("verifyRequest", body: ["backend": "bank", "method": "GET", "uri": .string(text)]))
        switch reply.result {
        case .failure(let failure): return .refused(failure.reason?.code ?? failure.status.rawValue)
        case .success:
            let reading = PathReading(input)
            try BrokenPromise.unless(reading.isCanonical, "a path that passes is read in one way only")
            try BrokenPromise.unless(!reading.isProtected, "a path that passes is none of those that are protected")
            return .accepted
        }
    }

    /// What a route found in a path stands in it, segment by segment.
    private func judge(_ call: Call, of target: [UInt8]) throws {
        let segments = PathReading(target).segments.map { Array($0) }
        var texts = call.resource.isEmpty ? [] : [Array(call.resource.utf8)]
        if let backend = call.body["backend"]?.string { texts.append(Array(backend.utf8)) }
        for text in texts {
            let parts = call.method == "named" ? [text] : text.split(separator: UInt8(ascii: "/")).map { Array($0) }
            for part in parts {
                try BrokenPromise.unless(
                    !part.isEmpty && part != Array(".".utf8) && part != Array("..".utf8), "a name is no dots")
                try BrokenPromise.unless(
                    segments.contains { $0.starts(with: part) }, "a name is a segment of the path, decoded once")
            }
        }
        if call.method == "exchange" {
            try BrokenPromise.unless(false, "GET does not call a method of POST")
        }
    }
}
