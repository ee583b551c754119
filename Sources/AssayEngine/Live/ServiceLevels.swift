package import AssayCore

/// The level of protection of a service.
package struct ServiceLevels: Sendable, Hashable {
    package var enforcement: EnforcementMode
    package var replayProtection: EnforcementMode

    package init(enforcement: EnforcementMode = .off, replayProtection: EnforcementMode = .off) {
        self.enforcement = enforcement
        self.replayProtection = replayProtection
    }
}
