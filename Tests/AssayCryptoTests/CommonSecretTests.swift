import AssayCore
import AssayCrypto
import Testing

@Suite("Hashes of secrets that everybody tries first")
struct CommonSecretTests {
    /// The words that the table of `SecretDigest` was made from.
    private static let words = """
        password passwd passw0rd p@ssword p@ssw0rd password1 password12 password123 password1234 password12345
        password123456 password1! passwordpassword Password Password1 Password123 Password1! P@ssw0rd PASSWORD admin
        Admin ADMIN administrator Administrator admin1 admin12 admin123 admin1234 admin12345 adminadmin admin-token
        admintoken admin_token root toor rootroot root123 token Token mytoken my-token my_token test-token
        test_token testtoken debug-token debug_token debugtoken bearer bearer-token bearertoken access-token
        accesstoken api-key apikey api_key key mykey secretkey secret-key secret_key secret Secret SECRET mysecret
        my-secret my_secret supersecret super-secret super_secret topsecret top-secret secret1 secret123 secrets
        changeme change-me change_me changeit change-it changethis change-this pleasechangeme replaceme replace-me
        replace_me fixme todo test Test tests test1 test12 test123 test1234 testing testtest tester demo demo123
        example example-token exampletoken sample default user username user123 guest guest123 service backend
        server client deployer deploy caller assay assay-token assay123 1 12 123 1234 12345 123456 1234567 12345678
        123456789 1234567890 0 00 000 0000 00000 000000 00000000 0000000000000000 1234567890123456 0123456789
        0123456789abcdef 0123456789ABCDEF 01234567890123456789 111111 11111111 1111111111111111 123123 123321 654321
        666666 888888 abc abc123 abcd abcd1234 abcdef abcdefgh abcdefghijklmnop abcdefghijklmnopqrstuvwxyz a aa aaa
        aaaa aaaaaaaa aaaaaaaaaaaaaaaa x xx xxx xxxx xxxxxxxx xxxxxxxxxxxxxxxx qwerty qwerty1 qwerty123 qwertyuiop
        qwertyuiopasdfgh 1q2w3e4r 1q2w3e4r5t 1qaz2wsx zaq12wsx asdf asdfgh asdfghjkl zxcvbnm letmein welcome
        Welcome1 welcome1 iloveyou monkey dragon sunshine princess football baseball master shadow michael superman
        batman trustno1 login access hello hello123 helloworld hello-world hunter2 foo bar foobar foobarbaz baz qux
        none null nil undefined empty string true false yes no correcthorsebatterystaple
        correct-horse-battery-staple opensesame open-sesame sesame passphrase 00000000-0000-0000-0000-000000000000
        ffffffff-ffff-ffff-ffff-ffffffffffff 11111111-1111-1111-1111-111111111111
        12345678-1234-1234-1234-123456789012 12345678-1234-1234-1234-123456789abc
        """.split { $0 == " " || $0 == "\n" }.map(String.init)

    private func digest(_ text: String) throws -> SecretDigest {
        try #require(SecretDigest(Hex.encode(SHA256.hash(Array(text.utf8)))))
    }

    @Test("Each is known, with a line end and without; others are not")
    func known() throws {
        #expect(Self.words.count > 200)
        for word in Self.words + [""] {
            #expect(try digest(word).isOfCommonSecret, "\(word)")
            #expect(try digest(word + "\n").isOfCommonSecret, "\(word)")
            #expect(try !digest(word + "!?").isOfCommonSecret)
        }
        for word in ["root-token-0123456789", "5f2b6c1e0d9a4c7f8b3e6a1d2c4f7b9e"] {
            #expect(try !digest(word).isOfCommonSecret)
        }
    }
}
