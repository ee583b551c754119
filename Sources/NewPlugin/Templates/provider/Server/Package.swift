// swift-tools-version: 6.2

import PackageDescription

// A server with the provider in it. It is a package of its own, because it needs many others, which the provider does not.
let package = Package(
    name: "door-lock-server",
    platforms: [.macOS(.v26)],
    products: [.executable(name: "door-lock-server", targets: ["door-lock-server"])],
    dependencies: [
        .package(name: "door-lock", path: ".."),
        .package(name: "assay", path: "../../../../..", traits: ["Server"]),
    ],
    targets: [
        .executableTarget(
            name: "door-lock-server",
            dependencies: [
                .product(name: "DoorLock", package: "door-lock"),
                .product(name: "AssayCommand", package: "assay"),
                .product(name: "AssayEngine", package: "assay"),
                .product(name: "AssaySQLite", package: "assay"),
            ])
    ]
)
