// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// export is what is known of all boxes of a cluster before they are moved.
type export struct {
	ClusterUID    types.UID `json:"clusterUID"`
	DefinitionUID types.UID `json:"definitionUID"`
	// Boxes are in the order of their creation.
	Boxes []*exportedBox `json:"boxes"`
}

// exportedBox is a box with what belongs to it.
type exportedBox struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
	Pods      []pod     `json:"pods,omitempty"`

	// object is the custom resource, children what names it as an owner. Both are in files of their own.
	object   *unstructured.Unstructured
	children []*unstructured.Unstructured
}

// pod is what a pod can be recognized by, and how often its containers have restarted.
type pod struct {
	Name     string    `json:"name"`
	UID      types.UID `json:"uid"`
	Restarts int32     `json:"restarts"`
}

func (b *exportedBox) String() string { return b.Namespace + "/" + b.Name }

func newExportCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Export boxes and their children to files",
		Long: "Export all boxes of a CustomResourceDefinition, their children, and the UIDs of their pods to files.\n\nA move " +
			"and a rollback need the files. Keep them until you delete the CustomResourceDefinition.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			if err := o.healDiscovery(cmd.Context()); err != nil {
				return err
			}
			return o.runExport(cmd.Context())
		},
	}
	o.addDirectoryFlag(cmd)
	return cmd
}

func (o *options) runExport(ctx context.Context) error {
	exported, err := o.clients.export(ctx)
	if err != nil {
		return err
	}
	if err := writeExport(o.directory, exported); err != nil {
		return err
	}
	o.say("%d boxes exported to %s", len(exported.Boxes), o.directory)
	return nil
}

var errServedByServer = errors.New("the aggregated server already serves the group: the custom resources are unreachable")

// export reads all custom resources and what belongs to them.
func (c *clients) export(ctx context.Context) (*export, error) {
	definition, err := c.definition(ctx)
	if err != nil {
		return nil, err
	}
	if isServed, err := c.isServedByServer(ctx); err != nil || isServed {
		return nil, cmp.Or(err, errServedByServer)
	}
	e := &export{DefinitionUID: definition.GetUID()}
	if e.ClusterUID, err = c.clusterID(ctx); err != nil {
		return nil, err
	}
	objects, err := c.list(ctx, boxes)
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		e.Boxes = append(e.Boxes, &exportedBox{Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), object: object})
	}
	sortByCreation(e.Boxes)
	return e, c.addChildren(ctx, e.Boxes)
}

// sortByCreation sorts boxes in the order in which they were created. It sorts boxes of the same second by the resource version,
// which is later if a box was changed, and by name.
func sortByCreation(exported []*exportedBox) {
	version := func(b *exportedBox) uint64 {
		// Versions of etcd are numbers. Where one is not, the name decides.
		version, _ := strconv.ParseUint(b.object.GetResourceVersion(), 10, 64)
		return version
	}
	slices.SortStableFunc(exported, func(a, b *exportedBox) int {
		return cmp.Or(
			createdAt(a).Compare(createdAt(b)),
			cmp.Compare(version(a), version(b)),
			cmp.Compare(a.String(), b.String()),
		)
	})
}

func createdAt(b *exportedBox) time.Time { return b.object.GetCreationTimestamp().Time }
