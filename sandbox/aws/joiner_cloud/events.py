"""EC2's events on the account's default bus, as EventBridge delivers them."""

from __future__ import annotations

import copy
import time
import traceback
import uuid
from typing import TYPE_CHECKING, Any

from . import ACCOUNT_ID

if TYPE_CHECKING:
    from .ec2.entities import Instance
    from .world import World


def emit(
    world: World, region: str, detail_type: str, resources: list[str], detail: dict[str, Any], source: str = "aws.ec2"
) -> str:
    """Puts an event on the default bus; rules and targets are moto's. Returns the event's id."""
    from moto.events.models import events_backends

    event: dict[str, Any] = {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": detail_type,
        "source": source,
        "account": ACCOUNT_ID,
        "time": time.time(),  # moto writes it as ISO 8601 when it delivers
        "region": region,
        "resources": resources,
        "detail": detail,
    }
    bus = events_backends[ACCOUNT_ID][region].describe_event_bus("default")
    for rule in list(bus.rules.values()):
        if rule.state == "ENABLED":
            try:
                transforms = any("InputTransformer" in target for target in rule.targets)
                extra = {"ingestion-time": time.time()} if transforms else {}
                message: Any = {**copy.deepcopy(event), **extra}
                rule.send_to_targets(message, transform_input=transforms)
            except Exception:
                # a target that is gone loses its event; it never fails the call that caused it
                traceback.print_exc()
    world.message_may_have_come()
    return event["id"]


def instance_state(world: World, instance: Instance, state: str) -> None:
    region = world.region_of(instance)
    arn = f"arn:aws:ec2:{region}:{ACCOUNT_ID}:instance/{instance.id}"
    emit(world, region, "EC2 Instance State-change Notification", [arn], {"instance-id": instance.id, "state": state})


def spot_interruption(world: World, instance: Instance) -> str:
    """The warning two minutes ahead of a spot interruption."""
    region = world.region_of(instance)
    arn = f"arn:aws:ec2:{instance.zone}:instance/{instance.id}"
    detail = {"instance-id": instance.id, "instance-action": "terminate"}
    return emit(world, region, "EC2 Spot Instance Interruption Warning", [arn], detail)


def rebalance(world: World, instance: Instance) -> str:
    region = world.region_of(instance)
    arn = f"arn:aws:ec2:{instance.zone}:instance/{instance.id}"
    return emit(world, region, "EC2 Instance Rebalance Recommendation", [arn], {"instance-id": instance.id})
