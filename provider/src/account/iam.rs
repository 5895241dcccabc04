//! IAM: roles, their policies, instance profiles.

use super::{Account, Answer, Form, refused};
use axum::http::StatusCode;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A role in the account.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Role {
    pub id: String,
    pub path: String,
    pub description: String,
    pub trust: String,
    pub boundary: Option<String>,
    pub tags: BTreeMap<String, String>,
    pub inline: BTreeMap<String, String>,
    pub attached: BTreeSet<String>,
}

/// An instance profile in the account.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Profile {
    pub path: String,
    pub role: Option<String>,
    pub tags: BTreeMap<String, String>,
}

/// The body of the answer to one call.
pub(super) fn answer(account: &Account, action: &str, form: &Form) -> Answer {
    if action.contains("InstanceProfile") {
        return profile_answer(account, action, form);
    }
    let field = |name: &str| form.get(name).cloned().unwrap_or_default();
    let name = field("RoleName");
    let mut roles = account.roles();
    if action == "CreateRole" {
        if roles.contains_key(&name) {
            return Err(refused(StatusCode::CONFLICT, "EntityAlreadyExists"));
        }
        let role = Role {
            id: format!("AROA{}", account.made()),
            path: field("Path"),
            description: field("Description"),
            trust: field("AssumeRolePolicyDocument"),
            boundary: form.get("PermissionsBoundary").cloned(),
            tags: pairs(form),
            ..Role::default()
        };
        let answer = role_xml(&name, &role);
        roles.insert(name, role);
        return Ok(answer);
    }
    let role = roles
        .get_mut(&name)
        .ok_or_else(|| refused(StatusCode::NOT_FOUND, "NoSuchEntity"))?;
    match action {
        "GetRole" => return Ok(role_xml(&name, role)),
        "UpdateAssumeRolePolicy" => role.trust = field("PolicyDocument"),
        "UpdateRole" => role.description = field("Description"),
        "PutRolePermissionsBoundary" => role.boundary = Some(field("PermissionsBoundary")),
        "DeleteRolePermissionsBoundary" => role.boundary = None,
        "TagRole" => role.tags.extend(pairs(form)),
        "UntagRole" => role.tags.retain(|key, _| !members(form, "TagKeys").contains(key)),
        "PutRolePolicy" => {
            role.inline.insert(field("PolicyName"), field("PolicyDocument"));
        }
        "DeleteRolePolicy" => {
            role.inline.remove(&field("PolicyName"));
        }
        "AttachRolePolicy" => {
            role.attached.insert(field("PolicyArn"));
        }
        "DetachRolePolicy" => {
            role.attached.remove(&field("PolicyArn"));
        }
        "ListRolePolicies" => return Ok(list("PolicyNames", role.inline.keys().cloned())),
        "GetRolePolicy" => {
            let document = role
                .inline
                .get(&field("PolicyName"))
                .ok_or_else(|| refused(StatusCode::NOT_FOUND, "NoSuchEntity"))?;
            return Ok(format!(
                "<RoleName>{name}</RoleName><PolicyName>{}</PolicyName><PolicyDocument>{}</PolicyDocument>",
                field("PolicyName"),
                encoded(document)
            ));
        }
        "ListAttachedRolePolicies" => {
            let arns = role
                .attached
                .iter()
                .map(|arn| format!("<PolicyName>p</PolicyName><PolicyArn>{arn}</PolicyArn>"));
            return Ok(list("AttachedPolicies", arns));
        }
        "DeleteRole" if !role.inline.is_empty() || !role.attached.is_empty() => {
            return Err(refused(StatusCode::CONFLICT, "DeleteConflict"));
        }
        "DeleteRole" => {
            roles.remove(&name);
        }
        _ => return Err(refused(StatusCode::BAD_REQUEST, "InvalidAction")),
    }
    Ok(String::new())
}

fn profile_answer(account: &Account, action: &str, form: &Form) -> Answer {
    let field = |name: &str| form.get(name).cloned().unwrap_or_default();
    let (name, role) = (field("InstanceProfileName"), field("RoleName"));
    let mut profiles = account.profiles();
    let absent = || refused(StatusCode::NOT_FOUND, "NoSuchEntity");
    match action {
        "CreateInstanceProfile" => {
            if profiles.contains_key(&name) {
                return Err(refused(StatusCode::CONFLICT, "EntityAlreadyExists"));
            }
            let profile = Profile {
                path: field("Path"),
                role: None,
                tags: pairs(form),
            };
            let answer = profile_xml("InstanceProfile", &name, &profile);
            profiles.insert(name, profile);
            return Ok(answer);
        }
        "GetInstanceProfile" => {
            let profile = profiles.get(&name).ok_or_else(absent)?;
            return Ok(profile_xml("InstanceProfile", &name, profile));
        }
        "ListInstanceProfiles" | "ListInstanceProfilesForRole" => {
            let prefix = form.get("PathPrefix").map_or("/", String::as_str);
            let wanted = |profile: &Profile| match action {
                "ListInstanceProfiles" => profile.path.starts_with(prefix),
                _ => profile.role.as_ref() == Some(&role),
            };
            let found = profiles
                .iter()
                .filter(|(_, profile)| wanted(profile))
                .map(|(name, profile)| profile_xml("member", name, profile));
            let items: String = found.collect();
            return Ok(format!(
                "<InstanceProfiles>{items}</InstanceProfiles><IsTruncated>false</IsTruncated>"
            ));
        }
        "AddRoleToInstanceProfile" => {
            if !account.roles().contains_key(&role) {
                return Err(absent());
            }
            profiles.get_mut(&name).ok_or_else(absent)?.role = Some(role);
        }
        "RemoveRoleFromInstanceProfile" => profiles.get_mut(&name).ok_or_else(absent)?.role = None,
        "DeleteInstanceProfile" => {
            profiles.remove(&name).ok_or_else(absent)?;
        }
        _ => return Err(refused(StatusCode::BAD_REQUEST, "InvalidAction")),
    }
    Ok(String::new())
}

fn profile_xml(element: &str, name: &str, profile: &Profile) -> String {
    let Profile { path, role, tags } = profile;
    let roles = role.iter().map(|role| {
        format!(
            "<Path>/</Path><RoleName>{role}</RoleName><RoleId>AROA</RoleId><Arn>arn:aws:iam::123456789012:role/{role}</Arn>\
             <CreateDate>2026-11-30T08:00:00Z</CreateDate>"
        )
    });
    let tags = tags
        .iter()
        .map(|(key, value)| format!("<Key>{key}</Key><Value>{value}</Value>"));
    format!(
        "<{element}><Path>{path}</Path><InstanceProfileName>{name}</InstanceProfileName><InstanceProfileId>AIPA{name}</InstanceProfileId>\
         <Arn>arn:aws:iam::123456789012:instance-profile{path}{name}</Arn><CreateDate>2026-11-30T08:00:00Z</CreateDate>{}{}</{element}>",
        members_xml("Roles", roles),
        members_xml("Tags", tags)
    )
}

fn role_xml(name: &str, role: &Role) -> String {
    let Role {
        id,
        path,
        description,
        trust,
        boundary,
        tags,
        ..
    } = role;
    let mut xml = format!(
        "<Role><Path>{path}</Path><RoleName>{name}</RoleName><RoleId>{id}</RoleId>\
         <Arn>arn:aws:iam::123456789012:role{path}{name}</Arn><CreateDate>2026-11-30T08:00:00Z</CreateDate>\
         <AssumeRolePolicyDocument>{}</AssumeRolePolicyDocument><Description>{description}</Description>",
        encoded(trust)
    );
    if let Some(arn) = boundary {
        let _ = write!(
            xml,
            "<PermissionsBoundary><PermissionsBoundaryType>PermissionsBoundaryPolicy</PermissionsBoundaryType>\
             <PermissionsBoundaryArn>{arn}</PermissionsBoundaryArn></PermissionsBoundary>"
        );
    }
    let tags = tags
        .iter()
        .map(|(key, value)| format!("<Key>{key}</Key><Value>{value}</Value>"));
    xml + &members_xml("Tags", tags) + "</Role>"
}

fn list(name: &str, items: impl Iterator<Item = String>) -> String {
    members_xml(name, items) + "<IsTruncated>false</IsTruncated>"
}

fn members_xml(name: &str, items: impl Iterator<Item = String>) -> String {
    let items: String = items.map(|item| format!("<member>{item}</member>")).collect();
    format!("<{name}>{items}</{name}>")
}

/// `NAME.member.1`, `NAME.member.2` and so on.
fn members(form: &Form, name: &str) -> Vec<String> {
    let nth = |n: usize| form.get(&format!("{name}.member.{n}")).cloned();
    (1..).map_while(nth).collect()
}

fn pairs(form: &Form) -> BTreeMap<String, String> {
    let part = |n: usize, part: &str| form.get(&format!("Tags.member.{n}.{part}")).cloned();
    (1..)
        .map_while(|n| Some((part(n, "Key")?, part(n, "Value")?)))
        .collect()
}

/// Percent-encoded, as IAM sends documents.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
