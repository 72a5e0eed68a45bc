// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/printers"
)

// columns are the columns of "kubectl get" for boxes. Columns with priority 1 are shown only with "-o wide".
var columns = []metav1.TableColumnDefinition{
	{Name: "Name", Type: "string", Format: "name", Description: "Name of the box."},
	{Name: "Ready", Type: "string", Description: "Ready pods, and desired pods."},
	{Name: "Up-To-Date", Type: "integer", Description: "Pods that run the current pod template."},
	{Name: "Status", Type: "string", Description: "Ready, or the reason why not."},
	{Name: "Image", Type: "string", Description: "Image of the main container."},
	{Name: "Address", Type: "string", Description: "Address of the box inside the cluster."},
	{Name: "Age", Type: "string", Description: "Time since the box was created."},
	{Name: "Workload", Type: "string", Priority: 1, Description: "Kind of the object that runs the pods."},
	{Name: "Rollout", Type: "string", Priority: 1, Description: "Progress of the rollout, for a box with spec.rollout."},
	{Name: "Size", Type: "string", Priority: 1, Description: "Resource class of the main container."},
	{Name: "Message", Type: "string", Priority: 1, Description: "Message of the Ready condition, or what the deletion of the box waits for."},
	{Name: "Service", Type: "string", Priority: 1, Description: "Type and ports of the Service, node ports included."},
	{Name: "Hosts", Type: "string", Priority: 1, Description: "Hosts of the Ingress, the HTTPRoute and the GRPCRoute; * is any."},
	{Name: "Autoscaling", Type: "string", Priority: 1, Description: "Minimum and maximum number of pods of the autoscaler, and its target metrics."},
}

// TableConvertor prints ModelBoxes and lists of them.
var TableConvertor = printers.TableConvertor[*model.ModelBox]{Columns: columns, Cells: cells}

func cells(box *model.ModelBox) []any {
	status, message := summary(box)
	return []any{
		box.Name,
		fmt.Sprintf("%d/%d", box.Status.ReadyReplicas, desiredReplicas(box)),
		int64(box.Status.UpdatedReplicas),
		status,
		printers.Cell(box.Spec.Image),
		printers.OrNone(box.Status.Address),
		printers.Age(box),
		string(box.Spec.Workload),
		rollout(box),
		string(box.Spec.ResourceType),
		printers.Cell(printers.OrNone(message)),
		printers.Cell(service(box)),
		printers.Cell(hosts(box)),
		printers.Cell(autoscaling(box.Spec.Autoscaling)),
	}
}

// desiredReplicas returns the replicas of the spec, unless the status has another number: an autoscaler of the workload can set it.
// A DaemonSet, a Job and a CronJob have no replicas in the spec.
func desiredReplicas(box *model.ModelBox) int32 {
	if !box.Spec.Workload.HasReplicas() {
		return ptr.Deref(box.Status.DesiredReplicas, 0)
	}
	if box.Status.ObservedGeneration == box.Generation && box.Status.DesiredReplicas != nil {
		return *box.Status.DesiredReplicas
	}
	return ptr.Deref(box.Spec.Replicas, modelv1.DefaultReplicas)
}

// summary is the one word, and the one line, that say how the box is doing. A status of an older generation
// says nothing about this one.
func summary(box *model.ModelBox) (status, message string) {
	ready := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionReady)
	switch {
	case box.DeletionTimestamp != nil:
		return "Terminating", printers.Terminating(box, "box", nil)
	case ready == nil:
		return modelv1.ReasonPending, printers.NotSeen("box")
	case ready.Status != metav1.ConditionUnknown && ready.ObservedGeneration < box.Generation:
		return modelv1.ReasonPending, printers.ChangeNotSeen
	default:
		return ready.Reason, ready.Message
	}
}

// rollout prints the phase of the rollout of a box that asks for that, and its step: "Progressing 1/3".
func rollout(box *model.ModelBox) string {
	if box.Spec.Rollout == nil || box.Status.Rollout == nil {
		return "<none>"
	}
	phase, step := string(box.Status.Rollout.Phase), box.Status.Rollout.Step
	if count := helper.StepCount(len(box.Spec.Rollout.Steps)); step != nil && *step <= count {
		phase += fmt.Sprintf(" %d/%d", *step, count)
	}
	return phase
}

// service prints what "kubectl get services" shows as type and ports: "NodePort 80:30010/TCP".
func service(box *model.ModelBox) string {
	if len(box.Spec.Ports) == 0 {
		return "<none>"
	}
	allocated := map[string]int32{}
	for _, p := range box.Status.NodePorts {
		allocated[fmt.Sprintf("%d/%s", p.Port, p.Protocol)] = p.NodePort
	}
	ports := make([]string, 0, len(box.Spec.Ports))
	for _, p := range box.Spec.Ports {
		nodePort := p.NodePort
		if nodePort == 0 {
			nodePort = allocated[fmt.Sprintf("%d/%s", p.Port, p.Protocol)]
		}
		if nodePort == 0 {
			ports = append(ports, fmt.Sprintf("%d/%s", p.Port, p.Protocol))
		} else {
			ports = append(ports, fmt.Sprintf("%d:%d/%s", p.Port, nodePort, p.Protocol))
		}
	}
	return fmt.Sprintf("%s %s", helper.EffectiveServiceType(box.Spec.ServiceType, box.Spec.Ports), strings.Join(ports, ","))
}

// hosts are those that the box is reached by from outside.
func hosts(box *model.ModelBox) string {
	var hosts []string
	if ingress := box.Spec.Ingress; ingress != nil {
		hosts = append(hosts, hostsOrAny(ingress.Hosts)...)
	}
	if route := box.Spec.Route; route != nil {
		hosts = append(hosts, hostsOrAny(route.Hosts)...)
	}
	if route := box.Spec.GRPCRoute; route != nil {
		hosts = append(hosts, hostsOrAny(route.Hosts)...)
	}
	slices.Sort(hosts)
	return printers.OrNone(strings.Join(slices.Compact(hosts), ","))
}

func hostsOrAny(hosts []string) []string {
	if len(hosts) == 0 {
		return []string{"*"}
	}
	return hosts
}

// autoscaling prints an autoscaler as "2-10, cpu 70%, 1 more metric".
func autoscaling(autoscaling *model.ModelBoxAutoscaling) string {
	if autoscaling == nil {
		return "<none>"
	}
	parts := []string{fmt.Sprintf("%d-%d", ptr.Deref(autoscaling.MinReplicas, 1), autoscaling.MaxReplicas)}
	if autoscaling.CPU != nil {
		parts = append(parts, fmt.Sprintf("cpu %d%%", *autoscaling.CPU))
	}
	if autoscaling.Memory != nil {
		parts = append(parts, fmt.Sprintf("memory %d%%", *autoscaling.Memory))
	}
	switch others := len(autoscaling.Metrics); {
	case others == 1:
		parts = append(parts, "1 more metric")
	case others > 1:
		parts = append(parts, fmt.Sprintf("%d more metrics", others))
	}
	return strings.Join(parts, ", ")
}
