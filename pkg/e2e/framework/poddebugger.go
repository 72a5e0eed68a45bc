// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
)

// PodDebuggerManifest has the permission of the server to add ephemeral containers to pods, which it does not have by default.
func PodDebuggerManifest() string {
	return InRepository("artifacts", "components", "pod-debugger", "rbac.yaml")
}

// GrantPodDebugger grants the server the permission to add ephemeral containers to pods.
func (p *ControlPlane) GrantPodDebugger(t *testing.T) {
	t.Helper()
	kubectl := p.NewNamespace(t).Kubectl
	kubectl.Run("apply", "--filename="+PodDebuggerManifest())
	kubectl.AwaitAllowed(ServerUser, "patch pods --subresource=ephemeralcontainers --all-namespaces")
}

// PodDebuggers returns the client of the PodDebuggers in the namespace.
func (n *Namespace) PodDebuggers() modelclient.PodDebuggerInterface {
	return n.ControlPlane.ModelClient.ModelV1().PodDebuggers(n.Name)
}

// ApplyPodDebugger applies a PodDebugger with the spec.
func (n *Namespace) ApplyPodDebugger(name, spec string) {
	n.T.Helper()
	n.Kubectl.RunWithInput(NewPodDebuggerManifest(name, spec), "apply", "--filename=-")
}

// NewPodDebuggerManifest returns the manifest of a PodDebugger with the spec, for kubectl.
func NewPodDebuggerManifest(name, spec string) string {
	return fmt.Sprintf("{apiVersion: model.github.com/v1, kind: PodDebugger, metadata: {name: %s}, spec: {%s}}", name, spec)
}

// AwaitPodDebugger returns the PodDebugger as soon as check returns nil for it.
func (n *Namespace) AwaitPodDebugger(name, what string, check func(*modelv1.PodDebugger) error) *modelv1.PodDebugger {
	n.T.Helper()
	var debugger *modelv1.PodDebugger
	n.Eventually("PodDebugger "+name+" "+what, func() (err error) {
		if debugger, err = n.PodDebuggers().Get(n.Ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		return check(debugger)
	})
	return debugger
}

// AwaitDebugged waits until the status of the PodDebugger reports that the number of pods have its container and no others need it,
// and returns it.
func (n *Namespace) AwaitDebugged(name string, pods int) *modelv1.PodDebugger {
	n.T.Helper()
	return n.AwaitPodDebugger(name, fmt.Sprintf("has its container in %d pods", pods), func(debugger *modelv1.PodDebugger) error {
		if int(debugger.Status.DebuggedPods) != pods {
			return fmt.Errorf("its status is %+v", debugger.Status)
		}
		return CheckPodDebugger(debugger, modelv1.ConditionApplied, metav1.ConditionTrue, modelv1.ReasonApplied)
	})
}

// CheckPodDebugger returns nil if the PodDebugger has the condition for its current generation, with the words in its message.
func CheckPodDebugger(debugger *modelv1.PodDebugger, conditionType string, status metav1.ConditionStatus, reason string, words ...string) error {
	condition := meta.FindStatusCondition(debugger.Status.Conditions, conditionType)
	switch {
	case condition == nil || condition.ObservedGeneration != debugger.Generation:
		return fmt.Errorf("its conditions are %+v", debugger.Status.Conditions)
	case condition.Status != status, condition.Reason != reason, !ContainsAll(condition.Message, words):
		return fmt.Errorf("%s is %s, reason %s: %s", conditionType, condition.Status, condition.Reason, condition.Message)
	}
	return nil
}
