{{- /* Names, labels and the image: what every template of the chart shares. */ -}}

{{- define "joiner.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* A release that already carries the chart's name is not doubled: `joiner`, or `prod-joiner`. */ -}}
{{- define "joiner.fullname" -}}
{{- $name := include "joiner.name" . -}}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{ .Values.fullnameOverride | default $full | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "joiner.serviceAccountName" -}}
{{- $own := .Values.serviceAccount.create | ternary (include "joiner.fullname" .) "default" -}}
{{ .Values.serviceAccount.name | default $own }}
{{- end }}

{{- define "joiner.selectorLabels" -}}
app.kubernetes.io/name: {{ include "joiner.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "joiner.labels" -}}
{{ include "joiner.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with .Values.additionalLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* metadata of an object: dict "root" $ "name" NAME and optionally "namespace", "annotations", "labels". */ -}}
{{- define "joiner.metadata" -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ . }}
{{- end }}
labels:
  {{- include "joiner.labels" .root | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (.annotations | default dict) .root.Values.additionalAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "joiner.image" -}}
{{- $image := .Values.controller.image -}}
{{- $tag := $image.tag | default .Chart.AppVersion -}}
{{ $image.repository }}:{{ $tag }}{{ with $image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- define "joiner.containerName" -}}
{{ .Values.controller.containerName | default "controller" }}
{{- end }}
