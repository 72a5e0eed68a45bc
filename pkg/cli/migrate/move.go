// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/adopt"
)

// sourceAnnotation is on a box that was moved, with the UID of the custom resource. It distinguishes such a box from one that
// another client has created under its name.
const sourceAnnotation = modelv1.GroupName + "/migrated-from"

// moveOptions are the options of the command "kubectl modelbox migrate move".
type moveOptions struct {
	*options
	// allowDisruption moves boxes whose pods have to be replaced, and allowRefused leaves behind what cannot be moved.
	allowDisruption, allowRefused bool
	// left are the boxes that stay behind.
	left map[*exportedBox]bool
}

func newMoveCommand(o *options) *cobra.Command {
	m := &moveOptions{options: o, left: map[*exportedBox]bool{}}
	cmd := &cobra.Command{
		Use:   "move",
		Short: "Move exported boxes to the aggregated server",
		Long: "Move all boxes of an export to the aggregated server. The boxes then adopt the children that an operator " +
			"created.\n\nThe server serves the API group from then on. The custom resources stay in the cluster, but are " +
			"unreachable, until you delete the CustomResourceDefinition. If the command is interrupted, run it again.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := m.complete(); err != nil {
				return err
			}
			if err := m.healDiscovery(cmd.Context()); err != nil {
				return err
			}
			return m.exclusively(cmd.Context(), m.run)
		},
	}
	o.addDirectoryFlag(cmd)
	o.addOperatorFlag(cmd)
	utilruntime.Must(cmd.MarkFlagRequired("operator"))
	o.addTimeoutFlag(cmd)
	o.addDryRunFlag(cmd)
	cmd.Flags().StringVarP(&o.filename, "filename", "f", "", "File with the APIService of the server. Default is the APIService of an installation in "+serverNamespace+".")
	cmd.Flags().BoolVar(&m.allowDisruption, "allow-disruption", false, "If true, also move boxes whose pods must be replaced.")
	cmd.Flags().BoolVar(&m.allowRefused, "allow-refused", false, "If true, skip boxes that cannot be moved. Their children keep running without a box.")
	return cmd
}

func (m *moveOptions) run(ctx context.Context) error {
	exported, err := readExport(m.directory)
	if err != nil {
		return err
	}
	if err := m.clients.checkIdentity(ctx, exported); err != nil {
		return err
	}
	isServed, err := m.clients.isServedByServer(ctx)
	if err != nil {
		return err
	}
	if !isServed {
		if err := m.leave(ctx, exported); err != nil || m.dryRun.isDry() {
			return err
		}
	}
	if err := m.awaitAvailable(ctx, true); err != nil {
		return err
	}
	if err := m.judgeAgain(ctx, exported); err != nil {
		return err
	}
	return m.arrive(ctx, m.moved(exported))
}

// moved returns the boxes that do not stay behind.
func (m *moveOptions) moved(exported *export) []*exportedBox {
	return slices.DeleteFunc(slices.Clone(exported.Boxes), func(box *exportedBox) bool { return m.left[box] })
}

// checkIdentity returns an error if the export is not of this cluster, or there is no way back to what it is of.
func (c *clients) checkIdentity(ctx context.Context, exported *export) error {
	cluster, err := c.clusterID(ctx)
	if err != nil {
		return err
	}
	if cluster != exported.ClusterUID {
		return errors.New("the export is from another cluster")
	}
	definition, err := c.definition(ctx)
	if err != nil {
		return err
	}
	if definition.GetUID() != exported.DefinitionUID {
		return errors.New("the export is from another CustomResourceDefinition")
	}
	return nil
}

// leave makes sure that nothing is lost, and lets the server have the group.
func (m *moveOptions) leave(ctx context.Context, exported *export) error {
	current, err := m.clients.export(ctx)
	if err != nil {
		return err
	}
	if err := compareExports(exported, current); err != nil {
		return err
	}
	addOrphans(exported, current)
	found, err := m.check(ctx, current)
	if err != nil {
		return err
	}
	if err := m.decide(exported, found); err != nil {
		return errors.Join(printFindings(m.ErrOut, found), err)
	}
	wanted, err := m.readAPIService()
	if err != nil {
		return err
	}
	err = inParallel(ctx, exported.Boxes, func(ctx context.Context, box *exportedBox) error {
		if err := m.setFinalizers(ctx, box, nil); err != nil {
			return err
		}
		return m.orphan(ctx, box)
	})
	if err != nil {
		return err
	}
	m.say("orphaned the children of %d boxes", len(exported.Boxes))
	if m.dryRun.isDry() {
		if m.dryRun.sends() {
			err = m.clients.handToServer(ctx, wanted, m.dryRun)
		}
		m.say("apiservice.apiregistration.k8s.io/%s configured", apiServiceName)
		for _, box := range m.moved(exported) {
			m.say("modelbox.%s/%s moved", modelv1.GroupName, box)
		}
		return err
	}
	if err := m.clients.checkOrphans(ctx, exported.Boxes); err != nil {
		return err
	}
	if err := m.clients.handToServer(ctx, wanted, m.dryRun); err != nil {
		return err
	}
	m.say("apiservice.apiregistration.k8s.io/%s configured", apiServiceName)
	return nil
}

// compareExports returns an error if boxes, or what belongs to them, have been changed since they were exported. Children that a
// former attempt has made orphans are not missed.
func compareExports(exported, current *export) error {
	now := map[types.UID]*exportedBox{}
	for _, box := range current.Boxes {
		now[box.UID] = box
	}
	for _, box := range exported.Boxes {
		live := now[box.UID]
		if live == nil || live.object.GetGeneration() != box.object.GetGeneration() ||
			!maps.Equal(live.object.GetLabels(), box.object.GetLabels()) || !maps.Equal(live.object.GetAnnotations(), box.object.GetAnnotations()) {
			return fmt.Errorf("%s was changed after the export: export to another directory", box)
		}
		for _, child := range live.children {
			if !slices.ContainsFunc(box.children, func(c *unstructured.Unstructured) bool { return c.GetUID() == child.GetUID() }) {
				return fmt.Errorf("%s has a new child %s %s since the export: export to another directory", box, child.GetKind(), child.GetName())
			}
		}
		delete(now, box.UID)
	}
	for _, box := range now {
		return fmt.Errorf("%s was created after the export: export to another directory", box)
	}
	return nil
}

// addOrphans adds what a former attempt has made orphans, as it was exported.
func addOrphans(exported, current *export) {
	for _, box := range current.Boxes {
		i := slices.IndexFunc(exported.Boxes, func(b *exportedBox) bool { return b.UID == box.UID })
		for _, child := range exported.Boxes[i].children {
			if !slices.ContainsFunc(box.children, func(c *unstructured.Unstructured) bool { return c.GetUID() == child.GetUID() }) {
				box.children = append(box.children, child)
			}
		}
	}
}

// decide returns an error if something was found that is not allowed, and takes note of which boxes stay behind.
func (m *moveOptions) decide(exported *export, found []finding) error {
	for i := range found {
		f := &found[i]
		switch {
		case f.Severity == refused && f.Name == "":
			return errors.New("the cluster is not ready for the migration")
		case f.Severity == refused && !m.allowRefused:
			return errors.New("some boxes cannot be moved: fix them, or skip them with --allow-refused")
		case f.Severity == refused:
			i := slices.IndexFunc(exported.Boxes, func(b *exportedBox) bool { return b.Namespace == f.Namespace && b.Name == f.Name })
			m.left[exported.Boxes[i]] = true
		}
	}
	if has(found, disruptive) && !m.allowDisruption {
		return errors.New("moving some boxes replaces their pods: use --allow-disruption to move them")
	}
	return nil
}

// judgeAgain asks the server itself which boxes it refuses, before the first box is created. The judgement without a server may
// differ from that because of its admission plugins.
func (m *moveOptions) judgeAgain(ctx context.Context, exported *export) error {
	var found []finding
	for _, box := range exported.Boxes {
		f := &findings{namespace: box.Namespace, name: box.Name}
		f.judgeBox(ctx, box.object)
		found = append(found, f.list...)
	}
	if err := m.decide(exported, found); err != nil {
		return err
	}
	var lock sync.Mutex
	refusals := map[*exportedBox]error{}
	err := inParallel(ctx, m.moved(exported), func(ctx context.Context, box *exportedBox) error {
		if err := m.create(ctx, box, []string{metav1.DryRunAll}); err != nil {
			lock.Lock()
			defer lock.Unlock()
			refusals[box] = err
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, box := range exported.Boxes {
		switch err := refusals[box]; {
		case err != nil && !m.allowRefused:
			return fmt.Errorf("the server refuses %d boxes, such as %w; use \"kubectl modelbox migrate rollback\" to roll back", len(refusals), err)
		case err != nil:
			m.left[box] = true
			m.say("modelbox.%s/%s skipped: %v", modelv1.GroupName, box, err)
		}
	}
	return nil
}

// arrive creates the boxes in their order, and has each take over what belonged to it.
func (m *moveOptions) arrive(ctx context.Context, moved []*exportedBox) error {
	if err := inParallel(ctx, moved, m.prepare); err != nil {
		return err
	}
	for _, box := range moved {
		if err := m.create(ctx, box, nil); err != nil {
			return err
		}
	}
	err := inParallel(ctx, moved, func(ctx context.Context, box *exportedBox) error {
		if err := m.settle(ctx, box); err != nil {
			return fmt.Errorf("box %s: %w", box, err)
		}
		m.say("modelbox.%s/%s moved", modelv1.GroupName, box)
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w; run the command again", err)
	}
	return nil
}

// rendered returns what the server makes of an exported box.
func (b *exportedBox) rendered() (*renderedChildren, error) {
	box, _, err := decode(b.object)
	if err != nil {
		return nil, err
	}
	return renderChildren(defaulted(box))
}

// prepare pauses the Deployment of a box and gives its pods the labels that the server gives them, by which the Service of
// the box will find them.
func (m *moveOptions) prepare(ctx context.Context, box *exportedBox) error {
	child := box.child(deploymentKind)
	if child == nil {
		return nil
	}
	deployment, err := m.clients.cluster.AppsV1().Deployments(box.Namespace).Get(ctx, box.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && deployment.UID != child.GetUID() {
		return fmt.Errorf("the Deployment of box %s was deleted: export again", box)
	}
	if err != nil {
		return err
	}
	if metav1.GetControllerOfNoCopy(deployment) != nil {
		return nil // the box has it already
	}
	rendered, err := box.rendered()
	if err != nil {
		return err
	}
	return m.rewriter().Prepare(ctx, deployment, &rendered.deployment.Spec.Template)
}

// arriving returns the box as it is created.
func (b *exportedBox) arriving() (*modelv1.ModelBox, error) {
	box, _, err := decode(b.object)
	if err != nil {
		return nil, err
	}
	box.ObjectMeta = metav1.ObjectMeta{
		Namespace: b.Namespace,
		Name:      b.Name,
		Labels:    box.Labels,
		Annotations: adopt.Merged(box.Annotations, map[string]string{
			modelv1.AdoptAnnotation: "true",
			sourceAnnotation:        string(b.UID),
		}),
		OwnerReferences: box.OwnerReferences,
	}
	return box, nil
}

// create creates a box unless it is there already.
func (m *moveOptions) create(ctx context.Context, exported *exportedBox, dryRun []string) error {
	box, err := exported.arriving()
	if err != nil {
		return err
	}
	client := m.clients.boxes.ModelV1().ModelBoxes(box.Namespace)
	return m.await(ctx, "box "+exported.String(), func(ctx context.Context) (bool, string, error) {
		_, err := client.Create(ctx, box, metav1.CreateOptions{FieldManager: fieldManager, DryRun: dryRun})
		if !apierrors.IsAlreadyExists(err) {
			return err == nil, "", err
		}
		there, err := client.Get(ctx, box.Name, metav1.GetOptions{})
		switch {
		case err != nil:
			return false, "", err
		case there.UID == exported.UID:
			return false, "a kube-apiserver still serves the custom resource", nil
		case there.Annotations[sourceAnnotation] != string(exported.UID):
			return false, "", errors.New("the server has another box of this name")
		}
		return true, "", nil
	})
}

// settle waits until a box has adopted its children, and lets its Deployment continue.
func (m *moveOptions) settle(ctx context.Context, exported *exportedBox) error {
	box, err := adopt.AwaitApplied(ctx, m.clients.boxes.ModelV1().ModelBoxes(exported.Namespace), m.timeout, "the adoption of its children", exported.Name)
	if err != nil {
		return err
	}
	before, err := exported.deployment()
	if err != nil {
		return err
	}
	if before != nil {
		if err := m.settleDeployment(ctx, before); err != nil {
			return err
		}
	}
	err = m.eachChild(ctx, exported, func(child, live *unstructured.Unstructured) error {
		if metav1.IsControlledBy(live, box) {
			return nil
		}
		return m.setOwners(ctx, live, ownedBy(child.GetOwnerReferences(), exported.UID, box.UID))
	})
	if err != nil {
		return err
	}
	return m.stopAdopting(ctx, exported, box)
}

// ownedBy returns owner references to the one UID in place of those to the other one.
func ownedBy(references []metav1.OwnerReference, from, to types.UID) []metav1.OwnerReference {
	references = slices.Clone(references)
	for i := range references {
		if references[i].UID == from {
			references[i].UID = to
		}
	}
	return references
}

// settleDeployment lets a Deployment that was taken over continue with the pods that it has, unless they must be replaced.
func (m *moveOptions) settleDeployment(ctx context.Context, before *appsv1.Deployment) error {
	err := m.rewriter().Settle(ctx, before, m.allowDisruption)
	if disruption := (*adopt.DisruptionError)(nil); errors.As(err, &disruption) {
		return fmt.Errorf("%w: use --allow-disruption to replace them", err)
	}
	return err
}

// stopAdopting takes from a box what it was created with to take over its children.
func (m *moveOptions) stopAdopting(ctx context.Context, exported *exportedBox, box *modelv1.ModelBox) error {
	original, had := exported.object.GetAnnotations()[modelv1.AdoptAnnotation]
	if is, has := box.Annotations[modelv1.AdoptAnnotation]; is == original && has == had {
		return nil
	}
	annotation := map[string]any{modelv1.AdoptAnnotation: nil}
	if had {
		annotation[modelv1.AdoptAnnotation] = original
	}
	data, err := adopt.Patch(box.UID, map[string]any{"metadata": map[string]any{"annotations": annotation}})
	if err != nil {
		return err
	}
	_, err = m.clients.boxes.ModelV1().ModelBoxes(box.Namespace).Patch(ctx, box.Name, types.MergePatchType, data, m.patchOptions())
	return err
}
