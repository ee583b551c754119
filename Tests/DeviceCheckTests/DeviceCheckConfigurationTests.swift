import AssayCore
import AssayDeviceCheck
import AssayEngine
import AssayKit
import AssayTesting
import Testing

/// The section, and where and what is wrong with it.
private let mistakes: [(String, String)] = [
    ("private_key: \"env:KEY\"", "key_id"), ("key_id: ABC123DEFG", "private_key"),
    ("key_id: abc, private_key: \"env:KEY\"", "ten capital letters and digits"),
    ("key_id: ABC123DEFG, private_key: \"env:KEY\", refuse_when: {}", "expected `bit0` or `bit1`"),
    ("key_id: ABC123DEFG, private_key: \"env:KEY\", refuse_when: {bit2: true}", "bit2"),
    ("key_id: ABC123DEFG, private_key: \"env:KEY\", remember_for: 59s", "1m to 30d"),
    ("key_id: ABC123DEFG, private_key: \"env:KEY\", remember_for: 31d", "1m to 30d"),
    ("key_id: ABC123DEFG, private_key: \"env:KEY\", base_url: \"https://example.com/?a=b\"", "without a query"),
    ("key_id: ABC123DEFG, private_key: \"env:KEY\", environment: sandbox", "production"),
    ("key_id: ABC123DEFG, private_key: \"env:KEY\", authorisation: bare", "did you mean `authorization`"),
]

@Suite("The section device_check")
struct DeviceCheckConfigurationTests {
    @Test("A wrong one is refused in words", arguments: mistakes)
    func wrong(_ section: String, _ expected: String) throws {
        let error = try #require(throws: (any Error).self) { try engine("device_check: {\(section)}") }
        #expect("\(error)".contains(expected), "\(error)")
    }

    @Test("It needs the app's team")
    func team() throws {
        let error = try #require(throws: (any Error).self) {
            try engine("device_check: {key_id: ABC123DEFG, private_key: \"env:KEY\"}", apple: "name: Example")
        }
        #expect("\(error)".contains("`apple` section"), "\(error)")
    }

    @discardableResult
    private func engine(
        _ section: String, apple: String = "apple: {team_id: ABCDE12345, bundle_id: com.example.app}"
    ) throws -> Engine {
        try DeviceCheckScene.engine(
            DeviceCheckScene.policy(section, apple: apple), .provider(DeviceCheckProvider.self),
            team: SimulatedAppleTeam(teamID: "ABCDE12345"), clock: ManualClock())
    }
}
