import AssayClient
import Foundation

// Runs the branches for Apple's systems against a server on this machine: `run PORT`.

let base = "http://127.0.0.1:\(CommandLine.arguments[1])"
let app = "projects/1234567890/apps/1:1234567890:ios:321abc456def7890"
let debugToken = DebugProvider(debugToken: "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10")

func check(_ holds: Bool, _ what: String, line: Int = #line) {
    print(holds ? "  \(what)" : "line \(line) failed: \(what)")
    if !holds { exit(1) }
}

func request(_ path: String) throws -> URLRequest {
    guard let url = URL(string: path.hasPrefix("/") ? base + path : path) else { throw URLError(.badURL) }
    return URLRequest(url: url)
}

func json(_ data: Data) throws -> [String: String?] { try JSONDecoder().decode([String: String?].self, from: data) }

let appCheck = try AppCheck(app: app, endpoint: base, provider: debugToken)
let token = try await appCheck.token()
check((token.expires - token.requested).wholeSeconds == 3600, "a token has its lifetime by the monotonic clock")
let restarted = try AppCheck(app: app, endpoint: base, provider: debugToken)
check(try await restarted.token().text == token.text, "a program that starts again finds it in the Keychain")

var options = AppCheckOptions()
options.storage = KeychainStorage(accessGroup: "ABCDE12345.com.example.shared")
let shared = try AppCheck(app: app, endpoint: base, provider: debugToken, options: options)
check(try await shared.token().text != token.text, "an access group has items of its own")
let sharing = try AppCheck(app: app, endpoint: base, provider: debugToken, options: options)
check(try await sharing.token().text == shared.token().text, "an app and its extension share them")
check(try appCheck.currentDebugToken() == "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10", "the debug token can be shown")
let left = token.expirationDate.timeIntervalSinceNow
check(left > 0 && left <= 3600 && token.token == token.text, "a token has Firebase's names")
let held = try await shared.token().text
for forced in [false, true] {
    let answer: (String?, Bool) = await withCheckedContinuation { done in
        shared.token(forcingRefresh: forced) { token, error in done.resume(returning: (token?.token, error == nil)) }
    }
    check(answer.1 && (answer.0 != held) == forced, "a completion handler takes a token")
}
let once: String? = await withCheckedContinuation { done in
    shared.limitedUseToken { token, _ in done.resume(returning: token?.token) }
}
check(once != nil, "a completion handler takes a token for one use")

let calls = ProtectedCalls(appCheck: appCheck)
var order = try request("/orders?a=b")
order.httpMethod = "PATCH"
order.httpBody = Data("body".utf8)
order.setValue("own", forHTTPHeaderField: "X-Own")
order.setValue("old", forHTTPHeaderField: "x-firebase-appcheck")
let (data, response) = try await calls.data(for: order)
let seen = try json(data)
check(
    response.statusCode == 201 && response.value(forHTTPHeaderField: "x-reply") == "one",
    "a response has status and header")
check(
    seen["method"] == "PATCH" && seen["path"] == "/orders?a=b" && seen["body"] == "body",
    "a request arrives as it was made")
check(seen["own"] == "own" && seen["token"] == token.text, "the token is in place of another one")

let limited = ProtectedCalls(appCheck: appCheck, token: .limitedUse)
let (again, _) = try await limited.data(for: request("/limited"))
check(try json(again)["token"] != token.text, "a refused token is replaced once")
let (moved, _) = try await calls.data(for: request("/moved"))
check(
    try json(moved)["path"] == "/orders" && json(moved)["token"] == token.text,
    "a redirect within the origin is followed")
for _ in 0..<2 {
    let (cookie, _) = try await calls.data(for: request("/cookie"))
    check(try json(cookie)["cookie"] == .some(nil), "no cookie comes back")
}

var stream = try request("/orders")
stream.httpBodyStream = InputStream(data: Data("body".utf8))
for (request, limit, code) in [
    (try request("/elsewhere"), 1000, AppCheckError.Code.redirected), (try request("/orders"), 5, .malformedReply),
    (try request("http://api.example.com/"), 1000, .insecure), (stream, 1000, .invalidConfiguration),
    (try request("http://127.0.0.1:1/"), 1000, .unreachable),
] {
    do throws(AppCheckError) {
        _ = try await calls.data(for: request, responseLimit: limit)
        check(false, "\(code)")
    } catch {
        check(error.code == code, "\(code)")
    }
}
