#!/usr/bin/env python3
"""Packs built programs as the Terraform and OpenTofu registries want a provider's release.

    release/package.py archive --provider FILE --helm FILE --licences DIR --version X.Y.Z --platform OS_ARCH --out DIR [--level N]
    release/package.py sums --version X.Y.Z --out DIR [--sign KEY]

`archive` writes terraform-provider-joiner_X.Y.Z_OS_ARCH.zip: the provider, the Helm that it was tested with beside it, and the
licences of both. The same input gives the same bytes. `sums` writes the registry's manifest (protocol 6.0: without it both registries
take a provider for one of protocol 5.0), the checksums of every archive of that version in DIR, made here or brought from
other machines, and, with a key, their detached signature.
"""

import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import zipfile

NAME = "terraform-provider-joiner"
# The earliest time that a zip can hold: an archive must not depend on when it was made.
LONG_AGO = (1980, 1, 1, 0, 0, 0)
PLATFORM = re.compile(r"(darwin|freebsd|linux|openbsd|solaris|windows)_(386|amd64|arm|arm64)")
VERSION = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")


def matching(pattern: re.Pattern, expected: str):
    def check(text: str) -> str:
        if not pattern.fullmatch(text):
            raise argparse.ArgumentTypeError(f"{text!r} is not {expected}")
        return text

    return check


def archive(arguments: argparse.Namespace) -> None:
    suffix = ".exe" if arguments.platform.startswith("windows_") else ""
    members = [
        (f"{NAME}_v{arguments.version}{suffix}", arguments.provider, 0o755),
        (f"helm{suffix}", arguments.helm, 0o755),
    ]
    members += [(path.name, path, 0o644) for path in arguments.licences.iterdir()]
    arguments.out.mkdir(parents=True, exist_ok=True)
    target = arguments.out / f"{NAME}_{arguments.version}_{arguments.platform}.zip"
    part = target.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=arguments.level) as pack:
        for name, path, mode in sorted(members, key=lambda member: member[0]):
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, so that the mode counts
            entry.external_attr = (0o100000 | mode) << 16
            pack.writestr(entry, path.read_bytes())
    part.rename(target)
    print(target)


def sums(arguments: argparse.Namespace) -> None:
    stem = f"{NAME}_{arguments.version}"
    archives = sorted(arguments.out.glob(f"{stem}_*.zip"))
    if not archives:
        sys.exit(f"{arguments.out} holds no {stem}_OS_ARCH.zip: run `archive` first")
    manifest = arguments.out / f"{stem}_manifest.json"
    text = json.dumps({"version": 1, "metadata": {"protocol_versions": ["6.0"]}}, indent=2)
    manifest.write_text(text + "\n")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in [*archives, manifest]]
    checksums = arguments.out / f"{stem}_SHA256SUMS"
    checksums.write_text("".join(lines))
    print(manifest, checksums, sep="\n")
    signature = arguments.out / f"{stem}_SHA256SUMS.sig"
    # A signature of other checksums is worse than none.
    signature.unlink(missing_ok=True)
    if arguments.sign:
        command = ["gpg", "--batch", "--yes", "--local-user", arguments.sign, "--output", signature, "--detach-sign", checksums]
        if subprocess.run(command, check=False).returncode != 0:
            sys.exit(f"gpg did not sign {checksums} with the key {arguments.sign}: `gpg --list-secret-keys` shows those it has")
        print(signature)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    version = {"required": True, "type": matching(VERSION, "a version such as 1.2.3")}
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("archive", help="one platform's zip")
    one.add_argument("--provider", required=True, type=pathlib.Path, help="the built provider")
    one.add_argument("--helm", required=True, type=pathlib.Path, help="Helm, built for the same platform")
    one.add_argument("--licences", required=True, type=pathlib.Path, help="a folder of licence texts")
    one.add_argument("--version", **version)
    one.add_argument("--platform", required=True, type=matching(PLATFORM, "OS_ARCH as Go writes it, such as linux_amd64"))
    one.add_argument("--out", required=True, type=pathlib.Path, help="where the zip goes")
    one.add_argument("--level", type=int, choices=range(10), default=9, help="of compression (default: 9)")
    one.set_defaults(run=archive)
    every = commands.add_parser("sums", help="manifest, checksums and signature of a version's zips")
    every.add_argument("--version", **version)
    every.add_argument("--out", required=True, type=pathlib.Path, help="where the zips are")
    every.add_argument("--sign", metavar="KEY", help="the GPG key whose public part the registry knows")
    every.set_defaults(run=sums)
    arguments = parser.parse_args()
    try:
        arguments.run(arguments)
    except OSError as cause:
        sys.exit(str(cause))


if __name__ == "__main__":
    main()
