//! Kubelet settings: the CRD keeps any, so misspelt ones are found here.

use std::net::IpAddr;

use serde_json::Value;

use super::{Violation, nearest, view::View};
use crate::GoDuration;

/// What a setting's value is in KubeletConfiguration's JSON; the kubelet does not start with any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Text,
    Switch,
    Whole,
    Number,
    Duration,
    List,
    Map,
}

use Shape::{Duration, List, Map, Number, Switch, Text, Whole};

impl Shape {
    fn fits(self, value: &Value) -> bool {
        match self {
            Text => value.is_string(),
            Switch => value.is_boolean(),
            Whole => value.is_i64(),
            Number => value.is_number(),
            Duration => value
                .as_str()
                .is_some_and(|text| text.trim_start_matches('-').parse::<GoDuration>().is_ok()),
            List => value.is_array(),
            Map => value.is_object(),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Text => "a text",
            Switch => "true or false",
            Whole => "a whole number without quotes, for example 10",
            Number => "a number without quotes, for example 0.9",
            Duration => "a duration with its unit, for example 30s or 5m",
            List => "a list",
            Map => "a map",
        }
    }
}

/// The settings of Kubernetes' KubeletConfiguration (v1beta1, 1.37).
const KNOWN: &[(&str, Shape)] = &[
    ("address", Text),
    ("allowedUnsafeSysctls", List),
    ("apiVersion", Text),
    ("authentication", Map),
    ("authorization", Map),
    ("cgroupDriver", Text),
    ("cgroupRoot", Text),
    ("cgroupsPerQOS", Switch),
    ("clusterDNS", List),
    ("clusterDomain", Text),
    ("configMapAndSecretChangeDetectionStrategy", Text),
    ("containerLogMaxFiles", Whole),
    ("containerLogMaxSize", Text),
    ("containerLogMaxWorkers", Whole),
    ("containerLogMonitorInterval", Duration),
    ("containerRuntimeEndpoint", Text),
    ("contentType", Text),
    ("cpuCFSQuota", Switch),
    ("cpuCFSQuotaPeriod", Duration),
    ("cpuManagerPolicy", Text),
    ("cpuManagerPolicyOptions", Map),
    ("cpuManagerReconcilePeriod", Duration),
    ("crashLoopBackOff", Map),
    ("enableContentionProfiling", Switch),
    ("enableControllerAttachDetach", Switch),
    ("enableDebugFlagsHandler", Switch),
    ("enableDebuggingHandlers", Switch),
    ("enableProfilingHandler", Switch),
    ("enableServer", Switch),
    ("enableSystemLogHandler", Switch),
    ("enableSystemLogQuery", Switch),
    ("enforceNodeAllocatable", List),
    ("eventBurst", Whole),
    ("eventRecordQPS", Whole),
    ("evictionHard", Map),
    ("evictionMaxPodGracePeriod", Whole),
    ("evictionMinimumReclaim", Map),
    ("evictionPressureTransitionPeriod", Duration),
    ("evictionSoft", Map),
    ("evictionSoftGracePeriod", Map),
    ("failCgroupV1", Switch),
    ("failSwapOn", Switch),
    ("featureGates", Map),
    ("fileCheckFrequency", Duration),
    ("hairpinMode", Text),
    ("healthzBindAddress", Text),
    ("healthzPort", Whole),
    ("httpCheckFrequency", Duration),
    ("imageGCHighThresholdPercent", Whole),
    ("imageGCLowThresholdPercent", Whole),
    ("imageMaximumGCAge", Duration),
    ("imageMinimumGCAge", Duration),
    ("imagePullCredentialsVerificationPolicy", Text),
    ("imageServiceEndpoint", Text),
    ("kernelMemcgNotification", Switch),
    ("kind", Text),
    ("kubeAPIBurst", Whole),
    ("kubeAPIQPS", Whole),
    ("kubeReserved", Map),
    ("kubeReservedCgroup", Text),
    ("kubeletCgroups", Text),
    ("localStorageCapacityIsolation", Switch),
    ("logging", Map),
    ("makeIPTablesUtilChains", Switch),
    ("maxOpenFiles", Whole),
    ("maxParallelImagePulls", Whole),
    ("maxPods", Whole),
    ("memoryManagerPolicy", Text),
    ("memorySwap", Map),
    ("memoryThrottlingFactor", Number),
    ("mergeDefaultEvictionSettings", Switch),
    ("nodeLeaseDurationSeconds", Whole),
    ("nodeStatusMaxImages", Whole),
    ("nodeStatusReportFrequency", Duration),
    ("nodeStatusUpdateFrequency", Duration),
    ("oomScoreAdj", Whole),
    ("podCIDR", Text),
    ("podLogsDir", Text),
    ("podPidsLimit", Whole),
    ("podsPerCore", Whole),
    ("port", Whole),
    ("preloadedImagesVerificationAllowlist", List),
    ("protectKernelDefaults", Switch),
    ("providerID", Text),
    ("qosReserved", Map),
    ("readOnlyPort", Whole),
    ("registerNode", Switch),
    ("registerWithTaints", List),
    ("registryBurst", Whole),
    ("registryPullQPS", Whole),
    ("reservedMemory", List),
    ("reservedSystemCPUs", Text),
    ("resolvConf", Text),
    ("rotateCertificates", Switch),
    ("runOnce", Switch),
    ("runtimeRequestTimeout", Duration),
    ("seccompDefault", Switch),
    ("serializeImagePulls", Switch),
    ("serverTLSBootstrap", Switch),
    ("showHiddenMetricsForVersion", Text),
    ("shutdownGracePeriod", Duration),
    ("shutdownGracePeriodByPodPriority", List),
    ("shutdownGracePeriodCriticalPods", Duration),
    ("singleProcessOOMKill", Switch),
    ("staticPodPath", Text),
    ("staticPodURL", Text),
    ("staticPodURLHeader", Map),
    ("streamingConnectionIdleTimeout", Duration),
    ("syncFrequency", Duration),
    ("systemCgroups", Text),
    ("systemReserved", Map),
    ("systemReservedCgroup", Text),
    ("tlsCertFile", Text),
    ("tlsCipherSuites", List),
    ("tlsCurvePreferences", List),
    ("tlsMinVersion", Text),
    ("tlsPrivateKeyFile", Text),
    ("topologyManagerPolicy", Text),
    ("topologyManagerPolicyOptions", Map),
    ("topologyManagerScope", Text),
    ("tracing", Map),
    ("userNamespaces", Map),
    ("volumePluginDir", Text),
    ("volumeStatsAggPeriod", Duration),
];

/// Rules of kubelet settings.
pub(super) fn check(settings: &View<'_>, found: &mut Vec<Violation>) {
    for (name, value) in settings.entries() {
        let place = value.unwrap_or_else(|| settings.clone());
        if name == "registerWithTaints" {
            found.push(
                place.fail("taints belong to the pool: set them in the template of the NodePool instead"),
            );
            continue;
        }
        match KNOWN.iter().find(|(known, _)| *known == name) {
            None => {
                let hint = nearest::hint(name, KNOWN.iter().map(|(known, _)| *known));
                found.push(place.fail(format!("the kubelet has no setting {name:?}{hint}")));
            }
            Some((_, shape)) if place.path != settings.path && !shape.fits(place.value) => {
                found.push(place.fail(format!(
                    "the kubelet's setting {name:?} cannot be {}: write {}",
                    place.value,
                    shape.words()
                )));
            }
            Some(_) => {}
        }
    }
    for address in settings.field("clusterDNS").iter().flat_map(View::items) {
        if address
            .value
            .as_str()
            .is_some_and(|text| text.parse::<IpAddr>().is_err())
        {
            found.push(address.fail(format!(
                "{} is no IP address, for example 10.100.0.10",
                address.value
            )));
        }
    }
    for (_, period) in settings
        .field("evictionSoftGracePeriod")
        .iter()
        .flat_map(View::entries)
    {
        if let Some(period) = period
            && let Some(Err(error)) = period.value.as_str().map(str::parse::<GoDuration>)
        {
            found.push(period.fail(error.to_string()));
        }
    }
}
