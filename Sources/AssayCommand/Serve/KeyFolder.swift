internal import AssayCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The default place of the keys.
enum KeyFolder {
    /// Next to the database of the state; without one on this machine, in the user's folder for state
    /// (`$XDG_STATE_HOME/assay/keys`).
    static func standard(forState state: String) -> String {
        if !StateName(state).isOnServers, let colon = state.firstIndex(of: ":"),
            !state[colon...].starts(withExactly: "://")
        {
            return "\(state[state.index(after: colon)...])-keys"
        }
        if let folder = variable("XDG_STATE_HOME") { return "\(folder)/assay/keys" }
        return "\(variable("HOME") ?? ".")/.local/state/assay/keys"
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}
