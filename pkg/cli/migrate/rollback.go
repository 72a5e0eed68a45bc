// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/adopt"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// rollbackOptions are the options of the command "kubectl modelbox migrate rollback".
type rollbackOptions struct {
	*options
	discardChanges bool
	// collectorPatience is how long the garbage collector may orphan no children.
	collectorPatience time.Duration
}

func newRollbackCommand(o *options) *cobra.Command {
	r := &rollbackOptions{options: o, collectorPatience: collectorPatience}
	cmd := &cobra.Command{
		Use:   "rollback",
		Short: "Roll back to the CustomResourceDefinition",
		Long: "Roll back to the custom resources of an export, while their CustomResourceDefinition still exists.\n\nThe " +
			"command deletes the boxes of the server, and restores their children to the state of the export. Start the " +
			"operator afterwards. If the command is interrupted, run it again.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.complete(); err != nil {
				return err
			}
			if err := r.healDiscovery(cmd.Context()); err != nil {
				return err
			}
			return r.exclusively(cmd.Context(), r.run)
		},
	}
	o.addDirectoryFlag(cmd)
	o.addTimeoutFlag(cmd)
	o.addDryRunFlag(cmd)
	cmd.Flags().BoolVar(&r.discardChanges, "discard-changes", false, "If true, discard the changes to boxes since the move, and the boxes created since. The children of the latter keep running without a box.")
	return cmd
}

func (r *rollbackOptions) run(ctx context.Context) error {
	exported, err := readExport(r.directory)
	if err != nil {
		return err
	}
	if err := r.clients.checkIdentity(ctx, exported); err != nil {
		return err
	}
	isServed, err := r.clients.isServedByServer(ctx)
	if err != nil {
		return err
	}
	if isServed {
		if err := r.leaveServer(ctx, exported); err != nil {
			return err
		}
	}
	if r.dryRun.isDry() {
		return nil
	}
	if err := inParallel(ctx, exported.Boxes, r.restore); err != nil {
		return fmt.Errorf("%w; run the command again", err)
	}
	if err := r.clients.handToDefinition(ctx, r.dryRun); err != nil {
		return err
	}
	if err := r.awaitAvailable(ctx, false); err != nil {
		return err
	}
	if err := inParallel(ctx, exported.Boxes, r.arriveBack); err != nil {
		return fmt.Errorf("%w; run the command again", err)
	}
	r.say("customresourcedefinition.apiextensions.k8s.io/%s serves its %d boxes again: start the operator", definitionName, len(exported.Boxes))
	return nil
}

// leaveServer deletes all boxes of the server, and orphans their children.
func (r *rollbackOptions) leaveServer(ctx context.Context, exported *export) error {
	if err := r.awaitAvailable(ctx, true); err != nil {
		return err
	}
	list, err := r.clients.boxes.ModelV1().ModelBoxes(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the boxes of the server: %w", err)
	}
	lost, err := changedBoxes(exported, list.Items)
	if err != nil {
		return err
	}
	if len(lost) > 0 && !r.discardChanges {
		return fmt.Errorf("a rollback would discard changes since the move, use --discard-changes to discard them: %s", strings.Join(lost, ", "))
	}
	if !r.discardChanges {
		if err := inParallel(ctx, exported.Boxes, r.checkPods); err != nil {
			return err
		}
	}
	live := make([]*modelv1.ModelBox, 0, len(list.Items))
	for i := range list.Items {
		live = append(live, &list.Items[i])
	}
	if err := inParallel(ctx, live, r.deleteBox); err != nil || r.dryRun.isDry() {
		return err
	}
	return r.awaitGone(ctx, live)
}

// changedBoxes returns the boxes that are not what was exported.
func changedBoxes(exported *export, live []modelv1.ModelBox) ([]string, error) {
	byKey := map[types.NamespacedName]*exportedBox{}
	for _, box := range exported.Boxes {
		byKey[box.key()] = box
	}
	var changed []string
	for i := range live {
		box := &live[i]
		before := byKey[types.NamespacedName{Namespace: box.Namespace, Name: box.Name}]
		if before != nil && before.isMoved(box) {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(box)
			if err != nil {
				return nil, fmt.Errorf("encoding a box: %w", err)
			}
			if isSameSpec(before.object, &unstructured.Unstructured{Object: content}) && maps.Equal(before.object.GetLabels(), box.Labels) {
				continue
			}
		}
		changed = append(changed, box.Namespace+"/"+box.Name)
	}
	return changed, nil
}

// checkPods returns an error if pods of a box would have to be replaced to be what they were.
func (r *rollbackOptions) checkPods(ctx context.Context, box *exportedBox) error {
	before, err := box.deployment()
	if before == nil || err != nil {
		return err
	}
	live, err := r.clients.cluster.AppsV1().Deployments(box.Namespace).Get(ctx, box.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && live.UID != before.UID {
		return nil // there is nothing to restore
	}
	if err != nil {
		return err
	}
	change, err := adopt.CompareTemplates(&before.Spec.Template, &live.Spec.Template)
	if err == nil && len(change.Disruptive) > 0 {
		err = fmt.Errorf("box %s: %v of its pods changed: use --discard-changes to replace them", box, change.Disruptive)
	}
	return err
}

// deleteBox deletes a box and orphans its children.
func (r *rollbackOptions) deleteBox(ctx context.Context, box *modelv1.ModelBox) error {
	if r.dryRun.sends() {
		err := r.clients.boxes.ModelV1().ModelBoxes(box.Namespace).Delete(ctx, box.Name, metav1.DeleteOptions{
			DryRun:            r.dryRun.option(),
			Preconditions:     &metav1.Preconditions{UID: &box.UID},
			PropagationPolicy: ptr.To(metav1.DeletePropagationOrphan),
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting box %s/%s: %w", box.Namespace, box.Name, err)
		}
	}
	r.say("modelbox.%s/%s/%s deleted", modelv1.GroupName, box.Namespace, box.Name)
	return nil
}

// restore makes the children of a box what they were when they were exported, while they have no controller.
func (r *rollbackOptions) restore(ctx context.Context, box *exportedBox) error {
	if err := r.restoreService(ctx, box); err != nil {
		return fmt.Errorf("box %s: %w", box, err)
	}
	if err := r.restoreDeployment(ctx, box); err != nil {
		return fmt.Errorf("box %s: %w", box, err)
	}
	return nil
}

// restoredAnnotations returns the annotations of a live child as they were. It keeps the present annotations of Kubernetes itself.
func restoredAnnotations(before, now map[string]string) map[string]string {
	annotations := adopt.Merged(before, nil)
	for key, value := range now {
		if strings.HasPrefix(key, "deployment.kubernetes.io/") {
			annotations[key] = value
		}
	}
	return annotations
}

func (r *rollbackOptions) restoreService(ctx context.Context, box *exportedBox) error {
	child := box.child(serviceKind)
	if child == nil {
		return nil
	}
	before := &corev1.Service{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(child.Object, before); err != nil {
		return fmt.Errorf("reading the exported Service: %w", err)
	}
	client := r.clients.cluster.CoreV1().Services(box.Namespace)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live, err := client.Get(ctx, box.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && (live.UID != before.UID || live.Labels[render.ManagedByLabel] != render.ManagedBy) {
			return nil // there is nothing to restore
		}
		if err != nil {
			return err
		}
		live.Labels, live.Annotations, live.Spec = before.Labels, restoredAnnotations(before.Annotations, live.Annotations), before.Spec
		_, err = client.Update(ctx, live, metav1.UpdateOptions{FieldManager: fieldManager})
		return err
	})
}

func (r *rollbackOptions) restoreDeployment(ctx context.Context, box *exportedBox) error {
	before, err := box.deployment()
	if before == nil || err != nil {
		return err
	}
	client := r.clients.cluster.AppsV1().Deployments(box.Namespace)
	live, err := client.Get(ctx, box.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && live.UID != before.UID {
		return nil
	}
	if err != nil {
		return err
	}
	if controller := metav1.GetControllerOfNoCopy(live); controller != nil {
		if controller.UID == box.UID {
			return nil // it has never been taken from the custom resource, or is back
		}
		return fmt.Errorf("the Deployment %s is controlled by %s %s", live.Name, controller.Kind, controller.Name)
	}
	set, err := r.rewriter().CurrentReplicaSet(ctx, live, &live.Spec.Template, adopt.WithMetadata(&before.Spec.Template, &live.Spec.Template), &before.Spec.Template)
	if err != nil {
		return err
	}
	if set == nil && !r.discardChanges {
		return errors.New("no ReplicaSet matches the pod template of the Deployment: use --discard-changes to replace its pods")
	}
	var labels, annotations map[string]any
	if set != nil {
		labels, annotations = added(before.Spec.Template.Labels, set.Spec.Template.Labels), added(before.Spec.Template.Annotations, set.Spec.Template.Annotations)
	}
	if err := r.rewriter().SetPaused(ctx, live, true); err != nil {
		return err
	}
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if live, err = client.Get(ctx, box.Name, metav1.GetOptions{}); err != nil {
			return err
		}
		replicas := live.Spec.Replicas
		live.Labels, live.Annotations = before.Labels, restoredAnnotations(before.Annotations, live.Annotations)
		before.Spec.DeepCopyInto(&live.Spec)
		live.Spec.Replicas, live.Spec.Paused = replicas, true
		live, err = client.Update(ctx, live, metav1.UpdateOptions{FieldManager: fieldManager})
		return err
	})
	if err != nil {
		return fmt.Errorf("restoring Deployment %s: %w", before.Name, err)
	}
	return r.restorePods(ctx, before, live, set, labels, annotations)
}

// restorePods lets the Deployment continue with the pods of its ReplicaSet. The Deployment replaces them if they are not what they
// were, which the user has agreed to, or if there is no such ReplicaSet.
func (r *rollbackOptions) restorePods(ctx context.Context, before, live *appsv1.Deployment, set *appsv1.ReplicaSet, labels, annotations map[string]any) error {
	if set == nil {
		return r.rewriter().SetPaused(ctx, live, before.Spec.Paused)
	}
	change, err := adopt.CompareTemplates(&before.Spec.Template, &set.Spec.Template)
	if err != nil {
		return err
	}
	if len(change.Disruptive) > 0 {
		return r.rewriter().SetPaused(ctx, live, before.Spec.Paused)
	}
	if !adopt.IsSameTemplate(&set.Spec.Template, &live.Spec.Template) {
		if err := r.rewriter().SetTemplate(ctx, set, &live.Spec.Template); err != nil {
			return err
		}
	}
	if err := r.rewriter().LabelPods(ctx, set, labels, annotations); err != nil {
		return err
	}
	if before.Spec.Paused {
		return nil
	}
	return r.rewriter().Resume(ctx, live)
}

// added returns a patch that removes what is in the one map and was not in the other, but for the hash of the pod template.
func added(before, now map[string]string) map[string]any {
	patch := map[string]any{}
	for key := range now {
		if _, was := before[key]; !was && key != appsv1.DefaultDeploymentUniqueLabelKey {
			patch[key] = nil
		}
	}
	return patch
}

// arriveBack gives a custom resource what belonged to it.
func (r *rollbackOptions) arriveBack(ctx context.Context, box *exportedBox) error {
	err := r.await(ctx, "custom resource "+box.String(), func(ctx context.Context) (bool, string, error) {
		object, err := r.clients.dynamic.Resource(boxes).Namespace(box.Namespace).Get(ctx, box.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) {
			return false, err.Error(), nil
		}
		return err == nil && object.GetUID() == box.UID, "its UID is another one", err
	})
	if err != nil {
		return err
	}
	if err := r.setFinalizers(ctx, box, box.object.GetFinalizers()); err != nil {
		return err
	}
	return r.giveBack(ctx, box)
}
