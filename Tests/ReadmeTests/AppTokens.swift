import AssayClient
import AssayClientHTTP

/// The tokens of an app on a machine without `URLSession`.
func makeAppCheck() throws -> AppCheck {
    try AppCheck(
        app: "projects/1234567890/apps/1:1234567890:ios:321abc456def7890", endpoint: "https://assay.example.com",
        provider: DebugProvider(), options: AppCheckOptions(transport: HTTPClientTransport()))
}

/// The orders, from a backend that wants a token.
func orders(_ appCheck: AppCheck, _ transport: any ClientTransport) async throws(AppCheckError) -> [UInt8] {
    let calls = ProtectedCalls(appCheck: appCheck, transport: transport)
    return try await calls.send(ClientRequest(url: "https://api.example.com/orders")).body
}

/// Keeps the token fresh while it runs, and prints what a developer has to mend.
func keepFresh(_ appCheck: AppCheck) async {
    for await update in appCheck.updates {
        if case .failure(let error) = update, !error.isTransient { print(error) }
    }
}
