package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// World is every object of the snapshot, in the order of the files.
type World struct {
	pods       []*corev1.Pod
	nodes      []*corev1.Node
	claims     []*karpv1.NodeClaim
	pools      []*karpv1.NodePool
	daemonSets []*appsv1.DaemonSet
	namespaces []*corev1.Namespace
	pvcs       []*corev1.PersistentVolumeClaim
	pvs        []*corev1.PersistentVolume
	classes    []*storagev1.StorageClass
	csiNodes   []*storagev1.CSINode
	pdbs       []*policyv1.PodDisruptionBudget
}

type envelope struct {
	Kind  string            `json:"kind"`
	Items []json.RawMessage `json:"items"`
}

func readWorld(files []string) (*World, error) {
	world := &World{}
	for _, file := range files {
		if err := documents(file, world.add); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	world.complete()
	return world, nil
}

// documents calls visit with every JSON document of a file; YAML is turned into JSON first.
func documents(file string, visit func([]byte) error) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		decoder := json.NewDecoder(bytes.NewReader(text))
		for {
			var raw json.RawMessage
			if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if err := visit(raw); err != nil {
				return err
			}
		}
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if len(raw) == 0 {
			continue
		}
		if err := visit(raw); err != nil {
			return err
		}
	}
}

func (w *World) add(raw []byte) error {
	var head envelope
	if err := json.Unmarshal(raw, &head); err != nil {
		return err
	}
	switch head.Kind {
	case "List", "PodList", "NodeList":
		for _, item := range head.Items {
			if err := w.add(item); err != nil {
				return err
			}
		}
		return nil
	case "Pod":
		return into(raw, &w.pods)
	case "Node":
		return into(raw, &w.nodes)
	case "NodeClaim":
		return into(raw, &w.claims)
	case "NodePool":
		return into(raw, &w.pools)
	case "DaemonSet":
		return into(raw, &w.daemonSets)
	case "Namespace":
		return into(raw, &w.namespaces)
	case "PersistentVolumeClaim":
		return into(raw, &w.pvcs)
	case "PersistentVolume":
		return into(raw, &w.pvs)
	case "StorageClass":
		return into(raw, &w.classes)
	case "CSINode":
		return into(raw, &w.csiNodes)
	case "PodDisruptionBudget":
		return into(raw, &w.pdbs)
	}
	return nil // what scheduling does not look at
}

func into[T any](raw []byte, list *[]*T) error {
	object := new(T)
	if err := json.Unmarshal(raw, object); err != nil {
		return err
	}
	*list = append(*list, object)
	return nil
}

// complete fills in what a real cluster's controllers would have: the scheduler's verdict on waiting pods, Ready on
// pools, uids, and the nodes' conditions.
func (w *World) complete() {
	for _, pod := range w.pods {
		if pod.Namespace == "" {
			pod.Namespace = "default"
		}
		if pod.UID == "" {
			pod.UID = types.UID(pod.Namespace + "/" + pod.Name)
		}
		if pod.Spec.NodeName == "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed && len(pod.Spec.SchedulingGates) == 0 {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			})
		}
	}
	for _, pool := range w.pools {
		if pool.UID == "" {
			pool.UID = types.UID(pool.Name)
		}
		if len(pool.Status.Conditions) == 0 {
			pool.StatusConditions().SetTrue(karpv1.ConditionTypeValidationSucceeded)
			pool.StatusConditions().SetTrue(karpv1.ConditionTypeNodeClassReady)
		}
	}
	for _, set := range w.daemonSets {
		if set.Namespace == "" {
			set.Namespace = "default"
		}
		if set.UID == "" {
			set.UID = types.UID(set.Namespace + "/" + set.Name)
		}
	}
	known := map[string]bool{}
	for _, space := range w.namespaces {
		known[space.Name] = true
	}
	for _, pod := range w.pods {
		if !known[pod.Namespace] {
			known[pod.Namespace] = true
			space := &corev1.Namespace{}
			space.Name = pod.Namespace
			space.Labels = map[string]string{corev1.LabelMetadataName: pod.Namespace}
			w.namespaces = append(w.namespaces, space)
		}
	}
}
