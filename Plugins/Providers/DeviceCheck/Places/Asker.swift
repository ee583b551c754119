internal import AssayKit

/// For whom a vendor is asked.
struct Asker: Sendable {
    /// What is known of a peer. Where places are scarce, or the vendor asks for fewer questions, the higher goes first.
    enum Standing: Int, Sendable, CaseIterable, Comparable {
        /// The vendor called many of its tokens bad lately.
        case suspect
        case unknown
        /// Evidence of the peer was verified lately, or the caller has a permission.
        case verified

        static func < (left: Standing, right: Standing) -> Bool { left.rawValue < right.rawValue }
    }

    let peer: PeerGroup
    let standing: Standing
}
