// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	nodeheartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/program"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/supervisor"
)

// MaxNodes is how many simulated nodes have pod addresses of their own.
const MaxNodes = 100

// Simulated nodes are marked as KWOK's own documentation does it.
const (
	kwokKey   = "kwok.x-k8s.io/node"
	kwokValue = "fake"

	// SimulatedTaint keeps pods from simulated nodes.
	SimulatedTaint = kwokKey + "=" + kwokValue + ":NoSchedule"
)

// podDelete is KWOK's stage of that name, but for pods that are deleted without a grace period, for which no kubelet is waited.
// KWOK deletes so itself, by the name of the pod. If it did so once more for what it sees of that, the next pod of the name
// would go, and the one after it: on a busy machine a StatefulSet would never get its pod.
const podDelete = `apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: pod-delete
spec:
  resourceRef:
    apiGroup: v1
    kind: Pod
  selector:
    matchExpressions:
    - key: '.metadata.deletionTimestamp'
      operator: 'Exists'
    - key: '.metadata.deletionGracePeriodSeconds == 0'
      operator: 'NotIn'
      values:
      - 'true'
  next:
    delete: true
`

// startSimulatedNodes creates the nodes and starts KWOK, which plays the kubelet of
// each.
func (c *Cluster) startSimulatedNodes(ctx context.Context) error {
	if err := c.writeStages(); err != nil {
		return err
	}
	var taints []corev1.Taint
	if c.settings.Nodes.Container {
		taints = []corev1.Taint{{Key: kwokKey, Value: kwokValue, Effect: corev1.TaintEffectNoSchedule}}
	}
	for i := range c.settings.Nodes.Simulated {
		if _, err := c.Client.CoreV1().Nodes().Create(ctx, simulatedNode(i, taints), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating a node: %w", err)
		}
	}
	return c.Supervisor.Start(ctx, c.kwok())
}

// writeStages writes what happens to nodes and pods, and when: at once.
func (c *Cluster) writeStages() error {
	stages := strings.Join([]string{
		nodefast.DefaultNodeInit,
		nodeheartbeat.DefaultNodeHeartbeat,
		podfast.DefaultPodReady,
		podfast.DefaultPodComplete,
		podDelete,
	}, "\n---\n")
	if err := os.WriteFile(c.Config("kwok-stages.yaml"), []byte(stages), 0o644); err != nil {
		return fmt.Errorf("writing the stages of nodes and pods: %w", err)
	}
	return nil
}

func (c *Cluster) kwok() supervisor.Part {
	return supervisor.Part{
		Name: program.Kwok,
		Path: c.binary,
		Args: []string{
			program.Kwok,
			"--kubeconfig=" + c.partKubeconfig(program.Kwok),
			"--config=" + c.Config("kwok-stages.yaml"),
			"--manage-nodes-with-annotation-selector=" + kwokKey + "=" + kwokValue,
			// With leases, a KWOK that was restarted would leave the nodes alone until
			// the leases of the one that died have run out. The nodes' status is
			// enough of a heartbeat.
			"--node-lease-duration-seconds=0",
		},
		Ready:     c.simulatedNodesReady,
		StopGrace: 3 * time.Second,
	}
}

func simulatedNode(index int, taints []corev1.Taint) *corev1.Node {
	name := fmt.Sprintf("node-%d", index+1)
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("256"),
		corev1.ResourceMemory:           resource.MustParse("1Ti"),
		corev1.ResourceEphemeralStorage: resource.MustParse("10Ti"),
		corev1.ResourcePods:             resource.MustParse("10000"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				corev1.LabelHostname:   name,
				corev1.LabelOSStable:   "linux",
				corev1.LabelArchStable: "amd64",
				"type":                 "kwok",
			},
			Annotations: map[string]string{kwokKey: kwokValue},
		},
		Spec: corev1.NodeSpec{
			Taints: taints,
			// Pods get addresses one after the other from here, without an end: a
			// range too small would run into the next node's.
			PodCIDR:  fmt.Sprintf("10.%d.0.0/16", 100+index),
			PodCIDRs: []string{fmt.Sprintf("10.%d.0.0/16", 100+index)},
		},
		Status: corev1.NodeStatus{
			Capacity:    capacity,
			Allocatable: capacity,
			Addresses: []corev1.NodeAddress{
				// From the range for documentation: there is no such host.
				{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("192.0.2.%d", index+1)},
				{Type: corev1.NodeHostName, Address: name},
			},
		},
	}
}

func (c *Cluster) simulatedNodesReady(ctx context.Context) error {
	nodes, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "type=kwok"})
	if err != nil {
		return err
	}
	for _, node := range nodes.Items {
		if err := checkReady(&node); err != nil {
			return err
		}
	}
	return nil
}
