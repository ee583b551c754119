import Testing

@testable import new_plugin

@Suite("Names of new plugins")
struct PluginNameTests {
    @Test(
        "A name has four forms",
        arguments: [
            ("door_lock", ["DoorLock", "doorLock", "door-lock"]), ("till", ["Till", "till", "till"]),
            ("gate_2_east", ["Gate2East", "gate2East", "gate-2-east"]), ("x509", ["X509", "x509", "x509"]),
        ])
    func forms(_ text: String, _ forms: [String]) throws {
        let name = try PluginName(text)
        #expect([name.upperCamel, name.lowerCamel, name.hyphenated] == forms)
        #expect(name.snake == text)
    }

    @Test(
        "Anything but words of lower-case letters and digits is refused, with an example of a name",
        arguments: [
            "", "_", "a_", "_a", "a__b", "1a", "Till", "a-b", "a.b", "a b", " a", "a\n", "a\0b", "../a", "a/b", "/",
            "\\", "é",
            "e\u{301}", "а", "ｔill", "🔑", "a\u{200d}b", "$(a)", "\"", "a;b",
        ])
    func malformed(_ text: String) {
        let refusal = #expect(throws: Refusal.self) { try PluginName(text) }
        #expect(refusal?.description.contains("door_lock") == true)
        // What is shown of it does not change what else is on the screen.
        #expect(refusal?.description.utf8.allSatisfy { $0 >= 0x20 } == true)
    }

    @Test("A name has 40 bytes at most")
    func length() throws {
        _ = try PluginName(String(repeating: "a", count: 40))
        let refusal = #expect(throws: Refusal.self) { try PluginName(String(repeating: "a", count: 41)) }
        #expect(refusal?.description == "the name has 41 bytes: 40 at most")
    }

    @Test(
        "A name that is taken is refused, and the message says by what",
        arguments: [
            ("app_attest", "comes with Assay"), ("sqlite", "comes with Assay"), ("memory", "comes with Assay"),
            ("rediss", "comes with Assay"),
            ("assay_kit", "modules of Assay begin"), ("assayer", "modules of Assay begin"),
            ("class", "keyword of Swift"),
            ("self", "keyword of Swift"), ("foundation", "a module"), ("x_c_test", "a module"), ("logging", "a module"),
            ("package_plugin", "a module"), ("swift", "a module"), ("type", "a word of Swift"),
        ])
    func taken(_ text: String, _ message: String) {
        let refusal = #expect(throws: Refusal.self) { try PluginName(text) }
        #expect(refusal?.description.contains(message) == true)
    }

    @Test("The names of Assay's own plugins and stores are all taken")
    func own() {
        for name in [
            "android_key", "app_attest", "custom_token", "debug", "device_check", "custom_backend", "fleet_engine",
            "oauth_client", "play_integrity", "turnstile", "hcaptcha", "recaptcha_v3", "recaptcha_enterprise",
        ] {
            #expect(throws: Refusal.self) { try PluginName(name) }
        }
    }
}
