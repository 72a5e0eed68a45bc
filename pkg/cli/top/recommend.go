// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/cli-runtime/pkg/printers"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	// recommendedPercent is the recommended request, in percent of what the pod uses that uses most.
	recommendedPercent = 125
	// tolerancePercent is the difference between a request and the recommendation, in percent of the request, that needs no change.
	tolerancePercent = 20

	// Recommendations are multiples of these, and at least one of them: a container that does nothing now may have to start again.
	cpuStep    = 10       // millicores
	memoryStep = 16 << 20 // bytes
)

// containerUsage is what a container of the pods of a box uses and requests.
type containerUsage struct {
	// pods is how many pods were measured.
	pods int
	// used is the most that one pod uses, and resources are what the container asks for, which pods of different revisions may not agree
	// about: the last pod decides.
	used      amounts
	resources corev1.ResourceRequirements
}

// addContainers adds what the containers of a pod use, except for init containers that have ended.
func (u *usage) addContainers(pod *corev1.Pod, metrics *metricsv1beta1.PodMetrics) {
	if u.containers == nil {
		u.containers = map[string]*containerUsage{}
	}
	for i := range metrics.Containers {
		measured := &metrics.Containers[i]
		asked := containerNamed(pod, measured.Name)
		if asked == nil {
			continue
		}
		of := u.containers[measured.Name]
		if of == nil {
			of = &containerUsage{}
			u.containers[measured.Name] = of
		}
		of.pods++
		of.resources = asked.Resources
		of.used.cpu, of.used.memory = larger(of.used.cpu, *measured.Usage.Cpu()), larger(of.used.memory, *measured.Usage.Memory())
	}
}

// containerNamed returns the container or the sidecar of a pod, nil if it has none of the name.
func containerNamed(pod *corev1.Pod, name string) *corev1.Container {
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		if i := slices.IndexFunc(containers, func(container corev1.Container) bool { return container.Name == name }); i >= 0 {
			return &containers[i]
		}
	}
	return nil
}

func larger(a, b resource.Quantity) resource.Quantity {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}

// recommended returns the requests that the container needs by this measurement.
func (c *containerUsage) recommended() amounts {
	return amounts{
		cpu:    *resource.NewMilliQuantity(roundedUp(c.used.cpu.MilliValue(), cpuStep), resource.DecimalSI),
		memory: *resource.NewQuantity(roundedUp(c.used.memory.Value(), memoryStep), resource.BinarySI),
	}
}

// roundedUp returns recommendedPercent of a value as a multiple of the step.
func roundedUp(value, step int64) int64 {
	return max(1, (value*recommendedPercent/100+step-1)/step) * step
}

// changes returns the requests and the limits that differ from the recommendation, as arguments of "kubectl modelbox set resources". A
// limit that equals the request stays equal to it, so that the QoS class of the pod stays, and a limit is not less than the request.
func (c *containerUsage) changes() []string {
	wanted := c.recommended()
	var requests, limits []string
	for _, change := range []struct {
		name   corev1.ResourceName
		wanted resource.Quantity
	}{{corev1.ResourceCPU, wanted.cpu}, {corev1.ResourceMemory, wanted.memory}} {
		request, hasRequest := c.resources.Requests[change.name]
		if hasRequest && isNear(request, change.wanted) {
			continue
		}
		text := fmt.Sprintf("%s=%s", change.name, change.wanted.String())
		requests = append(requests, text)
		limit, hasLimit := c.resources.Limits[change.name]
		if hasLimit && (hasRequest && limit.Cmp(request) == 0 || limit.Cmp(change.wanted) < 0) {
			limits = append(limits, text)
		}
	}
	var arguments []string
	if len(requests) > 0 {
		arguments = append(arguments, "--requests="+strings.Join(requests, ","))
	}
	if len(limits) > 0 {
		arguments = append(arguments, "--limits="+strings.Join(limits, ","))
	}
	return arguments
}

func isNear(request, wanted resource.Quantity) bool {
	is, want := request.AsApproximateFloat64(), wanted.AsApproximateFloat64()
	return want >= is*(1-tolerancePercent/100.) && want <= is*(1+tolerancePercent/100.)
}

// printRecommendations prints what the containers of each box use, request and need, and the commands that set what they need.
func (o *Options) printRecommendations(usages []*usage) error {
	w := printers.GetNewTabWriter(o.Out)
	if !o.NoHeaders {
		if o.AllNamespaces {
			fmt.Fprint(w, "NAMESPACE\t")
		}
		fmt.Fprintln(w, "NAME\tCONTAINER\tPODS\tCPU(cores)\tREQUEST\tRECOMMENDED\tMEMORY(bytes)\tREQUEST\tRECOMMENDED")
	}
	var commands []string
	for _, usage := range usages {
		for _, name := range slices.Sorted(maps.Keys(usage.containers)) {
			container := usage.containers[name]
			if o.AllNamespaces {
				fmt.Fprintf(w, "%s\t", usage.box.Namespace)
			}
			container.print(w, usage.box.Name, name)
			if changes := container.changes(); len(changes) > 0 {
				commands = append(commands, setCommand(usage.box, name, changes))
			}
		}
	}
	if err := w.Flush(); err != nil || len(commands) == 0 {
		return err
	}
	fmt.Fprintf(o.Out, "\n# Each recommendation is %d%% of the most that a pod uses now. Measure under load before you set it.\n", recommendedPercent)
	fmt.Fprintln(o.Out, strings.Join(commands, "\n"))
	return nil
}

// print prints the line of a container, with the most that a pod uses.
func (c *containerUsage) print(w io.Writer, box, name string) {
	orNone := func(request string) string { return cmp.Or(request, "<none>") }
	measured := c.measurement(name)
	fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", box, name, measured.Pods,
		measured.CPU.Used, orNone(measured.CPU.Requested), measured.CPU.Recommended,
		measured.Memory.Used, orNone(measured.Memory.Requested), measured.Memory.Recommended)
}

// setCommand returns the command that changes the resources of a container of the box, or a comment that says why there is none. A stack
// sets the resources of its boxes.
func setCommand(box *modelv1.ModelBox, container string, changes []string) string {
	isMain := container == box.Spec.Name
	isNamed := func(other corev1.Container) bool { return other.Name == container }
	switch {
	case isMain && box.Spec.ResourceType != modelv1.ResourceTypeCustom:
		return fmt.Sprintf("# box %s: resourceType %s sets the resources of container %s, set resourceType to custom first", box.Name, box.Spec.ResourceType, container)
	case !isMain && !slices.ContainsFunc(box.Spec.Containers, isNamed) && !slices.ContainsFunc(box.Spec.InitContainers, isNamed):
		return fmt.Sprintf("# box %s: container %s is in podTemplate, or another client adds it to the pods", box.Name, container)
	}
	target := box.Name
	if stack, component := box.Labels[modelv1.StackLabel], box.Labels[modelv1.ComponentLabel]; stack != "" && component != "" {
		target = "mst/" + stack
		if isMain {
			container = component
		} else {
			container = component + "/" + container
		}
	}
	return fmt.Sprintf("kubectl modelbox set resources %s --namespace=%s --containers=%s %s", target, box.Namespace, container, strings.Join(changes, " "))
}
