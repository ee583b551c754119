import AssayCore
import AssayCrypto
import AssayPolicy
import AssayYAML
import Testing

@Suite("Signed bundles of policies")
struct PolicyBundleTests {
    private static let now = Instant(seconds: 1_790_000_000)
    private static let key = Result { try PrivateKey.generate(.ec(.p256)) }
    private static let good = [
        PolicyFile(name: "policies/b.yaml", text: "projects: []\n"),
        PolicyFile(name: "policies/a.YML", text: "# \u{FEFF}é \"\\\u{7F}\r\nversion: 1\n"),
    ]

    private func key() throws -> PrivateKey { try Self.key.get() }

    private func bundle(_ files: [PolicyFile] = good, version: Int64 = 7) throws -> PolicyBundle {
        try PolicyBundle(files, version: version, issued: Self.now, expires: Self.now + .seconds(60))
    }

    /// A payload of any content under a signature that is accepted.
    private func sign(_ payload: [UInt8], type: String = PolicyBundle.type) throws -> [UInt8] {
        let key = try key()
        let signer = try JWSSigner(key: key, keyID: JWK(key.publicKey).thumbprint, algorithm: .es256)
        return Array(try signer.sign(payload: payload, type: type).utf8)
    }

    private func refusal(of bytes: [UInt8], _ keys: [PublicKey]? = nil) throws -> PolicyBundleError? {
        let keys = try keys ?? [key().publicKey]
        do throws(PolicyBundleError) {
            _ = try PolicyBundle.open(bytes, trusting: keys)
            return nil
        } catch {
            return error
        }
    }

    @Test("A bundle has the files byte for byte, in the order of their names, and is the same for any order")
    func roundTrip() throws {
        let signed = try bundle().signed(with: key())
        let opened = try PolicyBundle.open(signed + [0x0D, 0x0A], trusting: [key().publicKey])
        #expect(opened.version == 7)
        #expect(opened.issued == Self.now)
        #expect(opened.expires == Self.now + .seconds(60))
        #expect(opened.files.map(\.name) == ["a.YML", "b.yaml"])
        #expect(opened.files.map(\.bytes) == [Self.good[1].bytes, Self.good[0].bytes])
        let other = try bundle(Self.good.reversed()).signed(with: key())
        let payload = { (bytes: [UInt8]) in bytes.split(separator: UInt8(ascii: "."))[1] }
        #expect(payload(signed) == payload(other))
        #expect(opened.digest == (try bundle(version: 8).digest))
        #expect(opened.digest != (try bundle([Self.good[0]]).digest))
    }

    @Test("Keys of each supported kind sign, and any of several trusted keys may have")
    func keys() throws {
        for kind in [KeyKind.ec(.p256), .ec(.p384), .rsa(bits: 2048)] {
            let key = try PrivateKey.generate(kind)
            let signed = try bundle().signed(with: key)
            #expect(try refusal(of: signed, [self.key().publicKey, key.publicKey]) == nil, "\(kind)")
            #expect(try refusal(of: signed)?.code == .unknownKey, "\(kind)")
            #expect(try refusal(of: signed, [])?.code == .unknownKey, "\(kind)")
        }
    }

    @Test("The revision is that of the folder, and a problem is at the file of the bundle with its line and column")
    func policies() throws {
        let folder = PolicySet.read(Self.good.reversed())
        #expect(try bundle().policies(in: "assay.bundle").revision == folder.revision)
        let bad = [PolicyFile(name: "x.yaml", text: "projects:\n  - {number: 1, id: a, apps: [{}]}\n")]
        let problems = try bundle(bad).policies(in: "assay.bundle").problems
        #expect(problems?.all.first?.location?.description.hasPrefix("assay.bundle/x.yaml:2:") == true)
    }

    @Test(
        "What is not a bundle is refused before anything of it is believed",
        arguments: ["", "hello", "<html>not found</html>", "a.b.c", "..", "{\"files\": {}}", "e30.e30.e30", "\u{0}"])
    func notABundle(_ text: String) throws {
        let error = try #require(try refusal(of: Array(text.utf8)))
        #expect(error.code == .notABundle)
        #expect(error.message.contains("make one with `policy bundle create`"))
    }

    @Test("A token of the same key is no bundle, nor is a bundle that is too large, changed, or signed by a stranger")
    func signatures() throws {
        let payload = Array(#"{"version":1,"iat":1,"files":{"a.yaml":"a: 1"}}"#.utf8)
        #expect(try refusal(of: sign(payload)) == nil)
        for type in ["JWT", "Assay-Policy-Bundle", ""] {
            #expect(try refusal(of: sign(payload, type: type))?.code == .notABundle, "\(type)")
        }
        #expect(try refusal(of: Array(repeating: 0x61, count: PolicyBundle.byteLimit + 1))?.code == .notABundle)
        let none = Base64.encodeURL(Array(#"{"alg":"none","typ":"assay-policy-bundle"}"#.utf8))
        #expect(try refusal(of: Array("\(none).\(Base64.encodeURL(payload)).".utf8))?.code == .notABundle)

        let signed = try bundle().signed(with: key())
        let other = try bundle(version: 8).signed(with: key())
        let (parts, others) = (signed.split(separator: 0x2E), other.split(separator: 0x2E))
        let mixed = [parts[0], others[1], parts[2]].joined(separator: [0x2E])
        #expect(try refusal(of: Array(mixed))?.code == .badSignature)
        let stranger = try PrivateKey.generate(.ec(.p256))
        let error = try #require(try refusal(of: bundle().signed(with: stranger)))
        #expect(error.message.contains(JWK(stranger.publicKey).thumbprint))
        #expect(error.message.contains(JWK(try key().publicKey).thumbprint))
    }

    @Test(
        "Names that could leave a folder, hide, start programs or be two files on some disk are refused",
        arguments: [
            "../a.yaml", "/a.yaml", "a/b.yaml", #"a\b.yaml"#, "..", ".a.yaml", "-a.yaml", "a b.yaml", "a\u{0}.yaml",
            "a\n.yaml", "\u{430}.yaml", "a\u{301}.yaml", "\u{202E}lmay.yaml", "a.txt", "yaml", ".yaml", "",
            "plugins.yaml", "Plugins.YAML", "plugins.yml.", "a_test.yaml", "A_TEST.yml", "c:a.yaml",
            String(repeating: "a", count: 124) + ".yaml",
        ])
    func names(_ name: String) throws {
        let payload: JSON = ["version": 1, "iat": 1, "files": .object([JSONMember(name, "a: 1")])]
        let error = try #require(try refusal(of: sign(payload.encoded)))
        #expect(error.code == .content)
        #expect(error.message.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
        #expect(error.message.utf8.count < 400)
        if name.lowercased() == "plugins.yaml" { #expect(error.message.contains("--bundle-plugins")) }
    }

    @Test(
        "Signed content of another form is refused",
        arguments: [
            "[]", "1", #""a""#, "{}", #"{"version":1,"iat":1}"#, #"{"version":1,"iat":1,"files":[]}"#,
            #"{"version":1,"iat":1,"files":{}}"#, #"{"version":1,"iat":1,"files":{"a.yaml":1}}"#,
            #"{"version":0,"iat":1,"files":{"a.yaml":""}}"#, #"{"version":-1,"iat":1,"files":{"a.yaml":""}}"#,
            #"{"version":1.5,"iat":1,"files":{"a.yaml":""}}"#, #"{"version":"1","iat":1,"files":{"a.yaml":""}}"#,
            #"{"version":9007199254740992,"iat":1,"files":{"a.yaml":""}}"#, #"{"version":1,"files":{"a.yaml":""}}"#,
            #"{"version":1,"iat":-1,"files":{"a.yaml":""}}"#, #"{"version":1,"iat":1e300,"files":{"a.yaml":""}}"#,
            #"{"version":1,"iat":1,"exp":"x","files":{"a.yaml":""}}"#,
            #"{"version":1,"iat":1,"exp":null,"files":{"a.yaml":""}}"#,
            #"{"version":1,"version":2,"iat":1,"files":{"a.yaml":""}}"#,
            #"{"version":1,"iat":1,"files":{"a.yaml":"","a.yaml":"b"}}"#,
            #"{"version":1,"iat":1,"files":{"a.yaml":"","A.yaml":"b"}}"#,
            #"{"version":1,"iat":1,"files":{"a.yaml":""},"plugins":{}}"#,
            #"{"version":1,"iat":1,"files":{"a.yaml":{"b":"c"}}}"#,
            #"{"version":1,"iat":1,"files":{"a.yaml":"\ud800"}}"#,
            #"{"version":1,"iat":1,"files":{"a.yaml":""}} {}"#,
        ])
    func contents(_ payload: String) throws {
        #expect(try refusal(of: sign(Array(payload.utf8)))?.code == .content)
    }

    @Test("The number of files, their size together, and their encoding are limited")
    func limits() throws {
        let many = (0...PolicyBundle.fileLimit).map { PolicyFile(name: "\($0).yaml", text: "a: 1") }
        #expect(throws: PolicyBundleError.self) { try bundle(many) }
        #expect(try bundle(Array(many.dropLast())).files.count == PolicyBundle.fileLimit)
        let signed: JSON = [
            "version": 1, "iat": 1, "files": .object(many.map { JSONMember($0.name, "a: 1") }),
        ]
        #expect(try refusal(of: sign(signed.encoded))?.code == .content)
        let large = { PolicyFile(name: "a.yaml", bytes: [UInt8](repeating: 0x20, count: $0)) }
        #expect(throws: PolicyBundleError.self) { try bundle([large(PolicyBundle.byteLimit / 4 * 3)]) }
        let largest = try bundle([large(PolicyBundle.byteLimit / 4 * 3 - 16_384)]).signed(with: key())
        #expect(largest.count <= PolicyBundle.byteLimit)
        #expect(try refusal(of: largest) == nil)
        #expect(throws: PolicyBundleError.self) { try bundle([PolicyFile(name: "a.yaml", bytes: [0xFF])]) }
        #expect(throws: PolicyBundleError.self) { try bundle([]) }
    }

    @Test(
        "Whatever is changed in signed content, it is refused or has only possible names; a changed signed byte never passes"
    )
    func changes() throws {
        var generator = SplitMix(state: 20_261_125)
        let content = Array(
            #"{"version":12,"iat":1790000000,"exp":1790000060,"files":{"a.yaml":"b: 1\n","b.yml":"c"}}"#.utf8)
        let pieces = [
            #"../"#, #"","b.yaml":""#, "\\u0000", "{", "[", "}", "\"", ",", "-", "1e9", "\u{FF0F}", "plugins",
        ]
        var accepted = 0
        for _ in 0..<4000 {
            var payload = content
            for _ in 0...Int.random(in: 0...2, using: &generator) {
                let place = Int.random(in: 0..<payload.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: payload[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: payload.remove(at: place)
                case 2: payload.insert(contentsOf: pieces.randomElement(using: &generator)?.utf8 ?? "".utf8, at: place)
                default: payload[place] ^= 0x20
                }
            }
            let (signed, keys) = (try sign(payload), [try key().publicKey])
            do throws(PolicyBundleError) {
                let bundle = try PolicyBundle.open(signed, trusting: keys)
                accepted += 1
                #expect((1...PolicyBundle.greatestVersion).contains(bundle.version))
                for file in bundle.files { #expect(PolicyBundleName.problem(file.name) == nil) }
            } catch {
                #expect(error.code == .content)
            }
        }
        #expect((50..<3500).contains(accepted))
        let signed = try bundle().signed(with: key())
        for _ in 0..<2000 {
            var changed = signed
            let place = Int.random(in: 0..<changed.count, using: &generator)
            changed[place] = UInt8.random(in: 0...255, using: &generator)
            guard changed != signed else { continue }
            let isLineEnd = place == changed.count - 1 && [0x0A, 0x0D].contains(changed[place])
            #expect(try refusal(of: changed) != nil || isLineEnd)
        }
    }
}

/// Numbers that are the same in each run (SplitMix64).
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}
