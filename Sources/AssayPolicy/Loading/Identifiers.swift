internal import AssayCore

/// The forms of the names that policies give.
enum Identifiers {
    /// A project's number: decimal digits, written as clients write it, without leading zeros.
    static func isProjectNumber(_ text: String) -> Bool {
        (1...20).contains(text.utf8.count) && text.utf8.allSatisfy(\.isASCIIDigit) && !text.starts(withExactly: "0")
    }

    /// A project's ID: letters, digits, and `-`, `.`, `:` (domain-scoped); never only digits, which is a number.
    static func isProjectID(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count) && !text.utf8.allSatisfy(\.isASCIIDigit)
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-.:".utf8.contains($0) }
    }

    /// A Firebase app ID: `1:NUMBER:PLATFORM:HEX`.
    static func isAppID(_ text: String) -> Bool {
        guard text.utf8.count <= 200 else { return false }
        let parts = text.split(onASCII: ":")
        return parts.count == 4
            && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(\.isASCIILetterOrDigit) }
            && parts[0].utf8.allSatisfy(\.isASCIIDigit) && parts[1].utf8.allSatisfy(\.isASCIIDigit)
    }

    /// An OAuth client ID: letters, digits, and `-`, `.`, `_`.
    static func isOAuthClientID(_ text: String) -> Bool {
        (1...200).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._".utf8.contains($0) }
    }

    /// The name of a caller: letters, digits, and `-`, `.`, `_`, `@`.
    static func isCallerName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._@".utf8.contains($0) }
    }

    /// The operator's name for a revision of policies: letters, digits, and `-._:/+`.
    static func isRevisionLabel(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._:/+".utf8.contains($0) }
    }

    /// A service that App Check protects: letters, digits, and `-`, `.`, `_`, a letter or a digit first.
    static func isServiceID(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count) && text.utf8.first.map(\.isASCIILetterOrDigit) ?? false
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._".utf8.contains($0) }
    }

    /// The text before a project's number in `iss`: an https URL that ends in a slash.
    static func isIssuerPrefix(_ text: String) -> Bool {
        text.starts(withExactly: "https://") && text.ends(withExactly: "/") && text.utf8.count > "https:///".utf8.count
            && text.utf8.count <= 255 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
