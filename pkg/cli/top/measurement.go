// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	metrics "k8s.io/metrics/pkg/client/clientset/versioned"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Measurement is what the running pods of a box use and request, by the last measurement of the cluster.
type Measurement struct {
	// Time is when a pod was measured last. Zero if none was.
	Time metav1.Time `json:"time,omitzero"`
	// Pods is the number of pods that run. The cluster has metrics of Measured of them, and the amounts are the sums of these.
	Pods     int `json:"pods"`
	Measured int `json:"measured"`
	// CPU is in millicores, and Memory in bytes.
	CPU    Amount `json:"cpu"`
	Memory Amount `json:"memory"`
	// Containers are sorted by name.
	Containers []ContainerMeasurement `json:"containers"`
}

// Amount is an amount of CPU or memory. Requested is 0 without a request.
type Amount struct {
	Used      int64 `json:"used"`
	Requested int64 `json:"requested"`
}

// ContainerMeasurement is what a container of the pods of a box uses, in the words of "kubectl modelbox top --recommend".
type ContainerMeasurement struct {
	Name string `json:"name"`
	// Pods is the number of pods whose container was measured.
	Pods   int           `json:"pods"`
	CPU    ResourceTexts `json:"cpu"`
	Memory ResourceTexts `json:"memory"`
}

// ResourceTexts are quantities of CPU or memory.
type ResourceTexts struct {
	// Used is the most that one pod uses.
	Used string `json:"used"`
	// Requested is empty without a request.
	Requested   string `json:"requested,omitempty"`
	Recommended string `json:"recommended"`
}

// Measure returns what the pods of a box use. It returns an error if the cluster does not serve metrics.k8s.io.
func Measure(ctx context.Context, client kubernetes.Interface, metrics metrics.Interface, namespace, name string) (*Measurement, error) {
	selector, err := labels.ValidatedSelectorFromSet(labels.Set{modelv1.SelectorLabel: name})
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%q is not the name of a box: %v", name, err))
	}
	found := &usage{}
	if err := measure(ctx, client, metrics, namespace, selector.String(), map[string]*usage{name: found}); err != nil {
		return nil, err
	}
	return found.measurement(), nil
}

func (u *usage) measurement() *Measurement {
	m := &Measurement{
		Time: u.time, Pods: u.pods, Measured: u.measured,
		CPU:        Amount{Used: u.used.cpu.MilliValue(), Requested: u.requested.cpu.MilliValue()},
		Memory:     Amount{Used: u.used.memory.Value(), Requested: u.requested.memory.Value()},
		Containers: []ContainerMeasurement{},
	}
	for _, name := range slices.Sorted(maps.Keys(u.containers)) {
		m.Containers = append(m.Containers, u.containers[name].measurement(name))
	}
	return m
}

func (c *containerUsage) measurement(name string) ContainerMeasurement {
	wanted := c.recommended()
	request := func(name corev1.ResourceName) string {
		if quantity, isSet := c.resources.Requests[name]; isSet {
			return quantity.String()
		}
		return ""
	}
	return ContainerMeasurement{
		Name:   name,
		Pods:   c.pods,
		CPU:    ResourceTexts{fmt.Sprintf("%dm", c.used.cpu.MilliValue()), request(corev1.ResourceCPU), wanted.cpu.String()},
		Memory: ResourceTexts{fmt.Sprintf("%dMi", c.used.memory.Value()>>20), request(corev1.ResourceMemory), wanted.memory.String()},
	}
}
