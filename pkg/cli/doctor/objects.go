// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// checkObjects counts what is stored, through the cluster.
func (o *Options) checkObjects(ctx context.Context) findings {
	const check = "Objects"
	first := metav1.ListOptions{Limit: 1}
	client := o.boxes.ModelV1()
	boxes, err := client.ModelBoxes(metav1.NamespaceAll).List(ctx, first)
	if err != nil {
		return findings{unanswered(check, err)}
	}
	stacks, err := client.ModelStacks(metav1.NamespaceAll).List(ctx, first)
	if err != nil {
		return findings{unanswered(check, err)}
	}
	networks, err := client.Networks(metav1.NamespaceAll).List(ctx, first)
	if err != nil {
		return findings{unanswered(check, err)}
	}
	return findings{fine(check, "%s, %s, %s", count(total(len(boxes.Items), &boxes.ListMeta), "box", "boxes"),
		count(total(len(stacks.Items), &stacks.ListMeta), "stack", "stacks"), count(total(len(networks.Items), &networks.ListMeta), "network", "networks"))}
}

// total is how many objects there are of which a list has the first ones.
func total(listed int, list *metav1.ListMeta) int64 {
	if list.RemainingItemCount == nil {
		return int64(listed)
	}
	return int64(listed) + *list.RemainingItemCount
}
