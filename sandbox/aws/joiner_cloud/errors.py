"""The one error type that handlers raise; the front renders it in the caller's protocol."""

from __future__ import annotations


class AwsError(Exception):
    """An answer of AWS that is not a success.

    ``code`` and ``status`` are AWS's; ``message`` says which value was wrong and what was expected.
    """

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status

    def __repr__(self) -> str:
        return f"{self.code}: {self.message}"


def dry_run() -> AwsError:
    """What EC2 answers to ``DryRun`` when the request would have been carried out."""
    return AwsError("DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412)


def missing(name: str) -> AwsError:
    return AwsError("MissingParameter", f"The request must contain the parameter {name}")


def bad_value(name: str, value: object, why: str = "") -> AwsError:
    tail = f" {why}" if why else ""
    return AwsError("InvalidParameterValue", f"Invalid value '{value}' for {name}.{tail}")
