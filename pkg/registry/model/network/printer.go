// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/printers"
)

// columns are what "kubectl get" shows of a network.
var columns = []metav1.TableColumnDefinition{
	{Name: "Name", Type: "string", Format: "name", Description: "Name of the network."},
	{Name: "CIDR", Type: "string", Description: "Range of addresses."},
	{Name: "Gateway", Type: "string", Description: "Address that leads out of the network."},
	{Name: "Age", Type: "string", Description: "Time since the network was created."},
}

// TableConvertor prints Networks and lists of them.
type TableConvertor struct{}

// ConvertToTable returns a row for the network, or one for each network of the list.
func (TableConvertor) ConvertToTable(_ context.Context, object, tableOptions runtime.Object) (*metav1.Table, error) {
	return printers.Table(object, tableOptions, columns, cells)
}

func cells(network *model.Network) []any {
	return []any{network.Name, network.Spec.CIDR, network.Spec.Gateway, printers.Age(network)}
}
