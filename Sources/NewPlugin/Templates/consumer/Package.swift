// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "visitor-pass",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "VisitorPass", targets: ["VisitorPass"]),
        .executable(name: "visitor-pass-server", targets: ["visitor-pass-server"]),
    ],
    dependencies: [
        .package(name: "assay", path: "../../../..", traits: ["Server"])
    ],
    targets: [
        // The consumer, for any program: it needs the kit and no server.
        .target(
            name: "VisitorPass",
            dependencies: [
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
            ]),
        // A server with the consumer in it, and debug tokens to try it with.
        .executableTarget(
            name: "visitor-pass-server",
            dependencies: [
                "VisitorPass",
                .product(name: "AssayCommand", package: "assay"),
                .product(name: "AssayDebug", package: "assay"),
                .product(name: "AssayEngine", package: "assay"),
                .product(name: "AssaySQLite", package: "assay"),
            ]),
        .testTarget(
            name: "VisitorPassTests",
            dependencies: [
                "VisitorPass",
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayCrypto", package: "assay"),
                .product(name: "AssayDebug", package: "assay"),
                .product(name: "AssayEngine", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
                .product(name: "AssayPolicy", package: "assay"),
                .product(name: "AssayTesting", package: "assay"),
            ]),
    ]
)
