internal import AssayKit

/// A resource's name as a caller wrote it, taken apart.
enum ResourceName: Sendable, Equatable {
    case app(project: String, app: String)
    case oauthClient(String)
    case project(String)

    /// - Throws: ``InvalidRequest`` when the name has not the form of one; it says nothing of what exists.
    init(_ text: String) throws(InvalidRequest) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard text.utf8.count <= 512 else { throw InvalidRequest("the resource name is too long") }
        switch (parts.count, parts.first) {
        case (4, "projects") where parts[2] == "apps":
            guard ResourceName.isWord(parts[1]) else { throw InvalidRequest("the project is malformed") }
            guard ResourceName.isAppID(parts[3]) else { throw InvalidRequest("the app ID is malformed") }
            self = .app(project: parts[1], app: parts[3])
        case (2, "oauthClients"):
            guard ResourceName.isWord(parts[1]) else { throw InvalidRequest("the OAuth client ID is malformed") }
            self = .oauthClient(parts[1])
        case (2, "projects"):
            guard ResourceName.isWord(parts[1]) else { throw InvalidRequest("the project is malformed") }
            self = .project(parts[1])
        default:
            throw InvalidRequest("the resource must be projects/*/apps/*, oauthClients/* or projects/*")
        }
    }

    /// The name in one spelling.
    var text: String {
        switch self {
        case .app(let project, let app): "projects/\(project)/apps/\(app)"
        case .oauthClient(let id): "oauthClients/\(id)"
        case .project(let project): "projects/\(project)"
        }
    }

    /// Letters, digits, and `-`, `.`, `_`, `:` (of domain-scoped project IDs): what Google's identifiers are made of.
    static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 200
            && text.utf8.allSatisfy { byte in
                byte.isLetterOrDigit || "-._:".utf8.contains(byte)
            }
    }

    /// `1:NUMBER:PLATFORM:HEX`, the form of a Firebase app ID.
    static func isAppID(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return text.utf8.count <= 200 && parts.count == 4
            && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(\.isLetterOrDigit) }
            && parts[0].utf8.allSatisfy(\.isDigit) && parts[1].utf8.allSatisfy(\.isDigit)
    }
}

extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isLetterOrDigit: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}
