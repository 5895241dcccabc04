"""The price list: on-demand Linux prices of EC2 in the shape that ``GetProducts`` has, as JSON texts.

The real service is served from us-east-1 and knows all regions; so does this one. Prices are ``prices``' own.
"""

from __future__ import annotations

import functools
import hashlib
import json
from typing import Any

from . import catalogue, prices
from .call import Call
from .errors import AwsError
from .registry import action
from .world import World

MOST = 100
LOCATIONS = {
    "us-west-2": "US West (Oregon)", "us-east-1": "US East (N. Virginia)", "us-east-2": "US East (Ohio)",
    "us-west-1": "US West (N. California)", "eu-west-1": "EU (Ireland)", "eu-central-1": "EU (Frankfurt)",
    "eu-north-1": "EU (Stockholm)", "ap-northeast-1": "Asia Pacific (Tokyo)", "ap-northeast-2": "Asia Pacific (Seoul)",
    "ap-south-1": "Asia Pacific (Mumbai)", "ap-southeast-1": "Asia Pacific (Singapore)",
    "ap-southeast-2": "Asia Pacific (Sydney)", "ca-central-1": "Canada (Central)",
}  # fmt: skip


def _sku(*parts: str) -> str:
    return hashlib.sha256("/".join(parts).encode()).hexdigest()[:16].upper()


def attributes(region: str, name: str) -> dict[str, str]:
    """What a product's filters compare."""
    info = catalogue.types()[name]
    return {
        "servicecode": "AmazonEC2", "servicename": "Amazon Elastic Compute Cloud", "location": LOCATIONS.get(region, region),
        "locationType": "AWS Region", "regionCode": region, "instanceType": name,
        "instanceFamily": "General purpose", "currentGeneration": "Yes" if info.get("CurrentGeneration") else "No",
        "vcpu": str(info["VCpuInfo"]["DefaultVCpus"]), "memory": f"{info['MemoryInfo']['SizeInMiB'] / 1024:g} GiB",
        "physicalProcessor": info.get("ProcessorInfo", {}).get("Manufacturer", ""),
        "processorArchitecture": "64-bit", "operatingSystem": "Linux", "preInstalledSw": "NA",
        "licenseModel": "No License required", "tenancy": "Shared",
        "capacitystatus": "Used", "operation": "RunInstances", "usagetype": f"BoxUsage:{name}", "marketoption": "OnDemand",
        "networkPerformance": info.get("NetworkInfo", {}).get("NetworkPerformance", ""),
    }  # fmt: skip


@functools.cache
def product(region: str, name: str) -> str:
    """One element of ``PriceList``: a JSON text."""
    sku = _sku(region, name)
    term, dimension = f"{sku}.JRTCKXETXF", f"{sku}.JRTCKXETXF.6YS6EN2CT7"
    micro = prices.on_demand(region, name)
    family = "Compute Instance (bare metal)" if catalogue.types()[name].get("BareMetal") else "Compute Instance"
    body: dict[str, Any] = {
        "product": {"productFamily": family, "attributes": attributes(region, name), "sku": sku},
        "serviceCode": "AmazonEC2",
        "terms": {
            "OnDemand": {
                term: {
                    "priceDimensions": {
                        dimension: {
                            "unit": "Hrs", "endRange": "Inf", "beginRange": "0", "rateCode": dimension, "appliesTo": [],
                            "description": f"${prices.dollars(micro)} per On Demand Linux {name} Instance Hour",
                            "pricePerUnit": {"USD": f"{micro // 1_000_000}.{micro % 1_000_000:06d}0000"},
                        }
                    },
                    "sku": sku, "effectiveDate": "2026-08-01T00:00:00Z", "offerTermCode": "JRTCKXETXF", "termAttributes": {},
                }
            }
        },
        "version": "20260801000000",
        "publicationDate": "2026-08-01T00:00:00Z",
    }  # fmt: skip
    return json.dumps(body)


@action("pricing", "GetProducts", locks=False)
def get_products(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    if params.get("ServiceCode") != "AmazonEC2":
        raise AwsError(
            "InvalidParameterException",
            f"The sandbox knows the prices of AmazonEC2 only, not of '{params.get('ServiceCode')}'",
        )
    wanted: dict[str, list[str]] = {}
    for item in params.get("Filters") or []:
        kind, field, value = item.get("Type", "TERM_MATCH"), item.get("Field", ""), item.get("Value", "")
        if kind not in ("TERM_MATCH", "EQUALS", "ANY_OF"):
            raise AwsError(
                "InvalidParameterException", f"Filter type '{kind}' is not supported; TERM_MATCH is expected"
            )
        wanted[field] = value.split(",") if kind == "ANY_OF" else [value]
    region = next((r for r in wanted.get("regionCode", []) if r), None)
    if region is None and "location" in wanted:
        region = next((r for r, place in LOCATIONS.items() if place in wanted["location"]), None)
    family = wanted.pop("productFamily", None)
    found = [
        name
        for name in sorted(catalogue.offered(region or call.region))
        if _fits(region or call.region, name, wanted) and (family is None or _family(name) in family)
    ]
    token = params.get("NextToken")
    start = int(token) if token and token.isdigit() else 0
    end = start + min(int(params.get("MaxResults") or MOST), MOST)
    answer: dict[str, Any] = {
        "FormatVersion": "aws_v1",
        "PriceList": [product(region or call.region, name) for name in found[start:end]],
    }
    if end < len(found):
        answer["NextToken"] = str(end)
    return answer


def _family(name: str) -> str:
    return "Compute Instance (bare metal)" if catalogue.types()[name].get("BareMetal") else "Compute Instance"


@functools.cache
def _attributes(region: str, name: str) -> dict[str, str]:
    return attributes(region, name)


def _fits(region: str, name: str, wanted: dict[str, list[str]]) -> bool:
    have = _attributes(region, name)
    return all(have.get(field) in values for field, values in wanted.items())
