public import AssayKit
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
    /// The token that came with the request, verified; nil where there was no good one, or nobody looked. Nil at the
    /// beginning.
    var appCheckToken: VerifiedToken? { get set }
}
