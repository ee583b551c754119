internal import AssayCore

/// Which paths a route is for.
struct RoutePath: Sendable, Hashable {
    /// The paths of a route in addition to its own.
    enum Extent: Sendable, Hashable {
        /// `/bank`: nothing.
        case exact
        /// `/bank/*` and `/bank*`: all paths that begin with it.
        case prefix
        /// `/bank/**`: all paths below it, and the path with any suffix, such as `/bank.json`, `/bank:pay` and
        /// `/bank(1)`; but not `/banking`, `/bank-2` and `/bank_2`.
        case tree
    }

    private let path: [UInt8]
    /// As ``path``, in lower case, and with a slash at the end where the extent is exact.
    private let folded: [UInt8]
    private let extent: Extent

    /// - Parameter text: as a policy writes it.
    /// - Returns: nil for a path that no request could have, or that could be spelled in several ways.
    init?(_ text: String) {
        let (base, extent): (Substring, Extent) =
            if text.ends(withExactly: "/**") {
                (text.dropLast(3), .tree)
            } else if text.ends(withExactly: "*") {
                (text.dropLast(), .prefix)
            } else {
                (text[...], .exact)
            }
        // A query is not part of a path, and removing it silently would change the route.
        guard !base.utf8.contains(where: { "*?#".utf8.contains($0) }) else { return nil }
        if base.isEmpty, extent == .tree {
            self.path = []
        } else {
            guard case .clear(_, let path) = RequestTarget("GET", String(base)),
                !RequestTarget.hasOtherSpellings(path), extent != .tree || path.last != UInt8(ascii: "/")
            else { return nil }
            self.path = path
        }
        self.extent = extent
        folded = extent == .exact ? RoutePath.folded(path) : path.map(\.lowercasedASCII)
    }

    /// Whether the path plays no part: the route is for all of them.
    var isForAll: Bool {
        switch extent {
        case .exact: false
        case .prefix: path == [UInt8(ascii: "/")]
        case .tree: path.isEmpty
        }
    }

    func covers(_ target: [UInt8]) -> Bool { covers(target, from: path) }

    /// Whether it would cover a path for a backend that ignores letter case, or a slash at the end.
    ///
    /// - Parameter target: the path, folded.
    func nearlyCovers(folded target: [UInt8]) -> Bool { covers(target, from: folded) }

    private func covers(_ target: [UInt8], from path: [UInt8]) -> Bool {
        switch extent {
        case .exact: target == path
        case .prefix: target.starts(with: path)
        case .tree: target.starts(with: path) && !(target.dropFirst(path.count).first.map(RoutePath.goesOn) ?? false)
        }
    }

    /// Whether a byte after a word makes it a longer word, rather than adding a suffix.
    private static func goesOn(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte >= 0x80
    }

    /// A path in lower case, and with a slash at the end.
    static func folded(_ path: [UInt8]) -> [UInt8] {
        path.map(\.lowercasedASCII) + (path.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")])
    }
}

extension RoutePath {
    /// Whether it covers every path of another route.
    func coversAll(of other: RoutePath) -> Bool { covers(all: other, by: \.path) }

    /// The same for a backend that ignores letter case, or a slash at the end: no request is then certain to mean the
    /// other route.
    func nearlyCovers(_ other: RoutePath) -> Bool { covers(all: other, by: \.folded) }

    private func covers(all other: RoutePath, by spelling: KeyPath<RoutePath, [UInt8]>) -> Bool {
        if isForAll { return true }
        let (mine, theirs) = (self[keyPath: spelling], other[keyPath: spelling])
        switch (extent, other.extent) {
        case (.exact, .exact): return mine == theirs
        case (.exact, .prefix), (.exact, .tree): return false
        case (.prefix, _): return theirs.starts(with: mine)
        case (.tree, .exact): return covers(theirs, from: mine)
        case (.tree, .tree) where theirs == mine: return true
        // The rest of the path must not make its last word longer.
        case (.tree, .prefix), (.tree, .tree): return theirs.count > mine.count && covers(theirs, from: mine)
        }
    }
}
