"""The examples of the article *Verify a token*, each with a driver that asks it about tokens and prints what it says of them."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ARTICLE = pathlib.Path(__file__).parent.parent.parent / "Sources/AssayEngine/AssayEngine.docc/VerifyAToken.md"
SERVER = "https://assay.example.com"
# The drivers read a line of JSON for each question, `{"token": …, "once": …}`, and print the app or that there is none.
DRIVERS = {
    "python": """
import sys, json
for line in sys.stdin:
    question = json.loads(line)
    try:
        print(json.dumps({"app": app_of(question["token"], once=question["once"])}))
    except Exception as error:
        print(json.dumps({"error": repr(error)}))
""",
    "javascript": """
import readline from 'node:readline';
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { token, once } = JSON.parse(line);
  console.log(JSON.stringify(await appOf(token, once).then((app) => ({ app }), (error) => ({ error: String(error) }))));
}
""",
    "go": """
func main() {
	lines := json.NewDecoder(os.Stdin)
	for {
		var question struct { Token string; Once bool }
		if lines.Decode(&question) != nil {
			return
		}
		answer := map[string]string{}
		app, err := appOf(context.Background(), question.Token, question.Once)
		if err == nil {
			answer["app"] = app
		} else {
			answer["error"] = err.Error()
		}
		json.NewEncoder(os.Stdout).Encode(answer)
	}
}
""",
    "java": """
class Main {
    public static void main(String[] arguments) throws Exception {
        for (Scanner lines = new Scanner(System.in); lines.hasNextLine();) {
            JsonNode question = Assay.JSON.readTree(lines.nextLine());
            Map<String, String> answer = new HashMap<>();
            try {
                answer.put("app", AppCheck.appOf(question.path("token").asText(), question.path("once").asBoolean()));
            } catch (Exception error) {
                answer.put("error", error.toString());
            }
            System.out.println(Assay.JSON.writeValueAsString(answer));
        }
    }
}
""",
    "php": """
while ($line = fgets(STDIN)) {
    $question = json_decode($line, true);
    try {
        echo json_encode(['app' => appOf($question['token'], $question['once'])]), "\\n";
    } catch (Throwable $error) {
        echo json_encode(['error' => get_class($error) . $error->getMessage()]), "\\n";
    }
}
""",
    "ruby": """
$stdout.sync = true
$stdin.each_line do |line|
  question = JSON.parse(line)
  begin
    puts JSON.generate({app: app_of(question['token'], once: question['once'])})
  rescue StandardError => error
    puts JSON.generate({error: error.inspect})
  end
end
""",
}
NODE_MODULES, GO_SOURCES, PHP_LIBRARY = map(
    pathlib.Path, ["/usr/share/nodejs", "/usr/share/gocode", "/usr/share/php/phpseclib3/autoload.php"])
JARS = [pathlib.Path(f"/usr/share/java/jackson-{name}.jar") for name in ("databind", "core", "annotations")]
IMPORT = '"github.com/coreos/go-oidc/v3/oidc"', '"github.com/coreos/go-oidc"'


def sections():
    """The code of each section of the article, by the section's title."""
    parts = re.split(r"^##+ (.*)\n", ARTICLE.read_text(), flags=re.M)
    return {title: re.findall(r"```(\w+)\n(.*?)```", text, re.S) for title, text in zip(parts[1::2], parts[2::2])}


class Example:
    """A section's code, ready to run; `missing` says in words why it cannot."""

    def __init__(self, title, needs=(), files=()):
        self.title = title
        self.blocks = sections()[title]
        self.language = self.blocks[0][0]
        absent = [name for name in needs if not shutil.which(name)] + [str(file) for file in files if not file.exists()]
        self.missing = f"{', '.join(absent)}: not installed" if absent else None

    def code(self, server):
        text = "".join(block for _, block in self.blocks)
        assert SERVER in text
        return text.replace(SERVER, server)

    def command(self, server, folder):
        """Puts a program into an empty folder, and returns what runs it."""
        code, driver = self.code(server), DRIVERS[self.language]
        if self.language == "python":
            (folder / "backend.py").write_text(code + driver)
            return [sys.executable, "backend.py"]
        if self.language == "javascript":
            (folder / "node_modules").mkdir()
            (folder / "node_modules/jose").symlink_to(NODE_MODULES / "jose")
            (folder / "backend.mjs").write_text(code + driver)
            return ["node", "backend.mjs"]
        if self.language == "go":
            assert IMPORT[0] in code
            (folder / "backend.go").write_text("package main\n" + code.replace(*IMPORT) + driver)
            environment = dict(os.environ, GO111MODULE="off", GOPATH=str(GO_SOURCES), GOFLAGS="", GOCACHE=str(folder / "cache"))
            built = subprocess.run(
                ["go", "build", "-o", "backend", "backend.go"], cwd=folder, env=environment, capture_output=True, text=True)
            assert built.returncode == 0, built.stderr
            return [folder / "backend"]
        if self.language == "java":
            (folder / "Main.java").write_text(code + driver)
            path = ":".join(map(str, JARS))
            built = subprocess.run(
                ["javac", "-Xlint:all,-processing", "-Werror", "-cp", path, "-d", ".", "Main.java"],
                cwd=folder, capture_output=True, text=True)
            assert built.returncode == 0, built.stdout + built.stderr
            return ["java", "-cp", f"{path}:.", "Main"]
        if self.language == "php":
            code = code.replace("<?php\n", f"<?php\nrequire {json.dumps(str(PHP_LIBRARY))};\n", 1)
            (folder / "backend.php").write_text(code + driver)
            return ["php", "backend.php"]
        (folder / "backend.rb").write_text(code + driver)
        return ["ruby", "backend.rb"]


EXAMPLES = [
    Example("Python"),
    Example("firebase-admin for Python"),
    Example("Node.js", ["node"], [NODE_MODULES / "jose"]),
    Example("Go", ["go"], [GO_SOURCES / "src/github.com/coreos/go-oidc"]),
    Example("Java", ["javac", "java"], JARS),
    Example("PHP", ["php"], [PHP_LIBRARY]),
    Example("Ruby", ["ruby"], [pathlib.Path("/usr/share/rubygems-integration/all/gems")]),
]


def ask(command, folder, questions, caller):
    """What a program says of tokens: the app of each, or None."""
    run = subprocess.run(
        command, cwd=folder, input="".join(json.dumps(question) + "\n" for question in questions), capture_output=True,
        text=True, timeout=300, env=dict(os.environ, CALLER_TOKEN=caller))
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.returncode == 0 and len(answers) == len(questions), run.stdout + run.stderr
    return answers
