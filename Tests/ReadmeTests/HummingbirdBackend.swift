import AssayCore
import AssayHummingbird
import AssayVerifier
import Hummingbird

struct OrdersContext: AppCheckRequestContext {
    var coreContext: CoreRequestContextStorage
    var appCheckToken: VerifiedToken?

    init(source: Source) { coreContext = .init(source: source) }
}

func ordersRouter(_ verifier: AppCheckVerifier) -> Router<OrdersContext> {
    let router = Router(context: OrdersContext.self)
    router.add(middleware: AppCheckMiddleware(verifier))
    router.get("/orders") { request, context in "orders of \(context.appCheckToken?.subject ?? "nobody")" }
    return router
}
