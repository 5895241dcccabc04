"""Writes ec2.txt: EC2's instance types, where they are sold, and list prices.

Input: the type and offering tables that moto ships (EC2's own answers to DescribeInstanceTypes and
DescribeInstanceTypeOfferings), and on-demand prices of us-east-1 as `type price` lines on standard input.
"""
import gzip, json, os, sys, moto
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend as Z
base = os.path.dirname(moto.__file__) + "/ec2/resources"
types = json.load(gzip.open(base + "/instance_types.json.gz"))
prices = dict(line.split() for line in sys.stdin if line.strip())
def num(x):
    return "" if x is None else (f"{x:g}" if isinstance(x, float) else str(x))
out = ["# EC2's instance types, the zones that offer them, and on-demand list prices (Linux, shared tenancy, US dollars an hour).",
  "# See README.md in this folder for where it comes from and how it is made anew.",
  "date 2026-07-06",
  "# type name arch hypervisor usage vcpus MiB manufacturer clock flags disk ebs interfaces addresses cards efas baseline devices price"]
names = []
for name in sorted(types):
    t = types[name]
    arch = [a for a in t["ProcessorInfo"]["SupportedArchitectures"] if a in ("x86_64", "arm64")]
    if not arch or "hvm" not in t.get("SupportedVirtualizationTypes", ["hvm"]) or name not in prices:
        continue
    p = t["ProcessorInfo"]; n = t.get("NetworkInfo", {}); s = t.get("InstanceStorageInfo", {}); e = t.get("EbsInfo", {})
    cards = sorted(n.get("NetworkCards", []), key=lambda c: c["NetworkCardIndex"])
    dflt = n.get("DefaultNetworkCardIndex", 0)
    ifs = next((c.get("MaximumNetworkInterfaces") for c in cards if c["NetworkCardIndex"] == dflt), None) or n.get("MaximumNetworkInterfaces", 0)
    bl = [c["BaselineBandwidthInGbps"] for c in cards if "BaselineBandwidthInGbps" in c]
    flags = "".join([
        "n" if "nested-virtualization" in p.get("SupportedFeatures", []) else "",
        "v" if s and s.get("NvmeSupport", "unsupported") != "unsupported" else "",
        "a" if n.get("EnaSupport") != "unsupported" else "",
        "e" if n.get("EncryptionInTransitSupported") else ""]) or "-"
    ebs = e.get("EbsOptimizedInfo", {}).get("MaximumBandwidthInMbps") if e.get("EbsOptimizedSupport") == "default" else None
    dev = []
    for g in t.get("GpuInfo", {}).get("Gpus", []):
        dev.append("g:%s:%s:%d:%d" % (g.get("Name", "").replace(" ", "_"), g.get("Manufacturer", "").replace(" ", "_"), g.get("Count") or 0, g.get("MemoryInfo", {}).get("SizeInMiB", 0)))
    for g in t.get("InferenceAcceleratorInfo", {}).get("Accelerators", []):
        dev.append("i:%s:%s:%d" % (g.get("Name", "").replace(" ", "_"), g.get("Manufacturer", "").replace(" ", "_"), g.get("Count") or 0))
    for g in t.get("NeuronInfo", {}).get("NeuronDevices", []):
        dev.append("n:%s:%d:%d" % (g.get("Name", "").replace(" ", "_"), g.get("Count") or 0, g.get("CoreInfo", {}).get("Count", 0)))
    use = t.get("SupportedUsageClasses", [])
    usage = ("o" if "on-demand" in use else "") + ("s" if "spot" in use else "") or "-"
    clock = p.get("SustainedClockSpeedInGhz")
    row = [name, arch[0], t.get("Hypervisor") or "-", usage, str(t["VCpuInfo"]["DefaultVCpus"]), str(t["MemoryInfo"]["SizeInMiB"]),
      (p.get("Manufacturer") or "-").replace(" ", "_"), num(round(clock * 1000)) if clock else "-", flags,
      num(s.get("TotalSizeInGB")) if s.get("TotalSizeInGB") else "-", num(ebs) if ebs else "-", str(ifs), str(n.get("Ipv4AddressesPerInterface", 0)),
      ",".join(str(c.get("MaximumNetworkInterfaces", 0)) for c in cards) or "-", str(n.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)),
      str(round(sum(bl) * 1000)) if bl else "-", ";".join(dev) or "-", num(float(prices[name]))]
    names.append(name)
    out.append("type " + " ".join(row))
index = {n: i for i, n in enumerate(names)}
for f in sorted(os.listdir(base + "/instance_type_offerings/availability-zone")):
    r = f.split(".")[0]
    zones = sorted((z.name, z.zone_id) for z in Z.zones.get(r, []))
    if not zones: continue
    rows = json.load(gzip.open(f"{base}/instance_type_offerings/availability-zone/{f}"))
    known = [z for z, _ in zones]
    by = {}
    for x in rows:
        if x["InstanceType"] in index and x["Location"] in known:
            by.setdefault(x["InstanceType"], set()).add(known.index(x["Location"]))
    # one digit a type: the zones as bits
    line = "".join("%02x" % sum(1 << z for z in by.get(n, ())) for n in names)
    out.append("region %s %s %s" % (r, ",".join(f"{a}:{b}" for a, b in zones), line))
open(sys.argv[1], "w").write("\n".join(out) + "\n")
print(len(names), os.path.getsize(sys.argv[1]))
