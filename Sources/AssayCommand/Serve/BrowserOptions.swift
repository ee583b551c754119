internal import ArgumentParser
internal import AssayCore
internal import AssayHTTP

/// Which web pages may call.
struct BrowserOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An origin whose scripts may call methods that demand no permission, such as https://app.example.com; can be "
                + "repeated. `any` is the default, as with Google's service; `none` is for servers without web clients.",
            valueName: "origin"))
    var allowOrigin: [String] = []

    func validate() throws {
        if allowOrigin.count > 1, allowOrigin.contains(where: { $0 == "any" || $0 == "none" }) {
            throw ValidationError("--allow-origin any and --allow-origin none cannot be combined with other values")
        }
        for origin in allowOrigin where origin != "any" && origin != "none" && !AllowedOrigins.isOrigin(origin) {
            throw ValidationError(
                "--allow-origin needs a scheme and a host in lower case, and a port if it is not the scheme's default, "
                    + "such as https://app.example.com, and nothing after them")
        }
    }

    var origins: AllowedOrigins {
        switch allowOrigin {
        case [], ["any"]: .any
        case ["none"]: .none
        default: .only(Set(allowOrigin.map { ExactText($0) }))
        }
    }
}
