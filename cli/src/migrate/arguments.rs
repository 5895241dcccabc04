//! The arguments; the doc comments are the help texts.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Reads, from files (YAML or JSON, also lists) or from a live cluster:
  - NodePool, EC2NodeClass and NodeOverlay as they are served now, with import blocks;
  - NodePool and EC2NodeClass of v1beta1, with import blocks: a cluster that serves v1 has them under the same names;
  - Provisioner and AWSNodeTemplate of v1alpha5 and v1alpha1, as new pools and classes;
  - what `aws autoscaling describe-auto-scaling-groups`, `aws eks describe-nodegroup` and
    `aws ec2 describe-launch-template-versions` print for a set-up of Cluster Autoscaler, as new pools and classes.

What has no counterpart is said by name, on standard error and as a comment above the resource; nothing is dropped in silence.

Examples:
  joiner migrate -o adopted                                # the cluster of the kubeconfig
  joiner migrate pools.yaml classes.yaml > karpenter.tf
  kubectl get provisioners,awsnodetemplates -o yaml | joiner migrate - -o adopted
  aws autoscaling describe-auto-scaling-groups > groups.json
  aws ec2 describe-launch-template-versions --launch-template-id lt-1 --versions '$Default' > template.json
  joiner migrate groups.json template.json --cluster-name production -o adopted

Exit codes: 0 written; 1 something cannot be read or written; 2 wrong arguments.")]
pub(crate) struct Migrate {
    /// Files to read; - is standard input; none reads the live cluster
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The folder to write to, a file a kind [default: everything to standard output]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite files that are in the folder already
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Write no import blocks
    #[arg(long)]
    pub(crate) no_import: bool,
    /// Write neither the terraform nor the provider block
    #[arg(long)]
    pub(crate) no_provider: bool,
    /// The kubeconfig file of the live cluster [default: KUBECONFIG, else ~/.kube/config]
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The kubeconfig's context
    #[arg(long, value_name = "NAME", conflicts_with = "files")]
    pub(crate) context: Option<String>,
    /// The EKS cluster that the files are of, for the provider block, and for the selectors of classes that groups become
    #[arg(long, value_name = "NAME", requires = "files")]
    pub(crate) cluster_name: Option<String>,
}
