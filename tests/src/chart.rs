//! A small chart whose install can be made to wait, and whose pod can be made to never get ready.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

const CHART: &str = "apiVersion: v2\nname: small\nversion: 0.1.0\nappVersion: 0.1.0\n";

const VALUES: &str = "\
# Seconds that a hook before each install and upgrade takes; 0: no hook.
hookSeconds: 0
# Whether the pod's readiness probe passes.
ready: true
# The pod's image.
image: joiner/controller
";

const WORKLOAD: &str = r#"apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  selector:
    matchLabels:
      app: {{ .Release.Name }}
  template:
    metadata:
      labels:
        app: {{ .Release.Name }}
    spec:
      terminationGracePeriodSeconds: 1
      # The system node runs programs; other nodes only play them.
      tolerations:
        - key: CriticalAddonsOnly
          operator: Exists
      containers:
        - name: sleeper
          image: {{ .Values.image }}
          command: ["sleep", "3600"]
          readinessProbe:
            periodSeconds: 1
            exec:
              command: [{{ if .Values.ready }}"true"{{ else }}"false"{{ end }}]
"#;

const HOOK: &str = r#"{{- if .Values.hookSeconds }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-hook
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      tolerations:
        - key: CriticalAddonsOnly
          operator: Exists
      containers:
        - name: hook
          image: joiner/controller
          command: ["sleep", "{{ .Values.hookSeconds }}"]
{{- end }}
"#;

/// The chart, in a folder.
pub struct SmallChart {
    folder: PathBuf,
}

impl SmallChart {
    /// Writes the chart into a folder below `within`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(within: &Path) -> Result<Self> {
        let folder = within.join("small-chart");
        let templates = folder.join("templates");
        fs::create_dir_all(&templates).with_context(|| templates.display().to_string())?;
        for (name, text) in [
            ("Chart.yaml", CHART),
            ("values.yaml", VALUES),
            ("templates/workload.yaml", WORKLOAD),
            ("templates/hook.yaml", HOOK),
        ] {
            let path = folder.join(name);
            fs::write(&path, text).with_context(|| path.display().to_string())?;
        }
        Ok(Self { folder })
    }

    /// A release of the chart, `joiner_helm_release.NAME` in the namespace `default`; `values` is HCL within its values, `more`
    /// within the resource.
    pub fn release(&self, name: &str, values: &str, more: &str) -> String {
        format!(
            r#"
resource "joiner_helm_release" "{name}" {{
  name      = "{name}"
  namespace = "default"
  chart     = "{chart}"
  values    = {{
    {values}
  }}
  {more}
}}
"#,
            chart = self.folder.display()
        )
    }
}
