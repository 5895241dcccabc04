{{- /*
The container's settings, all by environment and all by upstream's names. A setting that is empty is left out, so that the
binary's default holds; a text value may itself be a template.
*/ -}}
{{- define "joiner.environment" -}}
{{- $settings := .Values.settings -}}
{{- $gates := $settings.featureGates -}}
{{- if not $settings.clusterName }}{{ fail "settings.clusterName is empty: set it to the name of the EKS cluster that the nodes are to join" }}{{ end -}}
- name: KARPENTER_SERVICE
  value: {{ include "joiner.fullname" . }}
- name: SYSTEM_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: POD_UID
  valueFrom:
    fieldRef:
      fieldPath: metadata.uid
- name: CPU_REQUESTS
  valueFrom:
    resourceFieldRef:
      containerName: {{ include "joiner.containerName" . }}
      resource: requests.cpu
      divisor: 1m
- name: MEMORY_LIMIT
  valueFrom:
    resourceFieldRef:
      containerName: {{ include "joiner.containerName" . }}
      resource: limits.memory
      divisor: "0"
{{- /* Three threads share what is freed, so that it goes back to the node: a heap of each thread's own would keep it. */}}
- name: MALLOC_ARENA_MAX
  value: "1"
- name: METRICS_PORT
  value: {{ .Values.controller.metrics.port | quote }}
- name: HEALTH_PROBE_PORT
  value: {{ .Values.controller.healthProbe.port | quote }}
- name: FEATURE_GATES
  value: {{ printf "ReservedCapacity=%v,SpotToSpotConsolidation=%v,NodeRepair=%v,NodeOverlay=%v,StaticCapacity=%v,CapacityBuffer=%v" $gates.reservedCapacity $gates.spotToSpotConsolidation $gates.nodeRepair $gates.nodeOverlay $gates.staticCapacity $gates.capacityBuffer | quote }}
- name: AWS_FEATURE_GATES
  value: {{ printf "NodeClassCEL=%v" $settings.awsFeatureGates.nodeClassCEL | quote }}
{{- $named := list
  (list "CLUSTER_NAME" $settings.clusterName)
  (list "CLUSTER_ENDPOINT" $settings.clusterEndpoint)
  (list "CLUSTER_CA_BUNDLE" $settings.clusterCABundle)
  (list "LOG_LEVEL" .Values.logLevel)
  (list "LOG_OUTPUT_PATHS" (join "," .Values.logOutputPaths))
  (list "LOG_ERROR_OUTPUT_PATHS" (join "," .Values.logErrorOutputPaths))
  (list "BATCH_MAX_DURATION" $settings.batchMaxDuration)
  (list "BATCH_IDLE_DURATION" $settings.batchIdleDuration)
  (list "PREFERENCE_POLICY" $settings.preferencePolicy)
  (list "MIN_VALUES_POLICY" $settings.minValuesPolicy)
  (list "DEFAULT_SPREAD_CONSTRAINTS" (ternary (toJson $settings.defaultSpreadConstraints) "" (not (empty $settings.defaultSpreadConstraints))))
  (list "ISOLATED_VPC" $settings.isolatedVPC)
  (list "EKS_CONTROL_PLANE" $settings.eksControlPlane)
  (list "VM_MEMORY_OVERHEAD_PERCENT" $settings.vmMemoryOverheadPercent)
  (list "INTERRUPTION_QUEUE" $settings.interruptionQueue)
  (list "ENABLE_ZONAL_SHIFT" $settings.enableZonalShift)
  (list "RESERVED_ENIS" $settings.reservedENIs)
  (list "IGNORE_DRA_REQUESTS" $settings.ignoreDRARequests)
  (list "DISABLE_CLUSTER_STATE_OBSERVABILITY" $settings.disableClusterStateObservability)
  (list "DISABLE_DRY_RUN" $settings.disableDryRun)
  (list "AMI_REFRESH_INTERVAL" $settings.amiRefreshInterval)
  (list "SUBNET_REFRESH_INTERVAL" $settings.subnetRefreshInterval)
-}}
{{- range $pair := $named }}
{{- $value := tpl (toString (index $pair 1)) $ }}
{{- if $value }}
- name: {{ index $pair 0 }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- with .Values.controller.env }}
{{ toYaml . }}
{{- end }}
{{- end }}
