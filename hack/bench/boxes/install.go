// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxes

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/definition"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

const (
	installTimeout = 2 * time.Minute
	pollInterval   = 200 * time.Millisecond
)

// InstallDefinition makes the cluster serve boxes as custom resources, of the schema that the server publishes there, unless it
// does already.
func InstallDefinition(ctx context.Context, bed *testbed.Testbed) error {
	published, err := publishedSchema(ctx, bed)
	if err != nil {
		return err
	}
	crd, err := definition.New(published)
	if err != nil {
		return err
	}
	client, err := apiextensions.NewForConfig(bed.Admin)
	if err != nil {
		return fmt.Errorf("creating a client for definitions: %w", err)
	}
	if _, err := client.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, crd, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the definition: %w", err)
	}
	boxes, err := CRD.NewClient(bed.User)
	if err != nil {
		return err
	}
	return await(ctx, "custom resources are served", func(ctx context.Context) error {
		return boxes.Get().Resource(Resource).Do(ctx).Error()
	})
}

// publishedSchema is what any client of the cluster learns of boxes.
func publishedSchema(ctx context.Context, bed *testbed.Testbed) (*spec.Schema, error) {
	published := &resolver.ClientDiscoveryResolver{Discovery: bed.Client.Discovery()}
	var schema *spec.Schema
	err := await(ctx, "the schema of boxes is published", func(context.Context) (err error) {
		schema, err = published.ResolveSchema(ModelBox.Kind())
		return err
	})
	return schema, err
}

func await(ctx context.Context, what string, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, pollInterval, installTimeout, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until %s: %w, last: %w", what, err, last)
	}
	return nil
}

// CreateNamespace creates a namespace.
func CreateNamespace(ctx context.Context, bed *testbed.Testbed, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := bed.Client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating namespace %s: %w", name, err)
	}
	return nil
}
