import Testing

@testable import AssayClient

@Suite("Replies with Fleet Engine's tokens")
struct FleetEngineReplyTests {
    /// 2026-11-21T12:00:00Z.
    private static let now: Int64 = 1_795_262_400
    private static let start = Moment(uptime: .seconds(1000))

    private func read(_ body: String, date: Bool = false, wall: Int64 = now * 1000) throws(AppCheckError)
        -> AppCheckToken
    {
        let headers = date ? [ClientHeader("Date", "Sat, 21 Nov 2026 12:00:00 GMT")] : []
        return try FleetEngineReply.read(
            ClientResponse(status: 200, headers: headers, body: Array(body.utf8)), start: Self.start,
            unixMilliseconds: wall)
    }

    @Test(
        "both families of replies are read, and numbers in the wrong unit or as text",
        arguments: [
            // What Assay sends.
            (#"{"jwt":"a.b.c","token":"a.b.c","expirationTimestamp":1795266000000,"expires_in":1800}"#, 1800),
            // Trips, and tasks.
            (#"{"jwt":"a.b.c","creationTimestamp":1795262400000,"expirationTimestamp":1795266000000}"#, 3600),
            (#"{"token":"a.b.c","creation_timestamp_ms":1795262400000,"expiration_timestamp_ms":1795264200000}"#, 1800),
            // A cached one: what is left counts, not what it had.
            (#"{"jwt":"a.b.c","creationTimestamp":1795260600000,"expirationTimestamp":1795264200000}"#, 1800),
            // Seconds for milliseconds and the reverse, text for numbers.
            (#"{"jwt":"a.b.c","expirationTimestamp":1795266000}"#, 3600),
            (#"{"jwt":"a.b.c","expirationTimestamp":"1795266000000"}"#, 3600),
            (#"{"jwt":"a.b.c","expires_in":3600000}"#, 3600), (#"{"jwt":"a.b.c","expires_in":"3600"}"#, 3600),
            (#"{"jwt":"a.b.c","expires_in":3600.0}"#, 3600), (#"{"access_token":"a.b.c","expiresInSeconds":600}"#, 600),
            // A day is the longest.
            (#"{"jwt":"a.b.c","expirationTimestamp":1895266000000}"#, 86_400),
        ])
    func reads(body: String, seconds: Int64) throws {
        for date in [true, false] {
            let token = try read(body, date: date)
            #expect(token.expires - Self.start == .seconds(seconds))
            #expect(token.text == "a.b.c")
        }
    }

    @Test("the server's date counts, and not a wrong clock of the device", arguments: [0, now * 2000, now * 1000])
    func wrongClock(wall: Int64) throws {
        let body = #"{"jwt":"a.b.c","expirationTimestamp":1795266000000}"#
        #expect(try read(body, date: true, wall: wall).expires - Self.start == .minutes(60))
    }

    @Test("a JWT's own claims bound its lifetime")
    func claims() throws {
        let token = FakeToken.text(number: 1, lifetime: 900)
        #expect(try read("{\"jwt\":\"\(token)\",\"expires_in\":3600}").expires - Self.start == .seconds(900))
    }

    @Test(
        "other replies are refused with words",
        arguments: [
            ("", "no JSON"), ("[]", "no JSON"), (#"{"expires_in":3600}"#, "no token"),
            (#"{"jwt":"a b","expires_in":3600}"#, "no token"), (#"{"jwt":7,"expires_in":3600}"#, "no token"),
            (#"{"jwt":"a.b.c"}"#, "does not say when"), (#"{"jwt":"a.b.c","expires_in":0}"#, "neither seconds"),
            (#"{"jwt":"a.b.c","expires_in":-1}"#, "neither seconds"),
            (#"{"jwt":"a.b.c","expires_in":100000}"#, "neither seconds"),
            (#"{"jwt":"a.b.c","expires_in":99999999999}"#, "neither seconds"),
            (#"{"jwt":"a.b.c","expires_in":"soon"}"#, "no number"),
            (#"{"jwt":"a.b.c","expires_in":true}"#, "no number"),
            (#"{"jwt":"a.b.c","expires_in":1.5}"#, "no number"), (#"{"jwt":"a.b.c","expires_in":1e300}"#, "no number"),
            (#"{"jwt":"a.b.c","expires_in":200}"#, "5 minutes"),
            (#"{"jwt":"a.b.c","expirationTimestamp":"2026-11-21T13:00:00Z"}"#, "no time since 1970"),
            (#"{"jwt":"a.b.c","expirationTimestamp":3600}"#, "no time since 1970"),
            (#"{"jwt":"a.b.c","expirationTimestamp":1795262300000}"#, "has ended"),
        ])
    func refuses(body: String, words: String) {
        do {
            _ = try read(body)
            Issue.record("accepted")
        } catch {
            #expect(error.code == .malformedReply)
            #expect(error.message.contains(words), "\(error.message)")
        }
    }
}
