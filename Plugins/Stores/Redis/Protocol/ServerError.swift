internal import AssayCore

/// An error that a server answered with, read by what it is and not by how it is wrapped.
///
/// A refusal outside of scripts begins with its word: `READONLY You can't write against a read only replica.` Of a command
/// in a script, Redis before 7 says `ERR Error running script (call to f_…): @user_script:7: @user_script: 7: -READONLY
/// You can't …`, and Redis 7, 8 and Valkey say `READONLY You can't … script: …, on @user_script:7.`
struct ServerError: Sendable, Hashable {
    /// What a server refuses; the raw value is its word, where servers have one for it.
    enum Kind: String, Sendable, CaseIterable {
        case wrongPassword = "WRONGPASS"
        case passwordNeeded = "NOAUTH"
        case notPermitted = "NOPERM"
        case isProtected = "DENIED"
        case loading = "LOADING"
        case readOnly = "READONLY"
        case masterDown = "MASTERDOWN"
        /// A write waited for its confirmation when the server became a replica.
        case unblocked = "UNBLOCKED"
        case noReplicas = "NOREPLICAS"
        case clusterDown = "CLUSTERDOWN"
        case tryAgain = "TRYAGAIN"
        case moved = "MOVED"
        case ask = "ASK"
        case crossSlot = "CROSSSLOT"
        case outOfMemory = "OOM"
        case diskFailed = "MISCONF"
        case busy = "BUSY"
        case unkillable = "UNKILLABLE"
        case noScript = "NOSCRIPT"
        /// The store's own word, see ``Script``.
        case replaced = "ASSAYREPLACED"
        case tooManyClients = "MAXCLIENTS"
        case unknownCommand = "ERR unknown command"
        case notDurable = "ERR WAITAOF"
        case other = "ERR"
    }

    let kind: Kind
    /// The server's words, which name neither keys nor values of this store.
    @Exact private(set) var text: String

    init(_ text: String) {
        kind = Self.kind(of: text)
        self.text = text
    }

    private static func kind(of text: String) -> Kind {
        let bare = unwrapped(text)
        let word = bare.prefix(upTo: bare.firstIndex(ofASCII: " "))
        if let kind = Kind(exactly: word), kind != .other { return kind }
        for (phrase, kind) in phrases where text.utf8.contains(phrase.utf8) { return kind }
        return .other
    }

    /// What servers say without a word of its own.
    private static let phrases: [(String, Kind)] = [
        ("user executing the script", .notPermitted), ("max number of clients", .tooManyClients),
        // WAIT and WAITAOF at a server that has become a replica, and WAITAOF at one that lost its append-only file.
        ("cannot be used with replica instances", .readOnly),
        ("when numlocal is set but appendonly is disabled", .notDurable),
        ("unknown command", .unknownCommand), ("Unknown Redis command", .unknownCommand),
        ("This Redis command is not allowed", .unknownCommand),
    ]

    /// An error without what a server puts around it when a command of a script fails.
    private static func unwrapped(_ text: String) -> Substring {
        var rest = Substring(text)
        if rest.starts(withExactly: "ERR Error running script"), let end = rest.after("): ") { rest = end }
        // Where in the script; Redis 6.2 says it twice.
        while rest.starts(withExactly: "@user_script:") {
            guard let end = rest.after(":")?.after(": ") else { break }
            rest = end
        }
        return rest.starts(withExactly: "-") ? Substring(rest.utf8.dropFirst()) : rest
    }
}

extension Substring {
    /// What follows the first occurrence of a text.
    fileprivate func after(_ mark: String) -> Substring? {
        utf8.firstRange(of: mark.utf8).map { Substring(utf8[$0.upperBound...]) }
    }
}
