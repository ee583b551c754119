public import AssayCore
public import Hummingbird

/// A request context in which ``AppCheckMiddleware`` leaves what it found.
///
///     struct Context: AppCheckRequestContext {
///         var coreContext: CoreRequestContextStorage
///         var appCheckToken: VerifiedToken?
///
///         init(source: Source) { coreContext = .init(source: source) }
///     }
public protocol AppCheckRequestContext: RequestContext {
    /// The token that came with the request, verified; nil when it was missing or invalid, or not checked. Nil at the
    /// beginning.
    var appCheckToken: VerifiedToken? { get set }
}
