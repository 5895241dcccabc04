"""Start-up: imports moto, registers the handlers, fills the account, and warms what is slow the first time."""

from __future__ import annotations

import importlib
import threading

from . import mototune
from .world import World

HANDLERS = (
    "ec2.templates", "ec2.instances", "ec2.fleet", "ec2.describe", "ec2.images", "ec2.types", "ec2.spot", "ec2.tags",
    "ec2.reservations", "ec2.groups", "ec2.empty", "ec2.guards", "ec2.attached", "ssm", "pricing", "quotas", "eks", "iam",
    "sts",
)  # fmt: skip
# services whose first call should not pay for loading
WARM = ("ec2", "iam", "sts", "ssm", "sqs", "events", "eks")


def load(world: World) -> None:
    """Makes the account ready; ``world.ready`` is set when every call can be answered."""
    mototune.before_import()
    for name in HANDLERS:
        importlib.import_module(f"joiner_cloud.{name}")
    from . import catalogue, network
    from .ec2 import images
    from .ssm import parameters
    from .wire import model

    region = world.settings.region
    model("ec2")
    catalogue.offered(region)
    network.ec2(region)
    for image in images.published(region):
        world.ec2.images[image.id] = image
    world.parameters = parameters(region)
    mototune.patch(world)
    world.ready.set()
    threading.Thread(target=world.run_timeline, daemon=True).start()
    threading.Thread(target=_warm, args=(world,), daemon=True).start()


def _warm(world: World) -> None:
    """Renders the instance types and loads the other services' code, at a low pace, without the lock."""
    from . import catalogue, pricing
    from .ec2.types import type_xml
    from .moto_app import warm
    from .wire import model

    for service in WARM:
        model(service)
        warm(service)
    for name in sorted(catalogue.offered(world.settings.region)):
        type_xml(name)
        pricing.product(world.settings.region, name)
