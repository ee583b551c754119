import Testing

@testable import AssayCommand

@Suite("The default place of the keys")
struct KeyFolderTests {
    @Test(
        "Keys are next to a database file, and never in a place that a server's URL spells",
        arguments: [
            ("sqlite:/a/b.sqlite", "/a/b.sqlite-keys"), ("sqlite:b", "b-keys"), ("redis://h:1/0#password=env:P", nil),
            ("memory", nil),
        ])
    func places(_ state: String, _ expected: String?) {
        let place = KeyFolder.standard(forState: state)
        if let expected {
            #expect(place == expected)
        } else {
            #expect(place.hasSuffix("assay/keys"))
        }
    }
}
