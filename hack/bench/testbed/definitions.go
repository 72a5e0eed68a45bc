// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

const (
	createTimeout  = 2 * time.Minute
	createInterval = 200 * time.Millisecond
)

var customResourceDefinitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// InstallDefinitions creates the CustomResourceDefinitions in a file that the build has put beside the programs.
func (bed *Testbed) InstallDefinitions(ctx context.Context, file string) error {
	content, err := os.ReadFile(bed.Programs.Path(file))
	if err != nil {
		return fmt.Errorf("reading definitions: %w", err)
	}
	for documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content))); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		if err := bed.Create(ctx, customResourceDefinitions, document); err != nil {
			return err
		}
	}
}

// Create creates an object of the cluster as soon as its kind is served, unless the object exists.
func (bed *Testbed) Create(ctx context.Context, resource schema.GroupVersionResource, document []byte) error {
	client, err := dynamic.NewForConfig(bed.Admin)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(document, &object.Object); err != nil {
		return fmt.Errorf("decoding an object to create: %w", err)
	}
	err = wait.PollUntilContextTimeout(ctx, createInterval, createTimeout, true, func(ctx context.Context) (bool, error) {
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
