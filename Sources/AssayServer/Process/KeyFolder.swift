internal import AssayCore
package import AssayEngine
package import AssayKit

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The default place of the keys, and of what else a server keeps.
package enum KeyFolder {
    /// Next to the database of the state; without one on this machine, in the user's folder for state
    /// (`$XDG_STATE_HOME/assay/keys`).
    ///
    /// - Parameters:
    ///   - content: what is in the folder, as its name says it.
    ///   - stores: the stores that there are.
    ///   - variable: reads a variable of the environment.
    /// - Throws: ``KeyError`` when nothing says where the user's folder is: keys in the current folder would be found by
    ///   chance only.
    package static func standard(
        forState state: String, content: String = "keys", among stores: [StorageDescriptor],
        variable: (String) -> String? = { Self.variable($0) }
    ) throws(KeyError) -> String {
        if !StateName(state, among: stores).isOnServers, let colon = state.firstIndex(ofASCII: ":"),
            !state[colon...].starts(withExactly: "://")
        {
            return "\(state[state.index(after: colon)...])-\(content)"
        }
        if let folder = variable("XDG_STATE_HOME") { return "\(folder)/assay/\(content)" }
        guard let home = variable("HOME") else {
            throw KeyError(
                "neither HOME nor XDG_STATE_HOME is set, so that there is no standard folder for \(content): name one with "
                    + (content.isExactly("keys") ? "--keys" : "--bundle-folder"))
        }
        return "\(home)/.local/state/assay/\(content)"
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}
