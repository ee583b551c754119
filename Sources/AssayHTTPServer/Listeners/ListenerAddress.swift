/// The address of a listener.
@nonexhaustive public enum ListenerAddress: Sendable, CustomStringConvertible {
    /// An address or a name, and a port; 0 for any free one.
    case host(String, port: Int)
    /// The path of a Unix domain socket, and the permissions of its file. With 0600 only the process's own user may connect.
    ///
    /// A file that no server listens on any more is replaced; one that is in use is not. It is removed at the end.
    case unixSocket(String, mode: UInt16 = 0o600)
    /// A socket that systemd listens on for this process: the one with a name (`FileDescriptorName=`), or the only one.
    case systemd(name: String? = nil)

    /// `host:port` with an IPv6 address in brackets, `unix:` and a path, or `systemd:` and a name.
    public var description: String {
        switch self {
        case .host(let host, let port): host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unixSocket(let path, _): "unix:\(path)"
        case .systemd(let name): "systemd:\(name ?? "")"
        }
    }

    /// The port; nil if there is none, or it is unknown.
    public var port: Int? {
        if case .host(_, let port) = self { port } else { nil }
    }
}
