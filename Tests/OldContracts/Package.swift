// swift-tools-version: 6.2

import PackageDescription

// Plugins that were written for earlier contracts, as they were written: never change them. They are what the kernel says it takes.
let package = Package(
    name: "old-contracts",
    platforms: [.macOS(.v26)],
    dependencies: [.package(name: "assay", path: "../..", traits: [])],
    targets: [
        .target(
            name: "Contract2",
            dependencies: ["AssayCore", "AssayCrypto", "AssayKit"].map { .product(name: $0, package: "assay") }),
        .executableTarget(
            name: "old-plugins",
            dependencies: ["Contract2"]
                + ["AssayCore", "AssayCrypto", "AssayEngine", "AssayKit", "AssayPolicy", "AssayServices"]
                .map { .product(name: $0, package: "assay") }),
    ]
)
