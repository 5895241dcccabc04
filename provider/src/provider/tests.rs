//! Configuring: what is known, unknown and wrong.

use super::configure::{check, joiner as configure};
use super::data::Joiner;
use super::data::Part;
use super::settings::{AwsSettings, Eks, Kubernetes, RegistrySettings, Settings};
use crate::cluster::Cluster;
use tfplugin::Field;

fn joiner(settings: &Settings) -> Joiner {
    configure(settings, &Cluster::new)
}

fn kubernetes(kubernetes: Kubernetes) -> Settings {
    Settings {
        kubernetes: Field::Known(kubernetes),
        ..Settings::default()
    }
}

fn eks(name: Field<String>) -> Settings {
    Settings {
        eks: Field::Known(Eks {
            cluster_name: name,
            ..Eks::default()
        }),
        ..Settings::default()
    }
}

fn aws(change: impl FnOnce(&mut AwsSettings)) -> Settings {
    let mut aws = AwsSettings::default();
    change(&mut aws);
    Settings {
        aws: Field::Known(aws),
        ..Settings::default()
    }
}

fn registry(change: impl FnOnce(&mut RegistrySettings)) -> Settings {
    let mut registry = RegistrySettings {
        url: "oci://ghcr.io".into(),
        ..RegistrySettings::default()
    };
    change(&mut registry);
    Settings {
        registries: Field::Known(vec![registry]),
        ..Settings::default()
    }
}

fn part<T>(part: &Part<T>) -> &'static str {
    match part {
        Part::Absent => "absent",
        Part::Unknown => "unknown",
        Part::Known(_) => "known",
        Part::Broken(_) => "broken",
    }
}

#[test]
fn each_part_is_known_by_itself() {
    let unknown_region = AwsSettings {
        region: Field::Unknown,
        ..AwsSettings::default()
    };
    let bad_role = super::settings::AssumeRoleSettings {
        role_arn: "nonsense".into(),
        ..Default::default()
    };
    for (settings, cluster, aws) in [
        (Settings::default(), "absent", "known"),
        (
            Settings {
                kubernetes: Field::Unknown,
                ..Settings::default()
            },
            "unknown",
            "known",
        ),
        (
            kubernetes(Kubernetes {
                host: Field::Unknown,
                ..Kubernetes::default()
            }),
            "unknown",
            "known",
        ),
        (
            kubernetes(Kubernetes {
                host: "h".into(),
                token: Field::Unknown,
                ..Kubernetes::default()
            }),
            "unknown",
            "known",
        ),
        (
            kubernetes(Kubernetes {
                host: "h".into(),
                ..Kubernetes::default()
            }),
            "known",
            "known",
        ),
        (
            kubernetes(Kubernetes {
                config_path: "/x".into(),
                ..Kubernetes::default()
            }),
            "known",
            "known",
        ),
        (eks("c".into()), "known", "known"),
        (eks(Field::Unknown), "unknown", "known"),
        (
            Settings {
                aws: Field::Known(unknown_region.clone()),
                ..eks("c".into())
            },
            "unknown",
            "unknown",
        ),
        (
            Settings {
                aws: Field::Known(unknown_region),
                ..kubernetes(Kubernetes {
                    host: "h".into(),
                    ..Kubernetes::default()
                })
            },
            "known",
            "unknown",
        ),
        (
            Settings {
                aws: Field::Known(AwsSettings {
                    assume_role: Field::Known(bad_role),
                    ..AwsSettings::default()
                }),
                ..eks("c".into())
            },
            "broken",
            "broken",
        ),
    ] {
        let data = joiner(&settings);
        assert_eq!(
            (part(&data.cluster), part(&data.aws)),
            (cluster, aws),
            "{settings:?}"
        );
    }
}

#[test]
fn wrong_blocks_are_told_with_their_attribute() {
    let direct = || Kubernetes {
        host: "h".into(),
        ..Kubernetes::default()
    };
    for (settings, path) in [
        (
            Settings {
                kubernetes: Field::Known(direct()),
                ..eks("c".into())
            },
            "eks",
        ),
        (kubernetes(Kubernetes::default()), "kubernetes"),
        (
            kubernetes(Kubernetes {
                config_path: "p".into(),
                ..direct()
            }),
            "kubernetes.config_path",
        ),
        (
            kubernetes(Kubernetes {
                config_context: "c".into(),
                ..direct()
            }),
            "kubernetes.config_context",
        ),
        (
            kubernetes(Kubernetes {
                client_certificate: "c".into(),
                ..direct()
            }),
            "kubernetes.client_key",
        ),
        (
            kubernetes(Kubernetes {
                host: "ftp://h".into(),
                ..Kubernetes::default()
            }),
            "kubernetes.host",
        ),
        (
            kubernetes(Kubernetes {
                cluster_ca_certificate: "oops".into(),
                ..direct()
            }),
            "kubernetes.cluster_ca_certificate",
        ),
        (aws(|aws| aws.region = "eu central".into()), "aws.region"),
        (
            aws(|aws| {
                let tags = [
                    ("aws:x".to_owned(), "1".to_owned()),
                    ("team".to_owned(), "a".to_owned()),
                ];
                aws.default_tags = Field::Known(tags.into());
            }),
            "aws.default_tags[\"aws:x\"]",
        ),
        (
            aws(|aws| {
                aws.assume_role = Field::Known(super::settings::AssumeRoleSettings {
                    role_arn: "nonsense".into(),
                    ..Default::default()
                });
            }),
            "aws.assume_role.role_arn",
        ),
        (
            registry(|registry| registry.url = "ghcr.io".into()),
            "registries[0].url",
        ),
        (
            registry(|registry| registry.username = "u".into()),
            "registries[0].password",
        ),
        (
            registry(|registry| registry.ca_certificate = "oops".into()),
            "registries[0].ca_certificate",
        ),
        (
            registry(|registry| {
                registry.plain_http = Field::Known(true);
                registry.insecure = Field::Known(true);
            }),
            "registries[0].plain_http",
        ),
    ] {
        let found = check(&settings);
        assert_eq!(found.paths(), [path], "{found}");
    }
    for fine in [
        Settings::default(),
        kubernetes(direct()),
        kubernetes(Kubernetes {
            host: Field::Unknown,
            ..Kubernetes::default()
        }),
        kubernetes(Kubernetes {
            client_certificate: "c".into(),
            client_key: Field::Unknown,
            ..direct()
        }),
    ] {
        assert!(check(&fine).is_empty(), "{fine:?}");
    }
}

#[test]
fn a_missing_cluster_is_explained_when_it_is_needed() {
    let data = joiner(&Settings::default());
    let error = data.cluster().err().expect("no cluster").to_string();
    assert!(error.contains("eks = { cluster_name"), "{error}");
    let data = joiner(&eks(Field::Unknown));
    let error = data.cluster().err().expect("not known").to_string();
    assert!(error.contains("not known yet"), "{error}");
}
