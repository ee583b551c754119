// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "paper-trail",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "PaperTrail", targets: ["PaperTrail"]),
        .executable(name: "paper-trail-server", targets: ["paper-trail-server"]),
    ],
    dependencies: [
        .package(name: "assay", path: "../../../..", traits: ["Server"])
    ],
    targets: [
        // The store, for any program: it needs the contract of stores and no server.
        .target(
            name: "PaperTrail",
            dependencies: [
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
            ]),
        // A server with the store in it, and debug tokens to try it with.
        .executableTarget(
            name: "paper-trail-server",
            dependencies: [
                "PaperTrail",
                .product(name: "AssayCommand", package: "assay"),
                .product(name: "AssayDebug", package: "assay"),
                .product(name: "AssayEngine", package: "assay"),
            ]),
        .testTarget(
            name: "PaperTrailTests",
            dependencies: [
                "PaperTrail",
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
                .product(name: "AssayTesting", package: "assay"),
            ]),
    ]
)
