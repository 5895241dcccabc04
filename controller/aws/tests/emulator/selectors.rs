//! Selector terms against a cluster's network and images.

use crate::cloud::cloud;
use jiff::Timestamp;
use joiner_api::{AmiSelectorTerm, EC2NodeClassSpec, SecurityGroupSelectorTerm, SubnetSelectorTerm};
use joiner_aws::selectors::{images, security_groups, subnets};
use serde_json::json;
use std::collections::BTreeMap;

pub(crate) fn tags(pairs: &[(&str, &str)]) -> Option<BTreeMap<String, String>> {
    Some(
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
    )
}

fn spec(terms: Vec<AmiSelectorTerm>) -> EC2NodeClassSpec {
    serde_json::from_value(json!({
        "amiFamily": "AL2023",
        "amiSelectorTerms": terms,
        "securityGroupSelectorTerms": [],
        "subnetSelectorTerms": [],
        "role": "x",
    }))
    .unwrap()
}

#[tokio::test]
async fn subnets_are_found_by_tags_and_ids() {
    let aws = cloud().admin();
    let cluster = cloud().cluster("subnets");
    let by_tag = SubnetSelectorTerm {
        tags: tags(&[("karpenter.sh/discovery", "subnets")]),
        ..Default::default()
    };
    let found = subnets(&aws, std::slice::from_ref(&by_tag)).await.unwrap();
    assert_eq!(found.found.len(), 3);
    assert!(found.unmatched.is_empty());
    assert!(
        found
            .found
            .iter()
            .all(|subnet| subnet.free_addresses > 8000 && subnet.vpc_id == cluster["vpcId"])
    );
    let id = found.found[0].id.clone();
    let both = [
        by_tag,
        SubnetSelectorTerm {
            id: Some(id),
            tags: None,
        },
    ];
    assert_eq!(subnets(&aws, &both).await.unwrap().found.len(), 3, "each once");
}

#[tokio::test]
async fn a_term_without_a_match_is_explained() {
    let aws = cloud().admin();
    cloud().cluster("unmatched");
    for (term, want) in [
        (
            SubnetSelectorTerm {
                id: Some("subnet-00000000".to_owned()),
                tags: None,
            },
            "subnetSelectorTerms[0] (id subnet-00000000) matches nothing: no such subnets in region us-west-2",
        ),
        (
            SubnetSelectorTerm {
                id: None,
                tags: tags(&[("no.such/key", "*")]),
            },
            "no subnets in region us-west-2 have a tag no.such/key",
        ),
        (
            SubnetSelectorTerm {
                id: None,
                tags: tags(&[("kubernetes.io/role/internal-elb", "2")]),
            },
            "have tag kubernetes.io/role/internal-elb with 1, none with 2",
        ),
    ] {
        let matches = subnets(&aws, &[term]).await.unwrap();
        assert!(matches.is_empty());
        assert!(matches.explanation().contains(want), "{}", matches.explanation());
    }
}

#[tokio::test]
async fn security_groups_are_found_by_tags_ids_and_names() {
    let aws = cloud().admin();
    let cluster = cloud().cluster("groups");
    let id = cluster["securityGroupId"].as_str().unwrap().to_owned();
    for term in [
        SecurityGroupSelectorTerm {
            id: Some(id.clone()),
            ..Default::default()
        },
        SecurityGroupSelectorTerm {
            name: Some("eks-cluster-sg-groups".to_owned()),
            ..Default::default()
        },
        SecurityGroupSelectorTerm {
            tags: tags(&[("karpenter.sh/discovery", "groups")]),
            ..Default::default()
        },
    ] {
        let found = security_groups(&aws, std::slice::from_ref(&term)).await.unwrap();
        let ids: Vec<&str> = found.found.iter().map(|group| group.id.as_str()).collect();
        assert_eq!(ids, [id.as_str()], "{term:?}");
    }
    let none = SecurityGroupSelectorTerm {
        name: Some("nobody".to_owned()),
        ..Default::default()
    };
    assert!(
        security_groups(&aws, &[none])
            .await
            .unwrap()
            .explanation()
            .contains("(name nobody) matches nothing")
    );
}

#[tokio::test]
async fn images_are_found_by_alias() {
    let aws = cloud().admin();
    cloud().cluster("images");
    for (alias, least) in [("al2023@latest", 2), ("bottlerocket@latest", 2)] {
        let spec = spec(vec![AmiSelectorTerm {
            alias: Some(alias.to_owned()),
            ..Default::default()
        }]);
        let found = images(&aws, &spec, "1.34", Timestamp::now()).await.unwrap();
        assert!(found.found.len() >= least, "{alias}: {found:?}");
        let archs: std::collections::BTreeSet<&str> = found
            .found
            .iter()
            .map(|image| image.requirements[0].values[0].as_str())
            .collect();
        assert_eq!(
            archs.into_iter().collect::<Vec<_>>(),
            ["amd64", "arm64"],
            "{alias}"
        );
    }
    let pinned = spec(vec![AmiSelectorTerm {
        alias: Some("al2023@v19990101".to_owned()),
        ..Default::default()
    }]);
    let none = images(&aws, &pinned, "1.34", Timestamp::now()).await.unwrap();
    assert!(
        none.explanation()
            .contains("publishes no such image for Kubernetes 1.34"),
        "{}",
        none.explanation()
    );
}

#[tokio::test]
async fn images_are_found_by_id_name_and_parameter() {
    let aws = cloud().admin();
    cloud().cluster("images-2");
    let alias = spec(vec![AmiSelectorTerm {
        alias: Some("al2023@latest".to_owned()),
        ..Default::default()
    }]);
    let known = images(&aws, &alias, "1.34", Timestamp::now())
        .await
        .unwrap()
        .found;
    let wanted = known
        .iter()
        .find(|image| image.name.contains("x86_64-standard"))
        .unwrap();
    let parameter = joiner_aws::selectors::parameter_paths(joiner_api::AmiFamily::AL2023, "latest", "1.34")
        [0]
    .0
    .clone();
    for term in [
        AmiSelectorTerm {
            id: Some(wanted.id.clone()),
            ..Default::default()
        },
        AmiSelectorTerm {
            name: Some(wanted.name.clone()),
            ..Default::default()
        },
        AmiSelectorTerm {
            ssm_parameter: Some(parameter),
            ..Default::default()
        },
    ] {
        let found = images(&aws, &spec(vec![term.clone()]), "1.34", Timestamp::now())
            .await
            .unwrap();
        assert_eq!(found.found.len(), 1, "{term:?} {}", found.explanation());
        assert_eq!(found.found[0].id, wanted.id);
    }
    for (term, want) in [
        (
            AmiSelectorTerm {
                id: Some("ami-00000000".to_owned()),
                ..Default::default()
            },
            "(id ami-00000000)",
        ),
        (
            AmiSelectorTerm {
                ssm_parameter: Some("/no/such".to_owned()),
                ..Default::default()
            },
            "no such parameter",
        ),
    ] {
        let none = images(&aws, &spec(vec![term]), "1.34", Timestamp::now())
            .await
            .unwrap();
        assert!(none.explanation().contains(want), "{}", none.explanation());
    }
}
