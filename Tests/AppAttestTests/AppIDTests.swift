import AssayAppAttest
import AssayApple
import AssayCore
import Testing

struct AppIDTests {
    @Test(
        "An App ID is a team and a bundle",
        arguments: [
            "ABCDE12345.com.example.app", "0123456789.a", "ABCDE12345.com.example.My-App_2",
        ])
    func accepts(_ text: String) throws {
        #expect(try AppAttestAppID(text).text == text)
    }

    @Test(
        "Anything that is not ten capitals and digits, a dot and plain letters is refused",
        arguments: [
            ("", AppAttestAppID.Fault.prefixInvalid),
            ("ABCDE1234.com.example", .prefixInvalid),
            ("ABCDE123456.com.example", .prefixInvalid),
            ("abcde12345.com.example", .prefixInvalid),
            ("ABCDE1234\u{FF15}.com.example", .prefixInvalid),
            (" BCDE12345.com.example", .prefixInvalid),
            ("ABCDE12345", .bundleEmpty),
            ("ABCDE12345.", .bundleEmpty),
            ("ABCDE12345.com.example\u{0}", .bundleInvalid),
            ("ABCDE12345.com.example\u{0}.evil", .bundleInvalid),
            ("ABCDE12345.com.ex\u{0430}mple", .bundleInvalid),
            ("ABCDE12345.com.example\u{301}", .bundleInvalid),
            ("ABCDE12345.com example", .bundleInvalid),
            ("ABCDE12345.com.example\n", .bundleInvalid),
            ("ABCDE12345.com.example/*", .bundleInvalid),
            ("ABCDE12345." + String(repeating: "a", count: 156), .bundleTooLong),
        ])
    func refuses(_ text: String, _ fault: AppAttestAppID.Fault) {
        #expect(throws: fault) { try AppAttestAppID(text) }
    }

    @Test func readsThePolicysIdentity() throws {
        let identity = AppleIdentity(teamID: "ABCDE12345", bundleID: "com.example.app")
        #expect(try AppAttestAppID(identity) == AppAttestAppID(identity.appID))
        #expect(throws: AppAttestAppID.Fault.bundleEmpty) {
            try AppAttestAppID(AppleIdentity(teamID: "ABCDE12345", bundleID: ""))
        }
    }

    @Test("Begins with the App ID prefix where that is not the team")
    func prefix() throws {
        let identity = AppleIdentity(teamID: "ABCDE12345", appIDPrefix: "FGHIJ67890", bundleID: "com.example.app")
        #expect(try AppAttestAppID(identity) == AppAttestAppID("FGHIJ67890.com.example.app"))
    }
}
