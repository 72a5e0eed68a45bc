// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// checkObjects counts what is stored, through the cluster.
func (o *Options) checkObjects(ctx context.Context) findings {
	const check = "Objects"
	client, first := o.boxes.ModelV1(), metav1.ListOptions{Limit: 1}
	var counts []string
	for _, kind := range []struct {
		one, several string
		list         func() (runtime.Object, error)
	}{
		{"box", "boxes", func() (runtime.Object, error) { return client.ModelBoxes(metav1.NamespaceAll).List(ctx, first) }},
		{"stack", "stacks", func() (runtime.Object, error) { return client.ModelStacks(metav1.NamespaceAll).List(ctx, first) }},
		{"network", "networks", func() (runtime.Object, error) { return client.Networks(metav1.NamespaceAll).List(ctx, first) }},
		{"PodDebugger", "PodDebuggers", func() (runtime.Object, error) { return client.PodDebuggers(metav1.NamespaceAll).List(ctx, first) }},
	} {
		list, err := kind.list()
		if apierrors.IsNotFound(err) && len(counts) > 0 {
			continue // a server of an earlier release serves boxes, and not this
		}
		if err != nil {
			return findings{unanswered(check, err)}
		}
		number, err := total(list)
		if err != nil {
			return findings{failed(check, "%v", err)}
		}
		counts = append(counts, count(number, kind.one, kind.several))
	}
	return findings{fine(check, "%s", strings.Join(counts, ", "))}
}

// total is how many objects there are of which a list has the first ones.
func total(list runtime.Object) (int64, error) {
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return 0, err
	}
	number := int64(meta.LenList(list))
	if remaining := accessor.GetRemainingItemCount(); remaining != nil {
		number += *remaining
	}
	return number, nil
}
