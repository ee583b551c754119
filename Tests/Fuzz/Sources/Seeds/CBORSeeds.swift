import AssayCore
internal import AssayKit
import Fuzz

/// Items of every major type (RFC 8949, section 3.1), well-formed and not.
enum CBORSeeds {
    static var all: [Seed] {
        items.map { name, digits in Seed(.cbor, name, Hex.decode(digits) ?? []) }
    }

    private static let items: KeyValuePairs = [
        "good-zero": "00",
        "good-greatest": "1bffffffffffffffff",
        "good-least": "3bffffffffffffffff",
        "good-bytes": "4401020304",
        "good-text": "6b68656c6c6f2c20e282ac21",
        "good-array": "83010203",
        "good-nested": "818181818180",
        "good-map": "a3016161616202f6820102",
        "good-cose-key": "a5010203262001215820"
            + "65eda5a12577c2bae829437fe338701a10aaa375e1bb5b5de108de439c08551d225820"
            + "1e52ed75701163f7f9e40ddf9f341b3dc9ba860af7e0ca7ca7e9eecd0084d19c",
        "good-indefinite": "bf61619f0102ff61627f616262c3bcff61635f41014102ffff",
        "good-tags": "d9d9f7c1fb41d452d9e2000000",
        "good-floats": "8af90001f97bfff97c00f97e00fa47c35000fb3ff199999999999af98000fa7f800001fb7ff8000000000001f90400",
        "good-short-tags": "c1c6c9d4d780",
        "good-long-tag": "d8098180",
        "good-simple": "85f4f5f6f7f8ff",
        "good-long-heads": "84180019000a1a0000000a5900020102",
        "bad-truncated-head": "1a0102",
        "bad-truncated-bytes": "5a7fffffff00",
        "bad-truncated-map": "bb7fffffffffffffff0101",
        "bad-trailingBytes": "0000",
        "bad-duplicateKey": "a2616101616102",
        "bad-invalidUTF8": "62c328",
        "bad-malformed-break": "ff",
        "bad-malformed-reserved": "1c",
        "bad-malformed-chunk": "7f4101ff",
        "bad-tooDeep": String(repeating: "81", count: 70) + "00",
    ]
}
