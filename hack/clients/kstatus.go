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
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// runKStatus prints the status that kstatus computes for a box, and why: kstatus <namespace> <box>.
func runKStatus() error {
	if len(os.Args) != 3 {
		return errors.New("usage: kstatus <namespace> <box>")
	}
	namespace, name := os.Args[1], os.Args[2]
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv(clientcmd.RecommendedConfigPathEnvVar))
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	// As it comes from the server: kstatus knows no Go types.
	box, err := client.Resource(modelv1.SchemeGroupVersion.WithResource("modelboxes")).Namespace(namespace).
		Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the box: %w", err)
	}
	result, err := status.Compute(box)
	if err != nil {
		return fmt.Errorf("computing the status of the box: %w", err)
	}
	fmt.Printf("%s: %s\n", result.Status, result.Message)
	return nil
}
