// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package kro is the peer without a program of its own: kro, which turns custom resources into Deployments and Services as a
// ResourceGraphDefinition says.
package kro

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

const (
	installTimeout = 2 * time.Minute
	pollInterval   = 200 * time.Millisecond
)

// API is the one of boxes that kro serves.
var API = boxes.API{
	Name:         "kro",
	GroupVersion: schema.GroupVersion{Group: "kro.bench.model.github.com", Version: "v1"},
	MediaType:    runtime.ContentTypeJSON,
}

// definition says what boxes are, and what they become.
//
//go:embed definition.yaml
var definition []byte

var resourceGraphDefinitions = schema.GroupVersionResource{Group: "kro.run", Version: "v1alpha1", Resource: "resourcegraphdefinitions"}

// Install creates what kro needs, and the definition of boxes, which are served once it has been started.
func Install(ctx context.Context, bed *testbed.Testbed) error {
	if err := bed.InstallDefinitions(ctx, testbed.KroDefinitions); err != nil {
		return err
	}
	if err := bed.Create(ctx, resourceGraphDefinitions, definition); err != nil {
		return err
	}
	return boxes.CreateNamespace(ctx, bed, exampleNamespace)
}

// The example is a box of its own, by which kro shows that it works.
const (
	exampleNamespace = "kro-example"
	exampleName      = "box"
)

// awaitWork waits until kro has taken over the example. Only kro does that.
func awaitWork(ctx context.Context, client *boxes.Client) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, pollInterval, installTimeout, true, func(ctx context.Context) (bool, error) {
		err := checkWork(ctx, client)
		if ctx.Err() == nil {
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until kro works: %w, last: %w", err, last)
	}
	return nil
}

func checkWork(ctx context.Context, client *boxes.Client) error {
	box := boxes.New(exampleNamespace, exampleName)
	err := client.Get().Namespace(exampleNamespace).Resource(boxes.Resource).Name(exampleName).Do(ctx).Into(box)
	if apierrors.IsNotFound(err) {
		err = client.Post().Namespace(exampleNamespace).Resource(boxes.Resource).Body(box).Do(ctx).Into(box)
	}
	if err != nil {
		return err
	}
	if len(box.Finalizers) == 0 || !meta.IsStatusConditionTrue(box.Status.Conditions, modelv1.ConditionReady) {
		return errors.New("its example is not Ready")
	}
	return nil
}
