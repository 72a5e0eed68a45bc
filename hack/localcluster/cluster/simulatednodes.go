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

// MaxNodes is the maximum number of simulated nodes, each with a range of pod addresses.
const MaxNodes = 100

// The marks of simulated nodes, as in the documentation of KWOK.
const (
	kwokKey   = "kwok.x-k8s.io/node"
	kwokValue = "fake"

	// SimulatedTaint prevents pods from being scheduled to simulated nodes.
	SimulatedTaint = kwokKey + "=" + kwokValue + ":NoSchedule"
)

// podDelete is the stage of KWOK with this name, except for pods that are deleted without a grace period. KWOK itself deletes pods
// in this way, by name. If it also deleted a pod for the event of that deletion, it would delete the next pod with the name, and so
// on: on a busy machine, a StatefulSet would never get its pod.
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

// podReady is the stage of KWOK with this name. Its pods also have the resources of their containers in the status, as the pods of all
// kubelets that can resize pods in place.
var podReady = strings.Replace(podfast.DefaultPodReady, readyContainer, readyContainer+`        resources: {{ default (dict) .resources | toJson }}
`, 1)

const readyContainer = `      {{ range .spec.containers }}
      - image: {{ .image | Quote }}
`

// podResize gives containers the resources in the spec of their pod when these change.
const podResize = `apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: pod-resize
spec:
  resourceRef:
    apiGroup: v1
    kind: Pod
  selector:
    matchExpressions:
    - key: '.metadata.deletionTimestamp'
      operator: 'DoesNotExist'
    - key: '.spec.containers as $containers | any(.status.containerStatuses[]?; . as $status | .resources != null and any($containers[]; .name == $status.name and .resources != $status.resources))'
      operator: 'In'
      values:
      - 'true'
  next:
    statusTemplate: |
      {{ $containers := .spec.containers }}
      containerStatuses:
      {{ range .status.containerStatuses }}
      {{ $status := . }}
      {{ range $containers }}
      {{ if eq .name $status.name }}
      {{ $status = set $status "resources" .resources }}
      {{ end }}
      {{ end }}
      - {{ toJson $status }}
      {{ end }}
`

// startSimulatedNodes creates the nodes and starts KWOK, which simulates their kubelets.
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

// writeStages writes the stages of nodes and pods, without delays.
func (c *Cluster) writeStages() error {
	stages := strings.Join([]string{
		nodefast.DefaultNodeInit,
		nodeheartbeat.DefaultNodeHeartbeat,
		podReady,
		podfast.DefaultPodComplete,
		podDelete,
		podResize,
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
			// With Leases, a restarted KWOK would not manage the nodes until the Leases of the former process expire. The status of
			// the nodes is enough as a heartbeat.
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
			// KWOK assigns addresses to pods sequentially without a limit: a range that is too small would overlap the range of the
			// next node.
			PodCIDR:  fmt.Sprintf("10.%d.0.0/16", 100+index),
			PodCIDRs: []string{fmt.Sprintf("10.%d.0.0/16", 100+index)},
		},
		Status: corev1.NodeStatus{
			Capacity:    capacity,
			Allocatable: capacity,
			Addresses: []corev1.NodeAddress{
				// This address is from the range for documentation. The host does not exist.
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
