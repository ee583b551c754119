import AssayCore
import Testing

/// Facts from RFC 9578, appendix B.2 ("Issuance Protocol 2 - Blind RSA, 2048"), whose vectors cloudflare/pat-go publishes, and from
/// RFC 9474, appendix A.
enum BlindRSAVectors {
    /// One issuance and its token.
    struct Issuance: Sendable, CustomTestStringConvertible {
        let name: String
        let challenge, nonce, blind, salt, request, response, token: String
        var testDescription: String { name }
    }

    /// The issuer's key (`skS`).
    static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDLGu1rapX1sc4B
        Okz8qyW5Sy5kojA05CUKfqtDwN86jBKZOvErERkI1LRxvsMdS2ya2c3akGEqLukD
        Uj5t5aIk1rAvCeXDdNDP4B2PUpxQCnii9nkI+mgrWitDDIHq8a9y17XnlPyYoxOS
        doeXV85FO1Ju+b9s65mXm4QjuQ9EYaIq83qrDPVzP3WXq+RNMccy22ihgcbLvmB9
        jA5S4GVf2ZltxYTsoL6Hr7zXijN9F7Hbqegou9geKRMXFE5/+J9VYZcJsJbLuepH
        TOrSZMIHP+SXQMAfAOEJEGBmmD0h5fg/CG4ugjyHnNQ873ANKjUqm6vWEtA8rQLb
        E0t+IlpfAgMBAAECggEALzCbdzi1jPd58MkV+CLfyfSQ2+rfHnrfrFeP/VcDxrui
        2p1aSXJYibe6ES+Mb/MFUdlHPgALw1xQ4Werf6c6DCshllxLWSV8GsBsvc8o6GP2
        cY6owpBDwcbahGKUkP0Ekb9S0XLJWcGSG5aUnHJXR7inx4cZlfoLnrEQe6hUxsMq
        b0dHxdHDBMdGfVWwgKojOjpS/98mEUy7VB/6a2lreglvjc/2nKCKtY77D7dTqlGF
        xzABaWu86MCZ4/Q13Lv+BefbqtI9sqZZwjrdUhQH8VCxry2QVMQWQinWhAt6MqT4
        SBSTrolZzwrqje8MPJ91uaNMdXGLcHLI26sXzv7KSQKBgQDvcwsPUUvA9Z2ZX9X5
        mIxMTBNdEFzVbUPuKKA1yWn1UMDNcUjqh+ze/7k3yFxkh0QF31bq60eL90GISiAO
        5KOWM9EKo+xAQ2baK1MfOY1G+8jzBXUpBs94k53S88yXmK6nydgv70BJ8Zh5fkUq
        W20oSbhkhjRdSzH2kRGirg+USwKBgQDZJMnry2Exa/3Eq7PbosxAPMiYnk5JAPSG
        y2z0Z7TUb+uHQO/+xPM7nC0uyLIMD9laTMHwn6s7/LbGoEP1WRgpoYH/B14k/Rn6
        fuwRN62Io9tc9+ACLtUB7vtGay3+gRwYtSC2b5ed8lIiegtTkea0h0uDSRxAtVs3
        n5kya2Q9vQKBgFJuFzOZt+tgYnWnQUEgW8P0OIJEHME4UTdOcwCxKrHRr93JjuF2
        E3wdKoTii7PrwOYIoaJThpjPcJbbdbfKy+nsQp1YGv9wdJrMaVwJcvIpwV6v1Upf
        VtLadm1lklvpqs6GNM8jnM0Xx3ajmmnfeW9yGXE5phMrzLJl9F09cI2LAoGBANXv
        ugVXrp2bsT1okd6uSaBsgpJjPewNRd3cZK9z0aSP1DTA1PNkpeQwHg/+6fSaVOHz
        yAxDs9h5RrbxRaNfsT+rAUH7x1SYDVVQYVMhURbToZe6G/jqnTC3fNfHV1xtZfot
        0loMHgwep6+SIMCoee2ZctuZV32lcIaf9rbHOc7dAoGAeQ8k8SILNG6DOA31TE5P
        m01AJIYw7AlR3uo/RNaC+xYdPU3TskuALxxiDR/WsLEQBCjkFWmmJAWnQUDtbnYN
        ScwR8G2J6FnrECtbtys73WAVGooFZncmPLP8lxLyblSBDELyaZv/bAsPlMO9bD5c
        J+NSBaa+oiLl1wmCa5MCflc=
        -----END PRIVATE KEY-----
        """

    /// `pkS`: the SubjectPublicKeyInfo with id-RSASSA-PSS.
    static let publicKey = """
        30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d01010830\
        0b0609608648016503040202a2030201300382010f003082010a0282010100cb1aed6b6a95f5b1ce013a4cfcab25b94b2e64\
        a23034e4250a7eab43c0df3a8c12993af12b111908d4b471bec31d4b6c9ad9cdda90612a2ee903523e6de5a224d6b02f09e5\
        c374d0cfe01d8f529c500a78a2f67908fa682b5a2b430c81eaf1af72d7b5e794fc98a3139276879757ce453b526ef9bf6ceb\
        99979b8423b90f4461a22af37aab0cf5733f7597abe44d31c732db68a181c6cbbe607d8c0e52e0655fd9996dc584eca0be87\
        afbcd78a337d17b1dba9e828bbd81e291317144e7ff89f55619709b096cbb9ea474cead264c2073fe49740c01f00e1091060\
        66983d21e5f83f086e2e823c879cd43cef700d2a352a9babd612d03cad02db134b7e225a5f0203010001
        """

    static let issuances = [
        Issuance(
            name: "with a redemption context",
            challenge: """
                0002000e6973737565722e6578616d706c65208e7acc900e393381e8810b7c9e4a68b5163f1f880ab6688a6ffe780923609e\
                88000e6f726967696e2e6578616d706c65
                """,
            nonce: """
                f27bc78fd1d220e7aeeef65ec4105f2261b201462a9550876964a87bb0988626
                """,
            blind: """
                a789e19278b8dcf75be6dd99580b290bbeadef6978319168cf4b56c371f41b1b570932ab03e7b9f516b0329482ea278c4b8b\
                cd32d9a51ca2eb21d04a5bd8b819054bf7e4c8ca12a7b6340e7010d2312ca48dc1102526a2deeae5dffe14b3a1bb0fcab36f\
                a55b6c7b3f01782760a05c8c4013be16f526ff30570ed17549d06557d5f15fe6c01876fd3865da2600f3f421fc1ce6d47940\
                ea3ddf747cc4545eed2acbb729920767766748063db90862c2efb7afd842c0c282b16e787e7af9e88ee0e6d01ad6eece706d\
                21a8e93a3c7edd428210df26f58d099c9ac654706c7bcb3cb870167ec7037f8870fc3f130cfa4765756118e36ecc58d17fc0\
                6c1078e202f0
                """,
            salt: """
                80ebcf1aab292d22907af0f9f017b21e37c60b6a82f9109cc65bb9939cd55da6c25283d56dc20d39268f95eb824772e5
                """,
            request: """
                00020840bfd39a6e2e65a5ae800dcc401c513c8ce0b8fc8b4657b5afcac76fa3036c07b80e103081a117a15188f668f9878b\
                cfc682066e57e551e765cc6c67787dced19614f3e1e1a3c4ff5a0eb8afaba3f1ffeefd9b1e77c65087d3262f96e692e664ee\
                00c17ef83b88f35effab3f158994007fd63305235e70fa42ee2cec6aebb6f3a641c2ad0c528ad9bad33eb8b024cb13da1f6f\
                47dc6747845b0cc782a6e87bbbff1e187408a514246e178cc00fa75cfb710eee69f243411f47f92adbbd0197cc6e644fef8b\
                2fff9310cfcd74d739c9b5e22f4a10391442f51efc18ab3b99e511a63d2c7bbee6d4596367b762995de6d25bf37d30ee4caa\
                6edb629daa2acef549
                """,
            response: """
                c8a0b1be5b0e2bce8534058bb10f9ddb5bb8e0040386e13d70e9fad9533f49646dd460147c0ea781f33454faeab8907afe42\
                2ecf4b2aac5198a21d67ba9f7d9bd49856baf035ac504e941a3d979066df66c6e8d83b5d2b373c89ec8936c522f4f4dfd301\
                78b489d579b3ccebd47a0e7bac6166d36d253b9b8ba9a11a222c197cf543b081652ee6ed76de74cd15c8431bacc9329031a4\
                10d96160c4f692f51fc51f2128a75303a1b0452e62b8e9e72e5ed14654586b8c1fd84947a67f1faf6d24ad7a509ebafea8f4\
                fe0cc52b8dff828e39da9c92af2c00e5f6e964e650c1b4a1725489db5f35d0f19bd0713e5e36197a0cbb69a6428ba7c68662\
                c88818574d31
                """,
            token: """
                0002f27bc78fd1d220e7aeeef65ec4105f2261b201462a9550876964a87bb09886265969f643b4cfda5196d4aa86aeb53688\
                34f4f06de46950ed435b3b81bd036d44ca572f8982a9ca248a3056186322d93ca147266121ddeb5632c07f1f71cd27082e44\
                f7d091223f144ee5972196bdab0b5ef3cdf68905bab92a512bea318117fa5ded7daa0d5e8c740eac3f875a73b691c96bbd61\
                49d0f2bb20302528136c342da33f333dd3e9f843ca0611d9b852465a6815561f9f3430dc889d74796828e3a213f32de1694a\
                67bf538de3bb6509d97f1e0e96c45d1d4b39f6d1b66ece8f2e4f143dafd56de8348b20f7f1eed212f9751e7d1e2638477b39\
                c1cec3b4770a1d8eab804c6455d391fa7948228442888b0794b520e8a54b468e3ea03153f43de34331e7263fe068d9215d35\
                97593042e02dc5daa7f4468bca77e97b0c6cf32f14b1a9e60c9e9325d19e7d2008ca308995c701bb0e3cb56f4539f36dc2b3\
                e44631bb
                """),
        Issuance(
            name: "without a redemption context",
            challenge: """
                0002000e6973737565722e6578616d706c6500000e6f726967696e2e6578616d706c65
                """,
            nonce: """
                81bbef356b4ac603d478e3fd941764dc63ad49e8ff9585cf4f2e9b17fc1e009f
                """,
            blind: """
                b355e755bded830212486827f9bf364f2f0bf244329f01ac531dc6b6250ce22eb0a0e7faefb3f1a951a814bfe6ef0b360c10\
                2e418a97f8c9a7908f29c93355ef44f3fda44cc01ee1c21f48c2f6d1b7307591da50d671a5240c293162b254f85047e8e4ee\
                4d6f8bfa2e1e49605c6bca06c03b61c408217d2041f88794091aa10825ad74a6f9052ce39d0ed31f6339681ce36abc6204eb\
                17118e734a373b211dfb19c512109ae5c643cebbfd276bc5c28411ccf9962272f4fabc1479924715d525152bc988c2e4c295\
                759c80ce67b7934c056f46f37d6a61ca456da56cc80efff56faa3ea691de664a2ca7d77464e620d66a48f9749f1e8570fbf8\
                df2545b6a210
                """,
            salt: """
                53e42c18becafe7d7b0dc9440fe2f027d69e89e4dec66ca31c7ab01ecc5819d64e4b81d3be2afa784ff29a30d8b2136e
                """,
            request: """
                0002083217ef82cf55ef57e8d757be65a3d016769afd4f92ebbc1a6c5075325e21f8d6f88e1f363b725b5172fc972ce88138\
                377be6776f4f7f2e51cadc6bf69395cea83cfaa1cab1f3441baf005b60014d3dcdefbeef546152c9271db9c1ffdff31dd765\
                6adfad7850b6885405e2c779d8a14d8a5cb3fd6fea38e694c847e5af14732d8f9ef84c4f081db396835d8e7432a78c1e45d0\
                ca040ef075717df588f4c5e210ac42e94a5e0963e1f4291b808d551c61f2c583f4c804a4f48f8c9ee14211a7d690ae5e798c\
                a932586d4b496544c5dc48b5a5595eb481963a1a9722f3da2337169baa2280c64715ea082eee6aada2a85ff1115d954464d2\
                6078aba88a73417ef1
                """,
            response: """
                708949a6725ec2a60de2407eab9c9f3c047c12b14e77839b15d994d63b5f1f52ff4198c95474343218f7b1c3a48f2c5554f8\
                7ec45f287f17c7f99c7fa1fae1584b1b61b786826fd34fdadcf03a97a0e40972f6fce10863d7cfa25cb5847c9f4d68339b68\
                2c056bae9d8c8099f644603401f2b3a387f0066d693f61f558ede42266fd39494bcecaccd6ec476d96dfc3b25339586c4304\
                9b2d7ae7d444fd73f133fd1b59aad131a7cf0eb8d3c824d10fd4bb8c37d6dc6d24fc736d42bf2df3f72ca80f91591eb88d64\
                a7c19b68f80fd2271c7c0d096a1fcb8fe186b43a3d3ceab748363c330d30f886084b0b08249b679c0f8c65060ed40cbb2614\
                c08bf811eb9a
                """,
            token: """
                000281bbef356b4ac603d478e3fd941764dc63ad49e8ff9585cf4f2e9b17fc1e009f11e15c91a7c2ad02abd66645802373db\
                1d823bea80f08d452541fb2b62b5898bca572f8982a9ca248a3056186322d93ca147266121ddeb5632c07f1f71cd27080564\
                5ea35bc02f12a28e6763777f1ef8d7f8cc6aa84f1c6381b7ad65381f0d5856e0875d97551b3e59ac9ebbb8d804232902c792\
                a456c19c486014917609c84ecce710adecc3560986d3d09b57db24daf29b6dee1895c848b289cabcb621170e06878f07c80c\
                a4d3cae6c424f867d3820e598c4306964edf5606aabd19db98eedf6ac21b9f24066f9f32c30c48486d351c9bf28b6413ed5b\
                8c5ee4b4106e62f7ffabbddab4b0466940ae844f5036d99a946e048cc6a54f7e4010b186b0f451aeda3edb4ff46fcb16a70f\
                908748cc146e6c324fbe66cebad7ea91a1b00a21f7bb3d7620f4938d816d86f1305241df32248480cc9270a39bdd3b766b04\
                12a8ddfe
                """),
    ]

    /// RFC 9474, appendix A: the modulus, with the exponent 65537, and the message.
    static let modulus = """
        aec4d69addc70b990ea66a5e70603b6fee27aafebd08f2d94cbe1250c556e047a928d635c3f45ee9b66d1bc628a03bac9b7c\
        3f416fe20dabea8f3d7b4bbf7f963be335d2328d67e6c13ee4a8f955e05a3283720d3e1f139c38e43e0338ad058a9495c533\
        77fc35be64d208f89b4aa721bf7f7d3fef837be2a80e0f8adf0bcd1eec5bb040443a2b2792fdca522a7472aed74f31a1ebe1\
        eebc1f408660a0543dfe2a850f106a617ec6685573702eaaa21a5640a5dcaf9b74e397fa3af18a2f1b7c03ba91a6336158de\
        420d63188ee143866ee415735d155b7c2d854d795b7bc236cffd71542df34234221a0413e142d8c61355cc44d45bda942049\
        74557ac2704cd8b593f035a5724b1adf442e78c542cd4414fce6f1298182fb6d8e53cef1adfd2e90e1e4deec52999bdc6c29\
        144e8d52a125232c8c6d75c706ea3cc06841c7bda33568c63a6c03817f722b50fcf898237d788a4400869e44d90a3020923d\
        c646388abcc914315215fcd1bae11b1c751fd52443aac8f601087d8d42737c18a3fa11ecd4131ecae017ae0a14acfc4ef85b\
        83c19fed33cfd1cd629da2c4c09e222b398e18d822f77bb378dea3cb360b605e5aa58b20edc29d000a66bd177c682a17e7eb\
        12a63ef7c2e4183e0d898f3d6bf567ba8ae84f84f1d23bf8b8e261c3729e2fa6d07b832e07cddd1d14f55325c6f924267957\
        121902dc19b3b32948bdead5
        """
    static let message = """
        8f3dc6fb8c4a02f4d6352edf0907822c1210a9b32f9bdda4c45a698c80023aa6b59f8cfec5fdbb36331372ebefedae7d
        """
    /// RSABSSA-SHA384-PSS-Deterministic: a salt of 48 bytes.
    static let signature = """
        6fef8bf9bc182cd8cf7ce45c7dcf0e6f3e518ae48f06f3c670c649ac737a8b8119a34d51641785be151a697ed7825fdfece8\
        2865123445eab03eb4bb91cecf4d6951738495f8481151b62de869658573df4e50a95c17c31b52e154ae26a04067d5ecdc15\
        92c287550bb982a5bb9c30fd53a768cee6baabb3d483e9f1e2da954c7f4cf492fe3944d2fe456c1ecaf0840369e33fb4010e\
        6b44bb1d721840513524d8e9a3519f40d1b81ae34fb7a31ee6b7ed641cb16c2ac999004c2191de0201457523f5a4700dd649\
        267d9286f5c1d193f1454c9f868a57816bf5ff76c838a2eeb616a3fc9976f65d4371deecfbab29362caebdff69c635fe5a21\
        13da4d4d8c24f0b16a0584fa05e80e607c5d9a2f765f1f069f8d4da21f27c2a3b5c984b4ab24899bef46c6d9323df4862fe5\
        1ce300fca40fb539c3bb7fe2dcc9409e425f2d3b95e70e9c49c5feb6ecc9d43442c33d50003ee936845892fb8be475647da9\
        a080f5bc7f8a716590b3745c2209fe05b17992830ce15f32c7b22cde755c8a2fe50bd814a0434130b807dc1b7218d4e85342\
        d70695a5d7f29306f25623ad1e8aa08ef71b54b8ee447b5f64e73d09bdd6c3b7ca224058d7c67cc7551e9241688ada12d859\
        cb7646fbd3ed8b34312f3b49d69802f0eaa11bc4211c2f7a29cd5c01ed01a39001c5856fab36228f5ee2f2e1110811872fe7\
        c865c42ed59029c706195d52
        """
    /// RSABSSA-SHA384-PSSZERO-Deterministic: no salt.
    static let signatureWithoutSalt = """
        4454b6983ff01cb28545329f394936efa42ed231e15efbc025fdaca00277acf0c8e00e3d8b0ecebd35b057b8ebfc14e1a709\
        7368a4abd20b555894ccef3d1b9528c6bcbda6b95376bef230d0f1feff0c1064c62c60a7ae7431d1fdfa43a81eed9235e363\
        e1ffa0b2797aba6aad6082fcd285e14fc8b71de6b9c87cb4059c7dc1e96ae1e63795a1e9af86b9073d1d848aef3eca8a0342\
        1bcd116572456b53bcfd4dabb0a9691f1fabda3ed0ce357aee2cfee5b1a0eb226f69716d4e011d96eede5e38a9acb531a643\
        36a0d5b0bae3ab085b658692579a376740ff6ce69e89b06f360520b864e33d82d029c808248a19e18e31f0ecd16fac5cd487\
        0f8d3ebc1c32c718124152dc905672ab0b7af48bf7d1ac1ff7b9c742549c91275ab105458ae37621757add83482bbcf779e7\
        77bbd61126e93686635d4766aedf5103cf7978f3856ccac9e28d21a850dbb03c811128616d315d717be1c2b6254f8509acae\
        862042c034530329ce15ca2e2f6b1f5fd59272746e3918c748c0eb810bf76884fa10fcf749326bbfaa5ba285a0186a22e4f6\
        28dbf178d3bb5dc7e165ca73f6a55ecc14c4f5a26c4693ce5da032264cbec319b12ddb9787d0efa4fcf1e5ccee35ad85ecd4\
        53182df9ed735893f830b570faae8be0f6fe2e571a4e0d927cba4debd368d3b4fca33ec6251897a137cf75474a32ac8256df\
        5e5ffa518b88b43fb6f63a24
        """
}
