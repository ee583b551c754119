public import AssayCore

/// Why a store in Redis or Valkey could not be opened, or an operation on it could not be carried out.
///
/// An operation that throws has no effect, or one that the caller must not rely on: after ``Code/timedOut``,
/// ``Code/connectionLost``, ``Code/badAnswer`` and ``Code/notConfirmed`` the server may have made the change.
public struct RedisStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong; stable, for programs.
    public enum Code: String, Sendable, Hashable {
        /// The location is not a URL of this store, or one of its options is unknown or invalid.
        case invalidLocation
        /// The password or a file for TLS cannot be read.
        case secretUnavailable
        /// The name of the server cannot be resolved.
        case unknownHost
        /// Nothing listens at the address.
        case connectionRefused
        /// The server cannot be reached for another reason.
        case cannotConnect
        /// The server's certificate is not trusted, or is not of its name.
        case certificateRejected
        /// TLS failed for another reason.
        case tlsFailed
        /// The server does not accept the user or the password, or demands one.
        case wrongCredentials
        /// The server's access control list does not let the user do what is necessary.
        case notPermitted
        /// The server is older than Redis 6.2, or lacks a command.
        case unsupportedServer
        /// The server is a replica, or no sentinel knows a master.
        case notMaster
        /// The server is set up in a way that forgets acknowledged writes.
        case mayForget
        /// The server reads its data after a start.
        case loading
        /// The server refuses writes now: it lacks replicas, or became a replica.
        case readOnly
        /// The cluster does not serve the slot of a key.
        case clusterDown
        /// The server has reached its `maxmemory`.
        case outOfMemory
        /// The server cannot write to its disk.
        case diskFailed
        /// The data was lost or replaced while the store had it open.
        case replaced
        /// The server runs a script of another client for long, and refuses everything else.
        case busy
        /// The server did not answer in time.
        case timedOut
        /// The connection was lost before the answer.
        case connectionLost
        /// The write was made, but the disk or the replicas did not confirm it in time.
        case notConfirmed
        /// More operations wait than the store accepts.
        case overloaded
        /// A space, a name, a value or a limit is larger than the store accepts.
        case tooLarge
        /// The server's answer is not one of the protocol, or exceeds a bound.
        case badAnswer
        /// The store was closed.
        case closed
        /// Any other error of the server or the operating system.
        case failed
    }

    /// What kind of error it is.
    public let code: Code
    /// What happened and what to do, in words, with the address of the server; never a secret.
    @Exact public private(set) var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code, followed by the message.
    public var description: String { "\(code.rawValue): \(message)" }
}

extension RedisStoreError {
    /// The meaning of an error that a server answered with.
    init(answer error: ServerError, from server: String) {
        let (code, meaning) = error.kind.meaning
        self.init(code, "\(server): \(meaning): \(Self.shortened(error.text))")
    }

    /// Text of a server, bounded and without what would forge lines of a log.
    static func shortened(_ text: String) -> String {
        String(
            decoding: text.utf8.prefix(200).map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    /// Whether the server stays unusable until another connection is made and verified: it may be another server then, or
    /// the same one in another state.
    ///
    /// After any other error of a server the next operation is sent over the same connection.
    var endsConnection: Bool {
        switch code {
        case .readOnly, .loading, .replaced, .wrongCredentials, .badAnswer, .notMaster, .mayForget: true
        default: false
        }
    }

    /// Whether it is about the way to the server, or about a server that takes no work now: it ends without this program.
    var isOutage: Bool {
        switch code {
        case .unknownHost, .connectionRefused, .cannotConnect, .certificateRejected, .tlsFailed, .wrongCredentials,
            .notMaster, .mayForget, .loading, .readOnly, .clusterDown, .outOfMemory, .diskFailed, .replaced, .busy,
            .timedOut, .connectionLost, .notConfirmed, .overloaded:
            true
        case .invalidLocation, .secretUnavailable, .notPermitted, .unsupportedServer, .tooLarge, .badAnswer, .closed,
            .failed:
            false
        }
    }
}

extension ServerError.Kind {
    /// What it is for a caller of the store, and what an operator should know.
    ///
    /// What a server refuses with one of these words it has not carried out, except ``unblocked``, ``readOnly`` and
    /// ``notDurable`` as answers to the question whether a write was kept.
    var meaning: (RedisStoreError.Code, String) {
        switch self {
        case .wrongPassword:
            (.wrongCredentials, "the user or the password is wrong; see the user's entry in the server's ACL")
        case .passwordNeeded:
            (.wrongCredentials, "the server demands a password: add #password=file:PATH or #password=env:NAME")
        case .isProtected:
            (.wrongCredentials, "the server is in protected mode: give its user a password, and name it with #password")
        case .notPermitted:
            (.notPermitted, "the server's ACL does not permit this; the store's article lists what it needs")
        case .loading: (.loading, "the server reads its data after a start; the store tries again by itself")
        case .readOnly, .unblocked:
            (.readOnly, "the server has become a replica; the store looks for the master by itself")
        case .masterDown: (.readOnly, "the server is a replica without its master")
        case .noReplicas: (.readOnly, "the server lacks the replicas that its min-replicas-to-write demands")
        case .clusterDown: (.clusterDown, "the cluster does not serve now")
        case .tryAgain, .moved, .ask: (.clusterDown, "the keys are on the way to another server of the cluster")
        case .crossSlot: (.failed, "the keys are of different slots")
        case .outOfMemory: (.outOfMemory, "the server has reached its maxmemory: raise it, nothing was evicted")
        case .diskFailed: (.diskFailed, "the server cannot write to its disk and refuses writes")
        case .busy, .unkillable:
            (.busy, "the server runs a script of another client for long; see SCRIPT KILL")
        case .noScript: (.failed, "the server forgets its scripts as soon as it has them")
        case .replaced: (.replaced, "the data was lost or replaced while it was in use")
        case .tooManyClients: (.cannotConnect, "the server has too many clients: raise its maxclients")
        case .unknownCommand: (.unsupportedServer, "the server lacks a command, or it was renamed")
        case .notDurable: (.mayForget, "the server has no append-only file any more: set `appendonly yes`")
        case .other: (.failed, "the server reports an error")
        }
    }
}
