"""Types, offerings, prices, images, parameters, EKS, IAM: what a controller reads."""

from __future__ import annotations

import datetime
import json
import time

import pytest
from conftest import Cloud, Cluster, code


def test_types_and_offerings(cloud: Cloud) -> None:
    ec2 = cloud.client("ec2")
    pages = list(ec2.get_paginator("describe_instance_types").paginate(PaginationConfig={"PageSize": 100}))
    types = {t["InstanceType"]: t for p in pages for t in p["InstanceTypes"]}
    assert len(types) > 1000 and len(pages) > 10
    assert types["m5.large"]["VCpuInfo"]["DefaultVCpus"] == 2
    filters = [
        {"Name": "processor-info.supported-architecture", "Values": ["arm64"]},
        {"Name": "bare-metal", "Values": ["false"]},
    ]
    arm = [
        t for p in ec2.get_paginator("describe_instance_types").paginate(Filters=filters) for t in p["InstanceTypes"]
    ]
    assert arm and all("arm64" in t["ProcessorInfo"]["SupportedArchitectures"] and not t["BareMetal"] for t in arm)
    rows = [
        o
        for p in ec2.get_paginator("describe_instance_type_offerings").paginate(LocationType="availability-zone")
        for o in p["InstanceTypeOfferings"]
    ]
    assert {"us-west-2a", "us-west-2b", "us-west-2c"} <= {o["Location"] for o in rows} and len(rows) > 3000
    assert code(ec2.describe_instance_types, InstanceTypes=["m5.large", "x.y"]) == "InvalidInstanceType"
    assert code(ec2.describe_instance_types, DryRun=True) == "DryRunOperation"


def test_spot_prices(cloud: Cloud) -> None:
    ec2 = cloud.client("ec2")
    now = datetime.datetime.now(datetime.timezone.utc)
    rows = ec2.describe_spot_price_history(
        InstanceTypes=["m5.large"], ProductDescriptions=["Linux/UNIX"], StartTime=now
    )["SpotPriceHistory"]
    prices = {r["AvailabilityZone"]: float(r["SpotPrice"]) for r in rows}
    assert len(prices) >= 3 and len(set(prices.values())) > 1
    assert all(0.25 < p / 0.096 < 0.45 for p in prices.values())
    one = ec2.describe_spot_price_history(InstanceTypes=["m5.large"], AvailabilityZone="us-west-2a")["SpotPriceHistory"]
    assert {r["AvailabilityZone"] for r in one} == {"us-west-2a"} and float(one[0]["SpotPrice"]) == prices["us-west-2a"]
    assert ec2.describe_spot_price_history(ProductDescriptions=["Windows"])["SpotPriceHistory"] == []
    began = time.perf_counter()
    every = [
        r
        for p in ec2.get_paginator("describe_spot_price_history").paginate(ProductDescriptions=["Linux/UNIX"])
        for r in p["SpotPriceHistory"]
    ]
    assert len(every) > 3000 and time.perf_counter() - began < 10


def test_products(cloud: Cloud) -> None:
    pricing = cloud.client("pricing", "us-east-1")
    wanted = {
        "regionCode": "us-west-2",
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
        "marketoption": "OnDemand",
    }
    filters = [{"Type": "TERM_MATCH", "Field": f, "Value": v} for f, v in wanted.items()]
    found = {}
    for page in pricing.get_paginator("get_products").paginate(ServiceCode="AmazonEC2", Filters=filters):
        for text in page["PriceList"]:
            item = json.loads(text)
            (term,) = item["terms"]["OnDemand"].values()
            (dimension,) = term["priceDimensions"].values()
            found[item["product"]["attributes"]["instanceType"]] = float(dimension["pricePerUnit"]["USD"])
    assert found["m5.large"] == pytest.approx(0.096) and found["c5.large"] == pytest.approx(0.085) and len(found) > 1000
    assert all(price > 0 for price in found.values())
    one = pricing.get_products(
        ServiceCode="AmazonEC2",
        Filters=[*filters, {"Type": "TERM_MATCH", "Field": "instanceType", "Value": "m5.large"}],
    )
    assert len(one["PriceList"]) == 1
    assert code(pricing.get_products, ServiceCode="AmazonS3") == "InvalidParameterException"


@pytest.mark.parametrize("version", ["1.30", "1.34", "1.37"])
def test_images_by_parameter(cloud: Cloud, version: str) -> None:
    ssm, ec2 = cloud.client("ssm"), cloud.client("ec2")
    eks, bottlerocket = (
        f"/aws/service/eks/optimized-ami/{version}/amazon-linux-2023",
        f"/aws/service/bottlerocket/aws-k8s-{version}",
    )
    for path, arch in (
        (f"{eks}/x86_64/standard/recommended", "x86_64"),
        (f"{eks}/arm64/standard/recommended", "arm64"),
        (f"{eks}/x86_64/nvidia/recommended", "x86_64"),
        (f"{eks}/arm64/nvidia/recommended", "arm64"),
        (f"{eks}/x86_64/neuron/recommended", "x86_64"),
        (f"{eks}/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-{version}-v20260715", "x86_64"),
        (f"{bottlerocket}/x86_64/latest", "x86_64"),
        (f"{bottlerocket}/arm64/1.59.0", "arm64"),
        (f"{bottlerocket}-nvidia/arm64/latest", "arm64"),
    ):
        image_id = ssm.get_parameter(Name=f"{path}/image_id")["Parameter"]["Value"]
        (image,) = ec2.describe_images(ImageIds=[image_id])["Images"]
        assert image["Architecture"] == arch and image["RootDeviceName"] == "/dev/xvda" and version in image["Name"], (
            path
        )
        assert image["ImageOwnerAlias"] == "amazon" and image["CreationDate"].startswith("2026-0")
    assert code(ssm.get_parameter, Name=f"{eks}/x86_64/standard/never/image_id") == "ParameterNotFound"


def test_images_by_name_owner_and_tag(cloud: Cloud) -> None:
    ec2 = cloud.client("ec2")
    names = [{"Name": "name", "Values": ["amazon-eks-node-al2023-x86_64-standard-1.34-*"]}]
    assert len(ec2.describe_images(Owners=["self", "amazon"], Filters=names)["Images"]) == 3
    assert ec2.describe_images(Owners=["self"], Filters=names)["Images"] == []
    devices = [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 10}}]
    made = ec2.register_image(
        Name="mine", Architecture="arm64", RootDeviceName="/dev/xvda", BlockDeviceMappings=devices
    )["ImageId"]
    ec2.create_tags(Resources=[made], Tags=[{"Key": "team", "Value": "a"}])
    (image,) = ec2.describe_images(Owners=["self"], Filters=[{"Name": "tag:team", "Values": ["a"]}])["Images"]
    assert (image["ImageId"], image["Architecture"], image["RootDeviceName"], image["OwnerId"]) == (
        made,
        "arm64",
        "/dev/xvda",
        "123456789012",
    )
    assert ec2.describe_images(Owners=["amazon"], Filters=[{"Name": "tag:team", "Values": ["a"]}])["Images"] == []
    assert code(ec2.describe_images, ImageIds=["ami-0123456789abcdef0"]) == "InvalidAMIID.NotFound"
    ec2.deregister_image(ImageId=made)


def test_own_parameters_stay_motos(cloud: Cloud) -> None:
    ssm = cloud.client("ssm")
    ssm.put_parameter(Name="/mine/x", Value="1", Type="String")
    assert ssm.get_parameter(Name="/mine/x")["Parameter"]["Value"] == "1"


def test_cluster_and_its_network(cloud: Cloud) -> None:
    cluster = Cluster(
        cloud,
        endpoint="https://127.0.0.1:6443",
        certificateAuthority="Y2E=",
        oidcIssuer="https://127.0.0.1:6443/a",
        jwks={"keys": []},
    )
    found = cloud.client("eks").describe_cluster(name=cluster.name)["cluster"]
    assert found["endpoint"] == "https://127.0.0.1:6443" and found["certificateAuthority"]["data"] == "Y2E="
    assert found["identity"]["oidc"]["issuer"] == "https://127.0.0.1:6443/a" and found["status"] == "ACTIVE"
    assert found["kubernetesNetworkConfig"]["serviceIpv4Cidr"] == "172.20.0.0/16"
    subnets = cluster.ec2.describe_subnets(Filters=[{"Name": "tag:karpenter.sh/discovery", "Values": [cluster.name]}])[
        "Subnets"
    ]
    assert {s["SubnetId"] for s in subnets} == set(cluster.subnets) and len(
        {s["AvailabilityZone"] for s in subnets}
    ) == 3
    inner = cluster.ec2.describe_subnets(Filters=[{"Name": "tag:kubernetes.io/role/internal-elb", "Values": ["1"]}])[
        "Subnets"
    ]
    assert set(cluster.subnets) <= {s["SubnetId"] for s in inner}
    (group,) = cluster.ec2.describe_security_groups(
        Filters=[{"Name": "tag:karpenter.sh/discovery", "Values": [cluster.name]}]
    )["SecurityGroups"]
    assert group["GroupId"] == found["resourcesVpcConfig"]["clusterSecurityGroupId"]
    again = cloud.admin("POST", "clusters", {"name": cluster.name, "endpoint": "https://127.0.0.1:7"})
    assert again["vpcId"] == cluster.info["vpcId"] and again["endpoint"] == "https://127.0.0.1:7"
    assert cloud.admin("GET", f"leftovers?cluster={cluster.name}")["count"] == 0
    assert cloud.admin("DELETE", f"clusters/{cluster.name}")["kept"] == []
    assert code(cloud.client("eks").describe_cluster, name=cluster.name) == "ResourceNotFoundException"


def test_access_entries(cluster: Cluster, cloud: Cloud) -> None:
    eks, role = cloud.client("eks"), cluster.info["nodeRoleArn"]
    assert eks.create_access_entry(clusterName=cluster.name, principalArn=role, type="EC2_LINUX")["accessEntry"][
        "kubernetesGroups"
    ] == ["system:nodes"]
    assert code(eks.create_access_entry, clusterName=cluster.name, principalArn=role) == "ResourceInUseException"
    assert eks.list_access_entries(clusterName=cluster.name)["accessEntries"] == [role]
    policy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"
    eks.associate_access_policy(
        clusterName=cluster.name, principalArn=role, policyArn=policy, accessScope={"type": "cluster"}
    )
    assert (
        eks.list_associated_access_policies(clusterName=cluster.name, principalArn=role)["associatedAccessPolicies"][0][
            "policyArn"
        ]
        == policy
    )
    eks.disassociate_access_policy(clusterName=cluster.name, principalArn=role, policyArn=policy)
    eks.delete_access_entry(clusterName=cluster.name, principalArn=role)
    assert code(eks.describe_access_entry, clusterName=cluster.name, principalArn=role) == "ResourceNotFoundException"


def test_access_entries_are_of_roles_that_are_there(cluster: Cluster, cloud: Cloud) -> None:
    eks = cloud.client("eks")
    nobody = "arn:aws:iam::123456789012:role/nobody"
    assert (
        code(eks.create_access_entry, clusterName=cluster.name, principalArn=nobody, type="EC2_LINUX")
        == "InvalidParameterException"
    )


def test_pod_identity(cluster: Cluster, cloud: Cloud) -> None:
    eks, iam = cloud.client("eks"), cloud.client("iam")
    trust = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Action": ["sts:AssumeRole", "sts:TagSession"],
                "Principal": {"Service": "pods.eks.amazonaws.com"},
            }
        ],
    }
    role, other = (
        iam.create_role(RoleName=f"{cluster.name}-{n}", AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
        for n in ("a", "b")
    )
    account = {"clusterName": cluster.name, "namespace": "kube-system", "serviceAccount": "joiner"}
    wrong = cluster.info["nodeRoleArn"]
    assert code(eks.create_pod_identity_association, **account, roleArn=wrong) == "InvalidParameterException"
    made = eks.create_pod_identity_association(**account, roleArn=role)["association"]
    assert code(eks.create_pod_identity_association, **account, roleArn=other) == "ResourceInUseException"
    key = {"clusterName": cluster.name, "associationId": made["associationId"]}
    assert eks.update_pod_identity_association(**key, roleArn=other)["association"]["roleArn"] == other
    assert eks.describe_pod_identity_association(**key)["association"]["roleArn"] == other
    found = eks.list_pod_identity_associations(clusterName=cluster.name, serviceAccount="joiner")["associations"]
    assert [a["associationId"] for a in found] == [made["associationId"]]
    assert not eks.list_pod_identity_associations(clusterName=cluster.name, namespace="x")["associations"]
    assert cloud.admin("GET", f"leftovers?cluster={cluster.name}")["podIdentityAssociations"]
    eks.delete_pod_identity_association(**key)
    for name in ("a", "b"):
        iam.delete_role(RoleName=f"{cluster.name}-{name}")
    assert cloud.admin("GET", f"leftovers?cluster={cluster.name}")["count"] == 0


def test_queues_of_another_cluster_are_not_left_of_this_one(cluster: Cluster, cloud: Cloud) -> None:
    sqs, names = cloud.client("sqs"), [f"{cluster.name}-queue", "elsewhere-queue"]
    made = [sqs.create_queue(QueueName=n, tags={"joiner.dev/interruption-queue": n})["QueueUrl"] for n in names]
    left = cloud.admin("GET", f"leftovers?cluster={cluster.name}")["queues"]
    assert [q["id"] for q in left] == names[:1]
    assert set(names) <= {q["id"] for q in cloud.admin("GET", "leftovers")["queues"]}
    for url in made:
        sqs.delete_queue(QueueUrl=url)
    assert cloud.admin("GET", f"leftovers?cluster={cluster.name}")["count"] == 0


def test_instance_profiles(cluster: Cluster, cloud: Cloud) -> None:
    iam, name = cloud.client("iam"), cluster.profile()
    found = iam.list_instance_profiles(PathPrefix=f"/karpenter/us-west-2/{cluster.name}/")["InstanceProfiles"]
    assert [p["InstanceProfileName"] for p in found] == [name]
    iam.tag_instance_profile(InstanceProfileName=name, Tags=[{"Key": "a", "Value": "b"}])
    assert iam.list_instance_profile_tags(InstanceProfileName=name)["Tags"] == [{"Key": "a", "Value": "b"}]
    assert code(iam.delete_instance_profile, InstanceProfileName=name) == "DeleteConflict"
    assert code(iam.delete_role, RoleName=cluster.info["nodeRoleName"]) == "DeleteConflict"
    left = cloud.admin("GET", f"leftovers?cluster={cluster.name}")
    assert [p["id"] for p in left["instanceProfiles"]] == [name]


def test_what_is_missing_says_so(cloud: Cloud) -> None:
    ec2 = cloud.client("ec2")
    assert ec2.describe_capacity_block_offerings(CapacityDurationHours=24)["CapacityBlockOfferings"] == []
    assert code(ec2.get_spot_placement_scores, TargetCapacity=1) == "UnsupportedOperation"
    assert code(cloud.client("eks").describe_cluster_versions) == "UnsupportedOperation"
