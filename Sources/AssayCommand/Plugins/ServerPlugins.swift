internal import AssayCore
internal import AssayKit
internal import AssayServer

/// What a running server says of its plugins, on the page `/plugins` for operators.
enum ServerPlugins {
    /// How many plugins and how much text of them are believed.
    private enum Limit {
        static let bytes = 1_048_576
        static let plugins = 4096
    }

    /// - Throws: ``ServerPluginsError`` when there is no such page, and `OutboundFailure` when nothing answers.
    static func ask(_ url: EndpointURL, through client: any OutboundHTTP) async throws -> [PluginHealth] {
        guard let page = url.appending("/plugins") else {
            throw ServerPluginsError("\(url): a URL without a query is needed, such as http://127.0.0.1:9090")
        }
        let response = try await client.send(OutboundRequest(.get, page, responseLimit: Limit.bytes))
        guard response.status == 200 else {
            throw ServerPluginsError("\(page): status \(response.status); is this the address of --operations?")
        }
        guard let plugins = (try? JSON.parse(response.body))?["plugins"]?.array else {
            throw ServerPluginsError("\(page): the reply is not a list of plugins")
        }
        return plugins.prefix(Limit.plugins).compactMap(plugin)
    }

    private static func plugin(_ json: JSON) -> PluginHealth? {
        guard let kind = json["kind"]?.string.flatMap({ PluginKind(rawValue: $0) }),
            let state = json["health"]?.string.flatMap({ PluginHealth.State(rawValue: $0) }),
            let name = json["name"]?.string
        else { return nil }
        return PluginHealth(
            kind, SafeLine.of(name), version: SafeLine.of(json["version"]?.string ?? ""), state: state,
            reason: json["reason"]?.string.map { SafeLine.of($0) })
    }
}

/// The reason why a server's plugins are not known.
struct ServerPluginsError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
