/// The users of a file, and whether a secret may be in it.
struct FileAccess {
    /// An entry of an access control list (acl(5)).
    struct Grant {
        enum Subject {
            case user(UInt32)
            case group(UInt32)
            /// The group that the file belongs to.
            case owningGroup
        }

        let subject: Subject
        /// Read 4, write 2, execute 1; rights that the list's mask removes are not included.
        let rights: UInt32
    }

    let owner: UInt32
    let group: UInt32
    /// The mode; of a file with an access control list, the bits of the group are the list's mask.
    let mode: UInt32
    /// The access control list; nil for a file without one.
    let grants: [Grant]?

    private static let reading: UInt32 = 4

    /// Why a process does not take the file for a secret, with the command that mends it; nil when it does.
    func problem(for process: ProcessIdentity, path: String) -> String? {
        let place = "\(path) has mode \(octal) and belongs to user \(owner) and group \(group)"
        guard process.trusts(owner) else {
            let owners =
                process.user == 0
                ? "root, as whom this process runs; as the user whose file it is, it would be accepted. Run this command as that "
                    + "user, or for a server that runs as root "
                : "root or to user \(process.user), which this process runs as; "
            return "\(place): a secret must belong to \(owners)\(mending(process, path))"
        }
        if mode & 0o007 != 0 {
            return
                "\(place): every user of this machine has rights on it, and it is a secret; \(mending(process, path))"
        }
        for grant in grants ?? [Grant(subject: .owningGroup, rights: mode >> 3 & 7)] where grant.rights != 0 {
            switch grant.subject {
            case .user(let user):
                guard !process.trusts(user) else { continue }
                // The mask of the list is the mode of the group, and removes rights.
                return "\(place): its access control list gives rights to user \(user), and it is a secret; run "
                    + "`chmod 600 \(quoted(path))`"
            case .owningGroup, .group:
                var id = group
                if case .group(let named) = grant.subject { id = named }
                guard process.groups.contains(id) else {
                    return
                        "\(place): group \(id), which this process is not a member of, has rights on it, and it is a "
                        + "secret; \(mending(process, path))"
                }
                guard grant.rights & ~FileAccess.reading == 0 else {
                    return "\(place): group \(id) may do more than read it, and it is a secret; "
                        + mending(process, path)
                }
            }
        }
        return nil
    }

    private var octal: String {
        let digits = String(mode & 0o7777, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    /// The command after which the process can read the file, and other users cannot.
    private func mending(_ process: ProcessIdentity, _ path: String) -> String {
        let isOfGroup = process.groups.contains(group) && mode & 0o040 != 0
        let file = quoted(path)
        if owner == process.user || process.user == 0 && process.trusts(owner) { return "run `chmod 600 \(file)`" }
        // A user that is not root reads a file of root through its group only.
        if process.trusts(owner), isOfGroup { return "run `chmod 640 \(file)`" }
        return "run `chown \(process.user == 0 ? "root" : "\(process.user)") \(file) && chmod 600 \(file)`"
    }

    private func quoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { $0.isASCIILetterOrDigit || "/._-+:@%=,".utf8.contains($0) }
        return isPlain ? path : "'\(path.split(onASCII: "'").joined(separator: "'\\''"))'"
    }

    /// Reads an access control list as Linux keeps it (`linux/posix_acl_xattr.h`).
    ///
    /// - Returns: nil for bytes of another form.
    static func grants(_ bytes: [UInt8]) -> [Grant]? {
        func number(_ start: Int, _ count: Int) -> UInt32 {
            bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        guard bytes.count >= 4, bytes.count % 8 == 4, number(0, 4) == 2 else { return nil }
        let entries = stride(from: 4, to: bytes.count, by: 8).map { start in
            (tag: number(start, 2), rights: number(start + 2, 2), id: number(start + 4, 4))
        }
        let mask = entries.first { $0.tag == 0x10 }?.rights ?? 7
        return entries.compactMap { entry in
            switch entry.tag {
            case 0x02: Grant(subject: .user(entry.id), rights: entry.rights & mask)
            case 0x04: Grant(subject: .owningGroup, rights: entry.rights & mask)
            case 0x08: Grant(subject: .group(entry.id), rights: entry.rights & mask)
            default: nil
            }
        }
    }
}

/// The user and the groups that a process runs as.
struct ProcessIdentity {
    let user: UInt32
    /// The effective group and the supplementary ones.
    let groups: Set<UInt32>
    /// Trusted owners in addition to root and the user itself.
    var trustedOwners: Set<UInt32> = []

    init(user: UInt32, groups: Set<UInt32>) {
        self.user = user
        self.groups = groups
    }

    func trusts(_ owner: UInt32) -> Bool { owner == 0 || owner == user || trustedOwners.contains(owner) }
}
