// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestServerSideApplyReportsConflict(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.ApplyAs("alice", "image: 'nginx:1.7.9', replicas: 1")

	complaint := n.Kubectl.RunFailing(framework.Manifest("image: 'nginx:1.8'"), framework.ServerSideApply("bob", nil)...)
	for _, words := range []string{`conflict with "alice"`, ".spec.image"} {
		if !strings.Contains(complaint, words) {
			t.Errorf("kubectl does not say %q:\n%s", words, complaint)
		}
	}
	framework.ExpectEqual(t, "image after the conflict", "nginx:1.7.9", n.GetBox("web").Spec.Image)

	n.Kubectl.ApplyAs("bob", "image: 'nginx:1.8'", "--force-conflicts")
	box := n.GetBox("web")
	framework.ExpectEqual(t, "image that was forced", "nginx:1.8", box.Spec.Image)
	framework.ExpectEqual(t, "replicas, which no other manager sets", int32(1), *box.Spec.Replicas)
}

// TestServerSideApplyMergesListsByKey applies items of one list as two field managers.
func TestServerSideApplyMergesListsByKey(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.ApplyAs("alice", `image: 'nginx:1.7.9', envs: [{name: A, value: alice}],
		ports: [{port: 80, name: tcp}], containers: [{name: a, image: alice}]`)
	n.Kubectl.ApplyAs("bob", `envs: [{name: B, value: bob}],
		ports: [{port: 80, protocol: UDP, name: udp}], containers: [{name: b, image: bob}]`)

	spec := n.GetBox("web").Spec
	framework.ExpectEqual(t, "envs", []corev1.EnvVar{{Name: "A", Value: "alice"}, {Name: "B", Value: "bob"}}, spec.Envs)
	framework.ExpectEqual(t, "containers", []string{"a", "b"}, framework.ContainerNames(spec.Containers))
	framework.ExpectEqual(t, "ports", []corev1.ServicePort{
		{Name: "tcp", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(80)},
		{Name: "udp", Port: 80, Protocol: corev1.ProtocolUDP, TargetPort: intstr.FromInt32(80)},
	}, spec.Ports)

	// The items that a manager no longer applies are removed, and the items of other managers are kept.
	n.Kubectl.ApplyAs("bob", "envs: []")
	spec = n.GetBox("web").Spec
	framework.ExpectEqual(t, "envs without bob's", []corev1.EnvVar{{Name: "A", Value: "alice"}}, spec.Envs)
	framework.ExpectEqual(t, "containers without bob's", []string{"a"}, framework.ContainerNames(spec.Containers))
	framework.ExpectEqual(t, "number of ports without bob's", 1, len(spec.Ports))
}

// TestApplyWithoutReplicasKeepsScaledReplicas checks that applying a box without replicas does not revert an autoscaler.
func TestApplyWithoutReplicasKeepsScaledReplicas(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.ApplyAs("alice", "image: 'nginx:1.7.9'")
	n.Kubectl.Run("scale", "modelbox/web", "--replicas=3")
	n.Kubectl.ApplyAs("alice", "image: 'nginx:1.8'")
	box := n.GetBox("web")
	framework.ExpectEqual(t, "replicas", int32(3), *box.Spec.Replicas)
	framework.ExpectEqual(t, "image", "nginx:1.8", box.Spec.Image)
}

// TestScaleBecomesManagerOfReplicas checks that a change through the subresource scale changes the field manager of the replicas.
func TestScaleBecomesManagerOfReplicas(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.ApplyAs("alice", "image: 'nginx:1.7.9', replicas: 1")
	n.Kubectl.Run("scale", "modelbox/web", "--replicas=3")
	complaint := n.Kubectl.RunFailing(framework.Manifest("image: 'nginx:1.7.9', replicas: 1"), framework.ServerSideApply("alice", nil)...)
	for _, words := range []string{`conflict with "kubectl" with subresource "scale"`, ".spec.replicas"} {
		if !strings.Contains(complaint, words) {
			t.Errorf("kubectl does not say %q:\n%s", words, complaint)
		}
	}
	framework.ExpectEqual(t, "replicas after the conflict", int32(3), *n.GetBox("web").Spec.Replicas)
}

// TestPortsOfOneNumberAreMergedByProtocol changes two ports with the same number. kubectl would merge them into one without the
// merge keys of the server.
func TestPortsOfOneNumberAreMergedByProtocol(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	spec := func(udp, tcp int) string {
		return fmt.Sprintf("image: 'nginx:1.7.9', ports: [{port: 53, protocol: UDP, targetPort: %d}, {port: 53, protocol: TCP, targetPort: %d}]", udp, tcp)
	}
	expectTargets := func(udp, tcp int32) {
		n.T.Helper()
		got := map[corev1.Protocol]int32{}
		for _, port := range n.GetBox("web").Spec.Ports {
			got[port.Protocol] = port.TargetPort.IntVal
		}
		framework.ExpectEqual(t, "target ports", map[corev1.Protocol]int32{corev1.ProtocolUDP: udp, corev1.ProtocolTCP: tcp}, got)
	}
	n.Kubectl.RunWithInput(framework.Manifest(spec(1053, 1053)), "apply", "--filename=-")
	n.Kubectl.RunWithInput(framework.Manifest(spec(1053, 1053)+", replicas: 2"), "apply", "--filename=-")
	complaint := n.Kubectl.RunFailing(framework.Manifest(spec(1054, 1055)+", replicas: 2"), "apply", "--filename=-")
	if want := "client-side apply cannot distinguish the ports with number 53"; !strings.Contains(complaint, want) {
		t.Errorf("kubectl does not say %q:\n%s", want, complaint)
	}
	expectTargets(1053, 1053)

	n.Kubectl.RunWithInput(framework.Manifest(spec(1054, 1055)), "apply", "--server-side", "--force-conflicts", "--filename=-")
	expectTargets(1054, 1055)
	n.Kubectl.RunWithInput(framework.Manifest(spec(1055, 1054)), "apply", "--server-side", "--filename=-")
	expectTargets(1055, 1054)
}
