import AssayClient

/// A transport of the program's own.
///
/// This one answers itself, where another would open a connection.
struct OwnTransport: ClientTransport {
    func send(_ request: ClientRequest) async throws -> ClientResponse {
        let refusal = #"{"error":{"code":403,"message":"App attestation failed.","status":"PERMISSION_DENIED"}}"#
        return ClientResponse(
            status: 403, headers: [ClientHeader("x-assay-decision", "01KBH5")], body: Array(refusal.utf8))
    }
}

let appCheck = try AppCheck(
    app: "projects/1234567890/apps/1:1234567890:ios:321abc456def7890", endpoint: "https://assay.example.com",
    provider: DebugProvider(debugToken: "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10"),
    options: AppCheckOptions(transport: OwnTransport(), storage: MemoryStorage()))
do {
    print(try await appCheck.token().text)
} catch {
    print("\(error.code), decision \(error.decision ?? "none")")
}
