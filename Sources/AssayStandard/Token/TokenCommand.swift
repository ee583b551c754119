internal import ArgumentParser
internal import AssayClient
internal import AssayCommand

/// `assay token`.
struct TokenCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "token", abstract: "Get tokens from a server, as an app does.",
            discussion: """
                Prints the token alone, so that scripts can use it:

                    TOKEN=$(\(program) token get --app projects/PROJECT/apps/APP_ID --provider debug)
                    curl -H "X-Firebase-AppCheck: $TOKEN" https://api.example.com

                A session token is cached for the user, for each provider, in $XDG_STATE_HOME/assay-client or \
                ~/.local/state/assay-client, until five minutes before its end. Messages are on standard error.

                Exit codes: 0 with a token, 1 when the server refused, 2 when there is none for another reason.
                """,
            subcommands: [
                TokenGetCommand.self, TokenLimitedUseCommand.self, TokenFleetCommand.self, TokenAttestationCommand.self,
                TokenAuthorityCommand.self,
            ])
    }
}

/// `assay token get`.
struct TokenGetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print a session token, from the cache if there is one.")

    @OptionGroup var options: TokenOptions

    @Flag(help: "Get a new token, also if there is one in the cache.")
    var fresh = false

    func run() async throws {
        try await options.print { app in try await app.appCheck.token(forcingRefresh: fresh).text }
    }
}

/// `assay token limited-use`.
struct TokenLimitedUseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limited-use", abstract: "Print a new token for one use, which is not cached.")

    @OptionGroup var options: TokenOptions

    func run() async throws {
        try await options.print { app in try await app.appCheck.limitedUseToken().text }
    }
}

/// `assay token fleet`.
struct TokenFleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet", abstract: "Print a token for Google Maps Fleet Engine.",
        discussion: "Give one of the identifiers: the token is for it alone.")

    @OptionGroup var options: TokenOptions

    @Option(help: ArgumentHelp("The vehicle of a driver with on-demand trips.", valueName: "id"))
    var vehicle: String?

    @Option(help: ArgumentHelp("The trip of a rider.", valueName: "id"))
    var trip: String?

    @Option(help: ArgumentHelp("The vehicle of a driver with scheduled tasks.", valueName: "id"))
    var deliveryVehicle: String?

    @Option(help: ArgumentHelp("The tracking identifier of a shipment's recipient.", valueName: "id"))
    var tracking: String?

    @Option(help: ArgumentHelp("The task of a shipment's recipient; needs --fleet-provider.", valueName: "id"))
    var task: String?

    @Option(help: ArgumentHelp("Fleet Engine's provider, which is the project's ID.", valueName: "id"))
    var fleetProvider: String?

    @Option(
        help: ArgumentHelp(
            "Where the JWT of the signed-in user is stored; - for standard input. Without it no user is named.",
            valueName: "file"), completion: .file())
    var userToken: String?

    private var contexts: [FleetEngineContext] {
        [
            vehicle.map(FleetEngineContext.vehicle), trip.map(FleetEngineContext.trip),
            deliveryVehicle.map(FleetEngineContext.deliveryVehicle), tracking.map(FleetEngineContext.tracking),
            task.map(FleetEngineContext.task),
        ].compactMap(\.self)
    }

    func validate() throws {
        guard contexts.count == 1 else {
            throw ValidationError("give one of --vehicle, --trip, --delivery-vehicle, --tracking and --task")
        }
        guard task == nil || fleetProvider != nil else {
            throw ValidationError("--task needs --fleet-provider, which is the project's ID")
        }
        guard !(TokenInput.isStandardInput(userToken) && options.readsStandardInput) else {
            throw ValidationError("--user-token and --custom-token cannot both be standard input")
        }
    }

    func run() async throws {
        guard let context = contexts.first else { return }
        try await options.print { app in
            let user = try userToken.map { try TokenInput($0, name: "the user's token").token() }
            let tokens = try FleetEngineTokens(
                appCheck: app.appCheck, endpoint: options.endpoint, fleetProvider: fleetProvider, options: app.options
            ) { user }
            return try await tokens.fetchToken(for: context).text
        }
    }
}

/// `assay token attestation`.
struct TokenAttestationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attestation", abstract: "Print a client attestation for an OAuth client's key.",
        discussion: """
            The key is made when it is first needed, and kept beside the cached tokens, in a file of mode 0600. The \
            attestation is cached, too.
            """)

    @OptionGroup var options: TokenOptions

    @Option(
        help: ArgumentHelp(
            "The issuer of the authorization server, such as https://login.example.com. Each has a key of its own.",
            valueName: "issuer"))
    var server: String

    @Option(
        help: ArgumentHelp("The client that the attestation must be of; any when left out.", valueName: "client-id"))
    var client: String?

    func run() async throws {
        try await options.print { app in
            let attestations = try ClientAttestations(
                appCheck: app.appCheck, endpoint: options.endpoint, client: client, keys: TokenOptions.keys,
                options: app.options)
            return try await attestations.clientAttestation(for: server).text
        }
    }
}
