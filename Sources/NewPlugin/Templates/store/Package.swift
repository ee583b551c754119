// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "paper-store",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "PaperStore", targets: ["PaperStore"]),
        .executable(name: "paper-store-server", targets: ["paper-store-server"]),
    ],
    dependencies: [
        .package(name: "assay", path: "../../../..", traits: ["Server"])
    ],
    targets: [
        // The store, for any program: it needs the contract of stores and no server.
        .target(
            name: "PaperStore",
            dependencies: [
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayState", package: "assay"),
            ]),
        // A server with the store in it, and debug tokens to try it with.
        .executableTarget(
            name: "paper-store-server",
            dependencies: [
                "PaperStore",
                .product(name: "AssayCommand", package: "assay"),
                .product(name: "AssayDebug", package: "assay"),
                .product(name: "AssayEngine", package: "assay"),
            ]),
        .testTarget(
            name: "PaperStoreTests",
            dependencies: [
                "PaperStore",
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayState", package: "assay"),
                .product(name: "AssayTesting", package: "assay"),
            ]),
    ]
)
