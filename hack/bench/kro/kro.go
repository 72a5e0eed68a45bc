// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package kro is the peer without a program of its own: kro, which turns custom resources into Deployments and Services as a
// ResourceGraphDefinition says.
package kro

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

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

var (
	customResourceDefinitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	resourceGraphDefinitions  = schema.GroupVersionResource{Group: "kro.run", Version: "v1alpha1", Resource: "resourcegraphdefinitions"}
)

// Install creates what kro needs, and the definition of boxes, which are served once it has been started.
func Install(ctx context.Context, bed *testbed.Testbed) error {
	client, err := dynamic.NewForConfig(bed.Admin)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	needed, err := os.ReadFile(bed.Programs.Path(testbed.KroDefinitions))
	if err != nil {
		return fmt.Errorf("reading what kro needs: %w", err)
	}
	for documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(needed))); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading what kro needs: %w", err)
		}
		if err := create(ctx, client, customResourceDefinitions, document); err != nil {
			return err
		}
	}
	if err := create(ctx, client, resourceGraphDefinitions, definition); err != nil {
		return err
	}
	return boxes.CreateNamespace(ctx, bed, exampleNamespace)
}

// create creates an object as soon as its kind is served, unless it is there.
func create(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource, document []byte) error {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(document, &object.Object); err != nil {
		return fmt.Errorf("decoding an object of kro: %w", err)
	}
	err := wait.PollUntilContextTimeout(ctx, pollInterval, installTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := client.Resource(resource).Create(ctx, object, metav1.CreateOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		if apierrors.IsAlreadyExists(err) {
			err = nil
		}
		return true, err
	})
	if err != nil {
		return fmt.Errorf("creating %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
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
