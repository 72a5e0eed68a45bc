// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"
	resourcehelper "k8s.io/component-helpers/resource"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// usage is what the pods of a box use and request.
type usage struct {
	box *modelv1.ModelBox
	// pods is how many run, measured of how many of them there are metrics: a new pod has none yet.
	pods, measured  int
	used, requested amounts
	// time is when the pod was measured that was measured last, zero if none was.
	time metav1.Time
	// containers are the containers of the pods that were measured, by name.
	containers map[string]*containerUsage
}

// amounts are of CPU and memory.
type amounts struct{ cpu, memory resource.Quantity }

func (a *amounts) add(list corev1.ResourceList) {
	a.cpu.Add(*list.Cpu())
	a.memory.Add(*list.Memory())
}

// add adds a running pod. Its requests count if it has metrics, which are nil otherwise.
func (u *usage) add(pod *corev1.Pod, metrics *metricsv1beta1.PodMetrics) {
	u.pods++
	if metrics == nil {
		return
	}
	u.measured++
	if u.time.Before(&metrics.Timestamp) {
		u.time = metrics.Timestamp
	}
	u.addContainers(pod, metrics)
	u.requested.add(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}))
	for i := range metrics.Containers {
		u.used.add(metrics.Containers[i].Usage)
	}
}

// sortUsages sorts by what is used, the most first, or else by name.
func sortUsages(usages []*usage, by string) {
	slices.SortFunc(usages, func(a, b *usage) int {
		order := 0
		switch by {
		case "cpu":
			order = b.used.cpu.Cmp(a.used.cpu)
		case "memory":
			order = b.used.memory.Cmp(a.used.memory)
		}
		return cmp.Or(order, cmp.Compare(a.box.Namespace, b.box.Namespace), cmp.Compare(a.box.Name, b.box.Name))
	})
}

// print prints a table in the units of kubectl top.
func (o *Options) print(usages []*usage) error {
	w := printers.GetNewTabWriter(o.Out)
	if !o.NoHeaders {
		if o.AllNamespaces {
			fmt.Fprint(w, "NAMESPACE\t")
		}
		fmt.Fprintln(w, "NAME\tPODS\tCPU(cores)\tCPU(%)\tMEMORY(bytes)\tMEMORY(%)")
	}
	for _, usage := range usages {
		if o.AllNamespaces {
			fmt.Fprintf(w, "%s\t", usage.box.Namespace)
		}
		cpu, memory := "<unknown>", "<unknown>"
		if usage.measured > 0 {
			cpu, memory = fmt.Sprintf("%dm", usage.used.cpu.MilliValue()), fmt.Sprintf("%dMi", usage.used.memory.Value()>>20)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", usage.box.Name, usage.podsText(), cpu, share(usage.used.cpu, usage.requested.cpu),
			memory, share(usage.used.memory, usage.requested.memory))
	}
	return w.Flush()
}

// podsText is the number of pods, "2/3" where there are metrics of two of three.
func (u *usage) podsText() string {
	if u.measured == u.pods {
		return fmt.Sprint(u.pods)
	}
	return fmt.Sprintf("%d/%d", u.measured, u.pods)
}

// share is how much of what is requested is used, in percent.
func share(used, requested resource.Quantity) string {
	if requested.IsZero() {
		return "<none>"
	}
	return fmt.Sprintf("%.0f%%", 100*used.AsApproximateFloat64()/requested.AsApproximateFloat64())
}
