//! An account's IAM in memory, for tests: a server on loopback that speaks what the role's resource needs of the IAM protocol.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpListener;

/// A role in the account.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Role {
    pub id: String,
    pub path: String,
    pub description: String,
    pub trust: String,
    pub boundary: Option<String>,
    pub tags: BTreeMap<String, String>,
    pub inline: BTreeMap<String, String>,
    pub attached: BTreeSet<String>,
}

/// The account.
#[derive(Default)]
pub(super) struct Account {
    roles: Mutex<BTreeMap<String, Role>>,
    calls: Mutex<Vec<String>>,
    failing: Mutex<Option<String>>,
}

type Form = BTreeMap<String, String>;
type Answer = Result<String, (StatusCode, &'static str)>;

impl Account {
    /// Starts the server; answers its URL, too. It ends with the test's runtime.
    pub(super) async fn start() -> (Arc<Self>, String) {
        let account = Arc::new(Self::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let routes = Router::new()
            .route("/", post(answer))
            .with_state(Arc::clone(&account));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        (account, url)
    }

    /// The roles, to look at and to change as someone else would.
    pub(super) fn roles(&self) -> MutexGuard<'_, BTreeMap<String, Role>> {
        self.roles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The actions since the last look.
    pub(super) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Refuses the next call of this action.
    pub(super) fn refuse(&self, action: &str) {
        *self.failing.lock().unwrap_or_else(PoisonError::into_inner) = Some(action.to_owned());
    }

    fn act(&self, form: &Form) -> Answer {
        let field = |name: &str| form.get(name).cloned().unwrap_or_default();
        let (action, name) = (field("Action"), field("RoleName"));
        self.calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(action.clone());
        if self
            .failing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take_if(|failing| *failing == action)
            .is_some()
        {
            return Err((StatusCode::FORBIDDEN, "AccessDenied"));
        }
        let mut roles = self.roles();
        if action == "CreateRole" {
            if roles.contains_key(&name) {
                return Err((StatusCode::CONFLICT, "EntityAlreadyExists"));
            }
            let role = Role {
                id: format!(
                    "AROA{}",
                    self.calls.lock().unwrap_or_else(PoisonError::into_inner).len() + roles.len()
                ),
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
            .ok_or((StatusCode::NOT_FOUND, "NoSuchEntity"))?;
        match action.as_str() {
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
                    .ok_or((StatusCode::NOT_FOUND, "NoSuchEntity"))?;
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
            "ListInstanceProfilesForRole" => return Ok(list("InstanceProfiles", std::iter::empty())),
            "DeleteRole" if !role.inline.is_empty() || !role.attached.is_empty() => {
                return Err((StatusCode::CONFLICT, "DeleteConflict"));
            }
            "DeleteRole" => {
                roles.remove(&name);
            }
            _ => return Err((StatusCode::BAD_REQUEST, "InvalidAction")),
        }
        Ok(String::new())
    }
}

async fn answer(State(account): State<Arc<Account>>, body: String) -> (StatusCode, String) {
    let form: Form = url::form_urlencoded::parse(body.as_bytes())
        .into_owned()
        .collect();
    let action = form.get("Action").cloned().unwrap_or_default();
    match account.act(&form) {
        Ok(result) => (
            StatusCode::OK,
            format!(
                "<{action}Response xmlns=\"https://iam.amazonaws.com/doc/2010-05-08/\"><{action}Result>{result}</{action}Result>\
                 <ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></{action}Response>"
            ),
        ),
        Err((status, code)) => (
            status,
            format!(
                "<ErrorResponse xmlns=\"https://iam.amazonaws.com/doc/2010-05-08/\"><Error><Type>Sender</Type><Code>{code}</Code>\
                 <Message>{action} was refused</Message></Error><RequestId>r</RequestId></ErrorResponse>"
            ),
        ),
    }
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
