// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "visitor-pass",
    platforms: [.macOS(.v26)],
    products: [.library(name: "VisitorPass", targets: ["VisitorPass"])],
    dependencies: [
        .package(name: "assay", path: "../../../..", traits: [])
    ],
    targets: [
        // The consumer, for any program: it needs the kit, and swift-log of others.
        .target(
            name: "VisitorPass",
            dependencies: [
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
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
