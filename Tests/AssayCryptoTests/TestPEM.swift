/// Keys for tests, made for them and used nowhere else.
enum TestPEM {
    /// RSA of 2048 bits in the older form (`BEGIN RSA PRIVATE KEY`).
    static let rsaTraditional = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEpAIBAAKCAQEAp1w43osRANFcn1EWssbZyPDWY+T1t+Cmu+Xm7JU3NsDEszKF
        /kvyWi0+mbK0+4h32QBfnk11cjuB7tywsqM8/Dj3AwjrxJ5EHUEg0ZOwkTnJTkpZ
        idsaWMcCv5CRID2IbLtBsJa3t7hDxOy2Ol1mZsfbygQre5sAIFQ6pQtHA4yAnAF+
        ZJqjRhXGaU+WccfC/wgKMgMFbNliNeA6ytS6pZvPUAi+tLsEAzoZ/bftHYuIG6ec
        jOlqNB0TabLlEpvJCaA7x+2Po/D6Vi5R6t25Me0EF7HoEVOuIdOOXw/FvaivKXFT
        n/DF7+8Wn2eEF1jQ4QTaENsFISAnvZ3D2fwjrQIDAQABAoIBAAHJSrQZYOOU2Hu8
        1lSvKajq5SbozTSaubzcrdPNnerAMPlGq0Z1Eg+jVv01+peKs9jFl7+tTPkcqHzf
        ryUg9+grRXurTzToiYqUZODHxkUujDcBNSZzB7t12FIqHVpuPbQHZaKYYTqdRV/n
        NOS3lX24WWC1Ha+yjlRKAdw8HBRuGZAhkkqL3t1IPRW5PrnI4uca17WdkiEp7Gzy
        +LcvrjlA1IWPrU/YJPvGANVHjcp5wB/nlD6vrY7mYYkeLvFg4t3snwDC4pXYSpQk
        ow0ELttAkQafUJNY0V/tOHEbeO/74w1lnPtLiurHyex27EOQBvbZGOtcqMeYYfP3
        rsaWFTECgYEA0FtSFsMNboB9CxWrsQYKCu4ipz/Wgje20OoNvv/Wp6rHoO7Qrh68
        Xp9Q6YFgui3Ql8rjjPAWKcyGwyOuznYVl08B1o0JiJxMeqwY8mTTZF3EoDhIOAEA
        b32OC27MbToaMKRmBDlSJPldPuT58j1pMppM7xM2dgkOyVkB/Au+LOkCgYEAzaES
        EE2APyVxzdKDV8cC0d7ZvkWyXrUGK/eveP2I/rE/fpF0f0kn4Z+R3X0dKoIa+H5B
        WluG2y8Q8GNlmT37ZlDbLIv+zMFrnhB6T7sFb+9EpsbzZ7lx59DivwWFY1N+vnYp
        XVdsOrzaagabaoOkZoK3RWbU/7ir+c31uLPCtiUCgYEAgv/3s9H9Pu3QMMj2Qv3u
        EIM7DHbpssO+0MlnzR/j4VVR4FBmqiMvAjsez0GGBGjLzrREr5dACBXM4SItRSgf
        WRvWpwPT662BtFtB8B0Of/sopifc2EFg+bgyN+P46e/vCYhDkAJOMGsMgn/K2tBb
        tPIozuQAiOQXBOdOhR8I+gkCgYEAhVxZYslgy5N1Y4+ML3makpJ9lbGOJW4yOoHB
        BC8qkkRScbvUWlkPzHy5FXT3XYJUC6WWrQt/QtgbnExasDBKw+jcvN9uuU0YhsMZ
        EGyy8g2z8JZHdpYHEdmftVPXVrvoD46C9U6lmtKwtOLkGQiXrwRH6HLw4YjbwH+b
        RdcQCSECgYAnrVz0tWCMKCaqOid7wGGGh06MXrs7Wlb1bFXV0SQ/JlyfukjW35aS
        m33WtjeYbYyV7Q1y/eBL4Y0Pnx6kyAwfYwyMHWM6BaVPpsv8h8eWZ5f/GV795zJ1
        CG+Zhp+Gfth5yzVPaRkZF1o+c/TklNU21B68bsKXaKx8bt88yW3MVQ==
        -----END RSA PRIVATE KEY-----
        """

    /// The public half of ``rsaTraditional``.
    static let rsaPublic = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAp1w43osRANFcn1EWssbZ
        yPDWY+T1t+Cmu+Xm7JU3NsDEszKF/kvyWi0+mbK0+4h32QBfnk11cjuB7tywsqM8
        /Dj3AwjrxJ5EHUEg0ZOwkTnJTkpZidsaWMcCv5CRID2IbLtBsJa3t7hDxOy2Ol1m
        ZsfbygQre5sAIFQ6pQtHA4yAnAF+ZJqjRhXGaU+WccfC/wgKMgMFbNliNeA6ytS6
        pZvPUAi+tLsEAzoZ/bftHYuIG6ecjOlqNB0TabLlEpvJCaA7x+2Po/D6Vi5R6t25
        Me0EF7HoEVOuIdOOXw/FvaivKXFTn/DF7+8Wn2eEF1jQ4QTaENsFISAnvZ3D2fwj
        rQIDAQAB
        -----END PUBLIC KEY-----
        """

    /// P-256 in the older form, behind its curve, as `openssl ecparam -genkey` writes it.
    static let p256Traditional = """
        -----BEGIN EC PARAMETERS-----
        BggqhkjOPQMBBw==
        -----END EC PARAMETERS-----
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIAU+OsEPRudF0KGCPfh/YRJfWb1KYxS+ucgDrIMgPISRoAoGCCqGSM49
        AwEHoUQDQgAE/wRPtSoOokJNP349Dab/ONb4yA1s2xu6aswzH/jpLIj+R1LlKbZ3
        PhK6xW7Lk4gSyOt7wSFCHGvyYSTcrNRRJw==
        -----END EC PRIVATE KEY-----
        """

    /// The public half of ``p256Traditional``.
    static let p256Public = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE/wRPtSoOokJNP349Dab/ONb4yA1s
        2xu6aswzH/jpLIj+R1LlKbZ3PhK6xW7Lk4gSyOt7wSFCHGvyYSTcrNRRJw==
        -----END PUBLIC KEY-----
        """

    /// The same with a compressed point.
    static let p256PublicCompressed = """
        -----BEGIN PUBLIC KEY-----
        MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgAD/wRPtSoOokJNP349Dab/ONb4yA1s
        2xu6aswzH/jpLIg=
        -----END PUBLIC KEY-----
        """

    /// The scalar of ``p256Traditional`` with another key's point.
    static let p256Mismatched = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIAU+OsEPRudF0KGCPfh/YRJfWb1KYxS+ucgDrIMgPISRoAoGCCqGSM49
        AwEHoUQDQgAEzpEFm15niQJSC73UR4hLpJq4ndI/A7sdLckk5d+AZOM3GekrwRa8
        0mylPWGmKHfzyU5zpT2oOP1qkkTqxBzd2A==
        -----END EC PRIVATE KEY-----
        """

    /// RSA of 1024 bits.
    static let rsa1024 = """
        -----BEGIN PRIVATE KEY-----
        MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAOFt+smcdA8c19fj
        7RaxcB6Bnw/YTejuMaVPOFvQ8jxhxQU0l0jfFH5P7muVj05MWEEmGijSzhNAfhl1
        W1LX1dUVQNpccX938NmT4euUlxuufLMXgra1R96bBwaQYZT0NpECsg0OjT1NFQcA
        Hmi43TY6OepoUrZzzNVfpRSacGeBAgMBAAECgYARIT5RW6YmD9cG/LbjZpBSgR8J
        ITKqZI85NI/fyjzeAb/q6VglnW39Oy2u1yqQlJSQPsj2GS63n8r1PEm4PdZtujFO
        QUJAGeYI8ycadi5jz5egDR/NGFd9dnNmXbg9KuZVFlngXcNT7OMEamANiH6KhtnQ
        uKfhdKieYrxdOr3LAQJBAPBQ26VJwP/25VLILWDAhDsE7WQF3HJwE+b8OFFyjdBz
        heCCBIk6dq2eXXVE4kDE8BGI97yCpQzV9KOZf84jEfkCQQDwJGfcwhi6saJbAZon
        C77UI7DlDOE+s03KaST2Amnh/QeaUw4XVL7MV/UjzwsRR54YBKiFH/JTUtcafX91
        lGPJAkAIRrCZy6Vy6zzQkgZGC7tCERRf2nfSFRwKW2tRGsHZiPD2X2PqmfHWXtrX
        HA0yr9WYtP/bJSCsBX5MWA/3uGt5AkEAj4YisTUsVICQOXYWrNl/Pwjp06vD/5Zo
        mt4GoiXFJLT200xqcpVKx5SWRcWbpsM4AMDf+1ihmx06xHFXOW3ryQJAZ9kW4CA8
        i8a0TT9xcOvTaT+CgIJifHmHNJyoYzifM88vuL6UNZkHQyCZDf1IvU5iRlZCVtTY
        1StcN1qv3XDzCg==
        -----END PRIVATE KEY-----
        """

    /// The public half of an RSA key of 5120 bits.
    static let rsa5120Public = """
        -----BEGIN PUBLIC KEY-----
        MIICojANBgkqhkiG9w0BAQEFAAOCAo8AMIICigKCAoEAlVoSuRl2O2RrWvG1Bo/C
        CeR5umKnwLhoav8BNC0gB/8Dlhou00rklkru96dgu1bB0nH60GJswS/jyRzLsv5a
        gD0PNDPh+VQWut789YibBdQ2yWCseeOb5ouMsVf0Bn4KyBD/dVbCQxdkIkhEIIiv
        Fy6vbMqSYFHfIBB21xozi0clTj70yWgFUlXe/ZhWoQkW2tTUTHDyGwL2f5n8c24a
        ovgstBWnw/2XzXIunC5AIVhsMfy4X5pt55+ru4JqQZAabSlH4gKSiTfOFMoLDzvJ
        dLSxLGrCOzM8vYQPNgDkKpDsJLd86y0PrEWc1J3iwFhvR9233NqQoQLosQbCzxhR
        2k56FLBDdikuzV7D3lAWNwFGDL4NAsM4L8gJ3gJQ7FVIz2DBZK1trdRkhxe3NqxI
        1fqawbzI6sEQE9ZoQ8AT4bztRwQpBy0In88MLHeF0V/mre8lSXargCBzJnAuCjY6
        WYOsAuGLtvM9QYYEQkGzYhs2vlP8jY1nm5ZPZtkiaFDL1ZsLAVPW9SZOYh0d/2qd
        I3BJiCLvMg6aV8TUUutCfsU6Ob2QlgRXR/2dHyt+1m78eD6Gx/DvP+CLjoB0mfp3
        rC2lKro1oG2UahpxuWm0R6/yJ7uTQjsfq+q2XZLRKbTeg6DI4ckH+TqgeVhxxNwu
        KqTea7Z6NTZp8zSOGPvIGX1XjwvTsHoCCeO0UAT8W/qPQymPSYj417/ZnFgaBCcA
        c3gdnpBHvgNxPXyKB8Fw6mc/qa7nBMdRzD1LnqQMfwjwsRKV0BRLnsLyZYtG/9rg
        SCBxnDYi8CzpX1Dh0lCuHOsDuyx1KIoSCrVJ/bi7G8uh7dtaXK6JrjFsiUEE2mEm
        kwIDAQAB
        -----END PUBLIC KEY-----
        """

    /// A key of a kind that is not used here.
    static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIJuzlfRDsfZMIPnHoa+JDhBntBSLFo1HIrNAlH7O0E76
        -----END PRIVATE KEY-----
        """

    /// A key on a curve that is not used here.
    static let secp256k1 = """
        -----BEGIN EC PRIVATE KEY-----
        MHQCAQEEIAIRI9pA3jo086esuJcys552v3LL2Bp5bm7ES7CwjvK/oAcGBSuBBAAK
        oUQDQgAE3SrGf1y8tA/U/KbUNA0P9jAP6k4PANnrpxpmfykRWrpb2Koq9qvL/5Y0
        A0GjhaiUnpt2A1zt2yezSzcjdw40yA==
        -----END EC PRIVATE KEY-----
        """

    /// ``p256Traditional`` in encrypted PKCS #8; the password is `x`.
    static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjT3PVYxQcRzgICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEIUwngxejbCaQtRJ2wvT/YUEgZBG
        HXLuwxuuIPYI0BzpiwpPYTdoNbxskmdjGJunQ/HpK75GBDZrKvKmvj5Z4/6Ziu67
        P6ghx5tLNZFfYj8wacd9WOqBu0vVtCDtJ1tClnLNfKzDVMueF4OZZHht5IxGoVAM
        yRsEGVOID0H1zFRtmWjWIkdsM9oa2K2aYqcGNglTSN7JbNLVS5K9y7EEAe2DJPY=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// The same in the older form of encryption.
    static let encryptedTraditional = """
        -----BEGIN EC PRIVATE KEY-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: AES-128-CBC,D144A29B17960B2C989D3BA615D07AED

        Fihh3EVHLoyUPMVMSvEO+NST10Hcz4gnKprdNySGmBHbGZKokdNexKStRKbbhYVa
        IZUMbMPVLMDXbrWXgvQOb26WEbQT+CmlGtUCHStzTTjx/ByZDxCSZu7mmoA/QGzj
        3SDL6ftzJWkOY09cW/asmdI6S9sJulv6dIAPhZQHJX8=
        -----END EC PRIVATE KEY-----
        """
}
