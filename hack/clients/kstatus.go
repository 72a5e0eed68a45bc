// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// runKStatus prints the status that kstatus computes for an object, and why: kstatus <namespace> <resource> <name>.
func runKStatus() error {
	if len(os.Args) != 4 {
		return errors.New("usage: kstatus <namespace> <resource> <name>")
	}
	namespace, resource, name := os.Args[1], os.Args[2], os.Args[3]
	config, err := newConfig()
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	// As it comes from the server: kstatus knows no Go types.
	object, err := client.Resource(modelv1.SchemeGroupVersion.WithResource(resource)).Namespace(namespace).
		Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading %s %s: %w", resource, name, err)
	}
	result, err := status.Compute(object)
	if err != nil {
		return fmt.Errorf("computing the status of %s %s: %w", resource, name, err)
	}
	fmt.Printf("%s: %s\n", result.Status, result.Message)
	return nil
}
