"""What the systems of Apple's are that the manifest asks for, and whether declarations agree on them.

    versions.py --manifest      prints the name and the oldest version of each system in the manifest
    versions.py OLDEST FILES…   fails if a declaration is newer than the oldest macOS, and not newer than the oldest of another system
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = {"macOS": "macos", "iOS": "ios", "tvOS": "tvos", "watchOS": "watchos", "visionOS": "visionos"}


def manifest():
    """Pairs of a system and its oldest version."""
    printed = subprocess.run(["swift", "package", "dump-package"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [(platform["platformName"], platform["version"]) for platform in json.loads(printed)["platforms"]]


def number(version):
    return tuple(map(int, (version + ".0.0").split(".")[:3]))


def disagreements(lines, oldest):
    """(line number, line) of each attribute by which macOS is old enough and another system is not, and how many were compared."""
    found, compared = [], 0
    for place, line in enumerate(lines, 1):
        for attribute in re.findall(r"@available\(([^)]*\*)\)", line):
            versions = {NAMES[name]: number(version) for name, version in re.findall(r"(\w+) ([\d.]+)", attribute) if name in NAMES}
            newer = {name for name, version in versions.items() if name in oldest and version > number(oldest[name])}
            if "macos" in versions:
                compared += 1
                if newer and "macos" not in newer:
                    found.append((place, line.strip()))
    return found, compared


def main(arguments):
    if arguments == ["--manifest"]:
        for name, version in manifest():
            print(name, version)
        return 0
    oldest = dict(line.split() for line in arguments[0].splitlines())
    all_compared, wrong = 0, 0
    for file in arguments[1:]:
        found, compared = disagreements(pathlib.Path(file).read_text().splitlines(), oldest)
        all_compared += compared
        for place, line in found:
            wrong += 1
            print(f"{file}:{place}: newer than the manifest, and not on macOS: {line}", file=sys.stderr)
    if all_compared < 1000:
        print(f"only {all_compared} declarations have versions", file=sys.stderr)
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
