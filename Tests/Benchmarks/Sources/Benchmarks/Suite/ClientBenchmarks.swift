internal import AssayClient
internal import AssayCore

/// What an app pays for a token that it has already.
enum ClientBenchmarks {
    static let all = [Benchmark(names: ["client.token.cached"], run: cached)]

    private struct Unused: ClientTransport {
        func send(_ request: ClientRequest) async throws -> ClientResponse {
            throw BenchmarkFailure("a cached token needs no request")
        }
    }

    private static func cached(for time: Duration) async throws -> [ReportLine] {
        let claims: JSON = ["sub": "1:1234567890:ios:321abc456def7890", "aud": ["projects/1234567890"]]
        let token = [Array("{}".utf8), claims.encoded, [UInt8](repeating: 1, count: 256)].map { Base64.encodeURL($0) }
            .joined(separator: ".")
        let appCheck = try AppCheck(
            app: "projects/1234567890/apps/1:1234567890:ios:321abc456def7890", endpoint: "https://assay.example.com",
            provider: CustomProvider { _ in IssuedToken(text: token, lifetime: .minutes(7 * 24 * 60)) },
            options: AppCheckOptions(transport: Unused(), storage: MemoryStorage()))
        let operation = Operation(waiting: { _ = try await appCheck.token() })
        let rates = try await Interleaved.rates([operation], for: time)
        return [
            ReportLine(
                "client.token.cached", rate: rates[0],
                more: [
                    ("nanoseconds", 1_000_000_000 / rates[0]), ("needed_nanoseconds", 200),
                    ("allocations", try await AllocationBenchmarks.count(operation)),
                ])
        ]
    }
}
