internal import AssayCore
internal import AssayCrypto
internal import AssayFleetEngine
internal import AssayKit
internal import Synchronization

/// Tokens for Google's Fleet Engine, signed with an RSA key of 2048 bits.
enum FleetEngineBenchmarks {
    static let all = [Benchmark(names: ["fleet_engine.mint", "fleet_engine.reuse"], run: mint)]

    /// A token for another vehicle each time, from the ID's text on, with the place where it is kept; and one again that
    /// is there already.
    private static func mint(for time: Duration) async throws -> [ReportLine] {
        let account = try account()
        let (minting, reusing) = (FleetEngineMinter(), FleetEngineMinter())
        let numbers = Numbers()
        let mint = Operation {
            _ = try minting.token(claims("vehicle-\(numbers.next())"), by: account, at: HostClock.system.now)
        }
        let reuse = Operation {
            _ = try reusing.token(claims("vehicle"), by: account, at: HostClock.system.now)
        }
        let rates = try await Interleaved.rates([mint, reuse, try BareCall.rsaSigning().operation], for: time)
        return [
            ReportLine("fleet_engine.mint", rate: rates[0], limit: rates[2], needed: 0.9),
            ReportLine("fleet_engine.reuse", rate: rates[1], limit: rates[2]),
        ]
    }

    private static func claims(_ vehicle: String) throws -> FleetEngineClaims {
        guard let id = FleetEngineID(vehicle) else { throw BenchmarkFailure("the ID is refused") }
        return try FleetEngineClaims(.driver, [.vehicle: [id]])
    }

    private static func account() throws -> FleetEngineAccount {
        let pem = try PrivateKey.generate(.rsa(bits: 2048)).pem().withUnsafeBytes {
            String(decoding: $0, as: UTF8.self)
        }
        let file: JSON = [
            "type": "service_account", "client_email": "driver@example-project.iam.gserviceaccount.com",
            "private_key_id": "0123456789abcdef0123456789abcdef01234567", "private_key": .string(pem),
        ]
        return try FleetEngineAccount(keyFile: file.encoded)
    }
}

/// Numbers that never come twice.
private final class Numbers: Sendable {
    private let last = Atomic(0)

    func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}
