// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// fillClients is how many clients fill a store. It is not measured.
const fillClients = 16

// fill stores boxes as they are after a user has applied them and a controller has written their status: with the managed fields of
// both. They are numbered from first. change may make some of them different.
func fill(ctx context.Context, bed *testbed.Testbed, api boxes.API, namespace string, first, count int, change func(i int, box *modelv1.ModelBox)) error {
	clients, err := api.NewClients(bed.User, fillClients)
	if err != nil {
		return err
	}
	_, err = load.Run(ctx, fillClients, count, func(ctx context.Context, client, i int) error {
		box := boxes.New(namespace, fmt.Sprintf("box-%d", first+i))
		if change != nil {
			change(first+i, box)
		}
		if err := apply(ctx, clients[client], api, box, "", "kubectl"); err != nil {
			return err
		}
		box.Generation = 1
		observed := &modelv1.ModelBox{ObjectMeta: box.ObjectMeta, Status: boxes.Converged(box)}
		return apply(ctx, clients[client], api, observed, "status", "controller")
	})
	if err != nil {
		return fmt.Errorf("filling the store of %s: %w", api.Name, err)
	}
	return nil
}

func apply(ctx context.Context, client *boxes.Client, api boxes.API, box *modelv1.ModelBox, subresource, manager string) error {
	body, err := api.EncodeJSON(box)
	if err != nil {
		return err
	}
	return client.Patch(types.ApplyYAMLPatchType).Namespace(box.Namespace).Resource(boxes.Resource).Name(box.Name).SubResource(subresource).
		Param("fieldManager", manager).Param("force", "true").Body(body).Do(ctx).Error()
}
