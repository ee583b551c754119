public import AssayCore
public import Hummingbird

/// A request context in which ``AppCheckMiddleware`` stores the verified token.
///
///     struct Context: AppCheckRequestContext {
///         var coreContext: CoreRequestContextStorage
///         var appCheckToken: VerifiedToken?
///
///         init(source: Source) { coreContext = .init(source: source) }
///     }
public protocol AppCheckRequestContext: RequestContext {
    /// The verified token of the request; nil when it was missing, invalid or not checked. Initially nil.
    var appCheckToken: VerifiedToken? { get set }
}
