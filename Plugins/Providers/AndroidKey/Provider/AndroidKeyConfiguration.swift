internal import AssayAndroid
public import AssayCore
internal import AssayCrypto
internal import AssayKit

/// The section `android_key` of a policy.
///
/// Every key may be omitted; the defaults are what a phone with its maker's system fulfils, whatever its age.
public struct AndroidKeyConfiguration: Decodable, Sendable {
    /// In which hardware the key must be.
    public enum Level: String, Decodable, Sendable, CaseIterable {
        /// In a trusted execution environment, or in a chip of its own.
        case tee
        /// In a chip of its own.
        case strongbox
    }

    /// Whose system the device may have booted.
    public enum Boot: String, Decodable, Sendable, CaseIterable {
        /// Its maker's.
        case verified
        /// Its maker's, or one with a key that `boot_keys` lists.
        case selfSigned = "self_signed"
    }

    /// How the device must have got its certificate.
    public enum Provisioning: String, Decodable, Sendable, CaseIterable {
        case any
        /// From Google's servers, for itself alone.
        case remote
    }

    /// Whether the key may be used without a user who has unlocked the device.
    public enum UserAuthentication: String, Decodable, Sendable, CaseIterable {
        case any
        /// It may not.
        case required
    }

    /// In which hardware the key must be; `tee` when absent.
    public let securityLevel: Level?
    /// Whose system the device may have booted; `verified` when absent.
    public let verifiedBoot: Boot?
    /// The keys of other systems, by the names of these.
    public let bootKeys: [ExactText: [BootKey]]?
    /// How old the last security updates may be; any age when absent.
    public let patchAge: PatchAges?
    /// The oldest version of Android; any when absent.
    public let minimumSystem: AndroidVersion?
    /// The least version code of the app; any when absent.
    public let minimumVersionCode: Int?
    /// How the device must have got its certificate; `any` when absent.
    public let provisioning: Provisioning?
    /// Whether the user must have unlocked the device for the key; `any` when absent.
    public let userAuthentication: UserAuthentication?
    /// Whether a key that was deleted must not come back; not demanded when absent.
    public let rollbackResistance: Bool?
    /// Certificates in PEM to trust instead of Google's roots: for devices of other authorities, and for simulated ones.
    public let roots: String?
    /// Which certificates are not trusted any more.
    public let revocation: RevocationConfiguration?
    /// Whether tokens name the attested key; false when absent.
    public let keyInTokens: Bool?

    enum CodingKeys: String, CodingKey {
        case securityLevel = "security_level"
        case verifiedBoot = "verified_boot"
        case bootKeys = "boot_keys"
        case patchAge = "patch_age"
        case minimumSystem = "min_os"
        case minimumVersionCode = "min_version_code"
        case provisioning
        case userAuthentication = "user_authentication"
        case rollbackResistance = "rollback_resistance"
        case roots, revocation
        case keyInTokens = "key_in_tokens"
    }
}

extension AndroidKeyConfiguration {
    /// A section without a key.
    init() {
        (securityLevel, verifiedBoot, bootKeys, patchAge, minimumSystem) = (nil, nil, nil, nil, nil)
        (minimumVersionCode, provisioning, userAuthentication, rollbackResistance) = (nil, nil, nil, nil)
        (roots, revocation, keyInTokens) = (nil, nil, nil)
    }
}

extension AndroidKeyConfiguration: DescribedConfiguration {
    /// The keys of the section, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "security_level": PolicyKey(
            "In which hardware the key must be: a trusted execution environment or better (`tee`), or a chip of its own (`strongbox`).",
            standard: "tee"),
        "verified_boot": PolicyKey(
            "Whose system the device may have booted: its maker's (`verified`), or also those of `boot_keys` (`self_signed`).",
            standard: "verified"),
        "boot_keys": PolicyKey(
            "The SHA-256 of the keys that other systems are signed by, by the names of the systems: what they publish for verified boot.",
            examples: [["example_os": ["508d75dea10c5cbc3e7632260fc0b59f6055a8a49dd84e693b6d8899edbb01e4"]]]),
        "patch_age": "How old the last security updates may be; any age when absent.",
        "min_os": PolicyKey("The oldest version of Android; any when absent.", examples: ["13"]),
        "min_version_code": PolicyKey(
            "The least version code of the app, as the system states it; any when absent.", .range(0...2_147_483_647),
            examples: [42]),
        "provisioning": PolicyKey(
            """
            How the device must have got its certificate: in any way, or from Google's servers for itself alone (`remote`), which excludes \
            keys that have leaked from factories, and most devices before Android 12.
            """, standard: "any"),
        "user_authentication": PolicyKey(
            "Whether the key may be used without a user who has unlocked the device (`any`), or not (`required`).",
            standard: "any"),
        "rollback_resistance": PolicyKey(
            "Whether a key that was deleted must not be able to come back.", standard: false),
        "roots": PolicyKey(
            "Certificates in PEM to trust instead of Google's roots: for devices of other authorities, and for simulated ones.",
            development: .anyValue),
        "revocation": "Which certificates of devices are not trusted any more: by Google's list when absent.",
        "key_in_tokens": PolicyKey(
            "Whether tokens name the attested key (claim `cnf`), so that apps can prove single requests by it.",
            standard: false),
    ]
}

/// How old the last security updates may be, for each part of a device.
public struct PatchAges: Decodable, Sendable {
    /// That of Android.
    public let system: Duration?
    /// That of the vendor's part.
    public let vendor: Duration?
    /// That of the boot loader.
    public let boot: Duration?

    static let ages: ClosedRange<Duration> = .seconds(86_400) ... .seconds(20 * 366 * 86_400)
}

extension PatchAges: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "system": PolicyKey(
            "The age of Android's last security update; any when absent.", .durations(ages), examples: ["365d"]),
        "vendor": PolicyKey(
            "The age of the vendor's last security update; any when absent. Some makers do not state it.",
            .durations(ages), examples: ["365d"]),
        "boot": PolicyKey(
            "The age of the boot loader's last security update; any when absent.", .durations(ages), examples: ["365d"]),
    ]
}

/// A version of Android: `13`, `8.1`.
public struct AndroidVersion: WrittenAsText, Sendable, Hashable {
    /// The form of a version in policies.
    public static let textForm = TextForm(
        "A version of Android.", pattern: "^[0-9]{1,3}(\\.[0-9]{1,2}){0,2}$", examples: ["13"])

    /// As devices state it: `130000`.
    let number: Int

    /// Reads a text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let parts = try container.decode(String.self).split(onASCII: ".")
        let numbers = parts.compactMap { part in part.utf8.allSatisfy(\.isASCIIDigit) ? Int(part) : nil }
        guard (1...3).contains(parts.count), numbers.count == parts.count, parts[0].utf8.count <= 3,
            parts.dropFirst().allSatisfy({ $0.utf8.count <= 2 })
        else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected a version of Android, in quotes, such as \"13\"")
        }
        number = numbers[0] * 10_000 + (numbers.count > 1 ? numbers[1] * 100 : 0) + (numbers.count > 2 ? numbers[2] : 0)
    }

    /// A number as devices state it, in digits and dots: `13.0.0`.
    static func text(of number: Int) -> String {
        "\(number / 10_000).\(number / 100 % 100).\(number % 100)"
    }
}

/// SHA-256 of a key that a system is signed by, in hexadecimal.
public struct BootKey: WrittenAsText, Sendable, Hashable {
    /// The form of a key in policies.
    public static let textForm = TextForm(
        "A SHA-256 in hexadecimal, with or without colons.", pattern: "^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$",
        examples: ["508d75dea10c5cbc3e7632260fc0b59f6055a8a49dd84e693b6d8899edbb01e4"])

    let bytes: [UInt8]

    /// Reads a text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let bytes = SHA256Digest.bytes(of: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected the 64 hexadecimal digits of a SHA-256, with or without colons")
        }
        self.bytes = bytes
    }
}

extension AndroidKeyConfiguration {
    func verifier() throws(ConfigurationError) -> AndroidKeyVerifier {
        guard let roots else {
            do throws(CertificateError) {
                return try AndroidKeyVerifiers.google.get()
            } catch {
                throw ConfigurationError("Google's roots cannot be used: \(error)")
            }
        }
        var anchors: [TrustAnchor] = []
        do throws(CertificateError) {
            for der in try PEM.blocks("CERTIFICATE", in: Array(roots.utf8)) {
                anchors.append(try TrustAnchor(der: der))
            }
        } catch {
            throw ConfigurationError(at: ["roots"], "not certificates that can be trusted: \(error)")
        }
        guard !anchors.isEmpty else {
            throw ConfigurationError(
                at: ["roots"],
                "expected certificates in PEM, from BEGIN CERTIFICATE to END CERTIFICATE: their text, not the name of a file"
            )
        }
        return AndroidKeyVerifier(roots: anchors)
    }

    /// Where the list of revoked certificates is.
    func source() throws(ConfigurationError) -> RevocationWatch.Source {
        if let source = revocation?.list?.source { return source }
        guard let url = EndpointURL(RevocationConfiguration.google) else {
            throw ConfigurationError(at: ["revocation"], "expected a URL")
        }
        return .url(url)
    }
}

/// The verifier under Google's roots: all apps share it, with its cache.
private enum AndroidKeyVerifiers {
    static let google = Result { () throws(CertificateError) in try AndroidKeyVerifier() }
}
