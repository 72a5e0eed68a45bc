// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func newCheckCommand(o *options) *cobra.Command {
	flags := genericclioptions.NewJSONYamlPrintFlags()
	var output string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check whether boxes can be migrated",
		Long: "Check whether boxes can be migrated, and show the changes that a migration would make to each box and its " +
			"children. The command changes nothing.\n\nRefused means that the box cannot be moved, and Disruptive that moving " +
			"it restarts pods. The command fails if it finds one of them.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			if err := o.clients.checkDiscovery(cmd.Context()); err != nil {
				return err
			}
			var printer printers.ResourcePrinter
			if output != "" {
				var err error
				if printer, err = flags.ToPrinter(output); err != nil {
					return err
				}
			}
			return o.runCheck(cmd.Context(), printer)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "Output format. One of: ("+strings.Join(flags.AllowedFormats(), ", ")+").")
	o.addOperatorFlag(cmd)
	return cmd
}

// runCheck prints what is found, by the printer unless that is nil.
func (o *options) runCheck(ctx context.Context, printer printers.ResourcePrinter) error {
	exported, err := o.clients.export(ctx)
	if err != nil {
		return err
	}
	found, err := o.check(ctx, exported)
	if err != nil {
		return err
	}
	if printer != nil {
		err = printer.PrintObj(asList(found), o.Out)
	} else {
		err = printFindings(o.Out, found)
	}
	if err != nil {
		return err
	}
	if has(found, refused) || has(found, disruptive) {
		return errors.New("some boxes cannot be moved, or only with disruption")
	}
	return nil
}

// asList makes an object of findings that printers take.
func asList(found []finding) *unstructured.Unstructured {
	items := make([]any, 0, len(found))
	for i := range found {
		f := &found[i]
		items = append(items, map[string]any{
			"severity": string(f.Severity), "namespace": f.Namespace, "name": f.Name, "field": f.Field, "message": f.Message,
		})
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "List", "items": items}}
}

// check says what becomes of the cluster, and then of each box in order.
func (o *options) check(ctx context.Context, exported *export) ([]finding, error) {
	cluster := &findings{}
	if err := o.checkCluster(ctx, cluster); err != nil {
		return nil, err
	}
	about := make(map[*exportedBox]*findings, len(exported.Boxes))
	var lock sync.Mutex
	err := inParallel(ctx, exported.Boxes, func(ctx context.Context, box *exportedBox) error {
		f, err := o.clients.judge(ctx, box)
		lock.Lock()
		defer lock.Unlock()
		about[box] = f
		return err
	})
	if err != nil {
		return nil, err
	}
	found := cluster.list
	for _, box := range exported.Boxes {
		found = append(found, about[box].list...)
	}
	return found, nil
}

// judge says what becomes of one box and of what belongs to it.
func (c *clients) judge(ctx context.Context, exported *exportedBox) (*findings, error) {
	f := &findings{namespace: exported.Namespace, name: exported.Name}
	box := f.judgeBox(ctx, exported.object)
	if box == nil {
		return f, nil
	}
	if err := f.judgeChildren(ctx, c, exported, box); err != nil {
		return f, fmt.Errorf("box %s: %w", exported, err)
	}
	return f, nil
}

// checkCluster says what concerns all boxes.
func (o *options) checkCluster(ctx context.Context, f *findings) error {
	if err := o.checkOperator(ctx, f); err != nil {
		return err
	}
	all, err := o.clients.list(ctx, definitions)
	if err != nil {
		return err
	}
	for _, definition := range all {
		group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
		scope, _, _ := unstructured.NestedString(definition.Object, "spec", "scope")
		switch {
		case group != modelv1.GroupName:
		case definition.GetName() != definitionName:
			f.add(refused, "", "CustomResourceDefinition %s has the same group: its objects would become unreachable", definition.GetName())
		case scope != "Namespaced":
			f.add(refused, "spec.scope", "CustomResourceDefinition %s is not namespaced", definitionName)
		}
	}
	wanted, err := o.readAPIService()
	if err != nil {
		return err
	}
	service := wanted.Spec.Service
	_, err = o.clients.cluster.CoreV1().Services(service.Namespace).Get(ctx, service.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		f.add(refused, "", "the server is not installed: Service %s/%s not found", service.Namespace, service.Name)
	case err != nil:
		return fmt.Errorf("getting the Service of the server: %w", err)
	}
	return nil
}

// noOperator is the name of an operator that is not there.
const noOperator = "none"

// checkOperator says whether the operator still runs.
func (o *options) checkOperator(ctx context.Context, f *findings) error {
	switch o.operator {
	case noOperator:
		return nil
	case "":
		f.add(note, "", "unknown whether the operator is running: specify it with --operator")
		return nil
	}
	namespace, name, ok := strings.Cut(o.operator, "/")
	if !ok {
		return fmt.Errorf("--operator=%s: must be NAMESPACE/NAME", o.operator)
	}
	deployment, err := o.clients.cluster.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("getting the Deployment of the operator: %w", err)
	case deployment.Status.Replicas > 0 || deployment.Spec.Replicas == nil || *deployment.Spec.Replicas > 0:
		f.add(refused, "", "the operator is running: run kubectl --namespace=%s scale deployment/%s --replicas=0", namespace, name)
	}
	return nil
}
