internal import AssayCore

extension FuzzScene {
    /// The simulated root of receipts, in DER.
    public static let receiptRoot: [UInt8] =
        Base64.decode(
            """
            MIICgTCCAgegAwIBAgIQWubbW2Pa/FttqVaF4jnXmTAKBggqhkjOPQQDAzCBgTElMCMGA1UEAwwcQXNzYXkgU2ltdWxhdGVkIFJv\
            b3QgQ0EgLSBHMzEwMC4GA1UECwwnQXNzYXkgU2ltdWxhdGVkIENlcnRpZmljYXRpb24gQXV0aG9yaXR5MRkwFwYDVQQKDBBBc3Nh\
            eSBTaW11bGF0aW9uMQswCQYDVQQGEwJVUzAeFw0xNDA0MjgxMjAwMDBaFw0zOTA0MjcxMjAwMDBaMIGBMSUwIwYDVQQDDBxBc3Nh\
            eSBTaW11bGF0ZWQgUm9vdCBDQSAtIEczMTAwLgYDVQQLDCdBc3NheSBTaW11bGF0ZWQgQ2VydGlmaWNhdGlvbiBBdXRob3JpdHkx\
            GTAXBgNVBAoMEEFzc2F5IFNpbXVsYXRpb24xCzAJBgNVBAYTAlVTMHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEBWIO4xeCRfOhQNFZ\
            JFZjIcEELsP7fSbEj/AXq19LawGjVC3yzU5glSgicvL7sSU5YTfWTnWFDOJOzTP0cowTDM1NYZ9nfgKjG1HK3lfYSrit1HI9JLeu\
            DXED+qetx6Cqo0IwQDAdBgNVHQ4EFgQU7P3YIMCmiwyQ5n9RPjUlvCxFEUwwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMC\
            AQYwCgYIKoZIzj0EAwMDaAAwZQIwQsishnUp5vJ8c1lP8nWwQb4P53KR22S5KRdJ2NaNK4rPKlyZ5ZxTm97499trmUZDAjEAu2st\
            J+WZ+/nxu7+fKcixXMh/Xa8oS1T4y02oxoKV73kbgAYDRIj4EnpCJs/yM8au
            """) ?? []
}
