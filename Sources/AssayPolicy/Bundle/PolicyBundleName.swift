internal import AssayCore

/// The names that a file of a ``PolicyBundle`` may have: those of policies in a folder, of letters, digits, `.`, `_` and `-`.
public enum PolicyBundleName: Sendable {
    private static let lengthLimit = 128

    /// Why a file must not have a name, and what to do; nil for a name that it may have.
    public static func problem(_ name: String) -> String? {
        let shown = "`\(LogField.words(name, limit: 60))`"
        if name.isExactlyIgnoringASCIICase(PolicyDirectory.pluginsName) {
            return
                "\(shown) starts programs, which a bundle must not do: leave it out, put it into a folder on each server, and "
                + "name the folder with --bundle-plugins"
        }
        guard (1...lengthLimit).contains(name.utf8.count), name.utf8.allSatisfy(isAllowed),
            !name.starts(withExactly: "."), !name.starts(withExactly: "-")
        else {
            return
                "the name \(shown) is not possible in a bundle: use up to \(lengthLimit) letters, digits, `.`, `_` and `-` "
                + "without a folder, not beginning with `.` or `-`"
        }
        guard PolicyDirectory.kind(of: name) == .policies else {
            return
                "\(shown) is not the name of a policy file: it ends in .yaml or .yml, and tests (*_test.yaml) are left out"
        }
        return nil
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "._-".utf8.contains(byte)
    }
}
