// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	ssautils "github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fluxOwner is how the controller of Kustomizations writes.
var fluxOwner = ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"}

// fluxWait is how long the program waits. It ends as soon as an object has failed.
var fluxWait = ssa.WaitOptions{Interval: time.Second, Timeout: 3 * time.Minute, FailFast: true}

// fluxUsage is how to run the program.
const fluxUsage = "usage: flux apply|diff|wait|delete <file>"

// runFlux does to the objects in a file what the controller of Kustomizations does, with its library: flux <verb> <file>. It prints what it
// did to each object.
func runFlux() error {
	if len(os.Args) != 3 {
		return errors.New(fluxUsage)
	}
	verb, path := os.Args[1], os.Args[2]
	manager, err := newResourceManager()
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the manifests: %w", err)
	}
	defer file.Close()
	objects, err := ssautils.ReadObjects(file)
	if err != nil {
		return fmt.Errorf("reading the manifests: %w", err)
	}
	ctx := context.Background()
	switch verb {
	case "apply":
		changes, err := manager.ApplyAllStaged(ctx, objects, ssa.DefaultApplyOptions())
		return printChanges(changes, err)
	case "diff":
		return printDifferences(ctx, manager, objects)
	case "wait":
		return manager.Wait(objects, fluxWait)
	case "delete":
		changes, err := manager.DeleteAll(ctx, objects, ssa.DefaultDeleteOptions())
		if err := printChanges(changes, err); err != nil {
			return err
		}
		return manager.WaitForTermination(objects, fluxWait)
	default:
		return errors.New(fluxUsage)
	}
}

func newResourceManager() (*ssa.ResourceManager, error) {
	config, err := newConfig()
	if err != nil {
		return nil, err
	}
	// Flux knows no Go types of boxes.
	kubeClient, err := client.New(config, client.Options{Scheme: runtime.NewScheme()})
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	poller := polling.NewStatusPoller(kubeClient, kubeClient.RESTMapper(), polling.Options{})
	return ssa.NewResourceManager(kubeClient, poller, fluxOwner), nil
}

func printChanges(changes *ssa.ChangeSet, err error) error {
	if err == nil {
		fmt.Println(changes)
	}
	return err
}

// printDifferences prints what applying would do to each object.
func printDifferences(ctx context.Context, manager *ssa.ResourceManager, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		change, _, _, err := manager.Diff(ctx, object, ssa.DefaultDiffOptions())
		if err != nil {
			return err
		}
		fmt.Println(change)
	}
	return nil
}
