// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "paper-trail",
    platforms: [.macOS(.v26)],
    products: [.library(name: "PaperTrail", targets: ["PaperTrail"])],
    dependencies: [
        .package(name: "assay", path: "../../../..", traits: [])
    ],
    targets: [
        // The store, for any program: it needs the contract of stores and no server.
        .target(
            name: "PaperTrail",
            dependencies: [
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
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
