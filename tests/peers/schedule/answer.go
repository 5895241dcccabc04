package main

import (
	"fmt"
	"math"
	"sort"

	corev1 "k8s.io/api/core/v1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	requirements "sigs.k8s.io/karpenter/pkg/scheduling"
)

// Answer is the document of `joiner simulate -o json`, with the peer's own times beside it.
type Answer struct {
	NewNodes      []NewNode       `json:"newNodes"`
	ExistingNodes []ExistingNode  `json:"existingNodes"`
	Unschedulable []Unschedulable `json:"unschedulable"`
	Relaxed       []any           `json:"relaxed"`
	HourlyCost    HourlyCost      `json:"hourlyCost"`
	SolveMillis   float64         `json:"solveMillis"`
	SetupMillis   float64         `json:"setupMillis"`
	ReadMillis    float64         `json:"readMillis"`
	Partial       bool            `json:"partial,omitempty"`
	Error         string          `json:"error,omitempty"`
}

// NewNode is a claim that would be created.
type NewNode struct {
	Name          string                                        `json:"name"`
	NodePool      string                                        `json:"nodePool"`
	InstanceTypes []string                                      `json:"instanceTypes"`
	Requirements  []karpv1.NodeSelectorRequirementWithMinValues `json:"requirements"`
	Taints        []corev1.Taint                                `json:"taints"`
	Labels        map[string]string                             `json:"labels"`
	Requests      corev1.ResourceList                           `json:"requests"`
	Pods          []string                                      `json:"pods"`
	Price         float64                                       `json:"price"`
}

// ExistingNode is a node that gets pods.
type ExistingNode struct {
	Name string   `json:"name"`
	Pods []string `json:"pods"`
}

// Unschedulable is a pod without a place.
type Unschedulable struct {
	Pod     string   `json:"pod"`
	Reasons []Reason `json:"reasons"`
}

// Reason in the scheduler's own words.
type Reason struct {
	NodePool string `json:"nodePool"`
	Reason   string `json:"reason"`
	Field    string `json:"field"`
	Nearest  string `json:"nearest"`
}

// HourlyCost of what would be bought; the peer knows no bound, which is written as zero.
type HourlyCost struct {
	New        float64 `json:"new"`
	Existing   float64 `json:"existing"`
	LowerBound float64 `json:"lowerBound"`
}

func answerOf(results scheduling.Results, pods []*corev1.Pod, refused map[*corev1.Pod]error) *Answer {
	answer := &Answer{NewNodes: []NewNode{}, ExistingNodes: []ExistingNode{}, Unschedulable: []Unschedulable{}, Relaxed: []any{}}
	counts := map[string]int{}
	placed := map[string]bool{}
	for _, claim := range results.NewNodeClaims {
		if len(claim.Pods) == 0 {
			continue
		}
		counts[claim.NodePoolName]++
		node := newNode(claim, fmt.Sprintf("%s-%d", claim.NodePoolName, counts[claim.NodePoolName]))
		for _, name := range node.Pods {
			placed[name] = true
		}
		answer.HourlyCost.New += node.Price
		answer.NewNodes = append(answer.NewNodes, node)
	}
	for _, node := range results.ExistingNodes {
		if len(node.Pods) == 0 {
			continue
		}
		names := podNames(node.Pods)
		for _, name := range names {
			placed[name] = true
		}
		answer.ExistingNodes = append(answer.ExistingNodes, ExistingNode{Name: node.Name(), Pods: names})
	}
	reasons := map[string]string{}
	for pod, err := range results.PodErrors {
		reasons[podName(pod)] = err.Error()
	}
	for pod, err := range refused {
		reasons[podName(pod)] = err.Error()
	}
	// A pod whose volumes could not be looked up is dropped without an error.
	for _, pod := range pods {
		if name := podName(pod); !placed[name] && reasons[name] == "" {
			reasons[name] = "left out"
		}
	}
	for name, reason := range reasons {
		if !placed[name] {
			answer.Unschedulable = append(answer.Unschedulable, Unschedulable{Pod: name, Reasons: []Reason{{Reason: reason}}})
		}
	}
	sort.Slice(answer.ExistingNodes, func(i, j int) bool { return answer.ExistingNodes[i].Name < answer.ExistingNodes[j].Name })
	sort.Slice(answer.Unschedulable, func(i, j int) bool { return answer.Unschedulable[i].Pod < answer.Unschedulable[j].Pod })
	return answer
}

func newNode(claim *scheduling.NodeClaim, name string) NewNode {
	node := NewNode{
		Name: name, NodePool: claim.NodePoolName, InstanceTypes: []string{},
		Requirements: claim.Requirements.NodeSelectorRequirements(),
		Taints:       append([]corev1.Taint{}, claim.Spec.Taints...),
		Labels:       claim.Labels, Requests: claim.Spec.Resources.Requests, Pods: podNames(claim.Pods), Price: math.MaxFloat64,
	}
	sort.Slice(node.Requirements, func(i, j int) bool { return node.Requirements[i].Key < node.Requirements[j].Key })
	for _, kind := range claim.InstanceTypeOptions.OrderByPrice(claim.Requirements) {
		best := math.MaxFloat64
		for _, offer := range kind.Offerings.Available() {
			if claim.Requirements.IsCompatible(offer.Requirements, requirements.AllowUndefinedWellKnownLabels) {
				best = min(best, offer.Price)
			}
		}
		// A claim for reserved capacity still lists types that are not reserved; the provider leaves them out at launch.
		if best < math.MaxFloat64 {
			node.InstanceTypes, node.Price = append(node.InstanceTypes, kind.Name), min(node.Price, best)
		}
	}
	if node.Price == math.MaxFloat64 {
		node.Price = 0
	}
	return node
}

func podNames(pods []*corev1.Pod) []string {
	names := make([]string, 0, len(pods))
	for _, pod := range pods {
		names = append(names, podName(pod))
	}
	return names
}

func podName(pod *corev1.Pod) string {
	return pod.Namespace + "/" + pod.Name
}
