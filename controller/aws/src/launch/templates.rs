//! The launch templates of a cluster: made when first needed, kept while used, deleted when not.

use super::request::create_template;
use super::template::TemplateSpec;
use crate::connect::Aws;
use crate::error::{Error, Named, found};
use crate::instances::filter;
use crate::tags;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

const CREATE: &str = "ec2:CreateLaunchTemplate";
const DESCRIBE: &str = "ec2:DescribeLaunchTemplates";
const DELETE: &str = "ec2:DeleteLaunchTemplate";

/// A template that no order used for so long is deleted.
pub(super) const UNUSED: SignedDuration = SignedDuration::from_mins(30);

/// Known templates by name.
#[derive(Debug, Default)]
pub(super) struct Templates {
    known: Mutex<BTreeMap<String, Entry>>,
}

#[derive(Clone, Debug)]
struct Entry {
    /// Filled once the template is there; orders at the same time wait for one call.
    made: Arc<OnceCell<()>>,
    used: Timestamp,
}

impl Templates {
    /// Sees to it that the template exists. One of the same name is the same template.
    pub(super) async fn ensure(&self, aws: &Aws, spec: &TemplateSpec, now: Timestamp) -> Result<(), Error> {
        let name = spec.name();
        let made = self.touch(&name, now);
        made.get_or_try_init(|| async {
            let client = aws.ec2().await?;
            let tags = aws.with_default_tags(&spec.tags);
            match create_template(client, spec, &tags).send().await.named(CREATE) {
                Ok(_) => {
                    tracing::debug!(launch_template = %name, "created launch template");
                    Ok(())
                }
                Err(Error::AlreadyExists(_)) => Ok(()),
                Err(error) => Err(error),
            }
        })
        .await?;
        Ok(())
    }

    /// EC2 says that the template is gone.
    pub(super) fn forget(&self, name: &str) {
        self.lock().remove(name);
    }

    /// Takes over the templates that an earlier controller of the cluster left; returns how many there are.
    pub(super) async fn hydrate(&self, aws: &Aws, cluster: &str, now: Timestamp) -> Result<usize, Error> {
        let names = list(aws, vec![filter(&format!("tag:{}", tags::CLUSTER), &[cluster])]).await?;
        let count = names.len();
        for name in names {
            // A set cell: there is nothing to wait for.
            let made = Arc::new(OnceCell::new_with(Some(())));
            self.lock().entry(name).or_insert(Entry { made, used: now });
        }
        Ok(count)
    }

    /// Deletes what has not been used for [`UNUSED`]; returns the names.
    pub(super) async fn sweep(&self, aws: &Aws, now: Timestamp) -> Result<Vec<String>, Error> {
        let old: Vec<String> = {
            let mut known = self.lock();
            let old: Vec<String> = known
                .iter()
                .filter(|(_, entry)| now.duration_since(entry.used) >= UNUSED)
                .map(|(name, _)| name.clone())
                .collect();
            for name in &old {
                known.remove(name);
            }
            old
        };
        for name in &old {
            delete(aws, name).await?;
        }
        Ok(old)
    }

    /// Deletes all templates of a node class; returns the names.
    pub(super) async fn delete_of_class(
        &self,
        aws: &Aws,
        cluster: &str,
        class: &str,
    ) -> Result<Vec<String>, Error> {
        let names = list(
            aws,
            vec![
                filter(&format!("tag:{}", tags::CLUSTER), &[cluster]),
                filter(&format!("tag:{}", tags::NODE_CLASS), &[class]),
            ],
        )
        .await?;
        for name in &names {
            self.forget(name);
            delete(aws, name).await?;
        }
        Ok(names)
    }

    fn touch(&self, name: &str, now: Timestamp) -> Arc<OnceCell<()>> {
        let mut known = self.lock();
        let entry = known.entry(name.to_owned()).or_insert_with(|| Entry {
            made: Arc::default(),
            used: now,
        });
        entry.used = now;
        entry.made.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Entry>> {
        // A panic elsewhere cannot leave a map of names half changed.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn list(aws: &Aws, filters: Vec<aws_sdk_ec2::types::Filter>) -> Result<Vec<String>, Error> {
    let call = aws
        .ec2()
        .await?
        .describe_launch_templates()
        .set_filters(Some(filters));
    let mut pages = call.into_paginator().page_size(200).send();
    let mut names = Vec::new();
    while let Some(page) = pages.next().await {
        let page = page.named(DESCRIBE)?;
        names.extend(
            page.launch_templates()
                .iter()
                .filter_map(|template| template.launch_template_name().map(str::to_owned)),
        );
    }
    names.sort();
    Ok(names)
}

async fn delete(aws: &Aws, name: &str) -> Result<(), Error> {
    let answer = aws
        .ec2()
        .await?
        .delete_launch_template()
        .launch_template_name(name)
        .send()
        .await
        .named(DELETE);
    found(answer)?;
    tracing::debug!(launch_template = %name, "deleted launch template");
    Ok(())
}
