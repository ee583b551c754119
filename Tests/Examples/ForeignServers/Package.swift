// swift-tools-version: 6.2

import PackageDescription

// The gateway in a server that Assay does not know. A package of its own, so that users of Assay do not resolve that server.
let package = Package(
    name: "ForeignServers",
    dependencies: [
        .package(name: "assay", path: "../../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        .testTarget(
            name: "ForeignServersTests",
            dependencies: [
                .product(name: "AssayHTTP", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "Logging", package: "swift-log"),
            ])
    ]
)
