public import AssayKit

/// What a simulated server does with a request.
public enum ScriptedAnswer: Sendable {
    /// What it does when nobody told it otherwise.
    case proceed
    case respond(OutboundResponse)
    /// Nothing at all: the caller's time runs out.
    case silence
    /// The response but for its end: the caller's time runs out while it reads.
    case stall(OutboundResponse)
    /// The connection is closed without a word.
    case hangUp
}
