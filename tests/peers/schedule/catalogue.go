package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// catalogueDocument is `kind: InstanceTypeCatalog`.
type catalogueDocument struct {
	WellKnownLabels []string            `json:"wellKnownLabels"`
	NodePools       map[string][]string `json:"nodePools"`
	InstanceTypes   []struct {
		Name         string                           `json:"name"`
		Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
		Capacity     corev1.ResourceList              `json:"capacity"`
		Overhead     struct {
			KubeReserved      corev1.ResourceList `json:"kubeReserved"`
			SystemReserved    corev1.ResourceList `json:"systemReserved"`
			EvictionThreshold corev1.ResourceList `json:"evictionThreshold"`
		} `json:"overhead"`
		Offerings []struct {
			Available           *bool                            `json:"available"`
			Price               float64                          `json:"price"`
			ReservationCapacity int                              `json:"reservationCapacity"`
			Requirements        []corev1.NodeSelectorRequirement `json:"requirements"`
		} `json:"offerings"`
	} `json:"instanceTypes"`
}

// Cloud sells what the catalogue says.
type Cloud struct {
	cloudprovider.CloudProvider
	types []*cloudprovider.InstanceType
	pools map[string][]string
}

// reservationID is where the AWS provider has it.
const reservationID = "karpenter.k8s.aws/capacity-reservation-id"

func init() {
	cloudprovider.ReservationIDLabel = reservationID
	cloudprovider.ReservedCapacityLabels.Insert(reservationID)
	karpv1.WellKnownLabels.Insert(reservationID)
	karpv1.NormalizedLabels["topology.ebs.csi.aws.com/zone"] = corev1.LabelTopologyZone
}

func readCatalogue(file string) (*Cloud, error) {
	cloud := &Cloud{}
	found := false
	var visit func(raw []byte) error
	visit = func(raw []byte) error {
		var head envelope
		if err := json.Unmarshal(raw, &head); err != nil {
			return err
		}
		if head.Kind == "List" {
			for _, item := range head.Items {
				if err := visit(item); err != nil {
					return err
				}
			}
		}
		if head.Kind != "InstanceTypeCatalog" {
			return nil
		}
		found = true
		var document catalogueDocument
		if err := json.Unmarshal(raw, &document); err != nil {
			return err
		}
		cloud.fill(&document)
		return nil
	}
	if err := documents(file, visit); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if !found {
		return nil, fmt.Errorf("%s: no document of kind InstanceTypeCatalog", file)
	}
	return cloud, nil
}

func (c *Cloud) fill(document *catalogueDocument) {
	karpv1.WellKnownLabels.Insert(document.WellKnownLabels...)
	c.pools = document.NodePools
	for i := range document.InstanceTypes {
		it := &document.InstanceTypes[i]
		kind := &cloudprovider.InstanceType{
			Name:         it.Name,
			Requirements: scheduling.NewNodeSelectorRequirements(it.Requirements...),
			Capacity:     it.Capacity,
			Overhead: &cloudprovider.InstanceTypeOverhead{
				KubeReserved:      it.Overhead.KubeReserved,
				SystemReserved:    it.Overhead.SystemReserved,
				EvictionThreshold: it.Overhead.EvictionThreshold,
			},
		}
		if !kind.Requirements.Has(corev1.LabelInstanceTypeStable) {
			kind.Requirements.Add(scheduling.NewRequirement(corev1.LabelInstanceTypeStable, corev1.NodeSelectorOpIn, it.Name))
		}
		for j := range it.Offerings {
			offer := &it.Offerings[j]
			made := &cloudprovider.Offering{
				Requirements:        scheduling.NewNodeSelectorRequirements(offer.Requirements...),
				Price:               offer.Price,
				Available:           offer.Available == nil || *offer.Available,
				ReservationCapacity: offer.ReservationCapacity,
			}
			if !made.Requirements.Has(reservationID) {
				made.Requirements.Add(scheduling.NewRequirement(reservationID, corev1.NodeSelectorOpDoesNotExist))
			}
			kind.Offerings = append(kind.Offerings, made)
		}
		for _, key := range []string{corev1.LabelTopologyZone, karpv1.CapacityTypeLabelKey} {
			if !kind.Requirements.Has(key) {
				kind.Requirements.Add(scheduling.NewRequirement(key, corev1.NodeSelectorOpIn, offered(kind, key)...))
			}
		}
		// A label that is well known and that the type does not have is missing on its nodes.
		for key := range karpv1.WellKnownLabels {
			if !kind.Requirements.Has(key) && !free[key] {
				kind.Requirements.Add(scheduling.NewRequirement(key, corev1.NodeSelectorOpDoesNotExist))
			}
		}
		c.types = append(c.types, kind)
	}
}

// free are the well-known labels that a node gets from elsewhere than its type.
var free = map[string]bool{
	karpv1.NodePoolLabelKey:    true,
	corev1.LabelTopologyRegion: true,
	corev1.LabelWindowsBuild:   true,
	corev1.LabelArchStable:     true,
	corev1.LabelOSStable:       true,
}

func offered(kind *cloudprovider.InstanceType, key string) []string {
	var values []string
	for _, offer := range kind.Offerings.Available() {
		values = append(values, offer.Requirements.Get(key).Values()...)
	}
	return values
}

// GetInstanceTypes returns the pool's types, or all where the catalogue does not restrict it.
func (c *Cloud) GetInstanceTypes(_ context.Context, pool *karpv1.NodePool) ([]*cloudprovider.InstanceType, error) {
	names, restricted := c.pools[pool.Name]
	if !restricted {
		return c.types, nil
	}
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	var types []*cloudprovider.InstanceType
	for _, kind := range c.types {
		if wanted[kind.Name] {
			types = append(types, kind)
		}
	}
	return types, nil
}

// Get, List and the others are not asked by the scheduler.
func (c *Cloud) Get(context.Context, string) (*karpv1.NodeClaim, error) {
	return nil, errors.New("this cloud has no instances")
}

// Name of the provider.
func (c *Cloud) Name() string { return "catalogue" }

// GetSupportedNodeClasses is the one class that snapshots refer to.
func (c *Cloud) GetSupportedNodeClasses() []status.Object { return []status.Object{&NodeClass{}} }
