// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"
	"slices"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// spreadOver is how many namespaces many boxes are spread over, as they are where many people have some.
const spreadOver = 5

// createNamespaces creates the namespaces for one turn, whose names begin with that one.
func createNamespaces(ctx context.Context, bed *testbed.Testbed, name string) ([]string, error) {
	var namespaces []string
	for i := range spreadOver {
		namespace := fmt.Sprintf("%s-%d", name, i)
		if err := boxes.CreateNamespace(ctx, bed, namespace); err != nil {
			return nil, err
		}
		namespaces = append(namespaces, namespace)
	}
	return namespaces, nil
}

// newBoxes returns boxes that are spread over the namespaces, yet to be created.
func newBoxes(namespaces []string, count int) []*modelv1.ModelBox {
	created := make([]*modelv1.ModelBox, count)
	for i := range created {
		created[i] = boxes.New(namespaces[i%len(namespaces)], fmt.Sprintf("box-%d", i))
	}
	return created
}

// namespacesOf returns the namespaces of boxes.
func namespacesOf(stored []*modelv1.ModelBox) []string {
	var namespaces []string
	for _, box := range stored {
		if !slices.Contains(namespaces, box.Namespace) {
			namespaces = append(namespaces, box.Namespace)
		}
	}
	return namespaces
}
