{{- /*
Pod affinity terms and spread constraints without a selector get the pods' own labels. The values are deep copies, so
nothing is changed for other templates.
*/ -}}

{{- define "joiner.ownSelector" -}}
matchLabels:
  {{- include "joiner.selectorLabels" . | nindent 2 }}
{{- end }}

{{- define "joiner.affinity" -}}
{{- $selector := include "joiner.ownSelector" . | fromYaml -}}
{{- $affinity := deepCopy .Values.affinity -}}
{{- range $kind := list "podAffinity" "podAntiAffinity" -}}
{{- $terms := get $affinity $kind | default dict -}}
{{- range get $terms "requiredDuringSchedulingIgnoredDuringExecution" | default list -}}
{{- if not (hasKey . "labelSelector") }}{{ $_ := set . "labelSelector" $selector }}{{ end -}}
{{- end -}}
{{- range get $terms "preferredDuringSchedulingIgnoredDuringExecution" | default list -}}
{{- $term := .podAffinityTerm -}}
{{- if not (hasKey $term "labelSelector") }}{{ $_ := set $term "labelSelector" $selector }}{{ end -}}
{{- end -}}
{{- end -}}
{{ toYaml $affinity }}
{{- end }}

{{- define "joiner.topologySpreadConstraints" -}}
{{- $selector := include "joiner.ownSelector" . | fromYaml -}}
{{- $constraints := deepCopy .Values.topologySpreadConstraints -}}
{{- range $constraints -}}
{{- if not (hasKey . "labelSelector") }}{{ $_ := set . "labelSelector" $selector }}{{ end -}}
{{- end -}}
{{ toYaml $constraints }}
{{- end }}
