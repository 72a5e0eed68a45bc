// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func newVerifyCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Compare boxes and their children with an export",
		Long: "Compare each box, its children and its pods with an export, before or after a move.\n\nThe command fails if " +
			"something is missing or different, or if a pod was restarted.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			if err := o.clients.checkDiscovery(cmd.Context()); err != nil {
				return err
			}
			return o.runVerify(cmd.Context())
		},
	}
	o.addDirectoryFlag(cmd)
	return cmd
}

func (o *options) runVerify(ctx context.Context) error {
	exported, err := readExport(o.directory)
	if err != nil {
		return err
	}
	if err := o.clients.checkIdentity(ctx, exported); err != nil && !errors.Is(err, errNoDefinition) {
		return err
	}
	live, err := o.clients.liveBoxes(ctx)
	if err != nil {
		return err
	}
	found := compareOrder(exported.Boxes, live)
	children, pods := 0, 0
	for _, box := range exported.Boxes {
		f := &findings{namespace: box.Namespace, name: box.Name}
		f.compareBox(box, live[box.key()])
		found = append(found, f.list...)
		children, pods = children+len(box.children), pods+len(box.Pods)
	}
	if len(found) > 0 {
		return errors.Join(printFindings(o.Out, found), errors.New("some boxes differ from the export"))
	}
	o.say("%d boxes, %d children and %d pods match the export: no pod was restarted", len(exported.Boxes), children, pods)
	return nil
}

func (b *exportedBox) key() types.NamespacedName {
	return types.NamespacedName{Namespace: b.Namespace, Name: b.Name}
}

// liveBoxes returns all boxes by their names, with what belongs to them.
func (c *clients) liveBoxes(ctx context.Context) (map[types.NamespacedName]*exportedBox, error) {
	objects, err := c.list(ctx, boxes)
	if err != nil {
		return nil, err
	}
	live := map[types.NamespacedName]*exportedBox{}
	for _, object := range objects {
		box := &exportedBox{Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), object: object}
		live[box.key()] = box
	}
	all := slices.Collect(maps.Values(live))
	return live, c.addChildren(ctx, all)
}

// compareOrder says which boxes were created before one that had been there before them.
func compareOrder(exported []*exportedBox, live map[types.NamespacedName]*exportedBox) []finding {
	var found []finding
	var latest *exportedBox
	for _, box := range exported {
		now := live[box.key()]
		if now == nil {
			continue
		}
		if latest != nil && createdAt(now).Before(createdAt(latest)) {
			f := &findings{namespace: box.Namespace, name: box.Name}
			f.add(changed, "metadata.creationTimestamp", "is earlier than the creation of %s", latest)
			found = append(found, f.list...)
			continue
		}
		latest = now
	}
	return found
}

// compareBox says how a box, what belongs to it and its pods differ from what was exported.
func (f *findings) compareBox(exported, live *exportedBox) {
	if live == nil {
		f.add(changed, "", "is missing")
		return
	}
	f.compareObject(exported.object, live.object)
	for _, child := range exported.children {
		f.compareChild(child, live)
	}
	for _, before := range exported.Pods {
		i := slices.IndexFunc(live.Pods, func(p pod) bool { return p.UID == before.UID })
		switch {
		case i < 0:
			f.add(disruptive, "", "pod %s was deleted", before.Name)
		case live.Pods[i].Restarts != before.Restarts:
			f.add(disruptive, "", "pod %s was restarted %d times", before.Name, live.Pods[i].Restarts-before.Restarts)
		}
	}
}

func (f *findings) compareObject(before, now *unstructured.Unstructured) {
	// Of those two the server's boxes have their own.
	original, annotations := maps.Clone(before.GetAnnotations()), maps.Clone(now.GetAnnotations())
	for _, own := range []string{sourceAnnotation, modelv1.ChangedByAnnotation} {
		delete(original, own)
		delete(annotations, own)
	}
	for _, field := range []struct {
		name   string
		isSame bool
	}{
		{"metadata.labels", maps.Equal(before.GetLabels(), now.GetLabels())},
		{"metadata.annotations", maps.Equal(original, annotations)},
		{"metadata.ownerReferences", apiequality.Semantic.DeepEqual(before.GetOwnerReferences(), now.GetOwnerReferences())},
		{"spec", isSameSpec(before, now)},
	} {
		if !field.isSame {
			f.add(changed, field.name, "differs from the export")
		}
	}
}

// isSameSpec returns whether two boxes are the same with their defaults.
func isSameSpec(a, b *unstructured.Unstructured) bool {
	before, _, err := decode(a)
	if err != nil {
		return false
	}
	now, _, err := decode(b)
	if err != nil {
		return false
	}
	return apiequality.Semantic.DeepEqual(defaulted(before).Spec, defaulted(now).Spec)
}

func (f *findings) compareChild(child *unstructured.Unstructured, live *exportedBox) {
	i := slices.IndexFunc(live.children, func(c *unstructured.Unstructured) bool { return c.GetUID() == child.GetUID() })
	if i < 0 {
		f.add(disruptive, "", "%s %s was deleted, or the box does not own it", child.GetKind(), child.GetName())
		return
	}
	now := live.children[i]
	before := metav1.GetControllerOfNoCopy(child)
	if controller := metav1.GetControllerOfNoCopy(now); before != nil && (controller == nil || controller.UID != live.UID) {
		f.add(changed, "metadata.ownerReferences", "of %s %s does not name the box as its controller", child.GetKind(), child.GetName())
	}
	wasPaused, _, _ := unstructured.NestedBool(child.Object, "spec", "paused")
	isPaused, _, _ := unstructured.NestedBool(now.Object, "spec", "paused")
	if child.GroupVersionKind() == deploymentKind && wasPaused != isPaused {
		f.add(changed, "spec.paused", "of Deployment %s differs from the export", child.GetName())
	}
}

// isMoved returns whether the live box is the exported one, as the server has it.
func (b *exportedBox) isMoved(live *modelv1.ModelBox) bool {
	return live.Annotations[sourceAnnotation] == string(b.UID)
}
