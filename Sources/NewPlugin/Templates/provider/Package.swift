// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "door-lock",
    platforms: [.macOS(.v26)],
    products: [.library(name: "DoorLock", targets: ["DoorLock"])],
    dependencies: [
        .package(name: "assay", path: "../../../..", traits: [])
    ],
    targets: [
        // The provider, for any program: it needs the kit, and swift-log of others.
        .target(
            name: "DoorLock",
            dependencies: [
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayCrypto", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
            ]),
        .testTarget(
            name: "DoorLockTests",
            dependencies: [
                "DoorLock",
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayCrypto", package: "assay"),
                .product(name: "AssayEngine", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
                .product(name: "AssayPolicy", package: "assay"),
                .product(name: "AssayTesting", package: "assay"),
            ]),
    ]
)
