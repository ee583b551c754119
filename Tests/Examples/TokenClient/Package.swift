// swift-tools-version: 6.2

import PackageDescription

// A program that takes the client library alone, with a transport of its own.
let package = Package(
    name: "token-client",
    dependencies: [.package(name: "assay", path: "../../..", traits: [])],
    targets: [
        .executableTarget(
            name: "token-client", dependencies: [.product(name: "AssayClient", package: "assay")])
    ]
)
