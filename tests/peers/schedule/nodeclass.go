package main

import (
	"github.com/awslabs/operatorpkg/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// NodeClass stands for karpenter.k8s.aws EC2NodeClass; only its kind is looked at.
type NodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	conditions        []status.Condition
}

func init() {
	scheme.Scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "karpenter.k8s.aws", Version: "v1", Kind: "EC2NodeClass"}, &NodeClass{})
}

// DeepCopyObject copies the class.
func (n *NodeClass) DeepCopyObject() runtime.Object {
	made := &NodeClass{TypeMeta: n.TypeMeta, conditions: append([]status.Condition(nil), n.conditions...)}
	n.DeepCopyInto(&made.ObjectMeta)
	return made
}

// DeepCopyInto copies the metadata.
func (n *NodeClass) DeepCopyInto(out *metav1.ObjectMeta) { n.ObjectMeta.DeepCopyInto(out) }

// GetConditions of the class.
func (n *NodeClass) GetConditions() []status.Condition { return n.conditions }

// SetConditions of the class.
func (n *NodeClass) SetConditions(conditions []status.Condition) { n.conditions = conditions }

// StatusConditions of the class: Ready and no other.
func (n *NodeClass) StatusConditions(...status.ForOption) status.ConditionSet {
	return status.NewReadyConditions().For(n)
}
