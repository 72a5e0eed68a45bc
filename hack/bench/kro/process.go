// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kro

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// releaseClients is how many clients take the finalizers off. It is not measured.
const releaseClients = 16

// Start runs kro as a process of the control plane until stop is called, and returns when it works. It reconciles so many boxes
// at the same time. Once it has been stopped, its boxes can be deleted without it.
func Start(ctx context.Context, bed *testbed.Testbed, workers int) (stop func() error, err error) {
	client, err := API.NewClient(bed.User)
	if err != nil {
		return nil, err
	}
	// It has no limit of requests: controller-runtime switches that off before its flags for one are looked at.
	end, err := bed.RunServer(testbed.Kro, exec.Command(bed.Programs.Path(testbed.Kro),
		"--kubeconfig="+bed.Kubeconfig(),
		fmt.Sprintf("--dynamic-controller-concurrent-reconciles=%d", workers),
		"--metrics-bind-address=0",
		"--health-probe-bind-address=0",
		"--zap-devel=false",
	))
	if err != nil {
		return nil, err
	}
	if err := awaitWork(ctx, client); err != nil {
		return nil, errors.Join(err, end())
	}
	return func() error {
		if err := end(); err != nil {
			return err
		}
		return release(ctx, client)
	}, nil
}

// release takes its finalizer off all boxes, without which kro would have to delete their children one after the other.
func release(ctx context.Context, client *boxes.Client) error {
	list := &modelv1.ModelBoxList{}
	if err := client.Get().Resource(boxes.Resource).Do(ctx).Into(list); err != nil {
		return fmt.Errorf("listing the boxes of kro: %w", err)
	}
	_, err := load.Run(ctx, releaseClients, len(list.Items), func(ctx context.Context, _, i int) error {
		box := &list.Items[i]
		return client.Patch(types.MergePatchType).Namespace(box.Namespace).Resource(boxes.Resource).Name(box.Name).
			Body([]byte(`{"metadata":{"finalizers":null}}`)).Do(ctx).Error()
	})
	if err != nil {
		return fmt.Errorf("taking finalizers off the boxes of kro: %w", err)
	}
	return nil
}
