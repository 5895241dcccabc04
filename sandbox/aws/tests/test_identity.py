"""Keys, signatures, sessions, web identity, and what a role may do."""

from __future__ import annotations

import base64
import json
import time
import urllib.error
import urllib.request
from typing import Any

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest
from conftest import ADMIN, Cloud, Cluster, code, tags
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

SUBJECT = "system:serviceaccount:kube-system:karpenter"


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value: int) -> str:
    return b64(value.to_bytes((value.bit_length() + 7) // 8, "big"))


class Issuer:
    """A cluster's signer of service account tokens."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.rsa = rsa.generate_private_key(65537, 2048)
        self.ec = ec.generate_private_key(ec.SECP256R1())
        r, e = self.rsa.public_key().public_numbers(), self.ec.public_key().public_numbers()
        self.jwks = {
            "keys": [
                {"kty": "RSA", "kid": "r", "alg": "RS256", "use": "sig", "n": number(r.n), "e": number(r.e)},
                {"kty": "EC", "kid": "e", "crv": "P-256", "x": number(e.x), "y": number(e.y)},
            ]
        }

    def token(self, kid: str = "r", **claims: Any) -> str:
        now = int(time.time())
        body = {"iss": self.url, "sub": SUBJECT, "aud": ["sts.amazonaws.com"], "exp": now + 600, "iat": now, **claims}
        head = {"alg": "RS256" if kid == "r" else "ES256", "kid": kid}
        signed = f"{b64(json.dumps(head).encode())}.{b64(json.dumps(body).encode())}"
        if kid == "r":
            signature = self.rsa.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        else:
            r, s = decode_dss_signature(self.ec.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
            signature = r.to_bytes(32, "big") + s.to_bytes(32, "big")
        return f"{signed}.{b64(signature)}"


class Irsa:
    """A cluster with an issuer and a role that one service account may assume."""

    def __init__(self, cloud: Cloud, policies: list[dict[str, Any]]) -> None:
        url = f"https://127.0.0.1:6443/id/{time.monotonic_ns()}"
        self.issuer = Issuer(url)
        self.cloud = cloud
        self.cluster = Cluster(cloud, oidcIssuer=url, jwks=self.issuer.jwks)
        self.iam = cloud.client("iam")
        provider = self.cluster.info["oidcProviderArn"]
        host = url.removeprefix("https://")
        trust = {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Principal": {"Federated": provider},
                    "Action": "sts:AssumeRoleWithWebIdentity",
                    "Condition": {
                        "StringEquals": {f"{host}:aud": "sts.amazonaws.com"},
                        "StringLike": {f"{host}:sub": "system:serviceaccount:kube-system:*"},
                    },
                }
            ],
        }
        self.role = f"{self.cluster.name}-controller"
        self.arn = self.iam.create_role(RoleName=self.role, AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
        if policies:
            self.allow(*policies)

    def allow(self, *statements: dict[str, Any]) -> None:
        document = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **s} for s in statements]}
        self.iam.put_role_policy(RoleName=self.role, PolicyName="own", PolicyDocument=json.dumps(document))

    def assume(self, token: str | None = None, **more: Any) -> dict[str, Any]:
        import boto3
        from botocore import UNSIGNED
        from botocore.config import Config

        sts = boto3.client(
            "sts", endpoint_url=self.cloud.url, region_name="us-west-2", config=Config(signature_version=UNSIGNED)
        )
        arguments = {
            "RoleArn": self.arn,
            "RoleSessionName": "test",
            "WebIdentityToken": token or self.issuer.token(),
            **more,
        }
        return sts.assume_role_with_web_identity(**arguments)

    def client(self, service: str) -> Any:
        c = self.assume()["Credentials"]
        keys = {
            "aws_access_key_id": c["AccessKeyId"],
            "aws_secret_access_key": c["SecretAccessKey"],
            "aws_session_token": c["SessionToken"],
        }
        return self.cloud.client(service, **keys)


@pytest.fixture(scope="module")
def irsa(cloud: Cloud) -> Irsa:
    return Irsa(cloud, [{"Action": "ec2:Describe*", "Resource": "*"}])


@pytest.mark.parametrize("kid", ["r", "e"])
def test_a_good_token_gives_a_session(irsa: Irsa, kid: str) -> None:
    answer = irsa.assume(irsa.issuer.token(kid))
    assert answer["SubjectFromWebIdentityToken"] == SUBJECT
    arn = irsa.client("sts").get_caller_identity()["Arn"]
    assert arn == f"arn:aws:sts::123456789012:assumed-role/{irsa.role}/test"


def test_bad_tokens(irsa: Irsa) -> None:
    good = irsa.issuer.token()
    other = Issuer(irsa.issuer.url)
    for token, want in (
        ("nonsense", "InvalidIdentityToken"),
        (good[:-6] + "AAAAAA", "InvalidIdentityToken"),
        (other.token(), "InvalidIdentityToken"),
        (irsa.issuer.token(iss="https://elsewhere"), "InvalidIdentityToken"),
        (irsa.issuer.token(aud=["kubernetes"]), "InvalidIdentityToken"),
        (irsa.issuer.token(exp=int(time.time()) - 60), "ExpiredTokenException"),
        (irsa.issuer.token(sub="system:serviceaccount:default:karpenter"), "AccessDenied"),
    ):
        assert code(irsa.assume, token) == want, token[:20]
    assert code(irsa.assume, good, RoleArn="arn:aws:iam::123456789012:role/nobody") == "AccessDenied"
    assert code(irsa.assume, good, DurationSeconds=43200) == "ValidationError"


def test_unknown_keys_and_wrong_secrets(cloud: Cloud) -> None:
    unknown = {**ADMIN, "aws_access_key_id": "AKIANOBODY0000000000"}
    wrong = {**ADMIN, "aws_secret_access_key": "wrong"}
    for keys, codes in (
        (unknown, ("AuthFailure", "InvalidClientTokenId", "UnrecognizedClientException")),
        (wrong, ("AuthFailure", "SignatureDoesNotMatch", "InvalidSignatureException")),
    ):
        assert code(cloud.client("ec2", **keys).describe_instances) == codes[0]
        assert code(cloud.client("iam", **keys).list_roles) == codes[1]
        assert code(cloud.client("eks", **keys).list_clusters) == codes[2]


def test_users_have_keys_and_policies(cloud: Cloud) -> None:
    iam = cloud.client("iam")
    iam.create_user(UserName="jane")
    key = iam.create_access_key(UserName="jane")["AccessKey"]
    jane = {"aws_access_key_id": key["AccessKeyId"], "aws_secret_access_key": key["SecretAccessKey"]}
    assert cloud.client("sts", **jane).get_caller_identity()["Arn"].endswith("user/jane")
    assert code(cloud.client("ec2", **jane).describe_instances) == "UnauthorizedOperation"
    iam.attach_user_policy(UserName="jane", PolicyArn="arn:aws:iam::aws:policy/AdministratorAccess")
    cloud.client("ec2", **jane).describe_instances()


def test_expired_sessions(irsa: Irsa, cloud: Cloud) -> None:
    c = irsa.assume()["Credentials"]
    keys = {
        "aws_access_key_id": c["AccessKeyId"],
        "aws_secret_access_key": c["SecretAccessKey"],
        "aws_session_token": "other",
    }
    assert code(cloud.client("ec2", **keys).describe_instances) == "AuthFailure"
    assert code(cloud.client("iam", **keys).list_roles) == "InvalidClientTokenId"
    keys["aws_session_token"] = c["SessionToken"]
    cloud.client("ec2", **keys).describe_instances()
    assert cloud.admin("POST", "expire", {"role": irsa.role})["expired"] >= 1
    assert code(cloud.client("ec2", **keys).describe_instances) == "RequestExpired"
    assert code(cloud.client("iam", **keys).list_roles) == "ExpiredToken"
    assert code(cloud.client("ssm", **keys).get_parameter, Name="x") == "ExpiredTokenException"


def test_presigned_identity_as_eks_tokens_have_it(cloud: Cloud) -> None:
    def url(secret: str, age: int = 0) -> str:
        keys = botocore.credentials.Credentials(ADMIN["aws_access_key_id"], secret)
        request = botocore.awsrequest.AWSRequest(
            "GET", f"{cloud.url}/?Action=GetCallerIdentity&Version=2011-06-15", headers={"x-k8s-aws-id": "demo"}
        )
        botocore.auth.SigV4QueryAuth(keys, "sts", "us-west-2", expires=60).add_auth(request)
        return request.url

    def get(target: str, cluster: str = "demo") -> tuple[int, str]:
        try:
            with urllib.request.urlopen(urllib.request.Request(target, headers={"x-k8s-aws-id": cluster})) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    status, text = get(url(ADMIN["aws_secret_access_key"]))
    assert status == 200 and "arn:aws:iam::123456789012:root" in text
    assert get(url("wrong"))[0] == 403
    assert get(url(ADMIN["aws_secret_access_key"]), "another")[0] == 403, "the cluster's name is signed"


def controller_policy(cluster: str) -> list[dict[str, Any]]:
    """The core of what a node autoscaler needs, scoped as upstream's policy scopes it."""
    arn = "arn:aws:ec2:us-west-2"
    made = [
        f"{arn}:*:{kind}/*"
        for kind in ("fleet", "instance", "volume", "network-interface", "launch-template", "spot-instances-request")
    ]
    owned = {f"aws:RequestTag/kubernetes.io/cluster/{cluster}": "owned"}
    mine = {f"aws:ResourceTag/kubernetes.io/cluster/{cluster}": "owned"}
    return [
        {
            "Action": ["ec2:RunInstances", "ec2:CreateFleet"],
            "Resource": [f"{arn}::image/*", f"{arn}:*:security-group/*", f"{arn}:*:subnet/*"],
        },
        {
            "Action": ["ec2:RunInstances", "ec2:CreateFleet"],
            "Resource": f"{arn}:*:launch-template/*",
            "Condition": {"StringEquals": mine},
        },
        {
            "Action": ["ec2:RunInstances", "ec2:CreateFleet", "ec2:CreateLaunchTemplate"],
            "Resource": made,
            "Condition": {"StringEquals": owned},
        },
        {
            "Action": "ec2:CreateTags",
            "Resource": made,
            "Condition": {
                "StringEquals": {**owned, "ec2:CreateAction": ["RunInstances", "CreateFleet", "CreateLaunchTemplate"]}
            },
        },
        {
            "Action": "ec2:CreateTags",
            "Resource": f"{arn}:*:instance/*",
            "Condition": {
                "StringEquals": mine,
                "ForAllValues:StringEquals": {"aws:TagKeys": ["karpenter.sh/nodeclaim", "Name"]},
            },
        },
        {
            "Action": ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
            "Resource": [f"{arn}:*:instance/*", f"{arn}:*:launch-template/*"],
            "Condition": {"StringEquals": mine},
        },
        {
            "Action": "ec2:Describe*",
            "Resource": "*",
            "Condition": {"StringEquals": {"aws:RequestedRegion": "us-west-2"}},
        },
        {"Action": "ssm:GetParameter", "Resource": "arn:aws:ssm:us-west-2::parameter/aws/service/*"},
        {
            "Action": "iam:PassRole",
            "Resource": f"arn:aws:iam::123456789012:role/{cluster}-node",
            "Condition": {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}},
        },
        {"Action": "eks:DescribeCluster", "Resource": f"arn:aws:eks:us-west-2:123456789012:cluster/{cluster}"},
        {
            "Action": ["iam:CreateInstanceProfile"],
            "Resource": "arn:aws:iam::123456789012:instance-profile/*",
            "Condition": {"StringEquals": owned},
        },
        {
            "Action": ["iam:AddRoleToInstanceProfile"],
            "Resource": "arn:aws:iam::123456789012:instance-profile/*",
            "Condition": {"StringEquals": mine},
        },
    ]


def test_least_privilege(cloud: Cloud) -> None:
    irsa = Irsa(cloud, [])
    name = irsa.cluster.name
    full = controller_policy(name)
    irsa.allow(*full)
    ec2, iam, ssm = irsa.client("ec2"), irsa.client("iam"), irsa.client("ssm")
    own = {f"kubernetes.io/cluster/{name}": "owned"}
    own_list = [{"Key": k, "Value": v} for k, v in own.items()]
    irsa.cluster.ec2 = ec2
    assert code(iam.create_instance_profile, InstanceProfileName=f"{name}-p") == "AccessDenied"
    iam.create_instance_profile(InstanceProfileName=f"{name}-p", Tags=own_list)
    iam.add_role_to_instance_profile(InstanceProfileName=f"{name}-p", RoleName=f"{name}-node")
    assert (
        code(iam.add_role_to_instance_profile, InstanceProfileName=f"{name}-p", RoleName=f"{name}-cluster")
        == "AccessDenied"
    )
    assert code(ssm.get_parameter, Name="/my/secret") == "AccessDeniedException"
    irsa.client("eks").describe_cluster(name=name)
    assert code(irsa.client("eks").describe_cluster, name="another") == "AccessDeniedException"
    assert code(irsa.client("sqs").list_queues) == "AccessDeniedException"
    specs = [tags(k, **own) for k in ("network-interface", "spot-instances-request")]
    irsa.cluster.make_template(IamInstanceProfile={"Name": f"{name}-p"}, TagSpecifications=specs)
    launch = [tags(k, **own) for k in ("instance", "volume", "fleet")]
    assert code(irsa.cluster.fleet, ["c5.large"], "spot") == "UnauthorizedOperation", "volume and fleet lack the tag"
    answer = irsa.cluster.fleet(["c5.large"], "spot", tags=launch)
    (made,) = answer["Instances"][0]["InstanceIds"]
    ec2.create_tags(Resources=[made], Tags=[{"Key": "Name", "Value": "n"}])
    assert code(ec2.create_tags, Resources=[made], Tags=[{"Key": "other", "Value": "n"}]) == "UnauthorizedOperation"
    foreign = Cluster(cloud)
    foreign.make_template()
    foreign_id = foreign.fleet(["c5.large"])["Instances"][0]["InstanceIds"][0]
    assert code(ec2.terminate_instances, InstanceIds=[made, foreign_id]) == "UnauthorizedOperation"
    ec2.terminate_instances(InstanceIds=[made])
    assert code(cloud.client("ec2", "eu-west-1", **_keys(irsa)).describe_instances) == "UnauthorizedOperation"
    for left_out in range(4):
        irsa.allow(*(s for n, s in enumerate(full) if n != left_out))
        assert code(irsa.cluster.fleet, ["c5.large"], "spot", tags=launch) == "UnauthorizedOperation", full[left_out]
    irsa.allow(*(s for s in full if s["Action"] != "iam:PassRole"))
    assert code(irsa.cluster.fleet, ["c5.large"], "spot", tags=launch) == "UnauthorizedOperation"


def _keys(irsa: Irsa) -> dict[str, str]:
    c = irsa.assume()["Credentials"]
    return {
        "aws_access_key_id": c["AccessKeyId"],
        "aws_secret_access_key": c["SecretAccessKey"],
        "aws_session_token": c["SessionToken"],
    }


def test_a_pod_gets_the_role_of_its_association(cloud: Cloud) -> None:
    issuer = Issuer(f"https://127.0.0.1:6443/id/{time.monotonic_ns()}")
    cluster = Cluster(cloud, oidcIssuer=issuer.url, jwks=issuer.jwks)
    iam, eks = cloud.client("iam"), cloud.client("eks")
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
    name = f"{cluster.name}-pods"
    role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]

    def ask(token: str) -> dict[str, Any]:
        request = urllib.request.Request(f"{cloud.url}/_sandbox/pod-identity", headers={"Authorization": token})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    token = issuer.token(aud=["pods.eks.amazonaws.com"])
    with pytest.raises(urllib.error.HTTPError) as absent:
        ask(token)
    assert absent.value.code == 404
    made = eks.create_pod_identity_association(
        clusterName=cluster.name, namespace="kube-system", serviceAccount="karpenter", roleArn=role
    )["association"]
    keys = ask(token)
    session = cloud.client(
        "sts",
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys["Token"],
    )
    assert f":assumed-role/{name}/" in session.get_caller_identity()["Arn"]
    with pytest.raises(urllib.error.HTTPError) as foreign:
        ask(issuer.token())
    assert foreign.value.code == 400
    eks.delete_pod_identity_association(clusterName=cluster.name, associationId=made["associationId"])
    iam.delete_role(RoleName=name)
