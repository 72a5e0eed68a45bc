// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/printers"
)

// columns are the columns of "kubectl get" for Networks. Columns with priority 1 are shown only with "-o wide".
var columns = []metav1.TableColumnDefinition{
	{Name: "Name", Type: "string", Format: "name", Description: "Name of the network."},
	{Name: "Type", Type: "string", Description: "How pods are connected to the network."},
	{Name: "CIDR", Type: "string", Description: "Range of addresses."},
	{Name: "Gateway", Type: "string", Description: "Address of the gateway that routes out of the network."},
	{Name: "Status", Type: "string", Description: "Ready, or the reason why not."},
	{Name: "Boxes", Type: "integer", Description: "Number of boxes that use the network."},
	{Name: "Age", Type: "string", Description: "Time since the network was created."},
	{Name: "Used", Type: "integer", Priority: 1, Description: "Number of addresses that pods have, as far as the server knows."},
	{Name: "Free", Type: "integer", Priority: 1, Description: "Number of addresses that are free, as far as the server knows."},
	{Name: "Message", Type: "string", Priority: 1, Description: "Message of the Ready condition, or what the deletion of the network waits for."},
}

// TableConvertor prints Networks and lists of them.
var TableConvertor = printers.TableConvertor[*model.Network]{Columns: columns, Cells: cells}

func cells(network *model.Network) []any {
	status, message := summary(network)
	return []any{
		network.Name,
		string(network.Spec.Type),
		network.Spec.CIDR,
		network.Spec.Gateway,
		status,
		int64(len(network.Status.Boxes)) + int64(network.Status.BoxesOmitted),
		printers.Age(network),
		int64(network.Status.UsedAddresses),
		int64(network.Status.FreeAddresses),
		printers.Cell(printers.OrNone(message)),
	}
}

// summary is the one word, and the one line, that say how the network is doing. A status of an older generation says nothing
// about this one.
func summary(network *model.Network) (status, message string) {
	ready := meta.FindStatusCondition(network.Status.Conditions, modelv1.ConditionReady)
	switch {
	case network.DeletionTimestamp != nil:
		return "Terminating", printers.Terminating(network, "network", map[string]string{
			modelv1.NetworkProtectionFinalizer: "no box to use it: " + boxesOf(network),
		})
	case ready == nil || ready.ObservedGeneration != network.Generation:
		return modelv1.ReasonPending, printers.NotSeen("network")
	default:
		return ready.Reason, ready.Message
	}
}

// boxesOf names the boxes that use the network.
func boxesOf(network *model.Network) string {
	names := printers.OrNone(strings.Join(network.Status.Boxes, ", "))
	if more := network.Status.BoxesOmitted; more > 0 {
		return fmt.Sprintf("%s and %d more", names, more)
	}
	return names
}
