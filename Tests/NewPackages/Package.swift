// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "my-plugins",
    dependencies: [.package(url: "https://github.com/example/assay", .upToNextMinor(from: "0.3.0"), traits: [])]
)
