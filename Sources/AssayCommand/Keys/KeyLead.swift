internal import ArgumentParser
internal import AssayYAML

/// A duration such as `6h`, spelled as in policies; 30 days at most.
struct KeyLead: ExpressibleByArgument, Sendable {
    let duration: Duration

    init?(argument: String) {
        let duration = argument == "0" ? Duration.zero : YAMLNode.duration(argument)
        guard let duration, duration <= .seconds(30 * 86_400) else { return nil }
        self.duration = duration
    }
}
