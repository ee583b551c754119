internal import AssayCore
internal import CLibPQ

/// What libpq is told: the settings of the location, and those that the store adds.
struct ConnectionSettings: Sendable, CustomStringConvertible, CustomReflectable {
    /// libpq's keywords with their values; one of them may be a password.
    private let values: [(keyword: String, value: String)]
    private let password: SecretReference?
    /// The database, for messages: never with a password.
    let place: String

    /// Reads libpq's part of a location with libpq's own parser.
    ///
    /// - Throws: when libpq does not accept it; what it says is not repeated, since it may quote a password.
    init(_ location: PostgresLocation) throws(PostgresStoreError) {
        guard let options = PQconninfoParse(location.target, nil) else {
            throw Self.invalid(location.target)
        }
        defer { PQconninfoFree(options) }
        var values: [(keyword: String, value: String)] = []
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val { values.append((String(cString: keyword), String(cString: value))) }
            next = next.successor()
        }
        self.values = values
        self.password = location.password
        func value(_ keyword: String) -> String? { values.last { $0.keyword.isExactly(keyword) }?.value }
        // What was read as a host, a port or a database may be a part of a password, which must not be shown.
        let isPort = (value("port") ?? "").utf8.allSatisfy { $0 == UInt8(ascii: ",") || (0x30...0x39).contains($0) }
        guard !location.target.holds("://") || (isPort && !Self.hasStrayAt(location.target)) else {
            throw PostgresStoreError(
                .invalidLocation,
                "postgres: the URL has a character in its user or password that must be percent-encoded, such as @ as %40 "
                    + "and / as %2F; better, leave the password out and add #password=file:PATH")
        }
        let user = value("user").map { "\($0)@" } ?? ""
        let host = value("host") ?? value("hostaddr") ?? value("service").map { "service \($0)" } ?? "local socket"
        // Several hosts without ports have a list of nothing.
        let ports = value("port") ?? ""
        let port = ports.utf8.allSatisfy { $0 == UInt8(ascii: ",") } ? "" : ":\(ports)"
        place = "\(user)\(host)\(port)/\(value("dbname") ?? ""), schema \(location.schema)"
    }

    /// What is wrong with a location that libpq does not accept.
    ///
    /// No part of it is repeated: what looks like a parameter may be the rest of a password.
    private static func invalid(_ target: String) -> PostgresStoreError {
        if let unknown = unknownParameter(target) {
            return PostgresStoreError(
                .invalidLocation,
                "postgres: parameter \(unknown) after the ? of the URL is none of libpq's, such as sslmode, sslrootcert, "
                    + "target_session_attrs or connect_timeout; Assay's own options are written after a #")
        }
        return PostgresStoreError(
            .invalidLocation,
            "postgres: neither a URL such as postgres://user@host/database nor libpq's KEYWORD=VALUE settings; "
                + "special characters in a URL are percent-encoded")
    }

    /// The place among the parameters of a URL, from 1, of the first that libpq does not know; nil when there is none.
    private static func unknownParameter(_ target: String) -> Int? {
        guard target.holds("://"), let start = target.firstIndex(ofASCII: "?"), let defaults = PQconndefaults() else {
            return nil
        }
        defer { PQconninfoFree(defaults) }
        // This one is for URLs only.
        var known = ["ssl"]
        var next = defaults
        while let keyword = next.pointee.keyword {
            known.append(String(cString: keyword))
            next = next.successor()
        }
        let parameters = target[target.index(after: start)...].split(onASCII: "&")
        let place = parameters.firstIndex { parameter in
            let name = String(parameter.split(onASCII: "=", maxSplits: 1).first ?? "")
            return !known.contains(exactly: name)
        }
        return place.map { $0 + 1 }
    }

    /// Whether a URL has an @ in its path, or a second one before it: after a password with a slash or an @.
    private static func hasStrayAt(_ target: String) -> Bool {
        let parts = (target.split(onASCII: "?", maxSplits: 1).first ?? "").split(onASCII: "/")
        return parts.dropFirst(2).enumerated().contains { index, part in
            part.utf8.count { $0 == UInt8(ascii: "@") } > (index == 0 ? 1 : 0)
        }
    }

    /// Whether the location itself has a password.
    var showsPassword: Bool { !(value("password") ?? "").isEmpty }

    /// The same as ``place``.
    var description: String { place }

    /// Nothing: a mirror would show the password.
    var customMirror: Mirror { Mirror(self, children: [Mirror.Child]()) }

    private func value(_ keyword: String) -> String? { values.last { $0.keyword.isExactly(keyword) }?.value }

    /// Whether a server on another machine is not checked to be the one that is meant.
    var isUnverified: Bool {
        if let mode = value("sslmode"), mode.isExactly("verify-full") { return false }
        let hosts = (value("hostaddr") ?? value("host") ?? "").split(onASCII: ",")
        return !hosts.allSatisfy { host in
            let local = ["localhost", "127.0.0.1", "::1", ""]
            let isSocket = host.starts(withExactly: "/") || host.starts(withExactly: "@")
            return isSocket || local.contains(exactly: String(host))
        }
    }

    /// Calls a body with the keywords and values for one connection; the password is read again for each, so that it can change.
    func withKeywords<T>(
        connectTimeout: Int64, _ body: ([UnsafePointer<CChar>?], [UnsafePointer<CChar>?]) -> T
    ) throws(PostgresStoreError) -> T {
        var all = values
        func add(_ keyword: String, _ text: String) {
            if value(keyword).isNil { all.append((keyword, text)) }
        }
        add("fallback_application_name", "assay")
        add("connect_timeout", "\(connectTimeout)")
        if (value("host") ?? "").utf8.contains(UInt8(ascii: ",")) { add("target_session_attrs", "read-write") }
        all.append(("client_encoding", "UTF8"))
        if let password { all.append(("password", try Self.resolve(password))) }
        let keywords = all.map { Self.copy($0.keyword) }
        let texts = all.map { Self.copy($0.value) }
        defer { for text in keywords + texts { Self.erase(text) } }
        let names: [UnsafePointer<CChar>?] = keywords.map { UnsafePointer($0) }
        let contents: [UnsafePointer<CChar>?] = texts.map { UnsafePointer($0) }
        return body(names + [nil], contents + [nil])
    }

    private static func resolve(_ reference: SecretReference) throws(PostgresStoreError) -> String {
        do throws(SecretError) {
            guard let bytes = try SecretSource.system.resolve(reference), !bytes.isEmpty, !bytes.contains(0) else {
                throw SecretError("\(reference) has no value")
            }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            throw PostgresStoreError(.wrongCredentials, "postgres: the password: \(error)")
        }
    }

    private static func copy(_ text: String) -> UnsafeMutablePointer<CChar> {
        let bytes = Array(text.utf8CString)
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        copy.initialize(from: bytes, count: bytes.count)
        return copy
    }

    private static func erase(_ text: UnsafeMutablePointer<CChar>) {
        var next = text
        while next.pointee != 0 {
            next.pointee = 0
            next = next.successor()
        }
        text.deallocate()
    }

    /// A message of libpq in one line, without the password should it ever be there.
    func redacted(_ text: String) -> String {
        let lines = text.split(onASCII: "\n").map { String($0.trimmedASCII) }
        let line = lines.filter { !$0.isEmpty }.joined(separator: "; ")
        guard let secret = value("password"), !secret.isEmpty else { return line.bounded }
        return line.replacing(exactly: secret, with: "…").bounded
    }
}

extension String {
    /// As much of what a server says as a message shows.
    var bounded: String { String(decoding: utf8.prefix(2000), as: UTF8.self) }

    /// Whether the UTF-8 bytes of a text occur in this one.
    func holds(_ text: String) -> Bool { position(of: Array(text.utf8), in: Array(utf8), from: 0) != nil }

    func replacing(exactly text: String, with other: String) -> String {
        let (bytes, sought) = (Array(utf8), Array(text.utf8))
        var (result, start): ([UInt8], Int) = ([], 0)
        while let found = position(of: sought, in: bytes, from: start) {
            result += bytes[start..<found] + Array(other.utf8)
            start = found + sought.count
        }
        return String(decoding: result + bytes[start...], as: UTF8.self)
    }

    private func position(of sought: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard !sought.isEmpty, bytes.count - start >= sought.count else { return nil }
        return (start...bytes.count - sought.count).first { bytes[$0..<$0 + sought.count].elementsEqual(sought) }
    }
}
