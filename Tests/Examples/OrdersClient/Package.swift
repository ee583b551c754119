// swift-tools-version: 6.2

import PackageDescription

// A command-line program that calls a backend which wants App Check tokens.
let package = Package(
    name: "orders-client",
    dependencies: [.package(name: "assay", path: "../../..", traits: ["ClientHTTP"])],
    targets: [
        .executableTarget(
            name: "orders-client",
            dependencies: [
                .product(name: "AssayClient", package: "assay"), .product(name: "AssayClientHTTP", package: "assay"),
            ])
    ]
)
