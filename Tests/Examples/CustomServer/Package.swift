// swift-tools-version: 6.2

import PackageDescription

// A server with a plugin of its own: all subcommands of `assay` under another name, and the plugins that come with Assay. It
// needs neither gRPC nor the simulator, and so it leaves out the traits for them.
let package = Package(
    name: "till-server",
    dependencies: [
        .package(name: "assay", path: "../../..", traits: ["Standard"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "till-server",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AssayCommand", package: "assay"),
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayCrypto", package: "assay"),
                .product(name: "AssayEngine", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
                .product(name: "AssayStandard", package: "assay"),
            ])
    ]
)
