package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// Store answers reads from memory, as the controller's informer caches do: pods are indexed by node and by namespace,
// and whoever does not say otherwise gets copies.
type Store struct {
	client.Client
	world       *World
	byNode      map[string][]*corev1.Pod
	byNamespace map[string][]*corev1.Pod
	byName      map[string]client.Object
}

func newStore(world *World) *Store {
	store := &Store{world: world, byNode: map[string][]*corev1.Pod{}, byNamespace: map[string][]*corev1.Pod{}, byName: map[string]client.Object{}}
	for _, pod := range world.pods {
		store.byNode[pod.Spec.NodeName] = append(store.byNode[pod.Spec.NodeName], pod)
		store.byNamespace[pod.Namespace] = append(store.byNamespace[pod.Namespace], pod)
	}
	index(store, world.pods)
	index(store, world.nodes)
	index(store, world.claims)
	index(store, world.pools)
	index(store, world.daemonSets)
	index(store, world.namespaces)
	index(store, world.pvcs)
	index(store, world.pvs)
	index(store, world.classes)
	index(store, world.csiNodes)
	return store
}

func index[T client.Object](store *Store, objects []T) {
	for _, object := range objects {
		store.byName[key(object, object.GetNamespace(), object.GetName())] = object
	}
}

// key ignores the namespace of what has none, as the informer caches do: upstream asks for volumes with one.
func key(object client.Object, namespace, name string) string {
	switch object.(type) {
	case *corev1.Pod, *corev1.PersistentVolumeClaim, *appsv1.DaemonSet:
	default:
		namespace = ""
	}
	return fmt.Sprintf("%T/%s/%s", object, namespace, name)
}

// Get copies the object of that name.
func (s *Store) Get(_ context.Context, name client.ObjectKey, out client.Object, _ ...client.GetOption) error {
	found, ok := s.byName[key(out, name.Namespace, name.Name)]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: fmt.Sprintf("%T", out)}, name.String())
	}
	switch out := out.(type) {
	case *corev1.Pod:
		found.(*corev1.Pod).DeepCopyInto(out)
	case *corev1.Node:
		found.(*corev1.Node).DeepCopyInto(out)
	case *corev1.Namespace:
		found.(*corev1.Namespace).DeepCopyInto(out)
	case *corev1.PersistentVolumeClaim:
		found.(*corev1.PersistentVolumeClaim).DeepCopyInto(out)
	case *corev1.PersistentVolume:
		found.(*corev1.PersistentVolume).DeepCopyInto(out)
	case *storagev1.StorageClass:
		found.(*storagev1.StorageClass).DeepCopyInto(out)
	case *storagev1.CSINode:
		found.(*storagev1.CSINode).DeepCopyInto(out)
	case *karpv1.NodePool:
		found.(*karpv1.NodePool).DeepCopyInto(out)
	case *karpv1.NodeClaim:
		found.(*karpv1.NodeClaim).DeepCopyInto(out)
	case *appsv1.DaemonSet:
		found.(*appsv1.DaemonSet).DeepCopyInto(out)
	default:
		return fmt.Errorf("the store cannot get a %T", out)
	}
	return nil
}

// List copies the objects that the options choose.
func (s *Store) List(_ context.Context, out client.ObjectList, opts ...client.ListOption) error {
	chosen := (&client.ListOptions{}).ApplyOptions(opts)
	switch out := out.(type) {
	case *corev1.PodList:
		out.Items = pick(chosen, s.podsFor(chosen), func(p *corev1.Pod) fields.Set {
			return fields.Set{"spec.nodeName": p.Spec.NodeName, "metadata.name": p.Name}
		}, (*corev1.Pod).DeepCopyInto)
	case *corev1.NodeList:
		out.Items = pick(chosen, s.world.nodes, func(n *corev1.Node) fields.Set {
			return fields.Set{"spec.providerID": n.Spec.ProviderID}
		}, (*corev1.Node).DeepCopyInto)
	case *corev1.NamespaceList:
		out.Items = pick(chosen, s.world.namespaces, nil, (*corev1.Namespace).DeepCopyInto)
	case *karpv1.NodePoolList:
		out.Items = pick(chosen, s.world.pools, func(p *karpv1.NodePool) fields.Set {
			class := p.Spec.Template.Spec.NodeClassRef
			return fields.Set{"spec.template.spec.nodeClassRef.group": class.Group, "spec.template.spec.nodeClassRef.kind": class.Kind, "spec.template.spec.nodeClassRef.name": class.Name}
		}, (*karpv1.NodePool).DeepCopyInto)
	case *karpv1.NodeClaimList:
		out.Items = pick(chosen, s.world.claims, func(c *karpv1.NodeClaim) fields.Set {
			class := c.Spec.NodeClassRef
			return fields.Set{"status.providerID": c.Status.ProviderID, "spec.nodeClassRef.group": class.Group, "spec.nodeClassRef.kind": class.Kind, "spec.nodeClassRef.name": class.Name}
		}, (*karpv1.NodeClaim).DeepCopyInto)
	case *appsv1.DaemonSetList:
		out.Items = pick(chosen, s.world.daemonSets, nil, (*appsv1.DaemonSet).DeepCopyInto)
	case *policyv1.PodDisruptionBudgetList:
		out.Items = pick(chosen, s.world.pdbs, nil, (*policyv1.PodDisruptionBudget).DeepCopyInto)
	default:
		return fmt.Errorf("the store cannot list a %T", out)
	}
	return nil
}

func (s *Store) podsFor(chosen *client.ListOptions) []*corev1.Pod {
	if chosen.FieldSelector != nil {
		if node, exact := chosen.FieldSelector.RequiresExactMatch("spec.nodeName"); exact {
			return s.byNode[node]
		}
	}
	if chosen.Namespace != "" {
		return s.byNamespace[chosen.Namespace]
	}
	return s.world.pods
}

func pick[T any, P interface {
	*T
	client.Object
}](chosen *client.ListOptions, from []*T, of func(P) fields.Set, copyInto func(P, P)) []T {
	var items []T
	for _, object := range from {
		var it P = object
		if chosen.Namespace != "" && it.GetNamespace() != chosen.Namespace {
			continue
		}
		if chosen.LabelSelector != nil && !chosen.LabelSelector.Matches(labels.Set(it.GetLabels())) {
			continue
		}
		if chosen.FieldSelector != nil && !chosen.FieldSelector.Empty() && (of == nil || !chosen.FieldSelector.Matches(of(it))) {
			continue
		}
		if chosen.UnsafeDisableDeepCopy != nil && *chosen.UnsafeDisableDeepCopy {
			items = append(items, *object)
			continue
		}
		items = append(items, *new(T))
		copyInto(it, &items[len(items)-1])
	}
	return items
}
