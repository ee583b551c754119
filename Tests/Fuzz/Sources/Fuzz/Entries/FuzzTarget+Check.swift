@_spi(Fuzzing) internal import AssayExtAuthz

extension FuzzTarget {
    /// Accepted is a request that may pass.
    func judgeCheck(_ input: [UInt8]) async throws -> FuzzVerdict {
        guard let judgement = try await FuzzKernel.shared.envoy.judge(input) else { return .refused("message") }
        for header in judgement.headers {
            try BrokenPromise.unless(
                !header.name.isEmpty && header.name.allSatisfy { (0x21...0x7E).contains($0) }
                    && !header.name.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) },
                "a header that is set has a name in lower case")
            try BrokenPromise.unless(
                header.value.count <= 16_384 && header.value.allSatisfy { (0x20...0x7E).contains($0) },
                "a header that is set has a value on one line")
        }
        for name in judgement.removed {
            try BrokenPromise.unless(
                !name.isEmpty && name.allSatisfy { (0x21...0x7E).contains($0) }, "a header that is taken out has a name"
            )
        }
        guard judgement.code == 0 else {
            try BrokenPromise.unless(
                [401, 403, 503].contains(judgement.status ?? 0), "a denial has a status that clients know")
            try BrokenPromise.unless(judgement.removed.isEmpty, "a denial changes no request")
            return .refused("\(judgement.status ?? 0)")
        }
        try BrokenPromise.unless(judgement.status == nil, "what may pass is no denial")
        let touched = judgement.removed + judgement.headers.map(\.name)
        for name in ["x-firebase-appcheck", "x-appcheck-app-id", "x-appcheck-jti", "x-appcheck-provider"] {
            try BrokenPromise.unless(
                touched.contains(Array(name.utf8)), "a backend gets no \(name) that its client wrote")
        }
        return .accepted
    }
}
