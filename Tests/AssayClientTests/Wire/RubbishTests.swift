import Testing

@testable import AssayClient

@Suite("Damaged input")
struct RubbishTests {
    private static let samples = [
        #"{"token":"\#(FakeToken.text(number: 1))","ttl":"3600s"}"#,
        #"{"jwt":"a.b.c","creationTimestamp":1795262400000,"expirationTimestamp":"1795266000000","expires_in":3600}"#,
        #"{"error":{"code":403,"message":"No.","status":"PERMISSION_DENIED","details":[{"@type":"x","requestId":"y"}]}}"#,
        #"{"version":1,"boot":"b","token":"a.b.c","requested":0,"expires":3600000000000}"#,
        #"{"version":1,"key":"abc=","artifact":"AQID"}"#, "[[{\"\\ud83d\\ude00\":[-1.5e+3,null,true]}]]",
    ]
    private static let now = Moment(uptime: .seconds(1000))

    /// Changes some bytes, cuts some out, and repeats some.
    private static func damaged(_ bytes: [UInt8], _ random: inout SplitMix) -> [UInt8] {
        var bytes = bytes
        for _ in 0...random.below(4) where !bytes.isEmpty {
            let place = random.below(bytes.count)
            switch random.below(5) {
            case 0: bytes[place] ^= 1 << UInt8(random.below(8))
            case 1: bytes[place] = UInt8(truncatingIfNeeded: random.next())
            case 2: bytes.removeSubrange(place..<min(place + random.below(20), bytes.count))
            case 3: bytes.insert(contentsOf: bytes[place...].prefix(random.below(20)), at: place)
            default: bytes[place] = Array("\"\\{}[]:,0-.eE=".utf8)[random.below(14)]
            }
        }
        return bytes
    }

    @Test("nothing that is read ends the program, and what is accepted keeps its bounds", arguments: samples)
    func survives(sample: String) throws {
        var random = SplitMix(state: UInt64(sample.utf8.count))
        let app = try #require(AppName(FakeToken.app))
        for _ in 0..<4000 {
            let bytes = Self.damaged(Array(sample.utf8), &random)
            let text = String(decoding: bytes, as: UTF8.self)
            if let value = JSONValue.read(bytes) {
                let reply = ServiceReply(method: "m", start: Self.now, value: value)
                if let token = try? reply.token() { #expect(token.lifetime > .zero) }
                _ = AppCheckError(ClientResponse(status: 400, body: bytes), of: "m", for: "a")
            }
            if let token = StoredToken.decode(bytes, boot: "b", at: Self.now) {
                #expect(token.expires > Self.now && token.lifetime <= .minutes(7 * 24 * 60))
            }
            if let key = AttestedKey(bytes) { #expect((1...256).contains(key.identifier.utf8.count)) }
            let fleet = try? FleetEngineReply.read(
                ClientResponse(status: 200, body: bytes), start: Self.now, unixMilliseconds: 1_795_262_400_000)
            if let fleet { #expect(fleet.lifetime >= .minutes(5) && fleet.lifetime <= .minutes(24 * 60)) }
            _ = try? TokenClaims.lifetime(of: text, for: app)
            _ = Base64Text.decode(bytes)
            _ = ServiceReply.duration(text)
            _ = HTTPDateText.seconds(text)
            if let address = ServerAddress("https://a.example.com/" + text) {
                #expect(address.host == "a.example.com" && address.isSecure)
                _ = address.redirected(to: text)
            }
            _ = AppName(text)
        }
    }

    @Test("a damaged address leads to no other machine without TLS")
    func addresses() {
        var random = SplitMix(state: 7)
        for _ in 0..<20_000 {
            let bytes = Self.damaged(Array("http://127.0.0.1:8080/a/b?c=d".utf8), &random)
            guard let address = ServerAddress(String(decoding: bytes, as: UTF8.self)) else { continue }
            #expect(address.isSecure || address.isLoopback)
            #expect(address.text.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        }
    }
}
