import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting
import Testing

@testable import AssayFleetEngine

/// The life that is asked for, and how long after now and after `iat` the token expires.
private let lives: [(Duration, Int64, Int64)] = [
    (.seconds(3600), 3540, 3600), (.seconds(3599), 3540, 3600), (.seconds(3540), 3540, 3600),
    (.seconds(1800), 1800, 1860), (.seconds(600), 600, 660),
    // What nobody can configure.
    (.seconds(7200), 3540, 3600), (.seconds(1), 600, 660), (.seconds(-1), 600, 660),
]

/// Claims that Google's library, which keeps tokens by their type alone, takes for each other.
private let collisions: [((FleetEngineRole, FleetEngineEntity), (FleetEngineRole, FleetEngineEntity))] = [
    ((.custom, .vehicle), (.custom, .trip)), ((.deliveryConsumer, .task), (.deliveryConsumer, .tracking)),
    ((.trustedDeliveryDriver, .deliveryVehicle), (.trustedDeliveryDriver, .task)),
    ((.driver, .vehicle), (.custom, .vehicle)), ((.consumer, .trip), (.custom, .trip)),
]

@Suite("Minting for Fleet Engine")
struct FleetEngineMinterTests {
    private let clock = ManualClock()

    @Test("A token has all that Fleet Engine demands, and nothing more", arguments: lives)
    func wire(_ lifetime: Duration, _ afterNow: Int64, _ afterIssue: Int64) throws {
        let file = try TestAccounts.standard.get()
        clock.advance(by: .milliseconds(999))
        let now = clock.now
        let token = try FleetEngineMinter(lifetime: lifetime).token(claims(), by: file.account(), at: now)
        let (header, claims) = try file.verified(token.text)
        #expect(header.algorithm == .rs256)
        #expect(header.type == "JWT")
        #expect(header.keyID == file.keyID)
        #expect(
            claims.members?.map(\.name) == ["iss", "sub", "aud", "iat", "exp", "authorization"])
        #expect(claims["iss"] == .string(file.email))
        #expect(claims["sub"] == .string(file.email))
        #expect(claims["aud"] == "https://fleetengine.googleapis.com/")
        #expect(claims["iat"] == .integer(now.seconds - 60))
        #expect(claims["exp"] == .integer(now.seconds + afterNow))
        #expect(claims["exp"]?.integer == (claims["iat"]?.integer).map { $0 + afterIssue })
        #expect(claims["authorization"] == ["vehicleid": "v"])
        #expect(token.created.milliseconds == now.seconds * 1000)
        #expect(token.expires == Instant(seconds: now.seconds + afterNow))
    }

    @Test("The header is that of the key, and no other member is in it")
    func header() throws {
        let token = try FleetEngineMinter().token(claims(), by: TestAccounts.standard.get().account(), at: clock.now)
        let text = try #require(token.text.split(separator: ".").first)
        let header = try JSON.parse(try #require(Base64.decode(String(text))))
        #expect(Set(header.members?.map(\.name) ?? []) == ["alg", "typ", "kid"])
    }

    @Test("Another audience is one text as well")
    func audience() throws {
        let file = try TestAccounts.standard.get()
        let minter = FleetEngineMinter(audience: #"https://fleet.example.com/"quoted""#)
        let token = try minter.token(claims(), by: file.account(), at: clock.now)
        #expect(try file.verified(token.text).claims["aud"] == .string(#"https://fleet.example.com/"quoted""#))
    }

    @Test(
        "A token is given out again while it has more than half of its life", arguments: [600, 1800, 3600] as [Int64])
    func reuse(_ lifetime: Int64) throws {
        let minter = FleetEngineMinter(lifetime: .seconds(lifetime))
        let account = try TestAccounts.standard.get().account()
        let first = try minter.mint(claims(), by: account, at: clock.now)
        #expect(!first.isReused)
        let half = (first.token.expires - clock.now) / 2
        clock.advance(by: half - .milliseconds(1))
        let second = try minter.mint(claims(), by: account, at: clock.now)
        #expect(second.isReused)
        #expect(second.token == first.token)
        #expect(second.token.expires - clock.now > .seconds(300))
        clock.advance(by: .milliseconds(1))
        let third = try minter.mint(claims(), by: account, at: clock.now)
        #expect(!third.isReused)
        #expect(third.token != first.token)
        #expect(try minter.mint(claims(), by: account, at: clock.now).token == third.token)
    }

    @Test("A clock that is set back brings no token from the future")
    func back() throws {
        let minter = FleetEngineMinter()
        let account = try TestAccounts.standard.get().account()
        _ = try minter.token(claims(), by: account, at: clock.now)
        clock.advance(by: .seconds(-600))
        let token = try minter.mint(claims(), by: account, at: clock.now)
        #expect(!token.isReused)
        #expect(token.token.expires - clock.now <= .seconds(3600))
    }

    @Test("Tokens that differ in anything are never taken for each other", arguments: collisions)
    func noCollision(
        _ one: (FleetEngineRole, FleetEngineEntity), _ other: (FleetEngineRole, FleetEngineEntity)
    ) throws {
        let minter = FleetEngineMinter()
        let file = try TestAccounts.standard.get()
        let tokens = try [one, other].map { role, entity in
            try minter.mint(FleetEngineClaims(role, [entity: [.all]]), by: file.account(), at: clock.now)
        }
        #expect(tokens.allSatisfy { !$0.isReused })
        for (token, (_, entity)) in zip(tokens, [one, other]) {
            #expect(try file.verified(token.token.text).claims["authorization"] == .object([.init(entity.claim, "*")]))
        }
    }

    @Test("Wildcards that are added to wildcards make other tokens, too")
    func wider() throws {
        let minter = FleetEngineMinter()
        let account = try TestAccounts.standard.get().account()
        let narrow = try FleetEngineClaims(.trustedDeliveryDriver, [.deliveryVehicle: [.all]])
        let wide = try FleetEngineClaims(.trustedDeliveryDriver, [.deliveryVehicle: [.all], .task: [.all]])
        let first = try minter.token(narrow, by: account, at: clock.now)
        #expect(try !minter.mint(wide, by: account, at: clock.now).isReused)
        #expect(try minter.token(narrow, by: account, at: clock.now) == first)
    }

    @Test("Another account or another key of it signs its own token")
    func signers() throws {
        let minter = FleetEngineMinter()
        let file = try TestAccounts.standard.get()
        let files = [
            file, try TestAccounts.other.get(), try TestAccounts.File(file.email, keyID: "other", key: file.key),
            try TestAccounts.File(file.email, keyID: file.keyID),
        ]
        for file in files {
            let token = try minter.mint(claims(), by: file.account(), at: clock.now)
            #expect(!token.isReused)
            #expect(try file.verified(token.token.text).header.keyID == file.keyID)
        }
    }

    @Test("Many that ask at once get one token, or one of a few, and each of them is good")
    func concurrency() async throws {
        let minter = FleetEngineMinter()
        let file = try TestAccounts.standard.get()
        let account = try file.account()
        let claims = try claims()
        let now = clock.now
        let tokens = try await withThrowingTaskGroup(of: FleetEngineToken.self) { group in
            for _ in 0..<200 { group.addTask { try minter.token(claims, by: account, at: now) } }
            return try await group.reduce(into: Set<FleetEngineToken>()) { $0.insert($1) }
        }
        // RS256 makes one signature of one text: what differs would be times or claims.
        #expect(tokens.count == 1)
        #expect(try minter.mint(claims, by: account, at: now).isReused)
    }

    private func claims() throws -> FleetEngineClaims {
        try FleetEngineClaims(.driver, [.vehicle: [try #require(FleetEngineID("v"))]])
    }
}
