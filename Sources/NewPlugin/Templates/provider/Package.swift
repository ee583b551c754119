// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "door-lock",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "DoorLock", targets: ["DoorLock"]),
        .executable(name: "door-lock-server", targets: ["door-lock-server"]),
    ],
    dependencies: [
        .package(name: "assay", path: "../../../..", traits: ["Server"])
    ],
    targets: [
        // The provider, for any program: it needs the kit and no server.
        .target(
            name: "DoorLock",
            dependencies: [
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayCrypto", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
            ]),
        // A server with the provider in it.
        .executableTarget(
            name: "door-lock-server",
            dependencies: [
                "DoorLock",
                .product(name: "AssayCommand", package: "assay"),
                .product(name: "AssayEngine", package: "assay"),
                .product(name: "AssaySQLite", package: "assay"),
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
