package main

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/options"
)

// solve does what one pass of the provisioner does, up to the point where it would create claims.
func solve(ctx context.Context, set settings, world *World, cloud *Cloud) (*Answer, error) {
	start := time.Now()
	store := newStore(world)
	clk := clock.RealClock{}
	cluster, err := clusterOf(ctx, world, store, cloud, clk)
	if err != nil {
		return nil, err
	}
	recorder := events.NewRecorder(&record.FakeRecorder{})
	provisioner := provisioning.NewProvisioner(store, recorder, cloud, cluster, clk, nil, nil)

	nodes := cluster.DeepCopyNodes()
	pods, err := provisioner.GetPendingPods(ctx)
	if err != nil {
		return nil, err
	}
	leaving, err := nodes.Deleting().CurrentlyReschedulablePods(ctx, store, clk, recorder)
	if err != nil {
		return nil, err
	}
	pods = append(pods, leaving...)
	gone := sets.New[types.UID]()
	for _, pod := range leaving {
		gone.Insert(pod.UID)
	}
	opts := []scheduling.Options{
		scheduling.DisableReservedCapacityFallback,
		scheduling.NumConcurrentReconciles(set.threads),
		scheduling.MinValuesPolicy(options.FromContext(ctx).MinValuesPolicy),
	}
	if options.FromContext(ctx).PreferencePolicy == options.PreferencePolicyIgnore {
		opts = append(opts, scheduling.IgnorePreferences)
	}
	refused := map[*corev1.Pod]error{}
	for _, pod := range world.pods {
		if err := provisioner.Validate(ctx, pod); err != nil && pod.Spec.NodeName == "" {
			refused[pod] = err
		}
	}
	scheduler, err := provisioner.NewScheduler(ctx, pods, nodes.Active(), gone, opts...)
	if errors.Is(err, provisioning.ErrNodePoolsNotFound) {
		answer := answerOf(scheduling.Results{}, pods, refused)
		answer.SetupMillis = millis(time.Since(start))
		return answer, nil
	}
	if err != nil {
		return nil, err
	}
	setup := time.Since(start)

	within, cancel := ctx, func() {}
	if set.budget > 0 {
		within, cancel = context.WithTimeout(ctx, set.budget)
	}
	defer cancel()
	start = time.Now()
	results, err := scheduler.Solve(within, pods)
	took := time.Since(start)
	partial := errors.Is(err, context.DeadlineExceeded)
	if err != nil && !partial {
		return nil, err
	}
	results = results.TruncateInstanceTypes(ctx, scheduling.MaxInstanceTypes)
	answer := answerOf(results, pods, refused)
	answer.SolveMillis, answer.SetupMillis, answer.Partial = millis(took), millis(setup), partial
	return answer, nil
}

// clusterOf feeds the controller's cluster state as its informers would: claims, nodes, bound pods, DaemonSets.
func clusterOf(ctx context.Context, world *World, store *Store, cloud *Cloud, clk clock.Clock) (*state.Cluster, error) {
	cluster := state.NewCluster(clk, store, cloud)
	for _, claim := range world.claims {
		cluster.UpdateNodeClaim(claim)
	}
	known := map[string]bool{}
	for _, node := range world.nodes {
		known[node.Name] = true
		if err := cluster.UpdateNode(ctx, node); err != nil {
			return nil, err
		}
	}
	for _, pod := range world.pods {
		if pod.Spec.NodeName == "" || !known[pod.Spec.NodeName] {
			continue
		}
		if err := cluster.UpdatePod(ctx, pod); err != nil {
			return nil, err
		}
	}
	for _, set := range world.daemonSets {
		if err := cluster.UpdateDaemonSet(ctx, set); err != nil {
			return nil, err
		}
	}
	return cluster, nil
}
