// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// A provider outside of Assay, and a server that has it.
let package = Package(
    name: "android-key",
    products: [.library(name: "AndroidKey", targets: ["AndroidKey"])],
    dependencies: [.package(name: "assay", path: "../../..", traits: ["Server"])],
    targets: [
        .target(
            name: "AndroidKey",
            dependencies: [
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayCrypto", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
            ], swiftSettings: settings),
        .executableTarget(
            name: "android-key-server",
            dependencies: [
                "AndroidKey", .product(name: "AssayCommand", package: "assay"),
                .product(name: "AssayEngine", package: "assay"), .product(name: "AssaySQLite", package: "assay"),
            ], swiftSettings: settings),
        .testTarget(
            name: "AndroidKeyTests",
            dependencies: [
                "AndroidKey",
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayCrypto", package: "assay"),
                .product(name: "AssayEngine", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
                .product(name: "AssayTesting", package: "assay"),
            ], swiftSettings: settings),
    ]
)
