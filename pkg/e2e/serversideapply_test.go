// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// boxManifest is box "web" with what a test adds to its spec.
func boxManifest(spec string) string {
	return fmt.Sprintf("{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {%s}}", spec)
}

// applyAs applies box "web" as a field manager.
func (n *namespace) applyAs(manager, spec string, flags ...string) {
	n.t.Helper()
	n.kubectlWith(boxManifest(spec), applyArguments(manager, flags)...)
}

func applyArguments(manager string, flags []string) []string {
	return append([]string{"apply", "--server-side", "--field-manager=" + manager, "--filename=-"}, flags...)
}

func TestServerSideApplyConflict(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.applyAs("alice", "image: 'nginx:1.7.9', replicas: 1")

	complaint := n.kubectlRefused(boxManifest("image: 'nginx:1.8'"), applyArguments("bob", nil)...)
	for _, words := range []string{`conflict with "alice"`, ".spec.image"} {
		if !strings.Contains(complaint, words) {
			t.Errorf("kubectl does not say %q:\n%s", words, complaint)
		}
	}
	expectEqual(t, "image after the conflict", "nginx:1.7.9", n.box("web").Spec.Image)

	n.applyAs("bob", "image: 'nginx:1.8'", "--force-conflicts")
	box := n.box("web")
	expectEqual(t, "image that was forced", "nginx:1.8", box.Spec.Image)
	expectEqual(t, "replicas, which nobody disputes", int32(1), *box.Spec.Replicas)
}

// TestServerSideApplyShares lets two managers have items of the same list.
func TestServerSideApplyShares(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.applyAs("alice", `image: 'nginx:1.7.9', envs: [{name: A, value: alice}],
		ports: [{port: 80, name: tcp}], containers: [{name: a, image: alice}]`)
	n.applyAs("bob", `envs: [{name: B, value: bob}],
		ports: [{port: 80, protocol: UDP, name: udp}], containers: [{name: b, image: bob}]`)

	spec := n.box("web").Spec
	expectEqual(t, "envs", []corev1.EnvVar{{Name: "A", Value: "alice"}, {Name: "B", Value: "bob"}}, spec.Envs)
	expectEqual(t, "containers", []string{"a", "b"}, namesOf(spec.Containers))
	expectEqual(t, "ports", []corev1.ServicePort{
		{Name: "tcp", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(80)},
		{Name: "udp", Port: 80, Protocol: corev1.ProtocolUDP, TargetPort: intstr.FromInt32(80)},
	}, spec.Ports)

	// What a manager drops goes, and what others have stays.
	n.applyAs("bob", "envs: []")
	spec = n.box("web").Spec
	expectEqual(t, "envs without bob's", []corev1.EnvVar{{Name: "A", Value: "alice"}}, spec.Envs)
	expectEqual(t, "containers without bob's", []string{"a"}, namesOf(spec.Containers))
	expectEqual(t, "number of ports without bob's", 1, len(spec.Ports))
}

// TestScaledBoxKeepsItsReplicas: who applies a box without replicas does not undo what an autoscaler did.
func TestScaledBoxKeepsItsReplicas(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.applyAs("alice", "image: 'nginx:1.7.9'")
	n.kubectl("scale", "modelbox/web", "--replicas=3")
	n.applyAs("alice", "image: 'nginx:1.8'")
	box := n.box("web")
	expectEqual(t, "replicas", int32(3), *box.Spec.Replicas)
	expectEqual(t, "image", "nginx:1.8", box.Spec.Image)
}

// TestScaleTakesReplicas: the field that was changed through the scale has a new manager.
func TestScaleTakesReplicas(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.applyAs("alice", "image: 'nginx:1.7.9', replicas: 1")
	n.kubectl("scale", "modelbox/web", "--replicas=3")
	complaint := n.kubectlRefused(boxManifest("image: 'nginx:1.7.9', replicas: 1"), applyArguments("alice", nil)...)
	for _, words := range []string{`conflict with "kubectl" with subresource "scale"`, ".spec.replicas"} {
		if !strings.Contains(complaint, words) {
			t.Errorf("kubectl does not say %q:\n%s", words, complaint)
		}
	}
	expectEqual(t, "replicas after the conflict", int32(3), *n.box("web").Spec.Replicas)
}

// TestPortsOfOneNumber changes two ports that kubectl takes for one unless the server merges them.
func TestPortsOfOneNumber(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	spec := func(udp, tcp int) string {
		return fmt.Sprintf("image: 'nginx:1.7.9', ports: [{port: 53, protocol: UDP, targetPort: %d}, {port: 53, protocol: TCP, targetPort: %d}]", udp, tcp)
	}
	expectTargets := func(udp, tcp int32) {
		n.t.Helper()
		got := map[corev1.Protocol]int32{}
		for _, port := range n.box("web").Spec.Ports {
			got[port.Protocol] = port.TargetPort.IntVal
		}
		expectEqual(t, "target ports", map[corev1.Protocol]int32{corev1.ProtocolUDP: udp, corev1.ProtocolTCP: tcp}, got)
	}
	n.kubectlWith(boxManifest(spec(1053, 1053)), "apply", "--filename=-")
	n.kubectlWith(boxManifest(spec(1053, 1053)+", replicas: 2"), "apply", "--filename=-")
	complaint := n.kubectlRefused(boxManifest(spec(1054, 1055)+", replicas: 2"), "apply", "--filename=-")
	if want := "client-side apply cannot tell the ports of number 53 apart"; !strings.Contains(complaint, want) {
		t.Errorf("kubectl does not say %q:\n%s", want, complaint)
	}
	expectTargets(1053, 1053)

	n.kubectlWith(boxManifest(spec(1054, 1055)), "apply", "--server-side", "--force-conflicts", "--filename=-")
	expectTargets(1054, 1055)
	n.kubectlWith(boxManifest(spec(1055, 1054)), "apply", "--server-side", "--filename=-")
	expectTargets(1055, 1054)
}
